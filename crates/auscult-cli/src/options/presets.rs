//! The preset that options name, or that is meant where they name nothing.

use auscult::{FrontEndChoice, FrontEnds, Learn, LearnMethod, Preset, members::MemberSpec};

use super::unused::{OptionName, refuse};
use crate::args::{ComparingArguments, FrontEndArguments};

/// The preset to use; `None` where options choose a front end and a method themselves.
pub(crate) fn chosen(
    preset: Option<Preset>,
    front_end: &FrontEndArguments,
    comparing: &ComparingArguments,
) -> Option<Preset> {
    let is_own = own_options(front_end, comparing).iter().any(|(_, given)| *given);
    preset.or_else(|| (!is_own).then(Preset::default))
}

/// Refuses what a preset says itself, unless it is said of a member by name.
pub(crate) fn refuse_beside(
    preset: Preset,
    front_end: &FrontEndArguments,
    comparing: &ComparingArguments,
) -> anyhow::Result<()> {
    let example = if preset == Preset::Paper { "log-mel" } else { "modulation" };
    let why = format!(
        "cannot be given beside --preset {preset}, which chooses it; leave it out, name the member it is for \
         (--front-end '{example}(neighbours=5)'), or write the whole preset without --preset: --front-end '{}'",
        preset.front_end()
    );
    let mut own = own_options(front_end, comparing);
    if names_members(front_end)? {
        own.retain(|(option, _)| *option != "--front-end");
    }
    refuse(&own, &why)
}

/// Refuses a file with weights beside a preset.
pub(crate) fn refuse_weights(preset: Preset, front_ends: &FrontEnds) -> anyhow::Result<()> {
    anyhow::ensure!(
        front_ends.refuse_unused_file("", "").is_ok(),
        "--encoder cannot be given beside --preset {preset}: other weights are another system; leave it out"
    );
    Ok(())
}

/// Whether `--front-end` says something about members, and nothing else.
fn names_members(front_end: &FrontEndArguments) -> auscult::Result<bool> {
    let Some(text) = &front_end.front_end else { return Ok(false) };
    Ok(MemberSpec::parse_all(text)?.iter().all(|member| member.options.is_some()))
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

/// Learning with a preset, with what is said of its members, and with what holds for all of them.
pub(crate) fn apply(
    learn: Learn,
    front_end: &FrontEndArguments,
    comparing: &ComparingArguments,
) -> anyhow::Result<Learn> {
    let learn = Learn { front_end: FrontEndChoice::OfPreset, ..learn };
    let changes = front_end.front_end.as_deref();
    if changes.is_none() && comparing.others.combine_members.is_none() {
        return Ok(learn);
    }
    let (preset, front_ends, length) = (learn.preset, &learn.front_ends, learn.clip.check()?);
    let (made, usual, note) = match changes {
        Some(changes) => preset.build_with(changes, front_ends, length)?,
        None => preset.build(front_ends, length)?,
    };
    if let Some(note) = note {
        learn.control.report(auscult::Event::Note(&note));
    }
    let detector = comparing.detector_from(&usual, &*made)?;
    detector.clone().check(made.axis().len())?;
    let (front_end, method) = (FrontEndChoice::Custom(made), LearnMethod::Compare(detector));
    Ok(Learn { front_end, method, ..learn })
}
