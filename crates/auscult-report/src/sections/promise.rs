//! What the false-alarm rate promises, under which assumptions, and what it does not.

use std::fmt::{self, Formatter};

use auscult::{Basis, Promise, Standing, alarm::AlarmSettings, plural};
use auscult_page::{Escaped, number};

use crate::page::{Page, Threshold};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let model = page.input.model;
    let section = page.section("promise", "What is promised");
    let item = |text: String| format!("<li>{text}</li>\n");
    let shortcomings: Vec<String> =
        page.thresholds.iter().filter_map(shortcoming).map(item).collect();
    write!(
        out,
        "{section}<ul>\n\
         <li>{}</li>\n\
         {}\
         <li>{}</li>\n\
         <li>Nothing is promised about faults that are missed. A fault that sounds like a normal \
         clip is called normal.</li>\n\
         <li>Another speed, load or background may be called anomalous without a fault. Anomalous \
         means unlike the normal clips; it is not a diagnosis.</li>\n\
         {}{}</ul>\n</section>\n",
        rate_words(model.settings().promise(), page),
        shortcomings.concat(),
        basis_words(model.calibration().basis(), page.is_promised()),
        alarm_words(model.settings().alarm),
        page.thresholds.iter().map(smallest_p_value).collect::<String>(),
    )
}

/// What the alarm rule of the model is.
fn alarm_words(alarm: Option<AlarmSettings>) -> String {
    let describe = |alarm: AlarmSettings| {
        let AlarmSettings { raise, window, clear, .. } = alarm;
        let pace = alarm.hop_seconds.map(|hop| format!(" It was chosen for a clip every {hop} s."));
        format!(
            "<li>An alarm is raised by {raise} anomalous clips among {window} and cleared by {clear} normal \
             ones in a row; the rate is that of single clips.{}</li>\n",
            pace.unwrap_or_default()
        )
    };
    alarm.map(describe).unwrap_or_default()
}

fn smallest_p_value(threshold: &Threshold) -> String {
    let of = threshold.domain.as_ref().map(|domain| format!(" of {}", Escaped(domain)));
    let count = threshold.scores.len();
    format!(
        "<li>With {}{}, no p-value can be smaller than {}.</li>\n",
        plural(count, "calibration score"),
        of.unwrap_or_default(),
        number(1.0 / (count + 1) as f64)
    )
}

/// What a threshold cannot be relied on for, and what to do.
fn shortcoming(threshold: &Threshold) -> Option<String> {
    let of = threshold.domain.as_ref().map(|domain| format!(" of {}", Escaped(domain)));
    let of = of.unwrap_or_default();
    match threshold.standing {
        Standing::Promised => None,
        Standing::Provisional(lack) => Some(format!("The threshold{of} is provisional: {lack}.")),
        Standing::Undecided(lack) => Some(format!(
            "There is no threshold{of} yet: {lack}. Until then, scores can be compared with each other only."
        )),
    }
}

/// The rate as a sentence, for each threshold.
fn rate_words(promise: Promise, page: &Page<'_>) -> String {
    let of = |threshold: &Threshold| {
        let sentence = describe_standing(promise, threshold.standing);
        match &threshold.domain {
            Some(domain) => format!("Clips of {}: {sentence}", Escaped(domain)),
            None if page.thresholds.len() > 1 => format!("Clips of no known domain: {sentence}"),
            None => sentence,
        }
    };
    page.thresholds.iter().map(of).collect::<Vec<_>>().join("</li>\n<li>")
}

fn describe_standing(promise: Promise, standing: Standing) -> String {
    let rate = promise.rate;
    match standing {
        Standing::Promised => {}
        Standing::Undecided(_) => {
            return "No rate is promised yet, and no verdict is given.".to_owned();
        }
        Standing::Provisional(_) => {
            return format!(
                "No rate is promised yet: verdicts aim at {rate} false alarms and will have more, until normal \
                 clips of enough visits are there."
            );
        }
    }
    let promised = match promise.confidence {
        None => format!(
            "At most {rate} of normal clips are called anomalous, on average over calibrations like \
             this one."
        ),
        Some(confidence) => format!(
            "In {confidence} of calibrations like this one, at most {rate} of normal clips are called \
             anomalous."
        ),
    };
    format!(
        "{promised} This holds for clips that resemble the calibration clips: same machine, place of the \
         microphone, load and surroundings."
    )
}

/// What the left-out scores were made with, and what that means.
fn basis_words(basis: Basis, is_promised: bool) -> String {
    let left_out = match basis {
        Basis::Visits => {
            return "Calibration left out whole visits to the machine, so the calibration clips were as new to \
                    the model as the clips of a new visit are."
                .to_owned();
        }
        Basis::Files => {
            "whole files, and knows no second visit: files recorded together resemble each other"
        }
        Basis::Blocks => "parts of one recording, whose neighbours resemble each other",
        Basis::Clips => "single clips, and clips of one visit resemble each other",
    };
    let consequence = if is_promised {
        "The promise was made on condition that they are as independent as visits on other days."
    } else {
        "On other days expect more false alarms. Say which visit each recording is from, and record \
         on other days."
    };
    format!("Calibration left out {left_out}. {consequence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_rate_is_promised_only_if_it_is_kept() {
        let mut sample = sample();
        assert!(sample.input().render().contains("<li>No rate is promised yet: verdicts aim at"));
        sample.set_false_alarm_rate("20%".parse().unwrap());
        assert!(sample.input().render().contains("<li>At most 20 % of normal clips are called"));
        sample.set_false_alarm_rate("1%".parse().unwrap());
        assert!(sample.input().render().contains("promised yet, and no verdict is given."));
    }

    #[test]
    fn a_weak_basis_is_called_so_with_and_without_a_promise() {
        for &basis in Basis::ALL {
            let [promised, provisional] = [true, false].map(|kept| basis_words(basis, kept));
            assert_eq!(promised == provisional, basis == Basis::Visits);
            assert_eq!(promised.contains("on condition"), basis != Basis::Visits);
            assert_eq!(provisional.contains("expect more"), basis != Basis::Visits);
        }
    }
}
