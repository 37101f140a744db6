//! When clips were recorded: the visits they belong to, and their places on an axis of time.

use std::{collections::BTreeSet, ops::Range};

use auscult::record::TimeOrigin;
use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::ReportClip;

/// The clips of a page in time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Visits {
    /// Indices of all clips, in the order of their times where those are known.
    pub(crate) order: Vec<usize>,
    /// The visits, in that order; together they have every clip once.
    pub(crate) groups: Vec<Visit>,
    /// How the times are known; `None` if clips are only in order.
    pub(crate) origin: Option<TimeOrigin>,
    /// Why times that are there were not used.
    pub(crate) distrust: Option<&'static str>,
    /// By clip: where it is on the axis, 0 to 1.
    places: Vec<f64>,
}

/// Clips that were recorded together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Visit {
    /// The part of [`Visits::order`] it is.
    pub(crate) clips: Range<usize>,
    /// A date, or a folder.
    pub(crate) name: String,
    /// Its part of the axis.
    pub(crate) place: Range<f64>,
}

/// A pause this long, and this many times the usual one, ends a visit.
const PAUSE_SECONDS: f64 = 900.0;
const PAUSE_TIMES: f64 = 5.0;

/// The pauses between visits take at most this share of the axis, and at most this share each.
const MOST_PAUSE: f64 = 0.25;
const WIDEST_PAUSE: f64 = 0.02;

