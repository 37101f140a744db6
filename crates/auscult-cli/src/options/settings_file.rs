//! The settings file that `auscult tune` writes, and above it what was typed.

use std::path::Path;

use anyhow::Context;
use auscult::{FrontEndChoice, FrontEndSpec, FrontEnds, Learn, LearnMethod, tuning::TunedSettings};

use crate::args::FitArguments;

/// A settings file is a page of text.
const LARGEST_BYTES: u64 = 1 << 20;

const ADVICE: &str = "settings files are written by auscult tune";

pub(crate) fn load(path: &Path, front_ends: &FrontEnds) -> anyhow::Result<TunedSettings> {
    let name = path.display();
    let text = auscult::files::read_text_at_most(path, LARGEST_BYTES)
        .with_context(|| format!("cannot read settings from {name}; {ADVICE}"))?;
    TunedSettings::from_json(&text, &front_ends.registry())
        .with_context(|| format!("{name} does not hold settings; {ADVICE}"))
}

/// Refuses to write settings over anything that never was a settings file.
pub(crate) fn check_target(path: &Path) -> anyhow::Result<()> {
    auscult::files::check_target(path)?;
    let Ok(found) = path.metadata() else { return Ok(()) };
    let is_settings = auscult::files::read_text_at_most(path, LARGEST_BYTES)
        .is_ok_and(|text| TunedSettings::parse(&text).is_ok());
    anyhow::ensure!(
        is_settings || found.len() == 0,
        "{} exists and is not a settings file; give another file after -o, or remove it first",
        path.display()
    );
    Ok(())
}

/// The file's settings with what was typed in their place.
pub(crate) fn apply(
    file: &TunedSettings,
    arguments: &FitArguments,
    front_ends: &FrontEnds,
    learn: Learn,
) -> anyhow::Result<Learn> {
    let typed = &arguments.front_end;
    let clip = typed.clip_of(&arguments.input, file.clip)?;
    let own = &file.front_end;
    let front_end = match (&typed.front_end, &typed.convention) {
        (Some(_), _) => typed.build_spec(&typed.spec(), clip, front_ends)?,
        (None, convention) => {
            front_ends.refuse_unused_file(&own.name, &own.name)?;
            if convention.is_some() {
                let spec = FrontEndSpec { name: own.name.clone(), ..typed.spec() };
                typed.build_spec(&spec, clip, front_ends)?
            } else if let Some(option) = typed.encoder.given() {
                anyhow::bail!(
                    "the settings are for {own}, and {option} would change it; leave it out, or give --front-end too"
                );
            } else {
                file.front_end(&front_ends.registry(), clip.check()?)?
            }
        }
    };
    let is_other = typed.front_end.is_some();
    let detector = arguments.comparing.detector_over(&file.detector, is_other, &*front_end)?;
    let channel = match typed.channel {
        Some(channel) => channel,
        None => file.channel.parse()?,
    };
    let front_end = FrontEndChoice::Custom(front_end);
    Ok(Learn { clip, channel, front_end, method: LearnMethod::Compare(detector), ..learn })
}
