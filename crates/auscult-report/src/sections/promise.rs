//! What the false-alarm rate promises, under which assumptions, and what it does not.

use std::fmt::{self, Formatter};

use auscult_core::{Basis, Promise};

use crate::{page::Page, text::number};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let model = page.input.model;
    let scores = model.calibration().scores().len();
    let smallest = number(1.0 / (scores + 1) as f64);
    write!(
        out,
        "<section aria-labelledby=\"promise\">\n<h2 id=\"promise\">What is promised</h2>\n<ul>\n\
         <li>{} This holds for clips that resemble the calibration clips: same machine, place of the microphone, load and \
         surroundings.</li>\n\
         <li>{}</li>\n\
         <li>Nothing is promised about faults that are missed. A fault that sounds like a normal \
         clip is called normal.</li>\n\
         <li>Another speed, load or background may be called anomalous without a fault. Anomalous \
         means unlike the normal clips; it is not a diagnosis.</li>\n\
         <li>With {scores} calibration scores, no p-value can be smaller than {smallest}.</li>\n\
         </ul>\n</section>\n",
        rate_words(model.settings().promise(), page.is_promised()),
        basis_words(model.calibration().basis())
    )
}

/// The rate as a sentence.
fn rate_words(promise: Promise, is_promised: bool) -> String {
    let rate = promise.rate;
    if !is_promised {
        return format!(
            "No rate is promised yet: verdicts aim at {rate} false alarms and will have more, until normal clips \
             of enough visits are there."
        );
    }
    match promise.confidence {
        None => format!(
            "At most {rate} of normal clips are called anomalous, on average over calibrations like \
             this one."
        ),
        Some(confidence) => format!(
            "In {confidence} of calibrations like this one, at most {rate} of normal clips are called \
             anomalous."
        ),
    }
}

/// What the left-out scores were made with, and what that means for the promise.
fn basis_words(basis: Basis) -> String {
    match basis {
        Basis::Visits => {
            "Its basis is a strong one: whole visits to the machine were left out, so \
                          the calibration clips were as new to the model as the clips of a new \
                          visit are."
                .to_owned()
        }
        Basis::Files => "Its basis is weaker than it could be: whole files were left out, but no \
                         second visit is known. It holds for more sound of the same visit; on \
                         another day expect more false alarms. Say which visit each file is from, \
                         and record another one."
            .to_owned(),
        parts => format!(
            "Its basis is weak: only {parts} of the same recording were left out, and neighbouring \
             clips resemble each other. Expect more false alarms than promised. Record several \
             files, on several visits."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_promised_only_if_it_is_kept() {
        let confidence = Some("90%".parse().unwrap());
        let promise = Promise { rate: "5%".parse().unwrap(), confidence };
        let kept = "In 90 % of calibrations like this one, at most 5 % of normal clips";
        assert!(rate_words(promise, true).starts_with(kept));
        assert!(rate_words(promise, false).starts_with("No rate is promised yet"));
    }

    #[test]
    fn the_promise_is_called_as_strong_as_its_basis() {
        let words = Basis::ALL.iter().map(|&basis| basis_words(basis));
        let strengths: Vec<bool> = words.map(|words| words.contains("strong")).collect();
        assert_eq!(strengths.iter().filter(|&&is_strong| is_strong).count(), 1);
        assert!(basis_words(Basis::Clips).contains("only clips of the same recording"));
    }
}
