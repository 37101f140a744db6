//! The encoders that a protocol has trained before it scores.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use auscult::{ClipLength, FrontEnd, FrontEnds};
use auscult_eval::{
    datasets::Dataset, fine_tuning::FineTuning, given::GivenFrontEnd, protocol::Protocol,
    run::FrontEndName,
};

use super::opening;
#[cfg(feature = "training")]
use crate::training::train;
use crate::{args::RunArguments, context::Context};

/// The encoders of one data set, by their seeds, or why there are none.
pub(super) struct Trained<'a> {
    fine_tuning: Option<&'a FineTuning>,
    dataset: String,
    encoders: Result<BTreeMap<u64, PathBuf>, String>,
    others: &'a FrontEnds,
}

impl<'a> Trained<'a> {
    /// Trains what the protocol has trained for a data set; goes on where an earlier run was stopped. `None` if
    /// this one was.
    pub(super) fn of(
        protocol: &'a Protocol,
        dataset: &Dataset,
        arguments: &RunArguments,
        context: &'a Context,
    ) -> anyhow::Result<Option<Self>> {
        let encoders = match &protocol.fine_tuning {
            None => Ok(BTreeMap::new()),
            Some(fine_tuning) => {
                let found = train(fine_tuning, protocol, dataset, &arguments.out, context)?;
                let Some(found) = found else { return Ok(None) };
                found
            }
        };
        let (fine_tuning, others) = (protocol.fine_tuning.as_ref(), &context.front_ends);
        Ok(Some(Self { fine_tuning, dataset: dataset.kind.to_string(), encoders, others }))
    }

    /// What results call a front end that was trained for one data set.
    pub(super) fn called(&self, name: &str) -> String {
        match FineTuning::seed_of(name) {
            Some(_) => format!("{name} ({})", self.dataset),
            None => name.to_owned(),
        }
    }

    /// A front end: one that was trained, or any other.
    pub(super) fn front_end(
        &self,
        name: &FrontEndName,
        length: ClipLength,
        own: Option<&GivenFrontEnd>,
    ) -> Result<Arc<dyn FrontEnd>, String> {
        let trial = FineTuning::seed_of(&name.name).zip(self.fine_tuning);
        let Some((seed, fine_tuning)) = trial else {
            return opening::front_end(name, length, self.others, own);
        };
        let encoders = self.encoders.as_ref().map_err(Clone::clone)?;
        let file = encoders.get(&seed).ok_or_else(|| format!("no encoder of seed {seed}"))?;
        let layer = fine_tuning.layer_for.get(&self.dataset).cloned();
        let trained = FrontEndName {
            name: fine_tuning.encoder.clone(),
            convention: layer.or_else(|| name.convention.clone()),
            precision: name.precision,
        };
        opening::front_end(&trained, length, &FrontEnds::with_encoder_file(file), None)
    }
}

/// Why nothing is trained.
#[cfg(not(feature = "training"))]
#[expect(clippy::unnecessary_wraps, reason = "as the one that trains")]
fn train(
    _: &FineTuning,
    _: &Protocol,
    _: &Dataset,
    _: &std::path::Path,
    _: &Context,
) -> anyhow::Result<Option<Result<BTreeMap<u64, PathBuf>, String>>> {
    Ok(Some(Err(crate::advice::WITHOUT_TRAINING.to_owned())))
}
