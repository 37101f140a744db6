//! The verdict on the machine: one sentence, the counts, and what the reader must know first.

use std::fmt::{self, Formatter};

use auscult::{Standing, Verdict, plural};
use auscult_page::{Escaped, tick};

use crate::{
    page::{Page, Threshold},
    text::{NOTHING, optional_number, verdict_sign},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let counts = Counts::of(page);
    write!(
        out,
        "<header>\n<p class=\"kicker\">Sound report</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
        Escaped(page.input.title),
        counts.sentence(page)
    )?;
    for remark in counts.remarks(page) {
        writeln!(out, "<p>{remark}</p>")?;
    }
    counts.write_tiles(out, page)?;
    if !page.input.notes.is_empty() {
        writeln!(out, "<section class=\"notes\" aria-label=\"Notes\">\n<h2>Notes</h2>\n<ul>")?;
        for note in &page.input.notes {
            writeln!(out, "<li>{}</li>", Escaped(note))?;
        }
        writeln!(out, "</ul>\n</section>")?;
    }
    writeln!(out, "</header>")
}

/// How many clips there are of each verdict.
struct Counts {
    anomalous: usize,
    normal: usize,
    undecided: usize,
    unscored: usize,
}

/// By what the verdicts on this page were reached.
fn judged(page: &Page<'_>) -> String {
    let model = page.input.model;
    let is_promised = |threshold: &Threshold| threshold.standing.is_promised();
    if page.is_promised() {
        let promise = model.settings().promise();
        let sure = promise.confidence.map(|confidence| format!(" ({confidence} sure)"));
        let condition = page.thresholds[0].standing.condition(model.calibration().basis());
        let condition = condition.map(|condition| format!(" ({condition})"));
        format!(
            "at a promised {} false-alarm rate{}{}",
            promise.rate,
            sure.unwrap_or_default(),
            condition.unwrap_or_default()
        )
    } else if page.thresholds.iter().any(is_promised) {
        "by the thresholds of their domains, not all of which are promised".to_owned()
    } else {
        "at a provisional threshold".to_owned()
    }
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

fn sound(clips: usize) -> String {
    format!("{} {}", plural(clips, "clip"), if clips == 1 { "sounds" } else { "sound" })
}

fn are_undecided(clips: usize) -> String {
    format!("{clips} more {} undecided", if clips == 1 { "is" } else { "are" })
}

impl Counts {
    fn of(page: &Page<'_>) -> Self {
        let count = |verdict: Option<Verdict>| {
            page.input.clips.iter().filter(|clip| clip.verdict() == verdict).count()
        };
        let (anomalous, normal) = (count(Some(Verdict::Anomalous)), count(Some(Verdict::Normal)));
        let unscored = count(None);
        let undecided = page.input.clips.len() - anomalous - normal - unscored;
        Self { anomalous, normal, undecided, unscored }
    }

    fn decided(&self) -> usize {
        self.anomalous + self.normal
    }

    /// The one sentence that remains if nothing else is read.
    fn sentence(&self, page: &Page<'_>) -> String {
        let promise = judged(page);
        match (self.anomalous, self.decided()) {
            _ if page.input.clips.is_empty() => "There are no clips in this report.".to_owned(),
            (0, 0) if self.undecided > 0 => {
                "The model has too few normal clips to say what is anomalous.".to_owned()
            }
            (_, 0) => "None of the clips could be scored.".to_owned(),
            (0, 1) if self.undecided == 0 => format!("The clip sounds normal {promise}."),
            (0, all) if self.undecided == 0 => format!("All {all} clips sound normal {promise}."),
            (0, all) => {
                format!("{} normal {promise}; {}.", sound(all), are_undecided(self.undecided))
            }
            (1, 1) if self.undecided == 0 => format!("The clip does not sound normal {promise}."),
            (some, all) => {
                let does = if some == 1 { "does" } else { "do" };
                let undecided = match self.undecided {
                    0 => String::new(),
                    undecided => format!("; {}", are_undecided(undecided)),
                };
                let all = plural(all, "clip");
                format!("{some} of {all} {does} not sound normal {promise}{undecided}.")
            }
        }
    }

    fn remarks(&self, page: &Page<'_>) -> Vec<String> {
        let promise = page.input.model.settings().promise();
        let mut remarks: Vec<String> = page.thresholds.iter().filter_map(shortcoming).collect();
        if self.anomalous > 0 && page.is_promised() {
            let by_chance = f64::from(promise.rate) * self.decided() as f64;
            let by_chance = tick((by_chance * 10.0).round() / 10.0);
            remarks.push(format!(
                "Of {} that are all normal, up to about {by_chance} would be called anomalous by chance \
                 at this rate.",
                plural(self.decided(), "clip")
            ));
        }
        if self.unscored > 0 {
            let clips = plural(self.unscored, "clip");
            remarks.push(format!(
                "{clips} could not be scored: see <a href=\"#quality\">input quality</a>."
            ));
        }
        remarks
    }

    fn write_tiles(&self, out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
        let verdicts = [
            (self.anomalous, Some(Verdict::Anomalous), "anomalous"),
            (self.normal, Some(Verdict::Normal), "normal"),
            (self.undecided, Some(Verdict::Undecided), "undecided"),
            (self.unscored, None, "not scored"),
        ];
        writeln!(out, "<dl class=\"tiles\">")?;
        for (count, verdict, word) in verdicts {
            // Undecided is rare: a tile only when it is the answer.
            if count == 0 && word == "undecided" {
                continue;
            }
            let (class, sign) = (crate::text::verdict_class(verdict), verdict_sign(verdict));
            writeln!(
                out,
                "<div><dt><span class=\"sign {class}\" aria-hidden=\"true\">{sign}</span> {word}</dt>\
                 <dd>{count}</dd></div>"
            )?;
        }
        for threshold in &page.thresholds {
            let (name, value) = (threshold.name(), optional_number(threshold.value));
            writeln!(out, "<div><dt>{}</dt><dd>{value}</dd></div>", Escaped(&name))?;
        }
        let highest = page
            .input
            .clips
            .iter()
            .filter_map(crate::ReportClip::score)
            .max_by(f64::total_cmp)
            .map_or_else(|| NOTHING.to_owned(), auscult_page::number);
        writeln!(out, "<div><dt>highest score</dt><dd>{highest}</dd></div>\n</dl>")
    }
}

#[cfg(test)]
mod tests {
    use auscult::FalseAlarmRate;

    use crate::testing::sample;

    #[test]
    fn the_first_sentence_counts_the_clips() {
        let mut sample = sample();
        // Twenty clips of four visits are too few to promise 5 %, and enough for 20 %.
        let provisional = "1 of 3 clips does not sound normal at a provisional threshold.";
        let page = sample.input().render();
        assert!(page.contains(provisional));
        assert!(!page.contains("by chance at this rate"), "nothing is known of the rate");
        sample.set_false_alarm_rate(FalseAlarmRate::try_from(0.2).unwrap());
        let promised = "1 of 3 clips does not sound normal at a promised 20 % false-alarm rate.";
        assert!(sample.input().render().contains(promised));
        sample.clips.remove(0);
        assert!(sample.input().render().contains("All 2 clips sound normal at a promised 20 %"));
        sample.clips.clear();
        assert!(sample.input().render().contains("There are no clips in this report."));
    }

    #[test]
    fn too_few_normal_clips_are_said_with_what_they_count_as() {
        let mut sample = sample();
        let rate = FalseAlarmRate::try_from(0.01).unwrap();
        sample.set_false_alarm_rate(rate);
        let page = sample.input().render();
        assert!(page.contains("The model has too few normal clips to say what is anomalous."));
        assert!(page.contains(
            "a false-alarm rate of 1 % cannot be promised yet, because clips of the same"
        ));
    }

    #[test]
    fn a_confident_promise_needs_more_normal_clips() {
        let mut sample = sample();
        let mut settings = sample.model.settings().clone();
        settings.confidence = Some("90%".parse().unwrap());
        let references = sample.model.references().clone();
        sample.model = auscult::Model::fit(settings, references).unwrap();
        let page = sample.input().render();
        assert!(page.contains(
            "5 % with 90 % confidence cannot be promised yet, because clips of the same"
        ));
        assert!(page.contains("No rate is promised yet, and no verdict is given."));
    }
}
