//! The preset that options name, or that is meant where they name nothing.

use auscult::{FrontEndChoice, Learn, LearnMethod, Preset};

use super::unused::{OptionName, refuse};
use crate::args::{ComparingArguments, FrontEndArguments};

/// The preset to use; `None` where options choose a front end and a method themselves. The preset
/// `paper` is what these options change anyway.
pub(crate) fn chosen(
    preset: Option<Preset>,
    front_end: &FrontEndArguments,
    comparing: &ComparingArguments,
) -> anyhow::Result<Option<Preset>> {
    let own = own_options(front_end, comparing);
    let is_own = own.iter().any(|(_, given)| *given);
    match preset {
        None if is_own => Ok(None),
        None => Ok(Some(Preset::default())),
        Some(Preset::Paper) => Ok(None),
        Some(preset) => {
            refuse_beside(preset, front_end, comparing)?;
            Ok(Some(preset))
        }
    }
}

/// Refuses what a preset of several members says itself.
pub(crate) fn refuse_beside(
    preset: Preset,
    front_end: &FrontEndArguments,
    comparing: &ComparingArguments,
) -> anyhow::Result<()> {
    let why = format!(
        "cannot be given beside --preset {preset}, which chooses it; leave it out, or change it in --front-end '{}' \
         without --preset",
        preset.front_end()
    );
    refuse(&own_options(front_end, comparing), &why)
}

/// Options that a preset answers itself.
fn own_options(front_end: &FrontEndArguments, comparing: &ComparingArguments) -> Vec<OptionName> {
    let mut options = vec![
        ("--front-end", front_end.front_end.is_some()),
        ("--convention", front_end.convention.is_some()),
        ("--method", comparing.method.is_some()),
    ];
    options.extend(front_end.encoder.given().map(|option| (option, true)));
    let shared = |(option, _): &OptionName| *option != "--combine-members";
    options.extend(comparing.given().into_iter().filter(shared));
    options
}

/// Learning with a preset, and with what holds for all of its members.
pub(crate) fn apply(learn: Learn, comparing: &ComparingArguments) -> anyhow::Result<Learn> {
    let learn = Learn { front_end: FrontEndChoice::OfPreset, ..learn };
    if comparing.others.combine_members.is_none() {
        return Ok(learn);
    }
    let (made, usual, note) = learn.preset.build(&learn.front_ends, learn.clip.check()?)?;
    if let Some(note) = note {
        learn.control.report(auscult::Event::Note(&note));
    }
    let detector = comparing.detector_from(&usual, &*made)?;
    let (front_end, method) = (FrontEndChoice::Custom(made), LearnMethod::Compare(detector));
    Ok(Learn { front_end, method, ..learn })
}
