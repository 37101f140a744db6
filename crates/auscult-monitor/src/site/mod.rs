//! 1. The configuration: which machines are watched, how, and who is told.
//!
//! What is written ([`file`](self)) and what is run ([`Site`]) are different types; nothing runs unchecked.

mod added;
mod check;
mod file;
mod units;

use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use auscult::{
    Preset,
    alarm::{AlarmBudget, AlarmSettings},
};

pub(crate) use self::check::host_and_port;
pub use self::{
    added::{ADDED_FILE, Added},
    file::{
        EmailFile, HistoryFile, Keep, LearnFile, MailTls, MqttFile, MqttVersion, NEWS, RunningFile,
        SampleFormat, ServerFile, StartRule, Template, VisitRule, WebhookFile,
    },
    units::{Bytes, Seconds},
};
use crate::error::Error;

/// The version of the configuration's form.
pub const SITE_SCHEMA: u32 = 1;

/// A commented configuration to begin with.
pub const TEMPLATE: &str = include_str!("template.toml");

/// A checked configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// What the site is called.
    pub name: String,
    /// Where people reach the pages, for links in messages; without a slash at its end.
    pub public_url: Option<String>,
    /// The machines, in the order they were written.
    pub machines: Vec<MachineSpec>,
    /// What is kept, and for how long.
    pub history: HistoryFile,
    /// How the service is reached.
    pub server: ServerFile,
    /// The broker, if there is one.
    pub mqtt: Option<MqttFile>,
    /// Web addresses that are told.
    pub webhooks: Vec<WebhookFile>,
    /// Mail servers and who is told through them.
    pub emails: Vec<EmailFile>,
}

/// One machine to watch.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSpec {
    /// Its name, safe in file names and topics.
    pub name: String,
    /// Its model; without one it is learnt.
    pub model: Option<PathBuf>,
    /// Models of operating states that a tag names.
    pub states: BTreeMap<String, PathBuf>,
    /// Where its sound comes from.
    pub source: SourceSpec,
    /// Which channel of it, from 1.
    pub channel: u16,
    /// How it is learnt.
    pub learn: LearnFile,
    /// What it is learnt with.
    pub preset: Preset,
    /// Length of the clips it is learnt from.
    pub clip_seconds: f64,
    /// Time from one clip to the next, in seconds, where there are pauses in the sound; alarm budgets are planned for it.
    pub every: Option<f64>,
    /// How many false alarms are acceptable; without a word and without a rule the monitor aims at one a month.
    pub budget: Option<AlarmBudget>,
    /// When an alarm is raised, where the configuration says so; otherwise the model's own rule.
    pub alarm: Option<AlarmSettings>,
    /// How often an alarm that nobody has acknowledged is told again.
    pub remind: Option<f64>,
    /// Without sound for longer than this there is no data.
    pub no_data_after: f64,
    /// How it is known whether it runs.
    pub running: Option<RunningFile>,
    /// Which sound is written to disk.
    pub keep: Keep,
    /// How much sound before an alarm is kept with it.
    pub ring_seconds: f64,
}

impl MachineSpec {
    /// The files of its models: the one for all operating states, and those of single ones.
    pub fn models(&self) -> impl Iterator<Item = &PathBuf> {
        self.model.iter().chain(self.states.values())
    }
}

/// Where sound comes from; machines with the same source share it, a channel each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceSpec {
    /// A folder that recordings are put into.
    Folder {
        /// The folder.
        path: PathBuf,
        /// Look this often, in milliseconds, instead of being told by the system: for network shares.
        poll_milliseconds: Option<u64>,
    },
    /// Raw samples from whoever connects.
    Tcp {
        /// Where to listen.
        address: SocketAddr,
        /// How samples are written.
        pcm: Pcm,
    },
    /// Raw samples on standard input.
    Stdin {
        /// How samples are written.
        pcm: Pcm,
    },
    /// A microphone of this computer.
    #[cfg(feature = "microphone")]
    Microphone {
        /// Its name; the default one if empty.
        device: String,
        /// Samples a second; the device's own if not given.
        sample_rate: Option<u32>,
    },
    /// The sound of a camera or a recorder on the network.
    #[cfg(feature = "rtsp")]
    Rtsp {
        /// Its address.
        url: String,
    },
    /// A synthetic machine of the demonstration, by its place in the plant.
    Plant {
        /// Which one.
        index: usize,
    },
    /// Whoever pushes sound into the running process.
    Push,
}

