//! Several machines on one page, the one that needs its people most first.

use std::fmt::{self, Display, Formatter};

use auscult::plural;
use auscult_page::{Document, Escaped};

use crate::{
    Report, State,
    charts::{self, Spark},
    hearing::is_heard,
    json,
    page::{PLAYER, Page, STYLE, write_footer},
    sections::answer,
    visits::moment,
};

/// A page of several machines, before it is rendered.
#[derive(Debug)]
pub struct Machines<'a> {
    title: &'a str,
    reports: Vec<Report<'a>>,
}

impl<'a> Machines<'a> {
    /// A page of these machines, whatever their order. They share the room for sound: the worst are heard.
    pub fn new(title: &'a str, reports: Vec<Report<'a>>) -> Self {
        let mut reports = worst_first(reports);
        let mut samples_before = 0;
        for sound in
            reports.iter_mut().flat_map(|report| &mut report.clips).map(|clip| &mut clip.sound)
        {
            let samples = sound.as_ref().map_or(0, |sound| {
                sound.samples.len() + sound.nearest.as_ref().map_or(0, Vec::len)
            });
            if is_heard(samples_before, samples) {
                samples_before += samples;
            } else {
                *sound = None;
            }
        }
        Self { title, reports }
    }

    fn pages(&self) -> Vec<Page<'_>> {
        let numbered = self.reports.iter().enumerate();
        numbered.map(|(index, report)| Page::of_machine(report, index + 1)).collect()
    }

    /// Renders the page: one HTML document that needs nothing else.
    ///
    /// Its `<main>` has the worst state of the machines, and each `<article class="machine">` its own.
    pub fn render(&self) -> String {
        format!("{self}")
    }

    /// The facts of the page as one JSON object, for programs: those of each machine, the worst first.
    ///
    /// # Errors
    ///
    /// Only if a number or name cannot be written as JSON, which none of this crate's types do.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json::write_machines(self.title, &self.pages())
    }
}

impl Display for Machines<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let pages = self.pages();
        let title = format!("{}: sound report", self.title);
        let document = Document { title: &title, style: STYLE, script: Some(PLAYER) };
        document.open(out)?;
        charts::write_marks(out)?;
        let written = self.reports.iter().find_map(|report| report.written);
        let written = written.map(|written| format!(" \u{b7} written {} UTC", moment(written)));
        write!(
            out,
            "<a class=\"skip\" href=\"#machines\">Skip to the machines</a>\n\
             <header>\n<p class=\"kicker\">Sound report \u{b7} {}{}</p>\n</header>\n\
             <main data-state=\"{}\" data-changed=\"{}\">\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<div id=\"machines\">\n",
            plural(pages.len(), "machine"),
            written.unwrap_or_default(),
            worst(&pages).name(),
            pages.iter().any(|page| page.input.changed.is_some()),
            Escaped(self.title),
            summary(&pages)
        )?;
        for page in &pages {
            write_machine(out, page)?;
        }
        writeln!(out, "</div>")?;
        write_footer(out, self.reports.first().map_or("", |report| report.version))?;
        document.close(out)
    }
}

/// Alarms before alerts, changed recordings before others, and then the larger share of anomalous clips.
fn worst_first(reports: Vec<Report<'_>>) -> Vec<Report<'_>> {
    let anomalous = |report: &Report<'_>| {
        let count = report.clips.iter().filter(|clip| clip.is_anomalous()).count();
        count as f64 / report.clips.len().max(1) as f64
    };
    let mut keyed: Vec<_> =
        reports.into_iter().map(|report| (report.state(), anomalous(&report), report)).collect();
    keyed.sort_by(|(a_state, a_share, a), (b_state, b_share, b)| {
        let changed = b.changed.is_some().cmp(&a.changed.is_some());
        b_state.cmp(a_state).then(changed).then(b_share.total_cmp(a_share))
    });
    keyed.into_iter().map(|(_, _, report)| report).collect()
}

