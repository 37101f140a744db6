//! `auscult cache`, and where commands that hear the same clips again keep vectors.

use std::{path::PathBuf, sync::Arc};

use auscult::VectorCache;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Encoders take most of the time of fit, tune and bench. These three keep the vectors of clips they have
computed and take them from here when the same clip comes again. What is scored is never kept.")]
pub(crate) enum CacheCommand {
    /// Say where the cache is, what is in it, and how large it may become.
    Show(CacheArguments),
    /// Empty it. Nothing is lost but time.
    Clear(CacheArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CacheArguments {
    /// Another cache than the user's.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where vectors are kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct KeepingArguments {
    /// Where the vectors of encoders are kept, by the samples of each clip; a folder of the user's
    /// cache if not given.
    #[arg(long, value_name = "FOLDER", help_heading = None)]
    #[arg(hide_short_help = true)]
    pub(crate) cache: Option<PathBuf>,

    /// Keep no vectors, and use none that were kept.
    #[arg(long, help_heading = None, conflicts_with = "cache")]
    #[arg(hide_short_help = true)]
    pub(crate) no_cache: bool,
}

impl KeepingArguments {
    /// The cache; `None` if there is to be none, or the user has no folder for it.
    pub(crate) fn cache(&self) -> anyhow::Result<Option<Arc<VectorCache>>> {
        if self.no_cache {
            return Ok(None);
        }
        if let Some(folder) = &self.cache {
            let is_usable = folder.is_dir() || !folder.exists();
            anyhow::ensure!(is_usable, "--cache {}: not a folder", folder.display());
        }
        let named = self.cache.clone().map(VectorCache::new);
        Ok(named.or_else(VectorCache::of_user).map(Arc::new))
    }
}
