//! Results never replace what they are made from.

use std::path::Path;

use crate::Result;

/// Refuses to write results over what they are made from: an input, a recording or a model.
///
/// # Errors
///
/// [`auscult_files::Error::Target`] if the file is among `inputs`, [`auscult_files::Error::Occupied`] if it holds a
/// recording or a model.
pub fn check_result_target(
    path: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<()> {
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
    if inputs.into_iter().any(|input| is_target(input.as_ref())) {
        let reason = "this command reads it; give another file".to_owned();
        return Err(auscult_files::Error::Target { path: path.to_owned(), reason }.into());
    }
    let found = match path.metadata() {
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(_) if auscult_audio::is_sound_file(path) => "a recording",
        Ok(found) if found.len() > 0 && auscult_files::is_model(path) => "a model",
        _ => return Ok(()),
    };
    Err(auscult_files::Error::Occupied { path: path.to_owned(), found }.into())
}
