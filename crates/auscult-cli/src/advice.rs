//! What to do about an error: libraries say what is wrong, the program knows the options.

use std::io::ErrorKind;

use auscult::{Error, autoencoder, beam::OptionConflict, core, encoders, files};

/// The error with its causes in one line, and what to do next.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    let text = chain(error);
    match error.chain().find_map(advice) {
        Some(advice) if !text.contains(&advice) => format!("{text}; {advice}"),
        _ => text,
    }
}

/// An error and its causes; a cause its parent already quotes is not said twice.
fn chain(error: &anyhow::Error) -> String {
    let causes = error.chain().skip(1).map(ToString::to_string);
    causes.fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// The order of arguments that users mix up.
const ORDER: &str = "the model comes first, then the recordings";

fn advice(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<Error>() {
        return of_library(error);
    }
    if let Some(error) = cause.downcast_ref::<core::Error>() {
        return of_core(error);
    }
    if let Some(error) = cause.downcast_ref::<files::Error>() {
        return of_files(error);
    }
    if let Some(error) = cause.downcast_ref::<encoders::Error>() {
        return of_encoders(error);
    }
    if let Some(error) = cause.downcast_ref::<autoencoder::Error>() {
        return of_autoencoder(error);
    }
    None
}

fn of_library(error: &Error) -> Option<String> {
    let advice = match error {
        Error::Core(error) => return of_core(error),
        Error::Files(error) => return of_files(error),
        Error::Encoder(error) => return of_encoders(error),
        Error::Autoencoder(error) => return of_autoencoder(error),
        Error::FormOfOne { .. } => "give --neighbours 0",
        Error::ConventionInName { .. } | Error::ConventionOfSeveral => "see --convention",
        Error::LayerTwice { .. } => "see --layer and --convention",
        Error::NotAnEncoder { .. } => {
            "leave out --layer, --rows-per-band, --class-token and --precision"
        }
        Error::UnusedEncoderFile { name, .. } if name.starts_with("the model's") => {
            "leave out --encoder"
        }
        Error::UnusedEncoderFile { .. } => {
            "give --front-end ced, beats or eat, or leave out --encoder"
        }
        Error::UnknownDomain { .. } => {
            "domains come from auscult fit --domain, or a manifest column"
        }
        Error::LabelFolders { .. } => {
            "--label-folders use learns the normal ones, --label-folders ignore takes them as visits"
        }
        Error::BudgetNotKept(_) => "or fit without --at-most",
        Error::NothingToForget(_) => "auscult inspect --references lists what there is",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn of_core(error: &core::Error) -> Option<String> {
    let core::Error::Options(conflict) = error else { return None };
    let advice = match conflict {
        OptionConflict::MethodNeedsTwoViews { .. } => "give --method beam",
        OptionConflict::FusionNeedsTwoViews { .. } => "leave out --fuse",
        OptionConflict::FusionWithBeam => "give --method adabeam or global, or leave out --fuse",
        OptionConflict::BandsOfMembers { .. } | OptionConflict::NoBands => {
            "leave out --band-width and --band-stride"
        }
        OptionConflict::NoMembers { .. } => "leave out --combine-members",
        OptionConflict::AutoWithoutNeighbours => {
            "leave out --density-exponent auto or --neighbours 0"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

fn of_files(error: &files::Error) -> Option<String> {
    let advice = match error {
        files::Error::Read { source, .. } if source.kind() == ErrorKind::NotFound => {
            "check the path, or make a model with auscult fit".to_owned()
        }
        files::Error::Read { path, .. } if path.is_dir() => {
            format!("a folder is not a model file; {ORDER}")
        }
        files::Error::Model { source: core::Error::ForeignModel { .. }, .. } => {
            format!("{ORDER}; models are made by auscult fit")
        }
        _ => return None,
    };
    Some(advice)
}

fn of_encoders(error: &encoders::Error) -> Option<String> {
    match error {
        encoders::Error::NoWeights { name } => {
            let known = encoders::KnownEncoder::named(name)?;
            let from = if known.source.is_empty() { " --from LINK" } else { "" };
            Some(format!(
                "auscult encoder pull {}{from} fetches it, --encoder FILE names a file",
                known.name
            ))
        }
        _ => None,
    }
}

fn of_autoencoder(error: &autoencoder::Error) -> Option<String> {
    match error {
        autoencoder::Error::Covariance { .. } => Some("or give --error-score mse".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_twice() {
        let cause = || std::io::Error::other("disk on fire");
        let quoted = anyhow::Error::new(cause()).context("cannot write a: disk on fire; run");
        assert_eq!(describe(&quoted), "cannot write a: disk on fire; run");
        let plain = Err::<(), _>(cause()).context("cannot write b").unwrap_err();
        assert_eq!(describe(&plain), "cannot write b: disk on fire");
    }

    #[test]
    fn advice_follows_the_kind_of_error() {
        let error =
            anyhow::Error::new(Error::UnknownDomain { domain: "x".to_owned(), known: Vec::new() });
        assert!(describe(&error).ends_with("or a manifest column"), "{}", describe(&error));
    }
}
