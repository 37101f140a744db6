//! Sound is read again: the spectra of all anomalous clips, and the sound of those that are heard.

use std::{collections::BTreeMap, path::Path};

use auscult::{
    ClipRecord, Listen, Machine, Provenance, Reading, audio::Location, core::memory, plural,
};

use crate::{
    ReportClip, ReportSound,
    difference::{Difference, NormalRange, ThirdOctaves},
    kinds::{self, Kind, MOST_KINDS},
};

/// Samples of a page; what is beyond them is seen and not heard. At two thirds of 16 bits, which is what machines take,
/// and four thirds as text they are 3 MB of the file, and 4.5 MB if nothing can be compressed.
const MOST_SAMPLES: usize = 1_690_000;

/// References that are read for the range of normal levels: enough for a range, few enough to wait for.
const MOST_REFERENCES: usize = 48;

/// Adds what is seen and heard of anomalous clips, and returns what the reader must know about it.
pub(crate) fn hear(
    machine: &Machine,
    listen: &Listen,
    place: &dyn Fn(&str) -> Location,
    clips: &mut [ReportClip<'_>],
) -> Vec<String> {
    let Some(run) = Recordings::of_run(machine, listen, place) else { return Vec::new() };
    let references = Recordings::of_references(machine, place);
    let rate = machine.reading().length().sample_rate();
    let spectrum = |samples: &[f32]| ThirdOctaves::of(samples, rate);
    let anomalous: Vec<usize> = (0..clips.len()).filter(|&at| clips[at].is_anomalous()).collect();

    let wanted = anomalous.iter().map(|&at| At::of(&clips[at]));
    let own = run.read(wanted, spectrum);
    let some: Vec<At> =
        if anomalous.is_empty() { Vec::new() } else { some_references(machine).collect() };
    let named = anomalous.iter().filter_map(|&at| nearest_by_score(&clips[at]));
    let normal = references.read(some.iter().cloned().chain(named), spectrum);
    let range = NormalRange::of(some.iter().filter_map(|at| normal.get(at)));
    let mut nearest: Nearest = BTreeMap::new();
    for &at in &anomalous {
        let Some(of_clip) = own.get(&At::of(&clips[at])) else {
            // What was heard when it was scored is still known.
            clips[at].difference = Difference::of_record(&clips[at].record);
            continue;
        };
        // Where a score names no reference, the one that sounds most alike.
        let by_sound =
            || some.iter().min_by(|a, b| of_clip.closer(normal.get(a), normal.get(b))).cloned();
        let Some(closest) = nearest_by_score(&clips[at]).or_else(by_sound) else { continue };
        clips[at].difference =
            normal.get(&closest).map(|normal| of_clip.against(normal, range.as_ref()));
        nearest.insert(at, closest);
    }
    hear_leaders(&run, &references, &nearest, rate, clips);
    missing(clips, &anomalous, |at| own.contains_key(&At::of(&clips[at])))
}

/// By clip: the normal clip it is compared with.
type Nearest = BTreeMap<usize, At>;

/// Reads the sound of the furthest clip of each kind, and of the normal clip closest to it.
fn hear_leaders(
    run: &Recordings<'_>,
    references: &Recordings<'_>,
    nearest: &Nearest,
    rate: u32,
    clips: &mut [ReportClip<'_>],
) {
    let leaders: Vec<usize> = kinds::of(clips).iter().take(MOST_KINDS).map(Kind::leader).collect();
    let keep = |samples: &[f32]| samples.to_vec();
    let own = run.read(leaders.iter().map(|&at| At::of(&clips[at])), keep);
    let normal = references.read(leaders.iter().filter_map(|at| nearest.get(at).cloned()), keep);
    let mut samples_before = 0;
    for at in leaders {
        let Some(samples) = own.get(&At::of(&clips[at])) else { continue };
        let other = nearest.get(&at).and_then(|at| normal.get(at).cloned());
        let both = samples.len() + other.as_ref().map_or(0, Vec::len);
        if !is_heard(samples_before, both) {
            break;
        }
        samples_before += both;
        clips[at].sound = Some(ReportSound {
            sample_rate: rate,
            samples: samples.clone(),
            nearest: other,
            nearest_label: nearest.get(&at).map(|at| at.path.clone()),
        });
    }
}

/// References that show how much normal clips vary, spread over all of them.
fn some_references(machine: &Machine) -> impl Iterator<Item = At> {
    let references = machine.model().references().provenance();
    let step = references.len().div_ceil(MOST_REFERENCES).max(1);
    references.iter().step_by(step).map(At::of_reference)
}

/// Whether there is room for more sound; the first kind is always heard, however long its clips.
pub(crate) fn is_heard(samples_before: usize, samples: usize) -> bool {
    samples_before == 0 || samples_before + samples <= MOST_SAMPLES
}

/// The reference closest in the band that differs most, where clips are compared with references.
fn nearest_by_score(clip: &ClipRecord) -> Option<At> {
    let reference = clip.explanation.as_ref()?.bands.first()?.reference.as_ref()?;
    Some(At::of_reference(reference))
}

/// Sentences on clips that cannot be read again.
fn missing(
    clips: &[ReportClip<'_>],
    anomalous: &[usize],
    is_read: impl Fn(usize) -> bool,
) -> Vec<String> {
    let unread = || anomalous.iter().copied().filter(|&at| !is_read(at));
    let mut notes = Vec::new();
    if unread().any(|at| clips[at].path() == "-") {
        notes.push(
            "standard input cannot be read twice, so it is not seen or heard here".to_owned(),
        );
    }
    let mut gone = unread().filter(|&at| clips[at].path() != "-");
    if let Some(first) = gone.next() {
        let others = match gone.count() {
            0 => String::new(),
            more => format!(" and {} more", plural(more, "anomalous clip")),
        };
        notes.push(format!(
            "{}{others}: the recording is no longer there, so it is not seen or heard here",
            clips[first].name()
        ));
    }
    notes
}

/// Where a clip is: its recording, and its start in thousandths of a second.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    path: String,
    start: i64,
}

impl At {
    fn of(record: &ClipRecord) -> Self {
        Self::new(record.path(), record.start_seconds())
    }

    fn of_reference(reference: &Provenance) -> Self {
        Self::new(&reference.source, reference.start_seconds)
    }

    fn new(path: &str, start_seconds: f64) -> Self {
        Self { path: path.to_owned(), start: (start_seconds * 1000.0).round() as i64 }
    }
}

/// Recordings that are read in one way.
struct Recordings<'a> {
    reading: Reading,
    place: &'a dyn Fn(&str) -> Location,
    /// Where only what was learnt may be heard: the fingerprint of each clip.
    digests: Option<BTreeMap<At, &'a str>>,
}

impl<'a> Recordings<'a> {
    fn of_run(
        machine: &Machine,
        listen: &Listen,
        place: &'a dyn Fn(&str) -> Location,
    ) -> Option<Self> {
        let own = machine.reading();
        let channel = listen.channel.unwrap_or(own.channel());
        let clip = machine.model().settings().clip;
        // A run that was listened to could be read.
        let reading = Reading::new(clip, channel, listen.hop_seconds, listen.rules).ok()?;
        Some(Self { reading, place, digests: None })
    }

    /// The references of a model. A model names files, and may come from anybody: what does not sound as it did when it was
    /// learnt is not played.
    fn of_references(machine: &'a Machine, place: &'a dyn Fn(&str) -> Location) -> Self {
        let provenance = machine.model().references().provenance().iter();
        let digests = provenance.map(|from| (At::of_reference(from), from.digest.as_str()));
        Self { reading: machine.reading().clone(), place, digests: Some(digests.collect()) }
    }

    /// Whether a recording may be opened: a pipe or a device that a model names would hold everything up.
    fn may_open(&self, path: &str) -> bool {
        self.digests.is_none() || !Path::new(path).metadata().is_ok_and(|found| !found.is_file())
    }

    /// Whether the sound is what is wanted there.
    fn is_expected(&self, at: &At, samples: &[f32]) -> bool {
        let Some(digests) = &self.digests else { return true };
        digests.get(at).is_some_and(|digest| *digest == memory::digest(samples))
    }

    /// Does `work` with the samples of each clip; every recording is read once, from its start to the last clip.
    fn read<T>(
        &self,
        wanted: impl Iterator<Item = At>,
        work: impl Fn(&[f32]) -> T,
    ) -> BTreeMap<At, T> {
        let mut starts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for At { path, start } in wanted.filter(|at| at.path != "-") {
            starts.entry(path).or_default().push(start);
        }
        let mut found = BTreeMap::new();
        for (path, mut starts) in starts {
            starts.sort_unstable();
            starts.dedup();
            if !self.may_open(&path) {
                continue;
            }
            let Ok(clips) = self.reading.clips(&(self.place)(&path)) else { continue };
            let mut left = starts.len();
            for clip in clips.map_while(Result::ok) {
                let at = At::new(&path, clip.start_seconds);
                if starts.binary_search(&at.start).is_ok() {
                    if self.is_expected(&at, &clip.samples) {
                        found.insert(at, work(&clip.samples));
                    }
                    left -= 1;
                }
                if left == 0 {
                    break;
                }
            }
        }
        found
    }
}