fn worst(pages: &[Page<'_>]) -> State {
    pages.iter().map(|page| page.health.state).max().unwrap_or(State::Normal)
}

/// `One machine needs you: 1 alarm, 1 to watch, 4 well.`
fn summary(pages: &[Page<'_>]) -> String {
    let count = |state: State| pages.iter().filter(|page| page.health.state == state).count();
    let (alarms, alerts, normal) = (count(State::Alarm), count(State::Alert), count(State::Normal));
    let counts = format!("{alarms} with an alarm, {alerts} to watch, {normal} well.");
    match (alarms + alerts, pages.len()) {
        (0, _) => format!("All machines are well: {counts}"),
        (1, _) => format!("One machine needs you: {counts}"),
        (some, _) => format!("{some} machines need you: {counts}"),
    }
}

/// One row that answers, and everything below it for those who open it.
fn write_machine(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let state = page.health.state.name();
    let id = page.id("row");
    write!(
        out,
        "<article class=\"machine card {state}\" data-state=\"{state}\" data-changed=\"{}\" aria-labelledby=\"{id}\">\n\
         <details>\n<summary><span class=\"row\"><strong id=\"{id}\">{}</strong> <span class=\"pills\">{}</span> \
         <span class=\"what\">{}</span> {}</span></summary>\n<p class=\"kicker\">{}</p>\n",
        page.input.changed.is_some(),
        Escaped(page.input.title),
        answer::pills(page),
        Escaped(&answer::in_short(page)),
        Spark(page),
        answer::dates(page)
    )?;
    answer::write(out, page)?;
    page.write_details(out)?;
    writeln!(out, "</details>\n</article>")
}

#[cfg(test)]
mod tests {
    use auscult::Verdict;

    use super::*;
    use crate::testing::{Sample, assert_well_formed, attribute_values, clip_with, sample};

    fn machine(verdict: Verdict, count: usize) -> Sample {
        Sample { clips: vec![clip_with(2.0, verdict); count], ..sample() }
    }

    #[test]
    fn the_machine_that_needs_its_people_most_comes_first() {
        let [well, odd, ill] =
            [(Verdict::Normal, 9), (Verdict::Anomalous, 1), (Verdict::Anomalous, 9)]
                .map(|(v, n)| machine(v, n));
        let named = |sample: &'static Sample, title| Report { title, ..sample.input() };
        let [well, odd, ill]: [&'static Sample; 3] =
            [well, odd, ill].map(|sample| &*Box::leak(Box::new(sample)));
        let changed = crate::testing::changed(&["6 dB quieter"], "look");
        let reports = vec![
            named(well, "well"),
            named(well, "moved").with_changed(Some(changed)),
            named(odd, "odd"),
            named(ill, "ill"),
        ];
        let page = Machines::new("Hall 2", reports).render();
        let titles: Vec<&str> = ["ill", "moved", "odd", "well"].to_vec();
        let places: Vec<usize> = titles
            .iter()
            .map(|title| page.find(&format!("\">{title}</strong>")).unwrap())
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        assert!(page.contains("<main data-state=\"alarm\" data-changed=\"true\">"));
        assert_eq!(
            attribute_values(&page, "<article class=\"machine card "),
            ["alarm", "alert", "alert", "normal"]
        );
        assert!(page.contains("3 machines need you: 1 with an alarm, 2 to watch, 1 well."));
        assert_well_formed(&page);
    }

    #[test]
    fn many_machines_share_the_room_for_sound() {
        let mut sample = sample();
        if let Some(sound) = &mut sample.clips[0].sound {
            sound.samples = vec![0.0; 600_000];
        }
        let page = Machines::new("Hall 2", (0..5).map(|_| sample.input()).collect()).render();
        assert_eq!(page.matches("<audio").count(), 2 * 2, "two pairs of 616000 samples fit");
        assert_eq!(page.matches("<article class=\"card kind\"").count(), 5);
    }

    #[test]
    fn the_same_machine_twice_has_places_of_its_own() {
        let sample = sample();
        let machines = Machines::new("Hall 2", vec![sample.input(), sample.input()]);
        let page = machines.render();
        assert_well_formed(&page);
        let ids = attribute_values(&page, " id=\"");
        assert!(attribute_values(&page, " href=\"#").iter().all(|link| ids.contains(link)));
        let facts: serde_json::Value = serde_json::from_str(&machines.to_json().unwrap()).unwrap();
        assert_eq!(
            (&facts["state"], facts["machines"].as_array().unwrap().len()),
            (&"alert".into(), 2)
        );
        assert_well_formed(&Machines::new("none", Vec::new()).render());
    }
}
