//! What a model holds.

use std::collections::BTreeMap;

use auscult::{
    BandSettings, FrontEndIdentity, Model, PresetOfModel, ScoreOf,
    alarm::AlarmSettings,
    beam::Standardise,
    features::{Axis, MemberSettings},
    members::{BandsText, ExponentText, MemberSpec, OwnOptions},
};
use serde_json::{Value, json};

use super::{
    Align, Table,
    promise::{domain_shortcomings, rate, shortcoming},
};
use crate::printer::{count, printable, strong};

/// Number of references of each visit; those of none under "".
fn visits(model: &Model) -> BTreeMap<&str, usize> {
    let mut visits = BTreeMap::new();
    for from in model.references().provenance() {
        *visits.entry(from.visit.as_deref().unwrap_or("")).or_default() += 1;
    }
    visits
}

pub(crate) fn facts(
    model: &Model,
    axis: &Axis,
    preset: Option<&PresetOfModel>,
    references: bool,
) -> Value {
    let beam = model.detector().beam();
    let bands: Vec<Value> = beam
        .layout()
        .bands()
        .iter()
        .enumerate()
        .map(|(band, positions)| {
            let views: BTreeMap<String, Value> = beam
                .settings()
                .views
                .iter()
                .map(|&view| {
                    let facts = json!({
                        "typical_score": model.detector().typical_band_score(view, band),
                        "density_exponent": model.detector().band_exponent(view, band),
                    });
                    (beam.view_of(view, band).to_string(), facts)
                })
                .collect();
            let mut facts = json!({
                "positions": positions,
                "hertz": axis.hertz(positions.clone()),
                "views": views,
            });
            if let Some(member) = beam.member_of(band) {
                facts["member"] = json!(member.label());
            }
            facts
        })
        .collect();
    let calibration = model.calibration();
    let mut facts = json!({
        "model_file_version": model.file_version(),
        "preset": preset.map(|found| found.preset),
        "differs_from_preset": preset.map(|found| &found.differs),
        "members": members(model),
        "settings": model.settings(),
        "axis": { "length": axis.len(), "meaning": axis.meaning() },
        "bands": bands,
        "references": model.references().len(),
        "visits": visits(model),
        "calibration": {
            "basis": calibration.basis(),
            "clips": calibration.scores().len(),
            "effective_clips": calibration.effective_count(),
            "threshold": model.threshold(),
            "promised": model.standing().is_promised(),
        },
    });
    if references {
        facts["reference_list"] = json!(model.references().provenance());
    }
    facts
}

