#![doc = include_str!("../README.md")]

#[cfg(feature = "fetch")]
pub mod fetch;
pub mod metrics;
pub mod tuning;

pub use auscult_core::*;

/// Sound in: files, folders and streams become clips.
pub use auscult_audio as audio;

/// The weights of CED-tiny.
#[cfg(feature = "ced-tiny")]
pub use auscult_ced_tiny as ced_tiny;

/// Pretrained audio transformers as front ends.
///
/// From sound to a verdict with CED-tiny (feature `ced-tiny`), and the same model read back:
///
#[cfg_attr(feature = "ced-tiny", doc = "```")]
#[cfg_attr(not(feature = "ced-tiny"), doc = "```ignore")]
/// use std::sync::Arc;
///
/// use auscult::encoders::{Bundled, EncoderLibrary, EncoderRequest};
/// use auscult::{
///     BeamSettings, ClipSettings, ClipVectors, Method, Model, ModelSettings, Provenance, References,
/// };
///
/// let weights = Bundled { name: auscult::ced_tiny::NAME, bytes: auscult::ced_tiny::WEIGHTS };
/// let library = Arc::new(EncoderLibrary::new(vec![weights]));
/// let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
/// let front_end = library.front_end("ced", &EncoderRequest::default(), clip.check()?)?;
///
/// let mut extractor = front_end.extractor();
/// let mut vectors = ClipVectors::for_front_end(&*front_end);
/// let mut references = References::new(front_end.views(), front_end.axis().len());
/// for take in 0..20 {
///     let recipe = auscult_testing::ClipRecipe {
///         seconds: 1.0, take, ..auscult_testing::ClipRecipe::new(auscult_testing::Machine::Fan)
///     };
///     extractor.extract_into(&recipe.render()?, &mut vectors)?;
///     references.push(&vectors, Provenance::of(format!("take {take}")))?;
/// }
/// let detector = BeamSettings::paper(Method::Beam, &*front_end);
/// let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;
///
/// extractor.extract_into(&[0.1, -0.1].repeat(8_000), &mut vectors)?;
/// assert_eq!(model.score(&vectors)?.verdict, auscult::Verdict::Anomalous);
///
/// // Whoever opens the model gets the same encoder from the library, or an error with both names.
/// let again = library.front_ends().build(&model.settings().front_end, clip.check()?)?;
/// assert_eq!(again.identity(), front_end.identity());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use auscult_encoders as encoders;

/// Model files on disk.
pub use auscult_files as files;
