//! Prints how many GFLOP a second the products of a BEATs and of a CED-tiny layer reach, for each
//! instruction set, in f32 and with integers:
//! `cargo run --release -p auscult-kernels --example peak`.

#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints")]

use std::time::Instant;

use auscult_kernels::{
    Epilogue, IntegerRows, Isa, PackedIntegers, PackedMatrix, Rows, RowsMut, multiply,
    multiply_integers, row_stride,
};

fn main() {
    for isa in Isa::available().into_iter().skip(2) {
        for (name, rows, inputs, outputs) in [
            ("in cache", 96, 256, 64),
            ("q, k, v", 496, 768, 2304),
            ("out", 496, 768, 768),
            ("fc1", 496, 768, 3072),
            ("fc2", 496, 3072, 768),
            ("CED q, k, v", 84, 192, 576),
            ("CED out", 84, 192, 192),
            ("CED fc1", 84, 192, 768),
            ("CED fc2", 84, 768, 192),
        ] {
            let left_stride = row_stride(inputs);
            let left: Vec<f32> = (0..rows * left_stride).map(|i| (i % 17) as f32 * 0.1).collect();
            let left = Rows { values: &left, stride: left_stride, count: rows };
            let weights: Vec<f32> = (0..inputs * outputs).map(|i| (i % 13) as f32 * 0.1).collect();
            let stride = row_stride(outputs);
            let mut out = vec![0.0; rows * stride];
            let work = 2.0 * (rows * inputs * outputs) as f64;

            let right = PackedMatrix::from_linear(&weights, outputs, inputs);
            print(isa, name, "f32", work, || {
                let mut out = RowsMut { values: &mut out, stride };
                multiply(isa, left, &right, Epilogue::Plain, &mut out);
            });
            let right = PackedIntegers::from_linear(&weights, outputs, inputs);
            let mut integers = IntegerRows::default();
            integers.set(isa, left, inputs);
            print(isa, name, "int16", work, || {
                let mut out = RowsMut { values: &mut out, stride };
                multiply_integers(isa, &integers, &right, Epilogue::Plain, &mut out);
            });
        }
    }
}

/// Runs a product many times and prints its rate.
fn print(isa: Isa, name: &str, precision: &str, work: f64, mut multiply: impl FnMut()) {
    // Two milliseconds or so: on a busy machine some of the runs are not interrupted.
    let times = (2e8 / work).ceil() as usize;
    let mut rates: Vec<f64> = (0..99)
        .map(|_| {
            let began = Instant::now();
            (0..times).for_each(|_| multiply());
            work * times as f64 / began.elapsed().as_secs_f64() / 1e9
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!(
        "{:8} {name:12} {precision:5} median {:6.1} best {:6.1} GFLOP/s",
        isa.name(),
        rates[49],
        rates[98]
    );
}