/// How raw samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pcm {
    /// Samples a second.
    pub sample_rate: u32,
    /// Interleaved channels.
    pub channels: u16,
    /// Bytes of one sample, and what they mean.
    pub format: SampleFormat,
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { path, .. } => write!(formatter, "folder {}", path.display()),
            Self::Tcp { address, .. } => write!(formatter, "tcp {address}"),
            Self::Stdin { .. } => write!(formatter, "standard input"),
            #[cfg(feature = "microphone")]
            Self::Microphone { device, .. } if device.is_empty() => {
                write!(formatter, "the default microphone")
            }
            #[cfg(feature = "microphone")]
            Self::Microphone { device, .. } => write!(formatter, "microphone {device}"),
            // Addresses of cameras hold passwords.
            #[cfg(feature = "rtsp")]
            Self::Rtsp { url } => write!(formatter, "rtsp {}", without_password(url)),
            Self::Plant { index } => write!(formatter, "synthetic machine {index}"),
            Self::Push => write!(formatter, "pushed sound"),
        }
    }
}

/// An address without who logs in.
pub fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}{}", &url[..scheme + 3], &url[at + 1..])
        }
        _ => url.to_owned(),
    }
}

/// What is wrong with a configuration: one line a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteProblems {
    /// The file.
    pub path: PathBuf,
    /// Each problem with its line, if it has one.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong, the value, and what is allowed.
    pub text: String,
}

impl SiteProblems {
    /// One line a problem.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let path = self.path.display();
        self.problems.iter().map(move |problem| match problem.line {
            Some(line) => format!("{path}:{line}: {}", problem.text),
            None => format!("{path}: {}", problem.text),
        })
    }
}

impl fmt::Display for SiteProblems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.lines().collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for SiteProblems {}

impl SiteProblems {
    /// A model that cannot be used is a problem of the line that names it.
    pub(crate) fn of_model(path: &Path, error: &Error) -> Option<Self> {
        let (machine, key) = match error {
            Error::Model { machine, .. } => (machine, "model"),
            Error::Promise { machine, .. } => (machine, "alarms"),
            _ => return None,
        };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = check::line_of(&text, machine, key);
        let problems = vec![Problem { line, text: error.to_string() }];
        Some(Self { path: path.to_owned(), problems })
    }
}

/// Larger files are not configurations.
const MOST_BYTES: u64 = 4 << 20;

impl Site {
    /// Reads and checks a configuration; paths in it are relative to its folder.
    ///
    /// # Errors
    ///
    /// Every problem with its line.
    pub fn read(path: &Path) -> Result<Self, SiteProblems> {
        let fail = |text: String| SiteProblems {
            path: path.to_owned(),
            problems: vec![Problem { line: None, text }],
        };
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                fail("is not there; auscult watch --init writes a configuration".to_owned())
            }
            std::io::ErrorKind::InvalidData => {
                fail("is not text in UTF-8; save it as UTF-8".to_owned())
            }
            _ => fail(error.to_string()),
        };
        let facts = std::fs::metadata(path).map_err(failed)?;
        if !facts.is_file() || facts.len() > MOST_BYTES {
            return Err(fail("is not a configuration: not a file of at most 4 MiB".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        Self::parse(&text, path)
    }

    /// Checks a configuration that is in memory; `path` is where it is, or would be.
    ///
    /// # Errors
    ///
    /// Every problem with its line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SiteProblems> {
        check::check(text, path)
    }

    /// The machine of this name.
    pub fn machine(&self, name: &str) -> Option<&MachineSpec> {
        self.machines.iter().find(|machine| machine.name == name)
    }
}

/// Whether a name is safe in file names, topics and addresses.
pub fn is_safe_name(name: &str) -> bool {
    let is_safe =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(is_safe) && !name.starts_with(['.', '-'])
}
