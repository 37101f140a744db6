//! 9. Scores: one number a clip, with the bands it came from.

use serde::Serialize;

use crate::pooling::View;

/// The score of one clip and where it came from. Larger is further from normal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipScore {
    /// The clip's score.
    pub value: f64,
    /// The score of each view, in the detector's order.
    pub views: Vec<ViewScore>,
    /// Room for what is compared, used again from clip to clip.
    #[serde(skip)]
    pub(crate) buffer: Buffer,
}

impl ClipScore {
    /// A score with its views.
    pub fn new(value: f64, views: Vec<ViewScore>) -> Self {
        Self { value, views, buffer: Buffer::default() }
    }
}

/// Numbers that say nothing about a score: all buffers are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer(pub(crate) Vec<f32>);

impl PartialEq for Buffer {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The score of one view of a clip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewScore {
    /// Which view.
    pub view: View,
    /// Its score: the band scores combined.
    pub value: f64,
    /// The score of each band, in order along the axis.
    pub bands: Vec<BandScore>,
}

/// The score of one band of a view.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BandScore {
    /// The band's score: distance over the scale's power, over the band's divisor.
    pub value: f64,
    /// The plain distance to the reference that decided it.
    pub distance: f64,
    /// The local scale of that reference.
    pub local_scale: f64,
    /// Index of that reference; the first one among equals.
    pub reference: usize,
}

impl BandScore {
    pub(crate) const UNSCORED: Self =
        Self { value: f64::INFINITY, distance: f64::INFINITY, local_scale: 1.0, reference: 0 };
}
