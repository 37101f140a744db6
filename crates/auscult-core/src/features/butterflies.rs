//! Steps of complex transforms of sixteen signals at once, for lengths that are powers of two.
//!
//! Forward steps decimate in frequency, in place, by eights (then a four or a two); results stay where
//! the last step leaves them, and [`place`] says where. Backward steps start from there and end in
//! natural order.
#![expect(clippy::inline_always, reason = "only inlined code has the caller's vector instructions")]

use std::{
    f64::consts::{FRAC_1_SQRT_2, PI},
    ops::{Add, Mul, Neg, Sub},
};

use multiversion::multiversion;

use super::lanes::LANES;

/// What transforms compute in: f32, or f64 where weak frequencies stand beside strong ones.
pub(super) trait Number:
    Copy + Neg<Output = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// sqrt 1/2.
    const DIAGONAL: Self;
    const HALF: Self;

    /// The nearest number.
    fn nearest(value: f64) -> Self;

    fn to_f32(self) -> f32;
}

impl Number for f32 {
    const DIAGONAL: Self = std::f32::consts::FRAC_1_SQRT_2;
    const HALF: Self = 0.5;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

impl Number for f64 {
    const DIAGONAL: Self = FRAC_1_SQRT_2;
    const HALF: Self = 0.5;

    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }
}

/// Real and imaginary parts of one number of each signal.
pub(super) type Pair<T = f32> = [[T; LANES]; 2];

/// A complex number that all signals share.
pub(super) type Complex<T = f32> = [T; 2];

/// One step of a transform.
#[derive(Debug, Clone)]
pub(super) struct Stage<T = f32> {
    pub(super) radix: usize,
    /// Turns of results 1 to radix - 1 at each position, empty where all are 1.
    turns: Vec<[Complex<T>; 7]>,
}

/// The steps of a transform of `len` numbers, a power of two.
pub(super) fn stages<T: Number>(mut len: usize) -> Vec<Stage<T>> {
    let mut stages = Vec::new();
    while len > 1 {
        let radix = if len >= 8 { 8 } else { len };
        let turns =
            |at: usize| std::array::from_fn(|result| turn(at * (result + 1), len).map(T::nearest));
        let positions = len / radix;
        let turns = if positions > 1 { (0..positions).map(turns).collect() } else { vec![] };
        stages.push(Stage { radix, turns });
        len = positions;
    }
    stages
}

/// e^(-2 pi i k / n).
pub(super) fn turn(k: usize, n: usize) -> [f64; 2] {
    let angle = 2.0 * PI * k as f64 / n as f64;
    [angle.cos(), -angle.sin()]
}

/// Where forward steps leave the result of a frequency.
///
/// Result p of a step fills the p-th part of its block; the next step works within the part.
pub(super) fn place<T>(frequency: usize, len: usize, stages: &[Stage<T>]) -> usize {
    let Some((stage, rest)) = stages.split_first() else { return 0 };
    let part = len / stage.radix;
    (frequency % stage.radix) * part + place(frequency / stage.radix, part, rest)
}

impl<T: Number> Stage<T> {
    /// Whether the step turns nothing: as the last one, it works on parts that lie side by side, and any
    /// number of blocks is like one.
    pub(super) fn is_last(&self) -> bool {
        self.turns.is_empty()
    }

    /// One step forward on a block.
    pub(super) fn forward(&self, block: &mut [Pair<T>]) {
        match (self.radix, self.turns.is_empty()) {
            (8, true) => eights_without_turns(block),
            (8, false) => eights(block, &self.turns),
            (4, _) => fours(block),
            _ => twos(block),
        }
    }

    /// The mirror image of [`Stage::forward`]: turns first, then the transform.
    ///
    /// All steps in reverse order, on numbers with real and imaginary parts exchanged, are the inverse
    /// transform (times the length), exchanged as well.
    pub(super) fn backward(&self, block: &mut [Pair<T>]) {
        match (self.radix, self.turns.is_empty()) {
            (8, true) => eights_without_turns(block),
            (8, false) => eights_back(block, &self.turns),
            (4, _) => fours(block),
            _ => twos(block),
        }
    }
}

#[inline(always)]
pub(super) fn add<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
pub(super) fn subtract<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline(always)]
pub(super) fn multiply<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// A quarter turn back: times -i.
#[inline(always)]
fn quarter<T: Number>(a: Complex<T>) -> Complex<T> {
    [a[1], -a[0]]
}

/// The transform of eight numbers.
#[inline(always)]
fn transform_eight<T: Number>(x: [Complex<T>; 8]) -> [Complex<T>; 8] {
    let diagonal = T::DIAGONAL;
    let (sum0, difference0) = (add(x[0], x[4]), subtract(x[0], x[4]));
    let (sum1, difference1) = (add(x[1], x[5]), subtract(x[1], x[5]));
    let (sum2, difference2) = (add(x[2], x[6]), quarter(subtract(x[2], x[6])));
    let (sum3, difference3) = (add(x[3], x[7]), quarter(subtract(x[3], x[7])));
    let (even0, even1) = (add(sum0, sum2), add(sum1, sum3));
    let (even2, even3) = (subtract(sum0, sum2), quarter(subtract(sum1, sum3)));
    let (odd0, odd1) = (add(difference0, difference2), add(difference1, difference3));
    let (odd2, odd3) = (subtract(difference0, difference2), subtract(difference1, difference3));
    // Eighth turns: (1 - i) / sqrt 2 and (-1 - i) / sqrt 2.
    let odd1 = [diagonal * (odd1[0] + odd1[1]), diagonal * (odd1[1] - odd1[0])];
    let odd3 = [diagonal * (odd3[1] - odd3[0]), -diagonal * (odd3[0] + odd3[1])];
    [
        add(even0, even1),
        add(odd0, odd1),
        add(even2, even3),
        add(odd2, odd3),
        subtract(even0, even1),
        subtract(odd0, odd1),
        subtract(even2, even3),
        subtract(odd2, odd3),
    ]
}

