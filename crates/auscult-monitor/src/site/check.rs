//! What was written becomes what is run, or a list of what is wrong, each with its line.

mod certificates;
mod rules;
mod sinks;
mod together;
mod words;

use std::{
    collections::BTreeSet,
    net::{SocketAddr, ToSocketAddrs},
    ops::Range,
    path::Path,
};

use auscult::{Preset, alarm::AlarmSettings};
use toml::Spanned;

use super::{
    MachineSpec, Pcm, Problem, SITE_SCHEMA, Site, SiteProblems, SourceSpec,
    file::{MachineFile, MqttFile, RunningFile, ServerFile, SiteFile, preset},
    is_safe_name,
    units::Seconds,
    without_password,
};

pub(super) fn check(text: &str, path: &Path) -> Result<Site, SiteProblems> {
    let mut checking = Checking { text, problems: Vec::new() };
    let parsed: Result<SiteFile, toml::de::Error> = toml::from_str(text);
    let site = match parsed {
        Ok(file) => Some(checking.site(file, path.parent().unwrap_or(Path::new("")))),
        Err(error) => {
            checking.syntax(&error);
            None
        }
    };
    match site {
        Some(site) if checking.problems.is_empty() => Ok(site),
        _ => {
            checking.problems.sort_by_key(|problem| problem.line);
            Err(SiteProblems { path: path.to_owned(), problems: checking.problems })
        }
    }
}

/// The machines of a configuration and those of a file with machines only, in this order.
pub(super) fn check_added(
    text: &str,
    path: &Path,
    site: &Site,
) -> Result<Vec<MachineSpec>, SiteProblems> {
    let mut checking = Checking { text, problems: Vec::new() };
    let known = site.machines.iter().map(|machine| (0..0, machine.clone()));
    let mut machines: Vec<(Range<usize>, MachineSpec)> = known.collect();
    match toml::from_str::<SiteFile>(text) {
        Ok(file) => {
            let base = path.parent().unwrap_or(Path::new(""));
            machines
                .extend(file.machine.into_iter().map(|machine| checking.machine(machine, base)));
            checking.machines_together(&machines, site.mqtt.is_some());
        }
        Err(error) => checking.syntax(&error),
    }
    if checking.problems.is_empty() {
        Ok(machines.into_iter().map(|(_, machine)| machine).collect())
    } else {
        Err(SiteProblems { path: path.to_owned(), problems: checking.problems })
    }
}

