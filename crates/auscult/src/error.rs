//! One error type at the library's door.

use auscult_core::{ClipCondition, alarm::BudgetPlan, plural};

/// The result of any fallible operation of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// How many recordings have a sample rate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateCount {
    /// The rate, in Hz.
    pub rate: u32,
    /// How many have it.
    pub files: usize,
    /// The first of them.
    pub example: String,
}

/// Rates that a message lists.
const MOST_RATES: usize = 6;

fn listed_rates(rates: &[RateCount]) -> String {
    let rate = |RateCount { rate, files, example }: &RateCount| {
        format!("{rate} Hz ({}, such as {example})", plural(*files, "recording"))
    };
    let mut listed: Vec<String> = rates.iter().take(MOST_RATES).map(rate).collect();
    if rates.len() > MOST_RATES {
        listed.push(format!("and {} more", rates.len() - MOST_RATES));
    }
    listed.join(", ")
}

/// Why an operation of this library failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The method refused: a setting, a model, vectors.
    #[error(transparent)]
    Core(#[from] auscult_core::Error),
    /// Sound could not be found, read or cut.
    #[error(transparent)]
    Audio(#[from] auscult_audio::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] auscult_files::Error),
    /// An encoder could not be used.
    #[error(transparent)]
    Encoder(#[from] auscult_encoders::Error),
    /// An autoencoder could not be trained or used.
    #[error(transparent)]
    Autoencoder(#[from] auscult_autoencoder::Error),
    /// Settings could not be chosen.
    #[error(transparent)]
    Tuning(#[from] crate::tuning::Error),
    /// A recording, or the rest of it, could not be read.
    #[error("{0}")]
    Unread(String),
    /// None of the inputs holds sound.
    #[error("no sound to read; name recordings, folders with recordings, or a manifest{}", listed(.problems))]
    NoSources {
        /// What is wrong with each input.
        problems: Vec<auscult_audio::Error>,
    },
    /// Recordings have different sample rates, and the one they have was asked for.
    #[error("the recordings have several sample rates: {}; choose one for all of them", listed_rates(.rates))]
    SeveralRates {
        /// The rates, from the lowest to the highest.
        rates: Vec<RateCount>,
    },
    /// The sample rate of live sound was asked for.
    #[error("the sample rate of live sound is not known before it is read; state one")]
    RateOfLiveSound,
    /// A manifest keeps everything for testing.
    #[error(
        "the manifest keeps every recording for testing; set split to train for recordings to learn from"
    )]
    AllForTesting,
    /// Nothing is labelled as normal.
    #[error("no recording is labelled as normal; name normal ones")]
    NoneNormal,
    /// Folder names look like labels, and nobody said whether they are.
    #[error(
        "the folders {} look like labels; say whether they are, so that faults are not learnt as normal",
        .folders.join(", ")
    )]
    LabelFolders {
        /// Their names.
        folders: Vec<String>,
    },
    /// Not one clip can be learnt from.
    #[error("no usable clip in {files} {}: nothing to learn from",
        if *.files == 1 { "file" } else { "files" })]
    NothingToLearn {
        /// Files that were read.
        files: usize,
    },
    /// No alarm rule keeps the budget.
    #[error("no alarm rule keeps the budget of {} yet; allow more alarms or record more visits", .0.budget)]
    BudgetNotKept(Box<BudgetPlan>),
    /// A model has no references of a domain.
    #[error("no references of domain {domain:?}; {}", known_domains(.known))]
    UnknownDomain {
        /// The domain that was named.
        domain: String,
        /// Those that the model knows.
        known: Vec<String>,
    },
    /// A front end has a name that nobody knows.
    #[error(
        "unknown front end {name:?}; known: {known}; ced, beats and eat are short for the first of their kind, and \
         + joins several"
    )]
    UnknownFrontEnd {
        /// The name.
        name: String,
        /// The known ones.
        known: String,
    },
    /// The model was made with a function that nobody has given.
    #[error(
        "the model's front end is {front_end}, a function that is not in the model; open it from Python, where the \
         function is given with it: Machine.open(path, front_end=function)"
    )]
    FunctionNeeded {
        /// The front end, with the function's name.
        front_end: String,
    },
    /// A member of an ensemble is written wrongly.
    #[error("{member}: {reason}")]
    Member {
        /// The member.
        member: String,
        /// What is wrong.
        reason: String,
    },
    /// A normalisation was given to a front end that stands alone.
    #[error(
        "{name}: @raw and @ldn are for members, where + joins several, such as ced@raw+ced@ldn; one front end \
         compares plain distances with 0 neighbours"
    )]
    FormOfOne {
        /// The front end.
        name: String,
    },
    /// One convention was given to several front ends.
    #[error(
        "a convention is for one front end; give that of a member after a colon, such as ced+mfcc:librosa"
    )]
    ConventionOfSeveral,
    /// A convention stands in the name of a single front end.
    #[error(
        "{name}: a convention follows a colon only where + joins several front ends; give it as the convention"
    )]
    ConventionInName {
        /// The name.
        name: String,
    },
    /// The layer of an encoder was given twice.
    #[error(
        "the layers and the convention {convention} both name the layer of {name}; leave one out"
    )]
    LayerTwice {
        /// The encoder.
        name: String,
        /// The convention.
        convention: String,
    },
    /// A convention that an encoder does not have.
    #[error("{name} has no convention {convention:?}; its forms are layers, such as layer-6")]
    NotALayer {
        /// The encoder.
        name: String,
        /// The convention.
        convention: String,
    },
    /// Layers, rows, class token or precision for something that is not an encoder.
    #[error(
        "layers, rows, class token and precision are for encoders (ced, beats, eat); {name} is not an encoder"
    )]
    NotAnEncoder {
        /// The front end.
        name: String,
    },
    /// Weights of an encoder were given beside others, and nothing takes them.
    #[error("the weights in {} have no effect: no front end here is an encoder of their kind and size", file.display())]
    UnusedTableFile {
        /// The file with weights.
        file: std::path::PathBuf,
    },
    /// Weights of an encoder were given, and nothing has one.
    #[error("the weights in {} have no effect: {name} is not an encoder", file.display())]
    UnusedEncoderFile {
        /// The file with weights.
        file: std::path::PathBuf,
        /// The front end.
        name: String,
    },
    /// One clip was longer than the clips of the model.
    #[error(
        "{got} samples are more than a clip of this model, {expected}; cut the sound into clips, or push it through live()"
    )]
    LongClip {
        /// Samples given.
        got: usize,
        /// Samples of a clip.
        expected: usize,
    },
    /// A clip cannot be used.
    #[error("{0}")]
    Unusable(ClipCondition),
    /// What is to be forgotten is not there.
    #[error("no reference {0}; nothing was changed")]
    NothingToForget(String),
    /// Nothing would be left in memory.
    #[error("nothing would be left in memory; delete the model instead")]
    NothingLeft,
    /// Threads could not be started.
    #[error("cannot start {jobs} threads: {reason}")]
    Threads {
        /// How many.
        jobs: usize,
        /// Why.
        reason: String,
    },
    /// Recordings that are read twice came as a stream.
    #[error("tuning reads its recordings twice and cannot take standard input; name files")]
    ReadTwice,
    /// A stop was asked for.
    #[error("stopped before everything was read")]
    Cancelled,
}

fn listed(problems: &[auscult_audio::Error]) -> String {
    let problems: Vec<String> = problems.iter().map(|problem| format!("; {problem}")).collect();
    problems.concat()
}

fn known_domains(known: &[String]) -> String {
    match known {
        [] => "the model knows no domains".to_owned(),
        known => format!("the model knows {}", known.join(", ")),
    }
}
