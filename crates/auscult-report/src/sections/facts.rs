//! The model and its settings, for those who must be able to repeat this.

use std::{
    collections::BTreeSet,
    fmt::{self, Formatter},
};

use auscult::{DensityExponent, Provenance, Standing, features::AxisMeaning, plural};
use auscult_page::{Escaped, tick};

use crate::{
    bands::band_name,
    page::Page,
    text::{NOTHING, optional_number},
};

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    out.write_str(&page.section("model", "Model"))?;
    let caption = if page.compares() {
        "What the clips are compared with"
    } else {
        "What the clips are judged by"
    };
    write_table(out, page, caption, &model_facts(page))?;
    write_table(out, page, "Settings", &settings(page))?;
    writeln!(out, "</section>")
}

type Facts = Vec<(String, String)>;

fn write_table(
    out: &mut Formatter<'_>,
    page: &Page<'_>,
    caption: &str,
    facts: &Facts,
) -> fmt::Result {
    writeln!(
        out,
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}: {}\">\n\
         <table class=\"model-facts\">\n<caption>{caption}</caption>\n<tbody>",
        Escaped(page.input.title)
    )?;
    for (name, value) in facts {
        let (name, value) = (Escaped(name), Escaped(value));
        writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>")?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>")
}

fn model_facts(page: &Page<'_>) -> Facts {
    let (model, axis) = (page.input.model, page.input.axis);
    let settings = model.settings();
    let provenance = model.references().provenance();
    let calibration = model.calibration();
    let layout = model.detector().beam().layout();
    let bands: Vec<String> = layout.bands().iter().map(|band| band_name(axis, band)).collect();
    let bands_of = match axis.meaning() {
        AxisMeaning::Frequency => "",
        AxisMeaning::Cepstrum => " (cepstral coefficients: these bands have no frequency)",
        _ => " (positions of the feature vector)",
    };
    let visits = distinct(provenance, |from| from.visit.as_deref());
    let domains = distinct(provenance, |from| from.domain.as_deref());
    let facts = [
        ("Front end", settings.front_end.to_string()),
        ("Clips", format!("{} s at {} Hz", tick(settings.clip.seconds), settings.clip.sample_rate)),
        ("Bands", format!("{}{bands_of}", shortened(&bands))),
        ("References", plural(provenance.len(), "normal clip")),
        ("From", plural(distinct(provenance, |from| Some(&from.source)).len(), "file")),
        ("Visits", if visits.is_empty() { "not known".to_owned() } else { shortened(&visits) }),
        ("Domains", if domains.is_empty() { "not known".to_owned() } else { shortened(&domains) }),
        (
            "Calibration",
            format!(
                "{}, left out by {}",
                plural(calibration.scores().len(), "score"),
                calibration.basis()
            ),
        ),
        ("False-alarm rate", settings.promise().to_string()),
        (
            "Alarm rule",
            settings.alarm.map_or_else(
                || "none".to_owned(),
                |alarm| format!("{} of {} clips", alarm.raise, alarm.window),
            ),
        ),
    ];
    let thresholds = page.thresholds.iter().map(|threshold| {
        let name = threshold.domain.as_ref().map(|domain| format!(" of {domain}"));
        let provisional = if matches!(threshold.standing, Standing::Provisional(_)) {
            " (provisional)"
        } else {
            ""
        };
        let value = format!("{}{provisional}", optional_number(threshold.value));
        (format!("Threshold{}", name.unwrap_or_default()), value)
    });
    facts.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(thresholds).collect()
}

fn settings(page: &Page<'_>) -> Facts {
    let settings = page.input.model.settings();
    let detector = &settings.detector;
    let views: Vec<&str> = detector.views.iter().map(|view| view.name()).collect();
    let exponent = match detector.exponent {
        DensityExponent::Fixed(exponent) => tick(exponent),
        DensityExponent::Auto => "auto".to_owned(),
    };
    let most =
        settings.max_references.map_or_else(|| "no limit".to_owned(), |most| most.to_string());
    let mut facts = vec![("Channel", settings.channel.clone()), ("Views", views.join(", "))];
    if page.compares() {
        facts.extend([
            ("Distance", detector.metric.to_string()),
            ("Neighbours in a local scale", detector.neighbours.to_string()),
            ("Density exponent", exponent),
            ("Density rule", detector.rule.to_string()),
        ]);
    } else {
        facts.push(("Score of a band", "the network's error in it".to_owned()));
    }
    facts.extend([
        ("Bands combined by", detector.aggregation.to_string()),
        ("Views combined by", detector.fusion.to_string()),
        ("Most references", most),
        ("Calibration scheme", settings.calibration.to_string()),
    ]);
    let front_end = settings.front_end.settings.as_object().into_iter().flatten();
    facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .chain(front_end.map(|(name, value)| {
            let name = format!("Front end: {}", name.replace('_', " "));
            (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        }))
        .collect()
}

fn distinct<'a>(
    provenance: &'a [Provenance],
    key: impl Fn(&'a Provenance) -> Option<&'a str>,
) -> Vec<String> {
    let names: BTreeSet<&str> = provenance.iter().filter_map(key).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// A count and the names, but not hundreds of them.
fn shortened(names: &[String]) -> String {
    const MOST_NAMES: usize = 12;
    let shown = &names[..names.len().min(MOST_NAMES)];
    let more = names.len() - shown.len();
    match (names.len(), more) {
        (0, _) => NOTHING.to_owned(),
        (count, 0) => format!("{count}: {}", shown.join(", ")),
        (count, more) => format!("{count}: {}, and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::sample;

    #[test]
    fn the_page_names_the_model() {
        let sample = sample();
        let page = sample.input().render();
        let identity = sample.front_end.identity();
        assert!(page.contains(&format!("<th scope=\"row\">Front end</th><td>{identity}</td>")));
        for fact in [
            "<th scope=\"row\">Clips</th><td>1 s at 16000 Hz</td>",
            "<th scope=\"row\">References</th><td>20 normal clips</td>",
            "<th scope=\"row\">Visits</th><td>4: day 0, day 1, day 2, day 3</td>",
            "<th scope=\"row\">Calibration</th><td>20 scores, left out by visits</td>",
            "<th scope=\"row\">Distance</th><td>cosine</td>",
        ] {
            assert!(page.contains(fact), "{fact}");
        }
        assert!(page.contains("Calibration left out whole visits to the machine"));
    }
}
