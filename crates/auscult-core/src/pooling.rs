//! 3. Pooling: from the frames of a clip to one vector a view.

use std::sync::Arc;

use multiversion::multiversion;

use crate::{Error, FrontEndIdentity, Result, features::FrontEnd, names::named_choices};

/// How frames become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// Mean over frames: what sounds all the time.
    Mean,
    /// Maximum over frames: what sounds once.
    Max,
}

named_choices!(View, "view", { Mean => "mean", Max => "max" });

/// The vectors of one clip, one a view, in the front end's order.
///
/// Vectors made [for a front end](ClipVectors::for_front_end) remember it and are only compared with
/// references of the same one. Vectors made by hand ([`ClipVectors::zeros`],
/// [`ClipVectors::from_views`]) are accepted wherever views and length fit.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipVectors {
    front_end: Option<Arc<FrontEndIdentity>>,
    views: Vec<(View, Vec<f32>)>,
    sums: Vec<f64>,
}

impl ClipVectors {
    /// Room for the vectors of one clip of `front_end`; reuse it from clip to clip.
    pub fn for_front_end(front_end: &dyn FrontEnd) -> Self {
        let zeros = Self::zeros(front_end.views(), front_end.axis().len());
        Self { front_end: Some(Arc::new(front_end.identity())), ..zeros }
    }

    /// Vectors of a reference, with the front end it was made with.
    pub(crate) fn of_reference(
        front_end: Option<Arc<FrontEndIdentity>>,
        views: Vec<(View, Vec<f32>)>,
    ) -> Result<Self> {
        Ok(Self { front_end, ..Self::from_views(views)? })
    }

    /// Zero vectors of `axis_len` values for each view.
    pub fn zeros(views: &[View], axis_len: usize) -> Self {
        Self {
            front_end: None,
            views: views.iter().map(|&view| (view, vec![0.0; axis_len])).collect(),
            sums: vec![0.0; axis_len],
        }
    }

    /// Vectors made elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::VectorLength`] if they differ in length, [`Error::NotFinite`] if a value is not a
    /// number, [`Error::Views`] if there is none.
    pub fn from_views(views: Vec<(View, Vec<f32>)>) -> Result<Self> {
        let Some(axis_len) = views.first().map(|(_, vector)| vector.len()) else {
            return Err(Error::Views { needed: 1, got: 0 });
        };
        for (view, vector) in &views {
            if vector.len() != axis_len {
                let got = vector.len();
                return Err(Error::VectorLength { what: view.name(), got, expected: axis_len });
            }
            refuse_not_finite(*view, vector)?;
        }
        Ok(Self { front_end: None, views, sums: vec![0.0; axis_len] })
    }

    /// The front end they were made for; `None` for vectors made by hand.
    pub fn front_end(&self) -> Option<&Arc<FrontEndIdentity>> {
        self.front_end.as_ref()
    }

    /// The vector of a view, if the clip has it.
    pub fn view(&self, view: View) -> Option<&[f32]> {
        self.views.iter().find(|(name, _)| *name == view).map(|(_, vector)| vector.as_slice())
    }

    /// The views and their vectors.
    pub fn views(&self) -> impl ExactSizeIterator<Item = (View, &[f32])> {
        self.views.iter().map(|(view, vector)| (*view, vector.as_slice()))
    }

    /// Copies the vectors of a member of an ensemble to their place, from position `start` on.
    pub(crate) fn copy_part(&mut self, start: usize, part: &Self) -> Result<()> {
        self.views.iter_mut().try_for_each(|(view, vector)| copy(part, *view, vector, start))
    }

    /// Copies one view of a member to its place in every vector, from position `start` on.
    pub(crate) fn copy_view(&mut self, start: usize, part: &Self, view: View) -> Result<()> {
        self.views.iter_mut().try_for_each(|(_, vector)| copy(part, view, vector, start))
    }

    /// Takes what the same front end computed before: the values of every view, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::VectorLength`] if there are not as many as all vectors have, [`Error::NotFinite`] if one is not a
    /// number; nothing is changed then.
    pub fn take_values(&mut self, values: &[f32]) -> Result<()> {
        let (got, expected) = (values.len(), self.views.len() * self.axis_len());
        if got != expected {
            return Err(Error::VectorLength { what: "stored vectors", got, expected });
        }
        let axis_len = self.axis_len().max(1);
        for ((view, _), values) in self.views.iter().zip(values.chunks_exact(axis_len)) {
            refuse_not_finite(*view, values)?;
        }
        for ((_, vector), values) in self.views.iter_mut().zip(values.chunks_exact(axis_len)) {
            vector.copy_from_slice(values);
        }
        Ok(())
    }

    /// Length of every vector.
    pub fn axis_len(&self) -> usize {
        self.sums.len()
    }
}