impl Visits {
    pub(crate) fn of(clips: &[ReportClip<'_>]) -> Self {
        let mut order: Vec<usize> = (0..clips.len()).collect();
        let (origin, distrust) = match trusted_origin(clips) {
            Ok(origin) => (origin, None),
            Err(why) => (None, Some(why)),
        };
        let groups = if origin.is_some() {
            let time = |at: &usize| seconds(&clips[*at]);
            order.sort_by(|a, b| time(a).total_cmp(&time(b)));
            split_by_pauses(&order.iter().map(time).collect::<Vec<f64>>())
        } else {
            split_by_folder(clips)
        };
        let mut visits =
            Self { order, groups: Vec::new(), origin, distrust, places: vec![0.5; clips.len()] };
        visits.lay_out(clips, groups);
        visits
    }

    fn lay_out(&mut self, clips: &[ReportClip<'_>], groups: Vec<Range<usize>>) {
        let pause = (MOST_PAUSE / groups.len().max(1) as f64).min(WIDEST_PAUSE);
        let share =
            (1.0 - pause * groups.len().saturating_sub(1) as f64) / clips.len().max(1) as f64;
        let names = names(self.origin.is_some(), clips, &self.order, &groups);
        let mut from = 0.0;
        for (range, name) in groups.into_iter().zip(names) {
            let to = from + share * range.len() as f64;
            self.place_clips(clips, range.clone(), from..to);
            self.groups.push(Visit { clips: range, name, place: from..to });
            from = to + pause;
        }
    }

    /// In a visit with times clips stand by their times, otherwise evenly.
    fn place_clips(&mut self, clips: &[ReportClip<'_>], range: Range<usize>, place: Range<f64>) {
        let (count, width) = (range.len() as f64, place.end - place.start);
        let time = |position: usize| seconds(&clips[self.order[position]]);
        let [first, last] = [range.start, range.end - 1].map(time);
        for (step, position) in range.enumerate() {
            let evenly = (step as f64 + 0.5) / count;
            // Half a column at either end, as evenly placed ones have.
            let by_time = (0.5 + (time(position) - first) / (last - first) * (count - 1.0)) / count;
            let share = if self.origin.is_some() && by_time.is_finite() { by_time } else { evenly };
            self.places[self.order[position]] = place.start + share * width;
        }
    }

    /// Where a clip is on the axis, 0 to 1.
    pub(crate) fn place(&self, clip: usize) -> f64 {
        self.places[clip]
    }

    /// When the sound of the page begins and ends, in seconds since 1970.
    pub(crate) fn range(&self, clips: &[ReportClip<'_>]) -> Option<Range<f64>> {
        self.origin?;
        let (first, last) = (&clips[*self.order.first()?], &clips[*self.order.last()?]);
        Some(seconds(first)..seconds(last) + last.seconds)
    }

    /// When a clip was recorded, in words, or else which one it is.
    pub(crate) fn moment(&self, clips: &[ReportClip<'_>], clip: usize) -> String {
        match self.origin {
            Some(_) => moment(seconds(&clips[clip])),
            None => format!("clip {}", clip + 1),
        }
    }
}

fn seconds(clip: &ReportClip<'_>) -> f64 {
    clip.time.as_ref().map_or(f64::NAN, |time| time.unix_seconds)
}

/// How the times of all clips are known, the weakest way; `None` if one has no time, an error if they cannot be true.
fn trusted_origin(clips: &[ReportClip<'_>]) -> Result<Option<TimeOrigin>, &'static str> {
    let origins: Option<Vec<TimeOrigin>> =
        clips.iter().map(|clip| clip.time.as_ref().map(|time| time.origin)).collect();
    let Some(origins) = origins.filter(|origins| !origins.is_empty()) else { return Ok(None) };
    if !origins.contains(&TimeOrigin::FileTime) {
        return Ok(origins.first().copied());
    }
    // Files of a long recording share a time; sound cannot be recorded faster than it plays.
    let mut files: BTreeSet<&str> = BTreeSet::new();
    let times = clips.iter().filter(|clip| files.insert(clip.path())).map(seconds);
    let (first, last) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), time| {
        (low.min(time), high.max(time))
    });
    let heard: f64 = clips.iter().map(|clip| clip.seconds).sum();
    if files.len() < 2 || last - first < heard / 2.0 {
        return Err(
            "The times of the files cannot be when they were recorded: they lie closer together than the sound is \
                    long. Clips are shown in order. A date and time in file names, or a manifest, would place them.",
        );
    }
    Ok(Some(TimeOrigin::FileTime))
}

/// Runs of ascending times without a long pause.
fn split_by_pauses(times: &[f64]) -> Vec<Range<usize>> {
    let pauses: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut sorted = pauses.clone();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let longest = PAUSE_SECONDS.max(PAUSE_TIMES * usual);
    split(times.len(), |at| pauses[at - 1] > longest)
}

/// Runs of clips whose files lie in one folder.
fn split_by_folder(clips: &[ReportClip<'_>]) -> Vec<Range<usize>> {
    split(clips.len(), |at| folder(clips[at].path()) != folder(clips[at - 1].path()))
}

fn split(len: usize, starts_at: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = (0..len).filter(|&at| at == 0 || starts_at(at)).collect();
    starts.push(len);
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn folder(path: &str) -> &str {
    path.rfind(['/', '\\']).map_or("", |at| &path[..at])
}

/// What visits are called: the last part of the folder; the day, with the hour where a day has several.
fn names(
    is_timed: bool,
    clips: &[ReportClip<'_>],
    order: &[usize],
    groups: &[Range<usize>],
) -> Vec<String> {
    let start = |range: &Range<usize>| &clips[order[range.start]];
    if !is_timed {
        let name = |range: &Range<usize>| {
            let folder = folder(start(range).path());
            folder.rsplit(['/', '\\']).next().unwrap_or(folder).to_owned()
        };
        return groups.iter().map(name).collect();
    }
    let days: Vec<String> = groups.iter().map(|range| day(seconds(start(range)))).collect();
    let is_only = |day: &String| days.iter().filter(|other| *other == day).count() == 1;
    let name = |(range, day): (&Range<usize>, &String)| {
        if is_only(day) { day.clone() } else { format!("{day}, {}", clock(seconds(start(range)))) }
    };
    groups.iter().zip(&days).map(name).collect()
}

fn in_utc(unix_seconds: f64) -> Option<Zoned> {
    let time = Timestamp::from_second(unix_seconds.floor() as i64).ok()?;
    Some(time.to_zoned(TimeZone::UTC))
}

fn shown(unix_seconds: f64, form: &str) -> String {
    in_utc(unix_seconds)
        .map_or_else(|| "an unknown time".to_owned(), |time| time.strftime(form).to_string())
}

/// `3 Jun`; the year stands above the page.
fn day(unix_seconds: f64) -> String {
    shown(unix_seconds, "%-d %b")
}

/// `14:22`.
pub(crate) fn clock(unix_seconds: f64) -> String {
    shown(unix_seconds, "%H:%M")
}

/// A time as pages show it, in UTC: `3 Jun 2026, 14:22`.
pub fn moment(unix_seconds: f64) -> String {
    shown(unix_seconds, "%-d %b %Y, %H:%M")
}

/// `3 Jun 2026, 14:22 to 15:10`, or with both days.
pub(crate) fn range_of(range: &Range<f64>) -> String {
    let Range { start, end } = *range;
    let end_words = if day(start) == day(end) { clock(end) } else { moment(end) };
    format!("{} to {end_words}", moment(start))
}

#[cfg(test)]
mod tests {
    use auscult::{Verdict, record::ClipTime};

    use super::*;
    use crate::testing::clip_with;

    const NOON: f64 = 1_780_488_000.0; // 2026-06-03T12:00:00Z

    fn clip(path: &str, time: Option<(f64, TimeOrigin)>) -> ReportClip<'static> {
        let mut clip = clip_with(1.0, Verdict::Normal);
        path.clone_into(&mut clip.path);
        clip.seconds = 10.0;
        clip.time = time.map(|(after, origin)| ClipTime {
            unix_seconds: NOON + after,
            utc: String::new(),
            origin,
        });
        clip
    }

    #[test]
    fn a_long_pause_begins_a_visit_and_clips_stand_by_their_times() {
        let after = [86_400.0, 86_410.0, 0.0, 10.0, 60.0];
        let clips = after.map(|after| clip("a.wav", Some((after, TimeOrigin::FileName))));
        let visits = Visits::of(&clips);
        assert_eq!(visits.order, [2, 3, 4, 0, 1]);
        let named: Vec<&str> = visits.groups.iter().map(|visit| visit.name.as_str()).collect();
        assert_eq!(named, ["3 Jun", "4 Jun"]);
        let places: Vec<f64> = visits.order.iter().map(|&at| visits.place(at)).collect();
        assert!(places.is_sorted() && places[0] > 0.0 && places[4] < 1.0, "{places:?}");
        assert!(places[2] - places[1] > 3.0 * (places[1] - places[0]), "50 s and 10 s: {places:?}");
        assert_eq!(visits.range(&clips), Some(NOON..NOON + 86_420.0));
        assert_eq!(visits.moment(&clips, 0), "4 Jun 2026, 12:00");
    }

    #[test]
    fn two_visits_of_a_day_have_the_hour_in_their_names() {
        let clips = [0.0, 5.0, 7_200.0, 7_205.0]
            .map(|after| clip("a.wav", Some((after, TimeOrigin::Manifest))));
        let visits = Visits::of(&clips);
        assert_eq!(visits.groups[1].name, "3 Jun, 14:00");
    }

    #[test]
    fn an_hourly_clip_is_no_visit_of_its_own() {
        let clips: Vec<_> = (0..24)
            .map(|hour| clip("a.wav", Some((3600.0 * f64::from(hour), TimeOrigin::FileName))))
            .collect();
        assert_eq!(Visits::of(&clips).groups.len(), 1);
    }

    #[test]
    fn without_times_folders_are_visits_and_clips_stand_in_order() {
        let clips = ["day 1/a.wav", "day 1/b.wav", "day 2/a.wav"].map(|path| clip(path, None));
        let visits = Visits::of(&clips);
        let named: Vec<&str> = visits.groups.iter().map(|visit| visit.name.as_str()).collect();
        assert_eq!((named, visits.origin), (vec!["day 1", "day 2"], None));
        assert_eq!(visits.moment(&clips, 2), "clip 3");
    }

    #[test]
    fn files_written_faster_than_they_play_have_no_times() {
        let at = |step: f64| {
            [0.0, 1.0, 2.0]
                .map(|at| clip(&format!("{at}.wav"), Some((at * step, TimeOrigin::FileTime))))
        };
        assert!(Visits::of(&at(0.1)).distrust.is_some());
        assert_eq!(Visits::of(&at(10.0)).origin, Some(TimeOrigin::FileTime));
    }

    #[test]
    fn nothing_and_absurd_times_have_places() {
        assert_eq!(Visits::of(&[]).groups, []);
        let clips =
            [f64::MAX, -1e300, 0.0].map(|after| clip("a.wav", Some((after, TimeOrigin::Caller))));
        let visits = Visits::of(&clips);
        assert!((0..3).all(|at| (0.0..=1.0).contains(&visits.place(at))));
        let _ = visits.moment(&clips, 0);
    }
}
