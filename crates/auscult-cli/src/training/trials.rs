//! The encoders that a protocol has trained, one a seed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use auscult_eval::{datasets::Dataset, fine_tuning::FineTuning, protocol::Protocol};
use auscult_finetune::{
    ClipOrigin, Compute, FinetuneSettings, Finetuned, RunEvent, RunPlace, finetune,
};

use super::Labelled;
use crate::{advice::describe, context::Context};

/// Trains the encoders of a protocol on a data set, in folders below `out`, or goes on where that was stopped: their
/// files by seed, or why there can be none. `None` if it was stopped.
pub(crate) fn train(
    fine_tuning: &FineTuning,
    protocol: &Protocol,
    dataset: &Dataset,
    out: &Path,
    context: &Context,
) -> anyhow::Result<Option<Result<BTreeMap<u64, PathBuf>, String>>> {
    let kind = dataset.kind.to_string();
    let checkpoint = match context.front_ends.encoders().checkpoint(&fine_tuning.encoder) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return Ok(Some(Err(describe(&error.into())))),
    };
    let origin = ClipOrigin { channel: protocol.channel.clone(), ..ClipOrigin::default() };
    let clips = Labelled::of(dataset, fine_tuning.labels(&kind), protocol.clip(), origin)?;
    let mut encoders = BTreeMap::new();
    for &seed in &fine_tuning.seeds {
        let settings = settings(fine_tuning, &kind, seed)?;
        let folder = out.join("encoders").join(&kind).join(format!("seed-{seed}"));
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let place =
            RunPlace { folder, clip: protocol.clip(), at_most: None, compute: Compute::Cpu };
        let printer = &context.printer;
        printer.start_bar(settings.steps, "steps", &format!("{kind}, encoder of seed {seed}"));
        let done = finetune(&checkpoint, &clips, &settings, &place, &mut |event| {
            if let RunEvent::Step(facts) = event {
                printer.move_bar(facts.step, format!("loss {:.3}", facts.loss));
            }
            context.control().flow()
        });
        printer.end_bar();
        let Finetuned { is_complete, encoder, .. } =
            done.with_context(|| format!("training on {kind} with seed {seed}"))?;
        if !is_complete {
            return Ok(None);
        }
        encoders.insert(seed, encoder);
    }
    Ok(Some(Ok(encoders)))
}

/// The recipe, with what the protocol says in its place.
fn settings(fine_tuning: &FineTuning, kind: &str, seed: u64) -> anyhow::Result<FinetuneSettings> {
    let given = serde_json::to_value(fine_tuning.settings(kind))?;
    let settings: FinetuneSettings = serde_json::from_value(given)
        .context("fine_tuning.settings has the names that settings.json of a training has")?;
    let settings = FinetuneSettings { seed, ..settings };
    settings.check()?;
    Ok(settings)
}
