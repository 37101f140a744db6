//! Prints how many GFLOP a second the products of a BEATs layer reach, for each instruction set:
//! `cargo run --release -p auscult-kernels --example peak`.

#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints")]

use std::time::Instant;

use auscult_kernels::{Epilogue, Isa, PackedMatrix, Rows, RowsMut, multiply, row_stride};

fn main() {
    for isa in Isa::available().into_iter().skip(2) {
        for (name, rows, inputs, outputs) in [
            ("in cache", 96, 256, 64),
            ("q, k, v", 496, 768, 2304),
            ("out", 496, 768, 768),
            ("fc1", 496, 768, 3072),
            ("fc2", 496, 3072, 768),
        ] {
            let left_stride = row_stride(inputs);
            let left: Vec<f32> = (0..rows * left_stride).map(|i| (i % 17) as f32 * 0.1).collect();
            let weights: Vec<f32> = (0..inputs * outputs).map(|i| (i % 13) as f32 * 0.1).collect();
            let right = PackedMatrix::from_linear(&weights, outputs, inputs);
            let stride = row_stride(outputs);
            let mut out = vec![0.0; rows * stride];
            let work = 2.0 * (rows * inputs * outputs) as f64;
            let times = (2e9 / work).ceil() as usize;
            let mut rates: Vec<f64> = (0..9)
                .map(|_| {
                    let began = Instant::now();
                    for _ in 0..times {
                        let left = Rows { values: &left, stride: left_stride, count: rows };
                        let mut out = RowsMut { values: &mut out, stride };
                        multiply(isa, left, &right, Epilogue::Plain, &mut out);
                    }
                    work * times as f64 / began.elapsed().as_secs_f64() / 1e9
                })
                .collect();
            rates.sort_by(f64::total_cmp);
            println!(
                "{:8} {name:10} median {:6.1} best {:6.1} GFLOP/s",
                isa.name(),
                rates[4],
                rates[8]
            );
        }
    }
}
