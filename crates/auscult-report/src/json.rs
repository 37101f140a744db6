//! The facts of a page, for programs.

use auscult::{Changed, ClipRecord, record::RECORD_SCHEMA};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    ReportClip, State,
    difference::Band,
    kinds::Kind,
    page::{Page, Threshold},
    sections::quality::MOST_TO_HEAR,
};

pub(crate) fn write(page: &Page<'_>) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&facts(page))
}

/// The facts of several machines, in this order.
pub(crate) fn write_machines(title: &str, pages: &[Page<'_>]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&MachinesFacts {
        schema: RECORD_SCHEMA,
        title,
        state: pages.iter().map(|page| page.health.state).max().unwrap_or(State::Normal),
        machines: pages.iter().map(facts).collect(),
    })
}

fn facts<'a>(page: &'a Page<'_>) -> Facts<'a> {
    let input = page.input;
    let range = page.visits.range(&input.clips);
    let time = |unix_seconds: f64| jiff::Timestamp::from_second(unix_seconds.floor() as i64).ok();
    Facts {
        schema: RECORD_SCHEMA,
        title: input.title,
        program: format!("auscult {}", input.version),
        written: input.written.and_then(time).map(|time| time.to_string()),
        from: range.as_ref().and_then(|range| time(range.start)).map(|time| time.to_string()),
        to: range.as_ref().and_then(|range| time(range.end)).map(|time| time.to_string()),
        state: page.health.state,
        changed: input.changed.as_ref(),
        kinds: page.kinds.iter().map(|kind| kind_facts(page, kind)).collect(),
        notes: &input.notes,
        model: model(page),
        clips: input.clips.iter().map(Clip::of).collect(),
    }
}

/// A kind of anomaly: what differs, and which clips, counted from 0, the furthest first.
fn kind_facts(page: &Page<'_>, kind: &Kind) -> Value {
    let difference = page.input.clips[kind.leader()].difference.as_ref();
    let bands = difference.map(|difference| {
        let band = |band: &Band| json!({ "hertz": band.hertz, "decibels": band.decibels, "normal": band.normal });
        difference.bands().iter().map(band).collect::<Vec<Value>>()
    });
    json!({
        "differs": kind.name(&page.input.clips),
        "clips": kind.clips(),
        "difference": bands,
    })
}

fn model(page: &Page<'_>) -> Value {
    let model = page.input.model;
    let calibration = model.calibration();
    let bands: Vec<Value> = model
        .detector()
        .beam()
        .layout()
        .bands()
        .iter()
        .map(|band| json!({ "positions": band, "hertz": page.input.axis.hertz(band.clone()) }))
        .collect();
    let least_normal: Vec<Value> = model
        .least_normal(MOST_TO_HEAR)
        .into_iter()
        .map(|(from, score)| json!({ "reference": from, "left_out_score": score }))
        .collect();
    json!({
        "settings": model.settings(),
        "references": model.references().len(),
        "bands": bands,
        "calibration": {
            "basis": calibration.basis(),
            "scores": calibration.scores(),
            "effective_clips": calibration.effective_count(),
        },
        "thresholds": page.thresholds.iter().map(threshold).collect::<Vec<Value>>(),
        "least_normal": least_normal,
    })
}

fn threshold(threshold: &Threshold) -> Value {
    json!({
        "domain": threshold.domain,
        "value": threshold.value,
        "promised": threshold.standing.is_promised(),
        "missing": threshold.standing.lack().map(|lack| lack.to_string()),
    })
}

/// The clip's record, with what it really is where that is known.
#[derive(Serialize)]
struct Clip<'a> {
    #[serde(flatten)]
    record: &'a ClipRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<&'a str>,
}

impl<'a> Clip<'a> {
    fn of(clip: &'a ReportClip<'_>) -> Self {
        Self { record: &clip.record, truth: clip.truth.as_deref() }
    }
}

#[derive(Serialize)]
struct Facts<'a> {
    schema: u32,
    title: &'a str,
    program: String,
    written: Option<String>,
    from: Option<String>,
    to: Option<String>,
    state: State,
    changed: Option<&'a Changed>,
    kinds: Vec<Value>,
    notes: &'a [String],
    model: Value,
    clips: Vec<Clip<'a>>,
}

#[derive(Serialize)]
struct MachinesFacts<'a> {
    schema: u32,
    title: &'a str,
    state: State,
    machines: Vec<Facts<'a>>,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::testing::sample;

    #[test]
    fn what_the_page_says_is_in_the_json() {
        let mut sample = sample();
        sample.clips[2].copy_of = Some("whistle.wav".to_owned());
        let report: Value = serde_json::from_str(&sample.input().to_json().unwrap()).unwrap();
        assert_eq!(report["title"], "Pump 3");
        assert_eq!((&report["state"], &report["changed"]), (&"alert".into(), &Value::Null));
        assert_eq!(report["kinds"][0]["clips"][0], 0);
        assert!(report["kinds"][0]["difference"][0]["decibels"].is_f64());
        let clip = &report["clips"][0];
        assert_eq!(clip["verdict"], "anomalous");
        assert_eq!(clip["score"].as_f64(), sample.clips[0].score());
        assert!(clip["quality"]["level_dbfs"].as_f64().unwrap() < 0.0);
        assert_eq!(report["clips"][2]["remarks"][0], "copy");
        let scores = report["model"]["calibration"]["scores"].as_array().unwrap();
        assert_eq!(scores.len(), sample.model.calibration().scores().len());
        assert_eq!(report["model"]["thresholds"][0]["value"].as_f64(), sample.model.threshold());
    }
}
