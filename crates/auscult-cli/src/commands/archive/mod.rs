//! `auscult archive`: millions of clips on one machine.

mod fit;
mod plan;
mod score;

use std::num::NonZeroUsize;

use auscult::{Control, fetch::Encryption};
use auscult_archive::{Models, Plan, Settings, ShardScorer, Sound};

use crate::{
    Outcome,
    args::{ArchiveArguments, ArchiveCommand},
    context::Context,
};

pub(crate) fn run(command: &ArchiveCommand, context: &Context) -> anyhow::Result<Outcome> {
    match command {
        ArchiveCommand::Score(arguments) => score::run(arguments, context),
        ArchiveCommand::Plan(arguments) => plan::run(arguments, context),
        ArchiveCommand::Fit(arguments) => fit::run(arguments, context),
    }
}

/// What is scored, by what, and where it is.
struct Archive {
    plan: Plan,
    models: Models,
    settings: Settings,
    sound: Sound,
}

impl Archive {
    fn open(arguments: &ArchiveArguments, context: &Context) -> anyhow::Result<Self> {
        let models = Models::open(&arguments.model, &context.front_ends)?;
        let plan = Plan::read(&arguments.manifest, arguments.shard_clips)?;
        models.check(&plan)?;
        let encryption =
            if arguments.insecure { Encryption::NotRequired } else { Encryption::Required };
        let sound = Sound::beside(&arguments.manifest, encryption);
        let ArchiveArguments { channel, hop_seconds, .. } = *arguments;
        Ok(Self { plan, models, settings: Settings { channel, hop_seconds }, sound })
    }
}

impl Archive {
    fn scorer<'a>(&'a self, control: &'a Control) -> ShardScorer<'a> {
        let Self { models, settings, sound, .. } = self;
        ShardScorer { models, settings, sound, jobs: jobs(), control }
    }
}

/// Threads to use.
fn jobs() -> NonZeroUsize {
    NonZeroUsize::new(rayon::current_num_threads()).unwrap_or(NonZeroUsize::MIN)
}
