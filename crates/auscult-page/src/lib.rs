#![doc = include_str!("../README.md")]

// 1. Text and numbers.
mod text;

// 2. From values to places.
mod scale;

// 3. Shapes, and pictures around them.
pub mod svg;

// 4. A chart of curves.
mod line_chart;

// 5. The document around all of it.
mod document;

pub use self::{
    document::{Document, STYLE, Script},
    line_chart::LineChart,
    scale::{Scale, Spacing},
    text::{Escaped, number, significant, tick},
};
