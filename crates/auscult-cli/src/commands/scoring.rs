//! What `score`, `explain` and `demo` share: a model, sound, and a verdict for each clip.

use std::collections::{BTreeMap, BTreeSet};

use auscult_audio::{AudioClip, Extent, Location, Source};
use auscult_core::{
    ClipCondition, ClipQuality, Explanation, Judge, Model, ScoredClip, Standing, Verdict,
    alarm::{AlarmMachine, AlarmState, Observation},
    quality::Remark,
};

use super::{fit::range, summary::shortcoming};
use crate::{
    args::{InputArguments, ScoringArguments},
    files, front_ends,
    printer::{Printer, count},
    quality::{QualitySummary, QualityTally},
    reading::{self, Reading, Worker, clip_name},
};

/// A model and everything needed to score sound with it.
pub(super) struct Scoring {
    pub(super) model: Model,
    pub(super) reading: Reading,
    /// Whether clips are explained.
    pub(super) explain: bool,
    /// The domain all clips are said to be of.
    domain: Option<String>,
    /// Whether a rate was asked for that is not the model's.
    is_other_rate: bool,
    /// Thresholds of the domains the model knows.
    judges: BTreeMap<String, Judge>,
}

/// One clip with what was found.
pub(super) struct CheckedClip {
    pub(super) label: String,
    pub(super) location: Location,
    pub(super) start_seconds: f64,
    pub(super) condition: ClipCondition,
    pub(super) quality: Option<ClipQuality>,
    pub(super) remarks: Vec<Remark>,
    /// The domain it was judged in.
    pub(super) domain: Option<String>,
    pub(super) finding: Option<Finding>,
    /// An earlier clip, or a reference, with the same sound.
    pub(super) copy_of: Option<String>,
    /// The state of the machine after this clip, by the model's alarm rule.
    pub(super) alarm: Option<AlarmState>,
}

/// What the model says of a usable clip.
pub(super) struct Finding {
    pub(super) scored: ScoredClip,
    pub(super) explanation: Option<Explanation>,
}

/// What a run over all clips came to.
pub(super) struct Scored {
    /// Whether every clip was scored.
    pub(super) complete: bool,
    /// False if a stop was asked for.
    read_all: bool,
    /// Files that could not be read, or not to their end, and why.
    unread: Vec<String>,
    quality: Option<QualitySummary>,
    /// The domains clips were judged in; `None` for clips of no domain.
    domains: BTreeSet<Option<String>>,
    /// Clips that raised an alarm; `None` without a rule.
    alarms: Option<Vec<String>>,
}

impl CheckedClip {
    pub(super) fn name(&self) -> String {
        clip_name(&self.label, self.start_seconds)
    }

    /// The verdict, or why there is none.
    pub(super) fn verdict(&self) -> &'static str {
        match &self.finding {
            Some(finding) => finding.scored.verdict.name(),
            None if self.condition.is_usable() => "not-scored",
            None => self.condition.name(),
        }
    }

    pub(super) fn is_anomalous(&self) -> bool {
        self.finding.as_ref().is_some_and(|finding| finding.scored.verdict == Verdict::Anomalous)
    }

    pub(super) fn score(&self) -> Option<f64> {
        self.finding.as_ref().map(|finding| finding.scored.score.value)
    }
}

/// How to read sound the way a model was made.
pub(super) fn reading_for(
    model: &Model,
    channel: &str,
    input: &InputArguments,
) -> anyhow::Result<Reading> {
    let settings = model.settings();
    let front_end = front_ends::of_model(model)?;
    model.check_front_end(&*front_end)?;
    let channel = reading::channel(channel)?;
    Reading::new(front_end, settings.clip, channel, input.hop_seconds, range(input.clips))
}