pub(crate) fn describe(model: &Model, axis: &Axis, preset: Option<&PresetOfModel>) -> String {
    let settings = model.settings();
    let detector = &settings.detector;
    let views: Vec<&str> = detector.views.iter().map(|view| view.name()).collect();
    let visits = visits(model);
    let list: Vec<String> = visits
        .iter()
        .map(|(visit, count)| {
            let visit = if visit.is_empty() { "(no visit)" } else { visit };
            format!("{visit}: {count}")
        })
        .collect();
    let threshold = match model.threshold() {
        Some(threshold) if model.standing().is_promised() => format!("{threshold:.4}"),
        Some(threshold) => format!("{threshold:.4}, provisional"),
        None => "none yet".to_owned(),
    };
    let mut rows = vec![
        (
            "clips",
            format!(
                "{} s at {} Hz, channel {}",
                settings.clip.seconds, settings.clip.sample_rate, settings.channel
            ),
        ),
        ("front end", format!("{}, {} positions", settings.front_end, axis.len())),
    ];
    let single = std::slice::from_ref(&settings.front_end);
    let parts = settings.front_end.members();
    let encoders = parts.as_deref().unwrap_or(single).iter().filter_map(encoder);
    rows.extend(encoders.map(|text| ("encoder", text)));
    if let Some(PresetOfModel { preset, differs }) = preset {
        let differs = match differs.as_slice() {
            [] => String::new(),
            differs => format!(", with its own {}", differs.join(", ")),
        };
        rows.insert(1, ("preset", format!("{preset}{differs}")));
    }
    let mut has_own_ways = false;
    if let Some(ensemble) = &detector.ensemble {
        has_own_ways = ensemble.standardise == Standardise::OtherVisits;
        let members: Vec<String> = if has_own_ways {
            members(model).iter().map(ToString::to_string).collect()
        } else {
            ensemble.members.iter().map(MemberSettings::label).collect()
        };
        let text = format!("{}, {} of their scores", members.join(" + "), ensemble.combine);
        rows.push(("members", text));
    }
    if !has_own_ways {
        rows.push(("views", views.join(" and ")));
    }
    rows.extend([
        (
            "distance",
            match detector.score_of {
                ScoreOf::Value => "none: the values of a band are its score".to_owned(),
                _ if has_own_ways => format!("as the members say, {}", detector.rule),
                _ => format!(
                    "{}, {}, density exponent {}, {}",
                    detector.metric,
                    count(detector.neighbours, "neighbour"),
                    detector.exponent,
                    detector.rule
                ),
            },
        ),
        (
            "combined by",
            format!("{} over bands, {} over views", detector.aggregation, detector.fusion),
        ),
        (
            "references",
            format!(
                "{}{}",
                model.references().len(),
                settings
                    .max_references
                    .map(|most| format!(" (at most {most})"))
                    .unwrap_or_default()
            ),
        ),
        ("visits", list.join(", ")),
        (
            "calibration",
            format!(
                "{} left-out scores, leaving out {}, worth {:.0} independent ones",
                model.calibration().scores().len(),
                model.calibration().basis(),
                model.calibration().effective_count().floor()
            ),
        ),
        ("threshold", format!("{threshold} (for at most {} false alarms)", rate(model))),
        ("promise", promise(model)),
    ]);
    rows.extend(domain_shortcomings(model).into_iter().map(|text| ("", text)));
    rows.push(("alarm", alarm(settings.alarm)));
    let line = |(name, value): &(&str, String)| {
        format!("{}{}{value}\n", strong(name), " ".repeat(13 - name.len()))
    };
    format!("{}\n{}", rows.iter().map(line).collect::<Vec<_>>().concat(), bands(model, axis))
}

/// The members of an ensemble with how they compare, as `--front-end` takes them; empty for a single
/// front end.
fn members(model: &Model) -> Vec<MemberSpec> {
    let settings = model.settings();
    let ensemble = settings.detector.ensemble.as_ref();
    let members = ensemble.map(|ensemble| ensemble.members.as_slice()).unwrap_or_default();
    let identities = settings.front_end.members().unwrap_or_default();
    let member = |member: &MemberSettings| {
        let identity = identities
            .iter()
            .find(|identity| identity.name == member.name || identity.to_string() == member.name);
        let convention = identity.and_then(|one| convention(one, &identities));
        let options = member.metric.is_some().then(|| OwnOptions {
            views: Some(member.views.clone()),
            bands: Some(BandsText(bands_within(member))),
            metric: member.metric,
            neighbours: member.neighbours,
            exponent: member.exponent.map(ExponentText),
        });
        MemberSpec {
            front_end: identity.map_or_else(|| member.name.clone(), |one| one.name.clone()),
            convention,
            normalisation: member.normalisation,
            options,
        }
    };
    members.iter().map(member).collect()
}

/// The convention of a member as `--front-end` takes it; the layer of an encoder where another member takes another.
fn convention(identity: &FrontEndIdentity, all: &[FrontEndIdentity]) -> Option<String> {
    if let Some(convention) = identity.settings.get("convention") {
        return convention.as_str().map(str::to_owned);
    }
    let layers = identity.settings.get("layers")?;
    let differs = |other: &FrontEndIdentity| {
        other.name == identity.name && other.settings.get("layers") != Some(layers)
    };
    match layers.as_array()?.as_slice() {
        [layer] if all.iter().any(differs) => Some(format!("layer-{layer}")),
        _ => None,
    }
}

