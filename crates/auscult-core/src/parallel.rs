//! One way to spread independent work; the same bits with and without threads.

/// Does work that asks for threads many times: on one of them, it has to be handed over only once.
#[cfg(feature = "parallel")]
pub(crate) fn within<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}

/// Does `work`.
#[cfg(not(feature = "parallel"))]
pub(crate) fn within<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    work()
}

/// Maps `0..count` through `work`, in order. Each thread makes its own buffer.
#[cfg(feature = "parallel")]
pub(crate) fn map<B, T: Send>(
    count: usize,
    buffer: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, usize) -> T + Sync + Send,
) -> Vec<T> {
    use rayon::prelude::*;
    (0..count).into_par_iter().map_init(buffer, work).collect()
}

/// Maps `0..count` through `work`, in order.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map<B, T: Send>(
    count: usize,
    buffer: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, usize) -> T + Sync + Send,
) -> Vec<T> {
    let mut buffer = buffer();
    (0..count).map(|index| work(&mut buffer, index)).collect()
}

/// References that are one piece of work: those of a panel, whose bounds are computed together.
const PIECE: usize = crate::nearest::PANEL;

/// Maps `0..count` through `work` piece by piece, in order. Each thread makes its own buffer.
pub(crate) fn map_pieces<B, T: Send>(
    count: usize,
    buffer: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, std::ops::Range<usize>) -> T + Sync + Send,
) -> Vec<T> {
    map(count.div_ceil(PIECE), buffer, |buffer, piece| {
        work(buffer, piece * PIECE..count.min((piece + 1) * PIECE))
    })
}

/// Does `work` on every item.
#[cfg(feature = "parallel")]
pub(crate) fn for_each<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync + Send) {
    use rayon::prelude::*;
    items.into_par_iter().for_each(work);
}

/// Does `work` on every item.
#[cfg(not(feature = "parallel"))]
pub(crate) fn for_each<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync + Send) {
    items.into_iter().for_each(work);
}
