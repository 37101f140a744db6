//! The configuration as it is written: one struct a table, every key with its default.

use std::{collections::BTreeMap, path::PathBuf};

use auscult::{
    Preset,
    alarm::{AlarmBudget, Latch},
};
use serde::Deserialize;
use toml::Spanned;

use super::units::{Bytes, Seconds};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SiteFile {
    pub(super) schema: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) site: Option<Spanned<String>>,
    pub(super) public_url: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) machine: Vec<Spanned<MachineFile>>,
    #[serde(default)]
    pub(super) history: HistoryFile,
    pub(super) server: Option<Spanned<ServerFile>>,
    pub(super) mqtt: Option<Spanned<MqttFile>>,
    #[serde(default)]
    pub(super) webhook: Vec<Spanned<WebhookFile>>,
    #[serde(default)]
    pub(super) email: Vec<Spanned<EmailFile>>,
}

/// One `[[machine]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineFile {
    pub(super) name: Spanned<String>,
    pub(super) model: Option<PathBuf>,
    #[serde(default)]
    pub(super) states: BTreeMap<String, PathBuf>,

    pub(super) folder: Option<Spanned<PathBuf>>,
    pub(super) poll: Option<Seconds>,
    pub(super) tcp: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) stdin: bool,
    pub(super) microphone: Option<Spanned<String>>,
    pub(super) rtsp: Option<Spanned<String>>,
    pub(super) sample_rate: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) format: SampleFormat,
    pub(super) channels: Option<Spanned<u16>>,
    pub(super) channel: Option<Spanned<u16>>,

    pub(super) preset: Option<Spanned<String>>,
    pub(super) clip: Option<Spanned<Seconds>>,
    pub(super) every: Option<Spanned<Seconds>>,
    pub(super) learn: Option<LearnFile>,

    pub(super) alarms: Option<Spanned<AlarmBudget>>,
    pub(super) alarm: Option<Spanned<AlarmFile>>,
    pub(super) no_data_after: Option<Spanned<Seconds>>,
    pub(super) running: Option<RunningFile>,

    #[serde(default)]
    pub(super) keep: Keep,
    pub(super) ring: Option<Seconds>,
}

/// How raw samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleFormat {
    /// 16-bit integers, little-endian.
    #[default]
    S16le,
    /// 24-bit integers in three bytes, little-endian.
    S24le,
    /// 32-bit integers, little-endian.
    S32le,
    /// 32-bit floating point, little-endian.
    F32le,
}

/// Which sound is ever written to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// None at all: the ring and what is being learnt from stay in memory.
    None,
    /// What a machine is learnt from, and the sound around alarms.
    #[default]
    Alarms,
    /// Every clip.
    All,
}

/// How a machine without a model is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnFile {
    /// Visits to wait for.
    pub visits: usize,
    /// Usable clips to wait for.
    pub clips: usize,
    /// What separates visits.
    pub visit: VisitRule,
    /// A pause this long begins a new visit.
    pub gap: Seconds,
    /// Whether watching begins by itself.
    pub start: StartRule,
}

impl Default for LearnFile {
    fn default() -> Self {
        Self {
            visits: 5,
            clips: 100,
            visit: VisitRule::Gap,
            gap: Seconds(1_800.0),
            start: StartRule::Itself,
        }
    }
}

/// What separates one visit from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VisitRule {
    /// A pause in the sound.
    Gap,
    /// Midnight, in UTC.
    Day,
    /// `auscult watch learn NAME`.
    Button,
}

/// When watching begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum StartRule {
    /// When there are enough visits and clips.
    #[serde(rename = "by-itself")]
    Itself,
    /// When somebody says so.
    #[serde(rename = "on-command")]
    Command,
}

/// When an alarm is raised.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlarmFile {
    pub(super) raise: Option<usize>,
    pub(super) window: Option<Window>,
    pub(super) clear: Option<usize>,
    pub(super) on_delay: Option<Seconds>,
    pub(super) off_delay: Option<Seconds>,
    pub(super) latch: Option<Latch>,
    pub(super) remind: Option<Seconds>,
}

/// A window of an alarm: a number of clips, or a length of time.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Window {
    Clips(usize),
    Time(String),
}

/// How it is known whether the machine runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningFile {
    /// Quieter clips are of a machine that does not run.
    pub above_dbfs: Option<f64>,
    /// An MQTT topic whose messages name the operating state: a state, `on` or `off`.
    pub topic: Option<String>,
}

/// What is kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HistoryFile {
    /// Every clip is kept for this long, then minutes.
    pub clips: Seconds,
    /// Minutes are kept for this long, then hours.
    pub minutes: Seconds,
    /// Hours are kept for this long, then days, for ever.
    pub hours: Seconds,
    /// The database may take this much room; beyond it clips are thinned out earlier.
    pub budget: Bytes,
    /// The sound on disk may take this much room.
    pub sound: Bytes,
}

impl Default for HistoryFile {
    fn default() -> Self {
        Self {
            clips: Seconds(7.0 * 86_400.0),
            minutes: Seconds(60.0 * 86_400.0),
            hours: Seconds(800.0 * 86_400.0),
            budget: Bytes(4_000_000_000),
            sound: Bytes(10_000_000_000),
        }
    }
}