impl Scoring {
    pub(super) fn new(arguments: &ScoringArguments) -> anyhow::Result<Self> {
        let mut model = files::load(&arguments.model)?;
        let own_rate = model.settings().false_alarm_rate;
        let is_other_rate = arguments.false_alarm_rate.is_some_and(|rate| rate != own_rate);
        if let Some(rate) = arguments.false_alarm_rate {
            model = model.with_false_alarm_rate(rate);
        }
        let channel = arguments.channel.as_ref().unwrap_or(&model.settings().channel);
        let reading = reading_for(&model, channel, &arguments.input)?;
        let judges: BTreeMap<String, Judge> = model
            .calibration()
            .domain_names()
            .into_iter()
            .filter_map(|domain| Some((domain.to_owned(), model.judge_of_domain(domain)?)))
            .collect();
        if let Some(domain) = &arguments.domain {
            anyhow::ensure!(
                judges.contains_key(domain),
                "{} has no references of domain {domain:?}; {}",
                arguments.model.display(),
                known_domains(&judges)
            );
        }
        let domain = arguments.domain.clone();
        Ok(Self { model, reading, explain: false, domain, is_other_rate, judges })
    }

    /// Scores every clip and hands it to `sink`, in input order.
    pub(super) fn run(
        &self,
        paths: &[String],
        printer: &Printer,
        mut sink: impl FnMut(CheckedClip) -> anyhow::Result<()>,
    ) -> anyhow::Result<Scored> {
        let (sources, mut unread) = reading::expand(paths, None, self.domain.as_deref(), printer)?;
        let mut problems = unread.len();
        self.tell_unknown_domains(&sources, printer);
        let mut dropped = Dropped::default();
        let (mut quality, mut heard) = (QualityTally::default(), Heard::default());
        let (mut domains, mut alarm) = (BTreeSet::new(), Alarm::new(self)?);
        let read_all = reading::read_all(
            sources,
            &self.reading,
            printer,
            |worker, source, clip, condition| {
                (self.find(worker, source, clip, condition), worker.meter.measure(&clip.samples))
            },
            |file| {
                for clip in file.clips {
                    let (finding, measured) = clip.result;
                    let (finding, failure) = match finding.transpose() {
                        Ok(finding) => (finding, None),
                        Err(error) => (None, Some(error.to_string())),
                    };
                    let mut checked = CheckedClip {
                        label: file.source.label.clone(),
                        location: file.source.location.clone(),
                        start_seconds: clip.start_seconds,
                        condition: clip.condition,
                        quality: measured,
                        remarks: measured.map_or_else(Vec::new, |it| self.model.remarks(&it)),
                        domain: self.judge(&file.source).map(|(domain, _)| domain.to_owned()),
                        finding,
                        copy_of: None,
                        alarm: None,
                    };
                    let name = checked.name();
                    checked.alarm = alarm.as_mut().map(|alarm| alarm.observe(&checked));
                    domains.insert(checked.domain.clone());
                    checked.copy_of = heard.copy_of(&checked, &self.model);
                    if checked.finding.is_none() {
                        problems += 1;
                        let reason = failure.unwrap_or_else(|| clip.condition.to_string());
                        printer.problem(format!("not scored {name}: {reason}"));
                    } else {
                        let level_dbfs = measured.map(|measured| measured.level_dbfs);
                        let copy_of = checked.copy_of.as_deref();
                        quality.add(&name, level_dbfs, &checked.remarks, copy_of, printer);
                    }
                    if clip.extent == Extent::CutByDamage {
                        printer.note(format!("{name} ends where the file is damaged"));
                    }
                    sink(checked)?;
                }
                dropped.add(file.seconds_dropped);
                if let Some(problem) = file.problem {
                    problems += 1;
                    printer.problem(&problem);
                    unread.push(problem);
                }
                Ok(())
            },
        )?;
        dropped.tell(printer);
        let complete = read_all && problems == 0;
        let alarms = alarm.map(|alarm| alarm.raised_at);
        Ok(Scored { complete, read_all, unread, quality: quality.summary(), domains, alarms })
    }

    /// What the model says of a clip; `None` if the clip cannot be scored.
    fn find(
        &self,
        worker: &mut Worker,
        source: &Source,
        clip: &AudioClip,
        condition: ClipCondition,
    ) -> Option<auscult_core::Result<Finding>> {
        if !condition.is_usable() {
            return None;
        }
        let mut find = || {
            worker.extractor.extract_into(&clip.samples, &mut worker.vectors)?;
            let mut scored = self.model.score(&worker.vectors)?;
            if let Some((_, judge)) = self.judge(source) {
                scored = judge.judge(scored.score);
            }
            let axis = self.reading.front_end.axis();
            let explanation =
                self.explain.then(|| Explanation::new(&self.model, axis, &worker.vectors, &scored));
            Ok(Finding { scored, explanation })
        };
        Some(find())
    }

