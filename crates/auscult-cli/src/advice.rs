//! What to do about an error: libraries say what is wrong, the program knows the options.

use std::io::ErrorKind;

use auscult::{Error, audio, autoencoder, beam::OptionConflict, core, encoders, fetch, files};

/// What to print of an error: each problem of a configuration in a line of its own, anything else in one.
pub(crate) fn lines(error: &anyhow::Error) -> Vec<String> {
    let of_site = |cause: &(dyn std::error::Error + 'static)| {
        let monitor = cause.downcast_ref::<auscult_monitor::Error>();
        let site = match monitor {
            Some(auscult_monitor::Error::Site(site)) => Some(site),
            _ => cause.downcast_ref::<auscult_monitor::site::SiteProblems>(),
        };
        site.map(|site| site.lines().collect())
    };
    error.chain().find_map(of_site).unwrap_or_else(|| vec![describe(error)])
}

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

/// What programs say that were built without training.
#[cfg(not(feature = "training"))]
pub(crate) const WITHOUT_TRAINING: &str = "this program was built without training; the packages have it, or build it \
    with: cargo build --release -p auscult-cli --features training";

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
    if let Some(error) = cause.downcast_ref::<fetch::Error>() {
        return of_fetch(error);
    }
    if let Some(error) = cause.downcast_ref::<auscult_eval::Error>() {
        return of_eval(error);
    }
    if let Some(error) = cause.downcast_ref::<auscult_server::ServeError>() {
        return of_server(error);
    }
    #[cfg(feature = "parquet")]
    if let Some(error) = cause.downcast_ref::<auscult_archive::Error>() {
        return of_archive(error);
    }
    #[cfg(feature = "training")]
    if let Some(error) = cause.downcast_ref::<auscult_finetune::Error>() {
        return of_finetune(error);
    }
    None
}

#[cfg(feature = "parquet")]
fn of_archive(error: &auscult_archive::Error) -> Option<String> {
    match error {
        auscult_archive::Error::Library(error) => of_library(error),
        auscult_archive::Error::OtherResults { .. } => {
            Some("--out names another folder, --replace writes these again".to_owned())
        }
        _ => None,
    }
}