/// How a member is cut: a width beyond its axis is the whole of it.
fn bands_within(member: &MemberSettings) -> BandSettings {
    let axis = member.positions / member.views.len().max(1);
    match member.bands {
        BandSettings::Windows { width, .. } if width >= axis => BandSettings::Whole,
        bands => bands,
    }
}

/// What is taken of an encoder, and which one it is; `None` for other front ends.
fn encoder(identity: &FrontEndIdentity) -> Option<String> {
    let setting = |name: &str| identity.settings.get(name);
    let text = |name: &str| setting(name).and_then(Value::as_str);
    let layers: Vec<String> =
        setting("layers")?.as_array()?.iter().map(ToString::to_string).collect();
    let rows = setting("rows_per_band").and_then(Value::as_u64).unwrap_or(1);
    let class_token = setting("class_token").and_then(Value::as_bool).unwrap_or(false);
    Some(format!(
        "{}, fingerprint {}, layer {}, {} a band{}, {}",
        text("encoder")?,
        text("fingerprint")?,
        layers.join(","),
        count(usize::try_from(rows).ok()?, "row"),
        if class_token { ", class token" } else { "" },
        text("precision")?
    ))
}

fn promise(model: &Model) -> String {
    let standing = model.standing();
    let kept = || {
        let condition = standing.condition(model.calibration().basis());
        format!("kept {}", condition.unwrap_or_else(|| "for clips of new visits".to_owned()))
    };
    shortcoming(standing).unwrap_or_else(kept)
}

fn alarm(settings: Option<AlarmSettings>) -> String {
    settings.map_or_else(
        || "no rule; auscult calibrate --at-most chooses one".to_owned(),
        |alarm| {
            let AlarmSettings { raise, window, clear, hop_seconds, .. } = alarm;
            let pace = hop_seconds.map(|hop| format!("; chosen for a clip every {hop} s"));
            let pace = pace.unwrap_or_default();
            format!(
                "{raise} of {window} clips raise it, {clear} normal ones in a row clear it{pace}"
            )
        },
    )
}

fn bands(model: &Model, axis: &Axis) -> String {
    let beam = model.detector().beam();
    let is_ensemble = beam.settings().ensemble.is_some();
    let mut columns = vec![("band", Align::Right)];
    columns.extend(is_ensemble.then_some(("member", Align::Left)));
    columns.extend([
        ("positions", Align::Left),
        ("hertz", Align::Left),
        ("view", Align::Left),
        ("normal score", Align::Right),
        ("exponent", Align::Right),
    ]);
    let mut table = Table::new(&columns);
    for (band, positions) in beam.layout().bands().iter().enumerate() {
        let hertz = axis.hertz(positions.clone());
        let hertz = hertz.map(|hertz| format!("{:.0}-{:.0}", hertz.start, hertz.end));
        for &view in &beam.settings().views {
            let number =
                |value: Option<f64>| value.map(|value| format!("{value:.4}")).unwrap_or_default();
            let mut row = vec![band.to_string()];
            row.extend(beam.member_of(band).map(MemberSettings::label));
            row.extend([
                format!("{}-{}", positions.start, positions.end - 1),
                hertz.clone().unwrap_or_else(|| "-".to_owned()),
                beam.view_of(view, band).to_string(),
                number(model.detector().typical_band_score(view, band)),
                number(model.detector().band_exponent(view, band)),
            ]);
            table.row(row);
        }
    }
    table.render()
}

pub(crate) fn references(model: &Model) -> String {
    let mut table = Table::new(&[
        ("index", Align::Right),
        ("source", Align::Left),
        ("start", Align::Right),
        ("visit", Align::Left),
        ("domain", Align::Left),
        ("left-out score", Align::Right),
    ]);
    let scores = model.detector().left_out_scores();
    for (index, (from, score)) in model.references().provenance().iter().zip(scores).enumerate() {
        table.row([
            index.to_string(),
            printable(&from.source),
            format!("{:.1}", from.start_seconds),
            from.visit.as_deref().map(printable).unwrap_or_default(),
            from.domain.as_deref().map(printable).unwrap_or_default(),
            score.map(|score| format!("{score:.4}")).unwrap_or_default(),
        ]);
    }
    table.render()
}