fn copy(part: &ClipVectors, view: View, to: &mut [f32], start: usize) -> Result<()> {
    let from = part.view(view).ok_or(Error::Views { needed: 1, got: 0 })?;
    let (got, expected) = (start + from.len(), to.len());
    let what = "the members' vectors";
    let place = to.get_mut(start..got).ok_or(Error::VectorLength { what, got, expected })?;
    place.copy_from_slice(from);
    Ok(())
}

/// Pools frames as they come, in the buffers of a [`ClipVectors`].
#[derive(Debug)]
pub(crate) struct Pooling<'a> {
    vectors: &'a mut ClipVectors,
    frames: usize,
    /// The length of the first frame that is not of the axis's length.
    wrong_length: Option<usize>,
}

impl<'a> Pooling<'a> {
    pub(crate) fn start(vectors: &'a mut ClipVectors) -> Self {
        vectors.sums.fill(0.0);
        for (_, vector) in &mut vectors.views {
            vector.fill(f32::NEG_INFINITY);
        }
        Self { vectors, frames: 0, wrong_length: None }
    }

    /// Sums are f64: hundreds of frames of nearly equal values lose digits in f32.
    pub(crate) fn add(&mut self, frame: &[f32]) {
        self.frames += 1;
        if frame.len() != self.vectors.axis_len() {
            self.wrong_length.get_or_insert(frame.len());
        }
        add(frame, &mut self.vectors.sums);
        for (view, vector) in &mut self.vectors.views {
            if *view == View::Max {
                raise(frame, vector);
            }
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { vectors: ClipVectors { views, sums, .. }, frames, wrong_length } = self;
        if let Some(got) = wrong_length {
            return Err(Error::VectorLength { what: "a frame", got, expected: sums.len() });
        }
        if frames == 0 {
            return Err(Error::NoFrames);
        }
        for (view, vector) in views {
            if *view == View::Mean {
                for (mean, sum) in vector.iter_mut().zip(sums.iter()) {
                    *mean = (sum / frames as f64) as f32;
                }
            }
            refuse_not_finite(*view, vector)?;
        }
        Ok(())
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn add(frame: &[f32], sums: &mut [f64]) {
    for (sum, &value) in sums.iter_mut().zip(frame) {
        *sum += f64::from(value);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn raise(frame: &[f32], loudest: &mut [f32]) {
    for (loudest, &value) in loudest.iter_mut().zip(frame) {
        // Not f32::max: a NaN must stay visible.
        *loudest = if value > *loudest || value.is_nan() { value } else { *loudest };
    }
}

fn refuse_not_finite(view: View, vector: &[f32]) -> Result<()> {
    match vector.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(position) => Err(Error::NotFinite {
            what: format!("the {view} view"),
            position,
            value: vector[position],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_max_are_taken_over_frames() {
        let mut vectors = ClipVectors::zeros(&[View::Mean, View::Max], 2);
        for _ in 0..2 {
            let mut pooling = Pooling::start(&mut vectors);
            pooling.add(&[1.0, -4.0]);
            pooling.add(&[3.0, -2.0]);
            pooling.finish().unwrap();
            assert_eq!(vectors.view(View::Mean), Some([2.0, -3.0].as_slice()));
            assert_eq!(vectors.view(View::Max), Some([3.0, -2.0].as_slice()));
        }
    }

    #[test]
    fn frames_of_another_length_are_refused() {
        for (view, frame) in [(View::Mean, vec![1.0]), (View::Max, vec![1.0; 3])] {
            let mut vectors = ClipVectors::zeros(&[view], 2);
            let mut pooling = Pooling::start(&mut vectors);
            pooling.add(&[1.0, 1.0]);
            pooling.add(&frame);
            let (what, got) = ("a frame", frame.len());
            assert_eq!(pooling.finish(), Err(Error::VectorLength { what, got, expected: 2 }));
        }
    }

    #[test]
    fn a_clip_without_frames_is_refused() {
        for view in [View::Mean, View::Max] {
            let mut vectors = ClipVectors::zeros(&[view], 2);
            assert_eq!(Pooling::start(&mut vectors).finish(), Err(Error::NoFrames));
        }
    }

    #[test]
    fn nan_features_are_refused_with_their_position() {
        let mut vectors = ClipVectors::zeros(&[View::Max], 2);
        let mut pooling = Pooling::start(&mut vectors);
        pooling.add(&[1.0, f32::NAN]);
        pooling.add(&[1.0, 1.0]);
        assert!(matches!(pooling.finish(), Err(Error::NotFinite { position: 1, .. })));
        let error = ClipVectors::from_views(vec![(View::Mean, vec![0.0, f32::INFINITY])]);
        assert!(matches!(error, Err(Error::NotFinite { position: 1, .. })));
    }
}