fn of_server(error: &auscult_server::ServeError) -> Option<String> {
    use auscult_server::ServeError;
    let advice = match error {
        ServeError::Unguarded { .. } => {
            "add a user first: auscult serve user add NAME --role admin --data DIR (or a token for programs: auscult \
             serve token add NAME --scope push --data DIR), or stay on this computer: --listen 127.0.0.1:8080"
        }
        ServeError::Listen { .. } => "choose another address with --listen",
        _ => return None,
    };
    Some(advice.to_owned())
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
        Error::UnusedTableFile { .. } => "leave out --encoder",
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
        Error::SeveralRates { .. } | Error::RateOfLiveSound => "give --sample-rate HZ",
        Error::NoSources { problems } if problems.iter().any(has_no_paths) => {
            "give --samples-csv COLUMN@HZ, such as --samples-csv acceleration@25600, if it holds samples"
        }
        Error::NothingToLearn { .. } => {
            "record the machine while it runs; a clip needs half of --clip-seconds of sound (10 s if not given)"
        }
        Error::BudgetNotKept(_) => "or fit without --at-most",
        Error::NothingToForget(_) => "auscult inspect --references lists what there is",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn has_no_paths(problem: &audio::Error) -> bool {
    matches!(problem, audio::Error::NoPathColumn { .. })
}

fn of_core(error: &core::Error) -> Option<String> {
    let conflict = match error {
        core::Error::Setting { setting, .. } => return of_setting(setting),
        core::Error::Options(conflict) => conflict,
        _ => return None,
    };
    let advice = match conflict {
        OptionConflict::MethodNeedsTwoViews { .. } => "give --method beam",
        OptionConflict::FusionNeedsTwoViews { .. } => "leave out --fuse",
        OptionConflict::FusionWithBeam => "give --method adabeam or global, or leave out --fuse",
        OptionConflict::BandsOfMembers { .. } | OptionConflict::NoBands => {
            "leave out --band-width and --band-stride"
        }
        OptionConflict::OptionOfMembers { option, .. } => {
            return Some(format!("leave out --{}", option.replace('_', "-")));
        }
        OptionConflict::NoMembers { .. } => "leave out --combine-members",
        OptionConflict::AutoWithoutNeighbours => {
            "leave out --density-exponent auto or --neighbours 0"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Settings whose option has another name.
fn of_setting(setting: &str) -> Option<String> {
    let option = match setting {
        "clip length" => "--clip-seconds",
        "sample rate" => "--sample-rate",
        _ => return None,
    };
    Some(format!("see {option}"))
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
        encoders::Error::Core(error) => of_core(error),
        encoders::Error::Setting { setting, .. } => of_setting(setting),
        encoders::Error::NoWeights { name } => {
            let known = encoders::KnownEncoder::named(name)?;
            let (link, place) = match known.source {
                "" => (" --from LINK", " (auscult encoder list says where the link is)"),
                _ => ("", ""),
            };
            Some(format!(
                "auscult encoder pull {}{link} fetches them{place}, --encoder FILE names a file",
                known.name
            ))
        }
        encoders::Error::OtherWeights { .. } => Some("--encoder FILE names a file".to_owned()),
        _ => None,
    }
}

fn of_autoencoder(error: &autoencoder::Error) -> Option<String> {
    match error {
        autoencoder::Error::Core(error) => of_core(error),
        autoencoder::Error::Setting { setting, .. } => of_setting(setting),
        autoencoder::Error::Covariance { .. } => Some("or give --error-score mse".to_owned()),
        _ => None,
    }
}

fn of_fetch(error: &fetch::Error) -> Option<String> {
    match error {
        fetch::Error::Stopped { .. } => Some("run the same command again".to_owned()),
        fetch::Error::NotEncrypted { .. } => {
            Some("give an https address, or --insecure if you trust the network".to_owned())
        }
        fetch::Error::Unverified { .. } => {
            Some("--unverified takes what comes, and says its checksum".to_owned())
        }
        _ => None,
    }
}

fn of_eval(error: &auscult_eval::Error) -> Option<String> {
    let advice = match error {
        auscult_eval::Error::Core(error) => return of_core(error),
        auscult_eval::Error::Library(error) => return of_library(error),
        auscult_eval::Error::Fetch(error) => return of_fetch(error),
        auscult_eval::Error::Dataset { kind, .. } if kind == "data set" => "see --dataset",
        auscult_eval::Error::Unfinished { .. } => {
            "the command that started it, auscult bench run, goes on from there"
        }
        auscult_eval::Error::Run { path, .. }
            if !path.is_file() && !path.join("results.json").exists() =>
        {
            "name a folder that auscult bench run --out has written"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

#[cfg(feature = "training")]
fn of_finetune(error: &auscult_finetune::Error) -> Option<String> {
    let advice = match error {
        auscult_finetune::Error::Core(error) => return of_core(error),
        auscult_finetune::Error::Encoder(error) => return of_encoders(error),
        auscult_finetune::Error::Setting { setting, .. } => return of_setting(setting),
        auscult_finetune::Error::SmallClass { .. } => "--least-clips 1 allows classes of one clip",
        auscult_finetune::Error::NoGpuFeature => {
            "give --device cpu, or build auscult-cli with --features training-gpu"
        }
        auscult_finetune::Error::NoDevice { .. } => "--device cpu trains on the CPU",
        auscult_finetune::Error::Stopped => "the same command goes on from here",
        _ => return None,
    };
    Some(advice.to_owned())
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

    #[test]
    fn an_option_is_named_where_the_setting_has_another_name() {
        let setting = |setting| {
            let (allowed, got) = ("x".to_owned(), "y".to_owned());
            anyhow::Error::new(Error::Core(core::Error::Setting { setting, allowed, got }))
        };
        assert_eq!(
            describe(&setting("clip length")),
            "clip length must be x, got y; see --clip-seconds"
        );
        assert_eq!(
            describe(&setting("sample rate")),
            "sample rate must be x, got y; see --sample-rate"
        );
        assert_eq!(describe(&setting("folds")), "folds must be x, got y");
    }

    #[test]
    fn a_run_that_was_stopped_and_a_folder_without_one_have_a_way_out() {
        let path = || std::path::PathBuf::from("no/such/run");
        let stopped = anyhow::Error::new(auscult_eval::Error::Unfinished { path: path() });
        assert!(describe(&stopped).ends_with("auscult bench run, goes on from there"));
        let reason = "there is no results.json in it".to_owned();
        let other = anyhow::Error::new(auscult_eval::Error::Run { path: path(), reason });
        assert!(
            describe(&other).ends_with("; name a folder that auscult bench run --out has written")
        );
    }
}
