//! What verdicts are worth, in sentences.

use std::collections::BTreeSet;

use auscult::{Basis, Machine, Model, RunSummary, Standing, calibration::Missing};

use crate::printer::{Printer, count};

/// Why verdicts are not to be relied on, and what to do; `None` if the rate is promised.
pub(crate) fn shortcoming(standing: Standing) -> Option<String> {
    let (verdicts, lack) = match standing {
        Standing::Promised => return None,
        Standing::Provisional(lack) => ("verdicts are provisional", lack),
        Standing::Undecided(lack) => ("no verdicts yet", lack),
    };
    let option = match lack.missing {
        Missing::Clips | Missing::Independence => match lack.promised_now() {
            None => "",
            Some(_) if lack.basis == Basis::Visits => " (--false-alarm-rate)",
            Some(_) => " (--false-alarm-rate, with the same scheme)",
        },
        Missing::Visits if lack.basis == Basis::Files => {
            "; or, if each file was recorded on an occasion of its own, auscult calibrate --scheme files --save"
        }
        Missing::Visits => "",
    };
    Some(format!("{verdicts}: {lack}{option}"))
}

/// What is missing for each domain that a model knows and can promise nothing for: its clips are judged by its own.
pub(crate) fn domain_shortcomings(model: &Model) -> Vec<String> {
    let of = |domain: &str| {
        let standing = model.judge_of_domain(domain)?.standing();
        Some(of_domain(Some(domain), shortcoming(standing)?))
    };
    model.calibration().domain_names().into_iter().filter_map(of).collect()
}

/// A [`shortcoming`] in one short line, for commands that come every day.
fn short_shortcoming(standing: Standing) -> Option<String> {
    let (verdicts, lack) = match standing {
        Standing::Promised => return None,
        Standing::Provisional(lack) => ("verdicts are provisional", lack),
        Standing::Undecided(lack) => ("no verdicts yet", lack),
    };
    let why = match lack.missing {
        Missing::Visits => "no second visit is known".to_owned(),
        Missing::Clips => format!("too few normal clips for {}", lack.promise),
        Missing::Independence => {
            let noun = if lack.basis == Basis::Visits { "visit" } else { "recording" };
            format!("{} are too few for {}", count(lack.groups, noun), lack.promise)
        }
    };
    Some(format!("{verdicts}: {why} (auscult inspect says what to record)"))
}

/// What a changed run says, what differs in it, and what to do.
pub(crate) fn changed_lines(summary: &RunSummary) -> Vec<String> {
    let Some(changed) = &summary.changed else { return Vec::new() };
    vec![
        format!("changed: {changed}"),
        format!("what differs: {}", changed.differences()),
        format!("next: {} (auscult model add MODEL PATH --visit NAME)", changed.next_step),
    ]
}

/// The rate, and how sure it is.
pub(crate) fn rate(model: &Model) -> String {
    let promise = model.settings().promise();
    let sure = promise.confidence.map(|confidence| format!(" ({confidence} sure)"));
    format!("{}{}", promise.rate, sure.unwrap_or_default())
}

/// Warns about what the threshold of a new or changed model cannot be trusted for.
pub(crate) fn warn(model: &Model, printer: &Printer) {
    let basis = model.calibration().basis();
    match shortcoming(model.standing()) {
        Some(shortcoming) => printer.note(shortcoming),
        None if basis == Basis::Visits => {}
        None => {
            let condition = model.standing().condition(basis).unwrap_or_default();
            printer.note(format!(
                "{basis} were left out, as you chose: the promise holds {condition}"
            ));
            let provenance = model.references().provenance();
            let visits: BTreeSet<&String> =
                provenance.iter().filter_map(|from| from.visit.as_ref()).collect();
            if visits.len() > 1 {
                printer.note(
                    "the references come from several visits, which say more: leaving out visits is the default",
                );
            }
        }
    }
}

/// As [`warn`], domain by domain: the promise to all clips is not one to those of a domain.
pub(crate) fn warn_about_domains(model: &Model, printer: &Printer) {
    for shortcoming in domain_shortcomings(model) {
        printer.note(shortcoming);
    }
}

/// Notes why verdicts are not to be relied on, where results have no place for it.
pub(crate) fn warn_about_run(machine: &Machine, summary: &RunSummary, printer: &Printer) {
    for line in run_lines(machine, summary) {
        printer.note(line);
    }
}

/// Why verdicts of a run are not to be relied on.
pub(crate) fn run_lines(machine: &Machine, summary: &RunSummary) -> Vec<String> {
    let mut lines = changed_lines(summary);
    let of = |domain: &Option<String>| {
        let domain = domain.as_deref();
        Some(of_domain(domain, short_shortcoming(machine.standing(domain))?))
    };
    lines.extend(summary.domains.iter().filter_map(of));
    let promised = |condition| format!("the false-alarm rate is promised {condition}");
    lines.extend(condition(machine, None).map(promised));
    lines
}

/// What stands below a table of clips: what the verdicts are worth, alarms, and input quality.
pub(crate) fn closing_lines(
    machine: &Machine,
    summary: &RunSummary,
    has_other_rate: bool,
) -> Vec<String> {
    let promise = machine.model().settings().promise();
    let line = |domain: &Option<String>| {
        let domain = domain.as_deref();
        let text = short_shortcoming(machine.standing(domain)).unwrap_or_else(|| {
            if summary.changed.is_some() {
                return format!("{promise} false alarms are promised for visits like those learnt, not for this run");
            }
            let condition = condition(machine, domain).map(|condition| format!(", {condition}"));
            let condition = condition.unwrap_or_default();
            format!("at most {promise} of normal clips are called anomalous{condition}")
        });
        of_domain(domain, text)
    };
    let mut lines = changed_lines(summary);
    lines.extend(summary.domains.iter().map(line));
    lines.extend(alarm_line(machine, summary, has_other_rate));
    lines.extend(summary.quality.as_ref().map(|quality| format!("input quality: {quality}")));
    lines
}

/// What the model's alarm rule made of the clips; `None` without a rule.
pub(crate) fn alarm_line(
    machine: &Machine,
    summary: &RunSummary,
    has_other_rate: bool,
) -> Option<String> {
    if has_other_rate {
        return Some("alarm rule: not applied, it was chosen for the model's own rate".to_owned());
    }
    let rule = machine.model().settings().alarm?;
    if machine.model().threshold().is_none() {
        return Some("alarm rule: not applied, there are no verdicts yet".to_owned());
    }
    let rule = format!("alarm rule ({} of {} clips, in the order given)", rule.raise, rule.window);
    Some(match &summary.alarms.as_ref()?[..] {
        [] => format!("{rule}: no alarm"),
        [first] => format!("{rule}: alarm at {first}"),
        [first, more @ ..] => format!("{rule}: {} alarms, the first at {first}", more.len() + 1),
    })
}

/// What a promise to clips of a domain rests on, beside left-out visits.
fn condition(machine: &Machine, domain: Option<&str>) -> Option<String> {
    machine.standing(domain).condition(machine.model().calibration().basis())
}

/// Text about the clips of a domain, or of all.
fn of_domain(domain: Option<&str>, text: String) -> String {
    match domain {
        Some(domain) => format!("domain {domain}: {text}"),
        None => text,
    }
}
