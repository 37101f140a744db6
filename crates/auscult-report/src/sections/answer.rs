//! The first screen: is it well, since when, what differs, how sure, what to do.

use std::fmt::{self, Formatter};

use auscult::{Verdict, plural};
use auscult_page::{Escaped, tick};

use crate::{
    health::{State, Why},
    kinds::Kind,
    page::{Page, Threshold},
    sections::quality::microphone,
    visits::{moment, range_of},
};

/// At most this many kinds are named in the first screen.
const MOST_NAMED: usize = 3;

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let id = page.id("machine");
    write!(
        out,
        "<section class=\"answer\" aria-labelledby=\"{id}\">\n<div>\n<p class=\"pills\">{}</p>\n\
         <h{level} class=\"machine\" id=\"{id}\">{} {}</h{level}>\n<p class=\"lead\" data-answer=\"well\">{}</p>\n\
         <p class=\"do\" data-answer=\"do\"><strong>What to do:</strong> {}</p>\n</div>\n<dl>\n",
        pills(page),
        Escaped(page.input.title),
        verdict_on_machine(page),
        Counts::of(page).sentences(page),
        what_to_do(page),
        level = page.heading,
    )?;
    let answers = [
        ("Since when?", "since", since(page)),
        ("What differs?", "differs", what_differs(page)),
        ("How sure?", "sure", how_sure(page)),
        ("Microphone?", "microphone", Escaped(&microphone(page)).to_string()),
    ];
    for (question, name, answer) in answers {
        writeln!(out, "<div><dt>{question}</dt><dd data-answer=\"{name}\">{answer}</dd></div>")?;
    }
    writeln!(out, "</dl>\n</section>")?;
    if !page.input.notes.is_empty() {
        let title = Escaped(page.input.title);
        writeln!(
            out,
            "<section class=\"notes\" aria-label=\"Notes on {title}\">\n<h2>Notes</h2>\n<ul>"
        )?;
        for note in &page.input.notes {
            writeln!(out, "<li>{}</li>", Escaped(note))?;
        }
        writeln!(out, "</ul>\n</section>")?;
    }
    Ok(())
}

/// When the page was made and what it is about, in one line.
pub(crate) fn dates(page: &Page<'_>) -> String {
    let sound = page
        .visits
        .range(&page.input.clips)
        .map(|range| format!("sound of {} UTC", range_of(&range)));
    let written = page.input.written.map(|written| format!("written {} UTC", moment(written)));
    let visits = (page.visits.groups.len() > 1).then(|| plural(page.visits.groups.len(), "visit"));
    let clips = plural(page.input.clips.len(), "clip");
    sound
        .into_iter()
        .chain([clips])
        .chain(visits)
        .chain(written)
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}

/// The state of a machine in a word, with its sign, and since when.
pub(crate) fn pills(page: &Page<'_>) -> String {
    let pill = |class: &str, words: &str| {
        format!("<span class=\"pill {class}\">{}</span>", Escaped(words))
    };
    let health = &page.health;
    let words = match health.why {
        Why::Well if health.state == State::Normal => "Well".to_owned(),
        Why::Raised { at, .. } => format!("Alarm since {}", page.moment(at)),
        Why::Ended { at, .. } => format!("Watch: alarm at {}, ended", page.moment(at)),
        Why::Recent { .. } | Why::Frequent { .. } | Why::Well => "Watch".to_owned(),
        Why::NotJudged => "Not judged".to_owned(),
    };
    let mut pills = pill(health.state.name(), &format!("{} {words}", health.state.sign()));
    if page.input.changed.is_some() {
        pills.push(' ');
        pills.push_str(&pill("changed", "\u{21c4} Changed as a whole"));
    }
    pills
}