    /// The thresholds of the domain a source is said to be of, if the model knows it.
    fn judge(&self, source: &Source) -> Option<(&str, &Judge)> {
        let (domain, judge) = self.judges.get_key_value(source.domain.as_ref()?)?;
        Some((domain, judge))
    }

    /// What the threshold of a domain, or of all clips, is worth.
    pub(super) fn standing(&self, domain: Option<&str>) -> Standing {
        let judge = domain.and_then(|domain| self.judges.get(domain));
        judge.map_or_else(|| self.model.standing(), Judge::standing)
    }

    /// Why verdicts are not to be relied on, for each domain that clips were judged in.
    fn shortcomings(&self, scored: &Scored) -> Vec<String> {
        let told = |domain: &Option<String>| {
            Some(of_domain(domain.as_deref(), shortcoming(self.standing(domain.as_deref()))?))
        };
        scored.domains.iter().filter_map(told).collect()
    }

    /// What a promise to clips of a domain rests on, beside left-out visits.
    pub(super) fn condition(&self, domain: Option<&str>) -> Option<String> {
        self.standing(domain).condition(self.model.calibration().basis())
    }

    /// Notes why verdicts are not to be relied on, where results have no place for it.
    pub(super) fn tell_shortcomings(&self, scored: &Scored, printer: &Printer) {
        for shortcoming in self.shortcomings(scored) {
            printer.note(shortcoming);
        }
        if let Some(condition) = self.condition(None) {
            printer.note(format!("the false-alarm rate is promised {condition}"));
        }
    }

    /// What stands below a table of the clips, a line each: what the verdicts are worth, alarms, and
    /// input quality.
    pub(super) fn closing_lines(&self, scored: &Scored) -> Vec<String> {
        let promise = self.model.settings().promise();
        let line = |domain: &Option<String>| {
            let domain = domain.as_deref();
            let words = shortcoming(self.standing(domain)).unwrap_or_else(|| {
                let condition = self.condition(domain).map(|condition| format!(", {condition}"));
                let condition = condition.unwrap_or_default();
                format!("at most {promise} of normal clips are called anomalous{condition}")
            });
            of_domain(domain, words)
        };
        let mut lines: Vec<String> = scored.domains.iter().map(line).collect();
        lines.extend(self.alarm_words(scored));
        lines.extend(scored.quality.as_ref().map(|quality| format!("input quality: {quality}")));
        lines
    }

    /// What a page about the clips must not keep to itself: what is not on it, and alarms.
    pub(super) fn notes(&self, scored: &Scored) -> Vec<String> {
        /// More are only counted.
        const MOST: usize = 20;
        let mut notes: Vec<String> = self.alarm_words(scored).into_iter().collect();
        if !scored.read_all {
            notes.push(
                "stopped before everything was read: this is a part of what was asked for"
                    .to_owned(),
            );
        }
        notes.extend(
            scored
                .unread
                .iter()
                .take(MOST)
                .map(|problem| format!("not read, or not to its end: {problem}")),
        );
        if scored.unread.len() > MOST {
            notes.push(format!("not read: {} more files", scored.unread.len() - MOST));
        }
        notes
    }

    /// What the model's alarm rule made of the clips; `None` without a rule.
    fn alarm_words(&self, scored: &Scored) -> Option<String> {
        let rule = self.model.settings().alarm?;
        if self.model.threshold().is_none() {
            return Some("alarm rule: not played, there are no verdicts yet".to_owned());
        }
        if self.is_other_rate {
            return Some(
                "alarm rule: not played, it was chosen for the model's own rate".to_owned(),
            );
        }
        let rule =
            format!("alarm rule ({} of {} clips, in the order given)", rule.raise, rule.window);
        Some(match &scored.alarms.as_ref()?[..] {
            [] => format!("{rule}: no alarm"),
            [first] => format!("{rule}: alarm at {first}"),
            [first, more @ ..] => {
                format!("{rule}: {} alarms, the first at {first}", more.len() + 1)
            }
        })
    }