struct Checking<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Checking<'_> {
    fn problem(&mut self, span: Option<Range<usize>>, text: impl Into<String>) {
        let line = span.map(|span| words::line_at(self.text, span.start));
        self.problems.push(Problem { line, text: text.into() });
    }

    /// What is wrong with a key of a table.
    fn problem_of(&mut self, table: &Range<usize>, key: &str, text: impl Into<String>) {
        let span = words::key_span(self.text, table, key);
        self.problem(Some(span), text);
    }

    fn syntax(&mut self, error: &toml::de::Error) {
        let text = words::plain(self.text, error.span().as_ref(), error.message());
        self.problem(error.span(), text);
    }

    fn site(&mut self, file: SiteFile, base: &Path) -> Site {
        if let Some(schema) = &file.schema
            && *schema.get_ref() != SITE_SCHEMA
        {
            let text = format!(
                "schema = {} is not known to this program, which reads {SITE_SCHEMA}",
                schema.get_ref()
            );
            self.problem(Some(schema.span()), text);
        }
        let name = file.site.as_ref().map_or("site", |site| site.get_ref().as_str()).to_owned();
        if !is_safe_name(&name) {
            let span = file.site.as_ref().map(Spanned::span);
            self.problem(span, format!("site = {name:?}: {SAFE_NAME}"));
        }
        if let Some(url) = &file.public_url
            && !url.get_ref().starts_with("http")
        {
            let text = format!("public_url = {:?} does not begin with http", url.get_ref());
            self.problem(Some(url.span()), text);
        }
        if file.machine.is_empty() {
            self.problem(None, "there is no [[machine]]: nothing would be watched");
        }
        let machines = file.machine.into_iter().map(|machine| self.machine(machine, base));
        let machines: Vec<(Range<usize>, MachineSpec)> = machines.collect();
        self.machines_together(&machines, file.mqtt.is_some());
        let names: BTreeSet<&str> =
            machines.iter().map(|(_, machine)| machine.name.as_str()).collect();
        for webhook in &file.webhook {
            self.webhook(webhook, &names);
        }
        for email in &file.email {
            self.email(email, &names);
        }
        if let Some(mqtt) = &file.mqtt {
            self.mqtt(mqtt, base);
        }
        let history = file.history;
        let days = |Seconds(seconds): Seconds| seconds / 86_400.0;
        for (shorter, longer, key, than) in [
            (history.clips, history.minutes, "minutes", "clips"),
            (history.minutes, history.hours, "hours", "minutes"),
        ] {
            if shorter > longer {
                let text = format!(
                    "history.{key} = {} days is shorter than history.{than} = {} days: what is kept in less detail is kept for \
                     longer",
                    days(longer),
                    days(shorter)
                );
                let head = self.text.find("[history]").unwrap_or(0);
                self.problem_of(&(head..head), key, text);
            }
        }
        let mqtt = file
            .mqtt
            .map(Spanned::into_inner)
            .map(|mqtt| MqttFile { ca: mqtt.ca.map(|ca| base.join(ca)), ..mqtt });
        Site {
            name,
            public_url: file
                .public_url
                .map(|url| url.into_inner().trim_end_matches('/').to_owned()),
            machines: machines.into_iter().map(|(_, machine)| machine).collect(),
            history,
            server: file
                .server
                .map_or_else(ServerFile::default, |server| self.server(server, base)),
            mqtt,
            webhooks: file.webhook.into_iter().map(Spanned::into_inner).collect(),
            emails: file.email.into_iter().map(Spanned::into_inner).collect(),
        }
    }

    fn machine(&mut self, file: Spanned<MachineFile>, base: &Path) -> (Range<usize>, MachineSpec) {
        let whole = file.span();
        let file = file.into_inner();
        let name = file.name.get_ref().clone();
        if !is_safe_name(&name) {
            self.problem(Some(file.name.span()), format!("name = {name:?}: {SAFE_NAME}"));
        }
        let source = self.source(&file, &name, &whole, base);
        let channels = match &source {
            SourceSpec::Tcp { pcm, .. } | SourceSpec::Stdin { pcm } => pcm.channels,
            _ => u16::MAX,
        };
        let channel = file.channel.as_ref().map_or(1, |channel| *channel.get_ref());
        if !(1..=channels).contains(&channel) {
            let span = file.channel.as_ref().map_or(whole.clone(), Spanned::span);
            let text = format!(
                "machine {name:?}: channel = {channel}: channels are counted from 1, and the source has {channels}"
            );
            self.problem(Some(span), text);
        }
        let model = file.model.as_ref().map(|model| base.join(model));
        // A model has a clip length of its own; one that cannot be opened is complained about elsewhere.
        let opened = model.as_ref().and_then(|path| auscult::files::load(path).ok());
        if let (Some(path), Some(model)) = (&model, &opened) {
            self.rate_of(&file, &source, &name, path, model);
        }
        let of_model = opened.map(|model| model.settings().clip.seconds);
        let clip_seconds =
            of_model.or(file.clip.as_ref().map(|clip| clip.get_ref().0)).unwrap_or(10.0);
        if let Some(clip) = &file.clip
            && (of_model.is_some() || !(1.0..=600.0).contains(&clip_seconds))
        {
            let text = match of_model {
                Some(seconds) => {
                    format!(
                        "machine {name:?}: clip is for machines without a model; this one has {seconds} s"
                    )
                }
                None => format!("machine {name:?}: clip = {clip_seconds} s: 1 s to 600 s"),
            };
            self.problem(Some(clip.span()), text);
        }
        let preset = match &file.preset {
            None => Preset::default(),
            Some(text) => preset(text.get_ref()).unwrap_or_else(|error| {
                self.problem(Some(text.span()), format!("machine {name:?}: {error}"));
                Preset::default()
            }),
        };
        let every = file.every.as_ref().map(|every| every.get_ref().0);
        if let (Some(every), Some(written)) = (every, &file.every)
            && !(clip_seconds..=86_400.0).contains(&every)
        {
            let text = format!(
                "machine {name:?}: every = {every} s: from the {clip_seconds} s of a clip to a day"
            );
            self.problem(Some(written.span()), text);
        }
        let hop_seconds = every.unwrap_or(clip_seconds);
        let is_folder = matches!(source, SourceSpec::Folder { .. });
        let no_data_after = match &file.no_data_after {
            None if is_folder => 86_400.0_f64.max(3.0 * hop_seconds),
            None => (3.0 * hop_seconds).max(60.0),
            Some(after) => {
                let seconds = after.get_ref().0;
                if seconds < hop_seconds {
                    let text = format!(
                        "machine {name:?}: no_data_after = {seconds} s is shorter than the {hop_seconds} s from one clip to \
                         the next: there would be no data between any two clips"
                    );
                    self.problem(Some(after.span()), text);
                }
                seconds
            }
        };
        let alarm = file.alarm.as_ref().map(|alarm| self.alarm(alarm, &name, hop_seconds));
        if let (Some(_), Some(budget)) = (&alarm, &file.alarms) {
            let text = format!(
                "machine {name:?}: alarms chooses a rule, and [machine.alarm] names one; keep one of them"
            );
            self.problem(Some(budget.span()), text);
        }
        let learn = file.learn.unwrap_or_default();
        if learn.visits == 0 {
            let text = format!("machine {name:?}: learn.visits = 0: at least 1");
            self.problem_of(&whole, "learn.visits", text);
        }
        if learn.clips < learn.visits.max(2) {
            let (clips, visits) = (learn.clips, learn.visits);
            let text = format!(
                "machine {name:?}: learn.clips = {clips}: at least 2, and one for each of learn.visits = {visits}"
            );
            self.problem_of(&whole, "learn.clips", text);
        }
        if learn.gap.0 <= 0.0 {
            let text = format!(
                "machine {name:?}: learn.gap = {} s: it must be longer than nothing",
                learn.gap.0
            );
            self.problem_of(&whole, "learn.gap", text);
        }
        if let Some(running) = &file.running {
            self.running(running, &name, &whole);
        }
        let remind = file.alarm.as_ref().and_then(|alarm| alarm.get_ref().remind);
        let machine = MachineSpec {
            name,
            states: file.states.into_iter().map(|(state, path)| (state, base.join(path))).collect(),
            source,
            channel,
            learn,
            preset,
            clip_seconds,
            every,
            budget: file.alarms.map(Spanned::into_inner),
            alarm: alarm
                .flatten()
                .map(|alarm| AlarmSettings { no_data_after_seconds: no_data_after, ..alarm }),
            remind: remind.map(|remind| remind.0),
            no_data_after,
            running: file.running,
            keep: file.keep,
            ring_seconds: file.ring.map_or(20.0, |ring| ring.0),
            model,
        };
        self.files_of(&machine, &whole);
        (whole, machine)
    }

    fn server(&mut self, server: Spanned<ServerFile>, base: &Path) -> ServerFile {
        let span = server.span();
        let server = server.into_inner();
        if server.tls_certificate.is_some() != server.tls_key.is_some() {
            self.problem(
                Some(span.clone()),
                "server: tls_certificate and tls_key go together; name both or none",
            );
        }
        for proxy in &server.trusted_proxies {
            if proxy.parse::<std::net::IpAddr>().is_err() {
                let text = format!(
                    "server: trusted_proxies: {proxy:?} is not an address; write it as \"10.0.0.2\""
                );
                self.problem_of(&span, "trusted_proxies", text);
            }
        }
        let server = ServerFile {
            tls_certificate: server.tls_certificate.map(|path| base.join(path)),
            tls_key: server.tls_key.map(|path| base.join(path)),
            ..server
        };
        let certificate = server.tls_certificate.as_deref().map(certificates::check_certificates);
        if let Some(Err(problem)) = certificate {
            self.problem_of(&span, "tls_certificate", format!("server.tls_certificate: {problem}"));
        }
        if let Some(Err(problem)) = server.tls_key.as_deref().map(certificates::check_key) {
            self.problem_of(&span, "tls_key", format!("server.tls_key: {problem}"));
        }
        server
    }

    fn running(&mut self, running: &RunningFile, name: &str, whole: &Range<usize>) {
        if let Some(gate) = running.above_dbfs
            && !(-150.0..0.0).contains(&gate)
        {
            let text = format!(
                "machine {name:?}: running.above_dbfs = {gate}: levels are between -150 and 0 dBFS, and no machine is above 0"
            );
            self.problem_of(whole, "running.above_dbfs", text);
        }
        if let Some(topic) = &running.topic
            && (topic.is_empty() || topic.contains(['#', '+']))
        {
            let text =
                format!("machine {name:?}: running.topic = {topic:?}: one topic, without # and +");
            self.problem_of(whole, "running.topic", text);
        }
    }

    fn files_of(&mut self, machine: &MachineSpec, whole: &Range<usize>) {
        let named = machine.model.iter().map(|path| ("model".to_owned(), path));
        let of_states =
            machine.states.iter().map(|(state, path)| (format!("states.{state}"), path));
        for (key, path) in named.chain(of_states).filter(|(_, path)| !path.is_file()) {
            let what = if path.exists() { "is not a file" } else { "is not there" };
            let text = format!(
                "machine {:?}: the model {} {what}; make it with `auscult fit`, or leave `model` out to learn the machine",
                machine.name,
                path.display()
            );
            self.problem_of(whole, &key, text);
        }
        if !machine.states.is_empty()
            && machine.running.as_ref().is_none_or(|running| running.topic.is_none())
            && machine.source != SourceSpec::Push
        {
            let text = format!(
                "machine {:?}: nothing says which of its states it is in; add running.topic",
                machine.name
            );
            self.problem(Some(whole.clone()), text);
        }
        if !(0.0..=600.0).contains(&machine.ring_seconds) {
            let text = format!(
                "machine {:?}: ring = {} s: at most 600 s",
                machine.name, machine.ring_seconds
            );
            self.problem_of(whole, "ring", text);
        }
    }

    fn source(
        &mut self,
        file: &MachineFile,
        name: &str,
        whole: &Range<usize>,
        base: &Path,
    ) -> SourceSpec {
        let mut sources: Vec<SourceSpec> = Vec::new();
        if let Some(folder) = &file.folder {
            // Whole, because the system names what changes by whole paths.
            let path = base.join(folder.get_ref());
            let path = std::path::absolute(&path).unwrap_or(path);
            if !path.is_dir() {
                let what =
                    if path.exists() { "is not a folder" } else { "is not there; make it first" };
                let text = format!("machine {name:?}: the folder {} {what}", path.display());
                self.problem(Some(folder.span()), text);
            }
            if let Some(Seconds(poll)) = file.poll.filter(|poll| poll.0 <= 0.0) {
                let text =
                    format!("machine {name:?}: poll = {poll} s: it must be longer than nothing");
                self.problem_of(whole, "poll", text);
            }
            let poll = file.poll.map(|Seconds(seconds)| (seconds * 1_000.0).max(100.0) as u64);
            sources.push(SourceSpec::Folder { path, poll_milliseconds: poll });
        }
        if let Some(address) = &file.tcp {
            if let Some(socket) = resolve(address.get_ref()) {
                let pcm = self.pcm(file, name, whole);
                sources.push(SourceSpec::Tcp { address: socket, pcm });
            } else {
                let text = format!(
                    "machine {name:?}: tcp = {:?} is not an address; write it as \"127.0.0.1:7007\"",
                    address.get_ref()
                );
                self.problem(Some(address.span()), text);
            }
        }
        if file.stdin {
            sources.push(SourceSpec::Stdin { pcm: self.pcm(file, name, whole) });
        }
        #[cfg(feature = "microphone")]
        if let Some(device) = &file.microphone {
            let sample_rate = file.sample_rate.as_ref().map(|rate| *rate.get_ref());
            let device = device.get_ref().clone();
            sources.push(SourceSpec::Microphone { device, sample_rate });
        }
        #[cfg(not(feature = "microphone"))]
        if let Some(device) = &file.microphone {
            let text = format!(
                "machine {name:?}: this program was built without microphones; build it with --features microphone, or pipe \
                 one in: tcp = \"127.0.0.1:7007\" and arecord -f S16_LE -r 16000 -t raw | nc 127.0.0.1 7007"
            );
            self.problem(Some(device.span()), text);
        }
        if let Some(url) = &file.rtsp {
            if !url.get_ref().starts_with("rtsp") {
                let text = format!(
                    "machine {name:?}: rtsp = {:?} does not begin with rtsp",
                    without_password(url.get_ref())
                );
                self.problem(Some(url.span()), text);
            }
            #[cfg(feature = "rtsp")]
            sources.push(SourceSpec::Rtsp { url: url.get_ref().clone() });
            #[cfg(not(feature = "rtsp"))]
            {
                let text = format!(
                    "machine {name:?}: this program was built without RTSP; build it with --features rtsp, or pipe it in: \
                     tcp = \"127.0.0.1:7007\" and ffmpeg -i rtsp://... -vn -f s16le - | nc 127.0.0.1 7007"
                );
                self.problem(Some(url.span()), text);
            }
        }
        if sources.len() > 1 {
            let text = format!("machine {name:?} has {} sources; keep one of them", sources.len());
            self.problem(Some(whole.clone()), text);
        }
        // Without a source its sound is pushed, through the service.
        sources.pop().unwrap_or(SourceSpec::Push)
    }

    fn pcm(&mut self, file: &MachineFile, name: &str, whole: &Range<usize>) -> Pcm {
        let sample_rate = match &file.sample_rate {
            Some(rate) if (1_000..=768_000).contains(rate.get_ref()) => *rate.get_ref(),
            Some(rate) => {
                let text = format!(
                    "machine {name:?}: sample_rate = {}: 1000 to 768000 Hz",
                    rate.get_ref()
                );
                self.problem(Some(rate.span()), text);
                16_000
            }
            None => {
                let text = format!("machine {name:?}: raw samples need sample_rate, such as 16000");
                self.problem(Some(whole.clone()), text);
                16_000
            }
        };
        let channels = file.channels.as_ref().map_or(1, |channels| *channels.get_ref());
        if !(1..=64).contains(&channels) {
            let text = format!("machine {name:?}: channels = {channels}: 1 to 64");
            self.problem(file.channels.as_ref().map(Spanned::span), text);
        }
        Pcm { sample_rate, channels: channels.clamp(1, 64), format: file.format }
    }
}

/// The line of a machine's key in a configuration, or that of the machine.
pub(super) fn line_of(text: &str, machine: &str, key: &str) -> Option<usize> {
    words::line_of(text, machine, key)
}

const SAFE_NAME: &str =
    "a name has 1 to 64 letters, digits, -, _ or . and does not begin with a dot or a dash";

fn resolve(address: &str) -> Option<SocketAddr> {
    address.to_socket_addrs().ok()?.next()
}

/// A host and its port, or the usual one.
pub(crate) fn host_and_port(text: &str, usual: u16) -> Option<(String, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (text, usual),
    };
    let is_host = !host.is_empty() && !host.contains([' ', '/', '@']);
    is_host.then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests;
