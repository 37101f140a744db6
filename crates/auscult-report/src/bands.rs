//! What bands are called, and which one of a clip is furthest from its normal.

use std::ops::Range;

use auscult::{explain::BandReason, features::Axis};

use crate::{
    ReportClip,
    text::{NOTHING, hertz, times},
};

/// The most unusual band of a clip, in a word or two for tables.
pub(crate) fn furthest_band(clip: &ReportClip<'_>) -> String {
    let reason = clip.explanation.as_ref().and_then(|explanation| explanation.bands.first());
    reason.filter(|reason| reason.is_reason()).map_or_else(
        || NOTHING.to_owned(),
        |reason| match reason.times_normal {
            Some(value) => format!("{}, {}", reason_name(reason), times(value)),
            None => reason_name(reason),
        },
    )
}

/// What the most unusual band of a clip is called; `None` if nothing is explained.
pub(crate) fn furthest_band_name(clip: &ReportClip<'_>) -> Option<String> {
    clip.explanation.as_ref()?.bands.first().map(reason_name)
}

/// The most unusual band of a clip in words.
pub(crate) fn furthest(clip: &ReportClip<'_>) -> String {
    let reason = clip.explanation.as_ref().and_then(|explanation| explanation.bands.first());
    match reason {
        None if !clip.heard.is_empty() => clip.heard.clone(),
        None => clip.differs_most.clone().unwrap_or_else(|| "not explained".to_owned()),
        Some(reason) if !reason.is_reason() => "no band has more error than normal".to_owned(),
        Some(reason) => match reason.times_normal {
            Some(value) => {
                let measure = measure(reason.reference.is_some());
                format!("{} is {} its normal {measure}", reason_name(reason), times(value))
            }
            None => reason_name(reason),
        },
    }
}

/// What a score is of: a network's error, or how far a clip is from those it is compared with.
pub(crate) fn measure(compares: bool) -> &'static str {
    if compares { "distance" } else { "error" }
}

/// What a band of an explanation is called.
pub(crate) fn reason_name(reason: &BandReason) -> String {
    if let Some(line) = reason.modulations.first() {
        return format!("{:.0} a second in {}", line.rate, hertz(&line.hertz));
    }
    reason.hertz.as_ref().map_or_else(|| reason.name(), hertz)
}

/// What a band is called: hertz if the axis has them.
pub(crate) fn band_name(axis: &Axis, positions: &Range<usize>) -> String {
    match axis.hertz(positions.clone()) {
        Some(_) if axis.rates(positions.clone()).is_some() => "modulation".to_owned(),
        Some(range) => hertz(&range),
        None => format!("{}\u{2013}{}", positions.start, positions.end.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use auscult::Verdict;

    use super::*;
    use crate::testing::{clip_with, sample};

    #[test]
    fn bands_are_called_by_hertz_or_else_by_position() {
        let sample = sample();
        assert_eq!(band_name(sample.front_end.axis(), &(0..38)), "0\u{2013}785 Hz");
        assert_eq!(band_name(&Axis::cepstrum(90), &(20..40)), "20\u{2013}39");
    }

    #[test]
    fn the_furthest_band_is_named_with_its_distance() {
        let named = furthest_band(&sample().clips[0]);
        assert!(named.contains(" kHz, ") && named.ends_with('\u{d7}'), "{named}");
        assert_eq!(furthest_band(&clip_with(1.0, Verdict::Normal)), NOTHING);
    }
}