    /// A manifest may name domains the model has never heard of.
    fn tell_unknown_domains(&self, sources: &[Source], printer: &Printer) {
        let named = sources.iter().filter_map(|source| source.domain.as_deref());
        let unknown: BTreeSet<&str> =
            named.filter(|domain| !self.judges.contains_key(*domain)).collect();
        if !unknown.is_empty() {
            let unknown: Vec<&str> = unknown.into_iter().collect();
            printer.note(format!(
                "clips of domain {} are judged by the threshold of all domains together; {}",
                unknown.join(", "),
                known_domains(&self.judges)
            ));
        }
    }
}

/// Words about the clips of a domain, or of all.
fn of_domain(domain: Option<&str>, words: String) -> String {
    match domain {
        Some(domain) => format!("domain {domain}: {words}"),
        None => words,
    }
}

fn known_domains(judges: &BTreeMap<String, Judge>) -> String {
    let known: Vec<&str> = judges.keys().map(String::as_str).collect();
    if known.is_empty() {
        return "the model knows no domains (auscult fit --domain, or a manifest column)"
            .to_owned();
    }
    format!("the model knows {}", known.join(", "))
}

/// Recognises sound that comes again, by numbers that no two sounds share.
#[derive(Default)]
struct Heard(BTreeMap<[u64; 3], String>);

impl Heard {
    /// The name of an earlier clip, or of a reference, with the same sound.
    fn copy_of(&mut self, clip: &CheckedClip, model: &Model) -> Option<String> {
        let (finding, quality) = (clip.finding.as_ref()?, clip.quality.as_ref()?);
        let score = &finding.scored.score;
        let key = [score.value, quality.level_dbfs, quality.offset].map(f64::to_bits);
        let earlier = self.0.get(&key).cloned();
        if earlier.is_none() {
            self.0.insert(key, clip.name());
        }
        // Only a reference itself is at no distance from a reference in every band.
        let mut bands = score.views.iter().flat_map(|view| &view.bands).peekable();
        let nearest = bands.peek().map(|band| band.reference)?;
        let is_reference = bands.all(|band| band.distance == 0.0 && band.reference == nearest);
        let reference = model.references().provenance().get(nearest).filter(|_| is_reference);
        let reference = || Some(format!("the reference {}", reference?.source));
        earlier.or_else(reference)
    }
}

/// The model's alarm rule, as it hears the clips one after the other.
struct Alarm {
    machine: AlarmMachine,
    hop_seconds: f64,
    clips: usize,
    raised_at: Vec<String>,
}

impl Alarm {
    fn new(scoring: &Scoring) -> anyhow::Result<Option<Self>> {
        let settings = scoring.model.settings().alarm.filter(|_| !scoring.is_other_rate);
        let Some(settings) = settings else { return Ok(None) };
        let reading = scoring.reading.settings().settings();
        Ok(Some(Self {
            machine: AlarmMachine::new(settings.check()?),
            hop_seconds: reading.hop_seconds.unwrap_or(reading.clip_seconds),
            clips: 0,
            raised_at: Vec::new(),
        }))
    }

    /// The state after a clip.
    fn observe(&mut self, clip: &CheckedClip) -> AlarmState {
        let verdict = clip.finding.as_ref().map(|finding| finding.scored.verdict);
        let at = self.clips as f64 * self.hop_seconds;
        self.clips += 1;
        let change = self.machine.observe(at, Observation::of(clip.condition, verdict));
        if change.is_some_and(|change| change.to == AlarmState::Alarm) {
            self.raised_at.push(clip.name());
        }
        self.machine.state()
    }
}

/// Sound at the end of recordings that was too short for a clip.
#[derive(Default)]
struct Dropped {
    files: usize,
    seconds: f64,
}

impl Dropped {
    fn add(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.files += 1;
            self.seconds += seconds;
        }
    }

    fn tell(&self, printer: &Printer) {
        if self.files > 0 {
            printer.note(format!(
                "{:.1} s at the end of {}, less than a clip each, were not scored; --hop-seconds shorter \
                 than a clip covers more",
                self.seconds,
                count(self.files, "recording")
            ));
        }
    }
}