/// The service: what cannot be said where it is started.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerFile {
    /// Names that people reach it by, beside localhost and addresses.
    pub hosts: Vec<String>,
    /// A file with the certificates of the server, its own first.
    pub tls_certificate: Option<PathBuf>,
    /// A file with the key of its own certificate.
    pub tls_key: Option<PathBuf>,
    /// Addresses of proxies whose headers are believed.
    pub trusted_proxies: Vec<String>,
    /// The header of such a proxy that names the client.
    pub forwarded_for: String,
    /// The header of such a proxy that says `https`.
    pub forwarded_proto: String,
    /// The largest body of a request.
    pub body: Bytes,
    /// Requests a second of one address.
    pub requests_per_second: u32,
    /// Streams that may be open at the same time.
    pub streams: usize,
    /// Connections that may be open at the same time.
    pub connections: usize,
}

impl Default for ServerFile {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            tls_certificate: None,
            tls_key: None,
            trusted_proxies: Vec::new(),
            forwarded_for: "x-forwarded-for".to_owned(),
            forwarded_proto: "x-forwarded-proto".to_owned(),
            body: Bytes(64_000_000),
            requests_per_second: 1_000,
            streams: 300,
            connections: 1_024,
        }
    }
}

/// An MQTT broker.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MqttFile {
    /// `host` or `host:port`.
    pub broker: String,
    /// Whether the connection is encrypted.
    #[serde(default)]
    pub tls: bool,
    /// A file with the certificates to trust, instead of those of the system.
    pub ca: Option<PathBuf>,
    /// Who connects.
    pub user: Option<String>,
    /// The environment variable that holds the password.
    pub password_env: Option<String>,
    /// What topics begin with.
    #[serde(default = "default_prefix")]
    pub prefix: String,
    /// Where Home Assistant looks for devices; empty to announce nothing.
    #[serde(default = "default_discovery")]
    pub discovery: String,
    /// Whether commands are taken.
    #[serde(default)]
    pub commands: bool,
    /// 3 (for 3.1.1) or 5.
    #[serde(default)]
    pub version: MqttVersion,
}

fn default_prefix() -> String {
    "auscult".to_owned()
}

fn default_discovery() -> String {
    "homeassistant".to_owned()
}

/// The version of MQTT that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "u8")]
pub enum MqttVersion {
    /// 3.1.1.
    #[default]
    V3,
    /// 5.
    V5,
}

impl TryFrom<u8> for MqttVersion {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            3 => Ok(Self::V3),
            5 => Ok(Self::V5),
            other => Err(format!("mqtt.version = {other}: 3 (for 3.1.1) or 5")),
        }
    }
}

/// A web address that is told.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookFile {
    /// What it is called in the history; the address without it.
    pub name: Option<String>,
    /// Where messages are posted.
    pub url: String,
    /// How they are written.
    #[serde(default)]
    pub template: Template,
    /// The environment variable that holds the secret they are signed with.
    pub secret_env: Option<String>,
    /// The machines it is told about; all of them if empty.
    #[serde(default)]
    pub machines: Vec<String>,
    /// The kinds of news, of [`NEWS`].
    #[serde(default = "default_tells")]
    pub tells: Vec<String>,
    /// After a message about a machine the next one waits this long, unless it is a new alarm.
    #[serde(default)]
    pub cooldown: Option<Seconds>,
}

/// How a webhook's messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Template {
    /// The event as JSON.
    #[default]
    Json,
    /// For ntfy: text with headers.
    Ntfy,
    /// For Slack and everything that takes its messages.
    Slack,
    /// For Microsoft Teams' workflows: an adaptive card.
    Teams,
}

/// A mail server and who is told through it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailFile {
    /// What it is called in the history; the server without it.
    pub name: Option<String>,
    /// `host` or `host:port`.
    pub server: String,
    /// How the connection is encrypted.
    #[serde(default)]
    pub tls: MailTls,
    /// Who logs in.
    pub user: Option<String>,
    /// The environment variable that holds the password.
    pub password_env: Option<String>,
    /// The sender.
    pub from: String,
    /// Who is told.
    pub to: Vec<String>,
    /// The machines it is told about; all of them if empty.
    #[serde(default)]
    pub machines: Vec<String>,
    /// The kinds of news, of [`NEWS`].
    #[serde(default = "default_tells")]
    pub tells: Vec<String>,
    /// After a message about a machine the next one waits this long, unless it is a new alarm.
    #[serde(default)]
    pub cooldown: Option<Seconds>,
}

/// How a mail server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// Encrypted after a greeting in the clear.
    #[default]
    Starttls,
    /// Encrypted from the first byte.
    Tls,
    /// Not at all: for servers on the same computer.
    None,
}

fn default_tells() -> Vec<String> {
    ["alarm", "normal", "sensor-fault", "no-data", "drift", "reminder"].map(str::to_owned).into()
}

/// Everything that a sink may be told.
pub const NEWS: &[&str] = &[
    "alarm",
    "alert",
    "normal",
    "sensor-fault",
    "no-data",
    "not-running",
    "learning",
    "drift",
    "reminder",
    "source",
    "model",
];

pub(super) fn preset(text: &str) -> Result<Preset, String> {
    text.parse::<Preset>().map_err(|error| error.clone())
}
