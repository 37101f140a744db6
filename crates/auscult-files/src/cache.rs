//! Where files are that can be made or fetched again.

use std::{ffi::OsString, path::PathBuf};

use etcetera::BaseStrategy;

/// The folder for files of one kind, such as `encoders`, that can be made or fetched again.
///
/// It is `$AUSCULT_CACHE/KIND` if that variable is set and not empty, else `auscult/KIND` in the
/// user's cache folder: `$XDG_CACHE_HOME` or `~/.cache` on Linux, `~/Library/Caches` on macOS and
/// `%LOCALAPPDATA%` on Windows. `None` if the user has no home folder. The folder need not exist.
pub fn cache_folder(kind: &str) -> Option<PathBuf> {
    let of_user = || Some(etcetera::base_strategy::choose_native_strategy().ok()?.cache_dir());
    folder_in(std::env::var_os("AUSCULT_CACHE"), of_user, kind)
}

/// The folder for what a program must not lose between two runs, such as a history.
///
/// It is `$AUSCULT_STATE` if that variable is set and not empty, else `auscult` in the user's state folder:
/// `$XDG_STATE_HOME` or `~/.local/state` on Linux and macOS, `%LOCALAPPDATA%` on Windows. `None` if the user has no home
/// folder. The folder need not exist.
pub fn state_folder() -> Option<PathBuf> {
    let of_user = || {
        let strategy = etcetera::base_strategy::choose_native_strategy().ok()?;
        Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()))
    };
    match std::env::var_os("AUSCULT_STATE").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => Some(of_user()?.join("auscult")),
    }
}

fn folder_in(
    chosen: Option<OsString>,
    of_user: impl FnOnce() -> Option<PathBuf>,
    kind: &str,
) -> Option<PathBuf> {
    match chosen.filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder).join(kind)),
        None => Some(of_user()?.join("auscult").join(kind)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_chosen_folder_wins_over_that_of_the_user() {
        let find = |chosen: Option<&str>, of_user: Option<&str>| {
            folder_in(chosen.map(OsString::from), || of_user.map(PathBuf::from), "features")
        };
        let user = Some("/home/me/.cache");
        assert_eq!(find(Some("/fast"), user).as_deref(), Some(Path::new("/fast/features")));
        let default = Path::new("/home/me/.cache/auscult/features");
        assert_eq!(find(None, user).as_deref(), Some(default));
        assert_eq!(find(Some(""), user).as_deref(), Some(default));
        assert_eq!(find(None, None), None);
    }
}