/// When a step turns its numbers.
#[derive(Clone, Copy)]
enum Turns<'a, T> {
    Never,
    Before(&'a [Complex<T>; 7]),
    After(&'a [Complex<T>; 7]),
}

#[inline(always)]
fn turned<T: Number>(mut numbers: [Complex<T>; 8], turns: &[Complex<T>; 7]) -> [Complex<T>; 8] {
    for at in 1..8 {
        numbers[at] = multiply(numbers[at], turns[at - 1]);
    }
    numbers
}

/// Eight numbers of each signal, transformed and turned.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "rows apart: the compiler sees they do not overlap")]
fn eight_rows<T: Number>(
    r0: &mut Pair<T>,
    r1: &mut Pair<T>,
    r2: &mut Pair<T>,
    r3: &mut Pair<T>,
    r4: &mut Pair<T>,
    r5: &mut Pair<T>,
    r6: &mut Pair<T>,
    r7: &mut Pair<T>,
    turns: Turns<'_, T>,
) {
    for lane in 0..LANES {
        let at = |row: &Pair<T>| [row[0][lane], row[1][lane]];
        let x = [at(r0), at(r1), at(r2), at(r3), at(r4), at(r5), at(r6), at(r7)];
        let y = match turns {
            Turns::Never => transform_eight(x),
            Turns::Before(turns) => transform_eight(turned(x, turns)),
            Turns::After(turns) => turned(transform_eight(x), turns),
        };
        for part in 0..2 {
            r0[part][lane] = y[0][part];
            r1[part][lane] = y[1][part];
            r2[part][lane] = y[2][part];
            r3[part][lane] = y[3][part];
            r4[part][lane] = y[4][part];
            r5[part][lane] = y[5][part];
            r6[part][lane] = y[6][part];
            r7[part][lane] = y[7][part];
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn eights<T: Number>(block: &mut [Pair<T>], turns: &[[Complex<T>; 7]]) {
    each_eight(block, turns, Turns::After);
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn eights_back<T: Number>(block: &mut [Pair<T>], turns: &[[Complex<T>; 7]]) {
    each_eight(block, turns, Turns::Before);
}

#[inline(always)]
fn each_eight<'a, T: Number>(
    block: &mut [Pair<T>],
    turns: &'a [[Complex<T>; 7]],
    when: impl Fn(&'a [Complex<T>; 7]) -> Turns<'a, T>,
) {
    let count = turns.len();
    let (r0, rest) = block.split_at_mut(count);
    let (r1, rest) = rest.split_at_mut(count);
    let (r2, rest) = rest.split_at_mut(count);
    let (r3, rest) = rest.split_at_mut(count);
    let (r4, rest) = rest.split_at_mut(count);
    let (r5, rest) = rest.split_at_mut(count);
    let (r6, rest) = rest.split_at_mut(count);
    let r7 = &mut rest[..count];
    for at in 0..count {
        eight_rows(
            &mut r0[at],
            &mut r1[at],
            &mut r2[at],
            &mut r3[at],
            &mut r4[at],
            &mut r5[at],
            &mut r6[at],
            &mut r7[at],
            when(&turns[at]),
        );
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn eights_without_turns<T: Number>(block: &mut [Pair<T>]) {
    for rows in block.as_chunks_mut::<8>().0 {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        eight_rows(r0, r1, r2, r3, r4, r5, r6, r7, Turns::Never);
    }
}

/// The last step of lengths that are not powers of eight.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn fours<T: Number>(block: &mut [Pair<T>]) {
    for [r0, r1, r2, r3] in block.as_chunks_mut::<4>().0 {
        for lane in 0..LANES {
            let at = |row: &Pair<T>| [row[0][lane], row[1][lane]];
            let (sum0, difference0) = (add(at(r0), at(r2)), subtract(at(r0), at(r2)));
            let (sum1, difference1) = (add(at(r1), at(r3)), quarter(subtract(at(r1), at(r3))));
            let y = [
                add(sum0, sum1),
                add(difference0, difference1),
                subtract(sum0, sum1),
                subtract(difference0, difference1),
            ];
            for part in 0..2 {
                r0[part][lane] = y[0][part];
                r1[part][lane] = y[1][part];
                r2[part][lane] = y[2][part];
                r3[part][lane] = y[3][part];
            }
        }
    }
}

/// The last step of lengths that are twice a power of eight.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn twos<T: Number>(block: &mut [Pair<T>]) {
    let (eights, rest) = block.as_chunks_mut::<ROWS>();
    for rows in eights {
        sums_and_differences(rows);
    }
    sums_and_differences(rest);
}

/// Rows of a short calculation: of single rows, compilers mix up sixteen at a time.
pub(super) const ROWS: usize = 8;

#[inline(always)]
fn sums_and_differences<T: Number>(rows: &mut [Pair<T>]) {
    for lane in 0..LANES {
        for [r0, r1] in rows.as_chunks_mut::<2>().0 {
            for part in 0..2 {
                (r0[part][lane], r1[part][lane]) =
                    (r0[part][lane] + r1[part][lane], r0[part][lane] - r1[part][lane]);
            }
        }
    }
}