/// The machine, as the subject of this, is what?
fn verdict_on_machine(page: &Page<'_>) -> &'static str {
    match page.health.why {
        _ if page.input.changed.is_some() => "has changed as a whole, or its recording has",
        Why::Well => "sounds like itself",
        Why::Raised { .. } => "does not sound like itself",
        Why::Ended { .. } => "did not sound like itself for a while",
        Why::Recent { .. } | Why::Frequent { .. } => "sounds unusual at times",
        Why::NotJudged => "cannot be judged yet",
    }
}

fn since(page: &Page<'_>) -> String {
    let moment = |clip: usize| Escaped(&page.moment(clip)).to_string();
    let first = page.visits.order.first();
    match page.health.why {
        Why::Raised { at, began } if at == began => {
            format!("The alarm stands since {}.", moment(at))
        }
        Why::Raised { at, began } => {
            format!("It began at {}; the alarm stands since {}.", moment(began), moment(at))
        }
        Why::Ended { at, ended } => {
            format!("An alarm was raised at {} and ended at {}.", moment(at), moment(ended))
        }
        Why::Recent { began } => {
            let rule = page.health.rule;
            format!(
                "Since {}; not long enough for an alarm, which takes {} of {} clips.",
                moment(began),
                rule.raise,
                rule.window
            )
        }
        Why::Frequent { began } => format!("Again and again since {}.", moment(began)),
        Why::Well => {
            first.map_or_else(String::new, |&first| format!("No alarm since {}.", moment(first)))
        }
        Why::NotJudged => "No clip has a verdict yet.".to_owned(),
    }
}

fn what_differs(page: &Page<'_>) -> String {
    if let Some(changed) =
        page.input.changed.as_ref().filter(|changed| !changed.what_differs.is_empty())
    {
        let differences = changed.differences();
        return format!("Most clips differ the same way: {}.", Escaped(&differences));
    }
    let kinds = &page.kinds;
    if kinds.is_empty() {
        let is_judged = page.health.why != Why::NotJudged;
        return if is_judged {
            "Nothing."
        } else {
            "Not judged: the clips below say what differs in each."
        }
        .to_owned();
    }
    let name = |(index, kind): (usize, &Kind)| {
        let words = kind.short_name(&page.input.clips);
        let link = page.id(&format!("kind-{}", index + 1));
        format!(
            "<a href=\"#{link}\">{}</a> ({})",
            Escaped(&words),
            plural(kind.clips().len(), "clip")
        )
    };
    let mut words: Vec<String> = kinds.iter().enumerate().take(MOST_NAMED).map(name).collect();
    if kinds.len() > MOST_NAMED {
        words.push(format!("{} more kinds", kinds.len() - MOST_NAMED));
    }
    let chance =
        if page.health.why == Why::Well { " No more clips than chance makes." } else { "" };
    format!("{}.{chance}", words.join("; "))
}

/// What differs, for a row of a list: plain text.
pub(crate) fn in_short(page: &Page<'_>) -> String {
    if let Some(changed) =
        page.input.changed.as_ref().filter(|changed| !changed.what_differs.is_empty())
    {
        return changed.differences();
    }
    match page.kinds.first() {
        _ if page.health.why == Why::NotJudged => "No clip has a verdict yet.".to_owned(),
        Some(kind) if page.health.why != Why::Well => {
            let more = if page.kinds.len() > 1 {
                format!(", and {} more", plural(page.kinds.len() - 1, "kind"))
            } else {
                String::new()
            };
            format!("{}{more}", kind.short_name(&page.input.clips))
        }
        Some(_) => {
            let clips = page.kinds.iter().map(|kind| kind.clips().len()).sum();
            format!("{} above the threshold, no more than chance makes.", plural(clips, "clip"))
        }
        None => "Nothing unusual.".to_owned(),
    }
}

/// What the verdicts rest on: where the furthest clip stands among normal ones, chance, and the promise.
fn how_sure(page: &Page<'_>) -> String {
    let counts = Counts::of(page);
    let calibration = page.calibration_scores();
    let mut sentences: Vec<String> = Vec::new();
    let scores = page.kinds.iter().filter_map(|kind| page.input.clips[kind.leader()].score());
    let furthest = scores.max_by(f64::total_cmp);
    if let Some(furthest) = furthest.filter(|_| !calibration.is_empty()) {
        let visits = page.reference_visits();
        let from = if visits > 1 { format!(" from {visits} visits") } else { String::new() };
        let normal = format!("{} left-out normal clips{from}", calibration.len());
        let further = calibration.iter().filter(|&&score| score >= furthest).count();
        sentences.push(match further {
            0 => format!("None of {normal} was as far from normal as the furthest clip here."),
            some => {
                format!("{some} of {normal} were as far from normal as the furthest clip here.")
            }
        });
    }
    if counts.anomalous > 0 && page.is_promised() {
        sentences.push(counts.by_chance(page));
    } else if counts.anomalous == 0 && page.is_promised() {
        let rate = page.input.model.settings().promise().rate;
        sentences.push(format!(
            "At most {rate} of normal clips are called anomalous; a fault that sounds normal is not found."
        ));
    }
    if !page.is_promised() {
        let link = page.id("promise");
        let what = if page.thresholds.iter().any(|threshold| threshold.value.is_some()) {
            "The threshold is provisional"
        } else {
            "There is no threshold yet"
        };
        sentences.push(format!("{what}: <a href=\"#{link}\">why, and what is missing</a>."));
    }
    if let Some(changed) = &page.input.changed {
        let level = tick(changed.level * 100.0);
        sentences.push(format!(
            "Recordings like the references would be called changed in at most {level} % of runs."
        ));
    }
    sentences.join(" ")
}

/// The text with a capital letter in front, as a sentence begins.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn what_to_do(page: &Page<'_>) -> String {
    if let Some(next_step) = &page.input.next_step {
        return Escaped(next_step).to_string();
    }
    if let Some(changed) = &page.input.changed {
        return format!("{}.", Escaped(&capitalised(&changed.next_step)));
    }
    let listen = match page.kinds.first() {
        Some(kind) if page.input.clips[kind.leader()].sound.is_some() => {
            let link = page.id("kind-1");
            format!(
                "<a href=\"#{link}\">Listen</a> to the clips below, each beside its closest normal one"
            )
        }
        _ => "Listen to the clips that do not sound normal".to_owned(),
    };
    match page.health.why {
        Why::Raised { .. } => format!(
            "{listen}, then look at the machine. If it is known to be well and only its load, place or season is new, \
             add these recordings to the model as a visit."
        ),
        Why::Ended { at, .. } => format!(
            "{listen}, and ask what ran at {}. If it comes again, look at the machine.",
            Escaped(&page.moment(at))
        ),
        Why::Recent { .. } => format!("{listen}, and record again soon."),
        Why::Frequent { .. } => {
            format!("{listen}. If the machine is well, the model needs more visits like these.")
        }
        Why::Well if page.is_promised() => "Nothing. Record the next visit as usual.".to_owned(),
        Why::Well => {
            "Nothing for the machine. The threshold is provisional: record normal clips on more visits.".to_owned()
        }
        Why::NotJudged if Counts::of(page).undecided > 0 => {
            "Record more normal clips on other days, and learn again.".to_owned()
        }
        Why::NotJudged => "Check microphone, cable and recorder: no clip could be scored.".to_owned(),
    }
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

    /// Clips with a verdict.
    fn decided(&self) -> usize {
        self.anomalous + self.normal
    }

    fn sentences(&self, page: &Page<'_>) -> String {
        let unscored = match self.unscored {
            0 => String::new(),
            some => format!(
                " {} could not be scored: see <a href=\"#{}\">input quality</a>.",
                plural(some, "clip"),
                page.id("quality")
            ),
        };
        format!("{}{unscored}", self.sentence(page))
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

    /// How many normal clips chance would call anomalous, beside how many were.
    fn by_chance(&self, page: &Page<'_>) -> String {
        let rate = f64::from(page.input.model.settings().promise().rate);
        let by_chance = tick((rate * self.decided() as f64 * 10.0).round() / 10.0);
        format!(
            "Of {} that are all normal, up to about {by_chance} would be called anomalous by chance at this rate.",
            plural(self.decided(), "clip")
        )
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
