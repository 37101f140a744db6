//! Sound in the body of a request: written to a file of its own in the data folder, which is deleted afterwards.

use auscult_monitor::data::DataFolder;

/// The folder within a data folder.
const FOLDER: &str = "incoming";

/// Deletes what a service that was killed has left.
pub(crate) fn clear(data: &DataFolder) {
    // It may not be there.
    let _ = std::fs::remove_dir_all(data.file(FOLDER));
}
