//! Where a monitor keeps everything.

use std::path::Path;

use anyhow::Context as _;
use auscult_monitor::data::DataFolder;

/// The folder that was named, or the platform's. A demonstration without a folder gets one that is apart from the real site's.
pub(crate) fn data_folder(named: Option<&Path>, is_demo: bool) -> anyhow::Result<DataFolder> {
    match named {
        // Whole, so that it is known when it stands in a text.
        Some(folder) => Ok(DataFolder::new(std::path::absolute(folder)?)),
        None if is_demo => {
            let name = format!("auscult-plant-{}", std::process::id());
            Ok(DataFolder::new(std::env::temp_dir().join(name)))
        }
        None => {
            DataFolder::usual().context("there is no home folder; name a data folder with --data")
        }
    }
}
