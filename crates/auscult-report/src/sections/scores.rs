//! All clips at a glance: over time, among normal clips, and by band.

use std::{
    fmt::{self, Formatter},
    ops::Range,
};

use auscult::{Beam, Verdict, View, record::TimeOrigin};

use crate::{
    charts::{HeatMap, Histogram, STEPS, Timeline},
    page::Page,
    text::{verdict_class, verdict_sign, verdict_word},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    write_histogram(out, page)?;
    write_heat_map(out, page)
}

/// Scores over time; it stands before everything else.
pub(crate) fn write_timeline(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let what = if page.compares() {
        "How far each clip is from the normal clips the model remembers: higher is further."
    } else {
        "How badly the network reproduces each clip: higher is worse."
    };
    let section = page.section("scores", "Over time");
    write!(
        out,
        "{section}\
         <p>{what} A clip above the threshold is called anomalous; {}.</p>\n<figure>\n{}",
        alarm_rule(page),
        Timeline { page }
    )?;
    write_verdict_legend(out, page)?;
    let beyond = page
        .input
        .clips
        .iter()
        .filter_map(crate::ReportClip::score)
        .filter(|&score| page.range.is_beyond(score));
    let beyond = match beyond.count() {
        0 => String::new(),
        some => {
            let is = if some == 1 { "is" } else { "are" };
            format!(" {} beyond the scale {is} drawn at its top.", auscult::plural(some, "clip"))
        }
    };
    writeln!(out, "</figure>\n<p class=\"quiet\">{}{beyond}</p>\n</section>", times_known(page))
}

fn alarm_rule(page: &Page<'_>) -> String {
    let (rule, whose) =
        (page.health.rule, if page.health.is_own_rule { "the model's" } else { "the usual" });
    format!("{} such clips among {} raise an alarm ({whose} rule)", rule.raise, rule.window)
}

/// How the times are known.
fn times_known(page: &Page<'_>) -> &'static str {
    match (page.visits.origin, page.visits.distrust) {
        (_, Some(why)) => why,
        (Some(TimeOrigin::FileTime), _) => {
            "Times are those of the files, in UTC; copying a file may change its time. Pauses between visits are not drawn."
        }
        (Some(TimeOrigin::FileName), _) => {
            "Times are those in the file names, taken as UTC. Pauses between visits are not drawn."
        }
        (Some(_), _) => "Times are in UTC. Pauses between visits are not drawn.",
        (None, None) => "The times of the recordings are not known: clips are shown in order.",
    }
}

/// The shapes that occur on this page.
fn write_verdict_legend(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let all = [Some(Verdict::Normal), Some(Verdict::Anomalous), Some(Verdict::Undecided), None];
    write!(out, "<figcaption><ul class=\"legend\">")?;
    for verdict in all {
        if page.input.clips.iter().any(|clip| clip.verdict() == verdict) {
            write!(
                out,
                "<li><span class=\"sign {}\" aria-hidden=\"true\">{}</span> {}</li>",
                verdict_class(verdict),
                verdict_sign(verdict),
                verdict_word(verdict)
            )?;
        }
    }
    writeln!(out, "</ul></figcaption>")
}

fn write_histogram(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let calibration = page.calibration_scores();
    let section = page.section("normal", "Against normal clips");
    let left_out = if page.compares() {
        "when they are left out of the memory"
    } else {
        "by a network that was not trained on them"
    };
    writeln!(
        out,
        "{section}\
         <p>Bars: how normal clips score {left_out}. Marks below them: \
         the clips of this report. Marks to the right of all bars are further from normal than any \
         normal clip was.</p>"
    )?;
    if calibration.is_empty() {
        writeln!(
            out,
            "<p class=\"missing\">There are no such scores: the model has too few normal clips to \
             leave one out.</p>"
        )?;
    } else {
        let chart = Histogram {
            id: &page.id("histogram"),
            calibration: &calibration,
            clips: &page.input.clips,
            thresholds: &page.thresholds,
            range: page.range,
        };
        writeln!(out, "<figure>\n{chart}</figure>")?;
    }
    writeln!(out, "</section>")
}

fn write_heat_map(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let beam = page.input.model.detector().beam();
    let section = page.section("bands", "Where the clips differ");
    let [measure, five] =
        if page.compares() { ["distance to the memory", "as far"] } else { ["error", "the error"] };
    writeln!(
        out,
        "{section}\
         <p>Every band of every clip against what unseen normal clips have in that band: 1\u{d7} is \
         their median {measure}, 5\u{d7} is five times {five}.</p>"
    )?;
    if page.input.clips.iter().all(|clip| clip.explanation.is_none()) {
        writeln!(out, "<p class=\"missing\">No clip of this report is explained.</p>\n</section>")?;
        return Ok(());
    }
    let groups = members(beam);
    let chart = HeatMap {
        id: &page.id("heat-map"),
        order: &page.visits.order,
        clips: &page.input.clips,
        views: &beam.settings().views,
        bands: beam.layout().bands(),
        axis: page.input.axis,
        groups: &groups,
    };
    write!(out, "<figure>\n{chart}<figcaption><ul class=\"legend\">")?;
    for (step, (name, _)) in STEPS.iter().enumerate() {
        write!(
            out,
            "<li><span class=\"swatch heat-{step}\" aria-hidden=\"true\"></span> {name}</li>"
        )?;
    }
    write!(
        out,
        "<li><span class=\"swatch heat-unknown\" aria-hidden=\"true\"></span> unknown</li></ul>\
         </figcaption>\n</figure>\n</section>\n"
    )
}

/// The bands of each view of each member, where members have views of their own.
fn members(beam: &Beam) -> Vec<(Range<usize>, String)> {
    let mut groups: Vec<(Range<usize>, String)> = Vec::new();
    for band in 0..beam.layout().bands().len() {
        let Some(member) = beam.member_of(band).filter(|member| !member.views.is_empty()) else {
            return Vec::new();
        };
        let name = match beam.view_of(View::Mean, band) {
            View::Max => format!("{}, loudest", member.name),
            View::Mean => member.name.clone(),
        };
        match groups.last_mut() {
            Some((bands, last)) if *last == name => bands.end = band + 1,
            _ => groups.push((band..band + 1, name)),
        }
    }
    groups
}
