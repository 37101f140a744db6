//! Settings in the order of a ranking.

use std::path::Path;

use auscult::{
    Preset,
    tuning::{Candidate, Ranked, Ranking},
};

use super::{Align, Table};

/// The table and what it means; `all` are the settings there were to try, `written` is the settings file.
pub(crate) fn describe(ranking: &Ranking, all: &[Candidate], written: Option<&Path>) -> String {
    table(ranking).render() + &meaning(ranking, all, written)
}

/// More rows are for programs.
const ROWS: usize = 15;

fn table(ranking: &Ranking) -> Table {
    let kinds = ranking.candidates.first().map_or(&[][..], |first| &first.evaluation.kinds);
    let mut columns =
        vec![("", Align::Right), ("settings", Align::Left), ("mean AUC in %", Align::Left)];
    columns.extend(kinds.iter().map(|of| (of.kind.name(), Align::Right)));
    let mut table = Table::new(&columns);
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let row = |index: usize, ranked: &Ranked| {
        let chosen = ranking.recommended() == Some(ranked);
        let mark = match (chosen, ranked.like_the_best) {
            (true, _) => "*",
            (false, true) => "=",
            (false, false) => " ",
        };
        let evaluation = &ranked.evaluation;
        let mut cells = vec![
            format!("{}{mark}", index + 1),
            evaluation.candidate.to_string(),
            format!("{} ± {}", percent(evaluation.mean_auc), percent(ranked.error)),
        ];
        cells.extend(evaluation.kinds.iter().map(|of| percent(of.auc)));
        cells
    };
    for (index, ranked) in ranking.candidates.iter().enumerate() {
        let is_preset = ranked.evaluation.candidate.preset.is_some();
        if index < ROWS || is_preset || ranking.recommended() == Some(ranked) {
            table.row(row(index, ranked));
        }
    }
    table
}

/// A share in whole percent; what is tried is never none.
fn share(tried: usize, all: usize) -> String {
    match 100 * tried / all.max(1) {
        0 => "less than 1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// What the table means.
fn meaning(ranking: &Ranking, all: &[Candidate], written: Option<&Path>) -> String {
    let (tried, in_all) = (ranking.candidates.len(), all.len());
    let alike = ranking.like_the_best();
    let mut text = format!(
        "\n{tried} of {in_all} settings tried ({}); {alike} cannot be told from the best (=, itself included), * is \
         chosen\n",
        share(tried, in_all)
    );
    let Some(chosen) = ranking.recommended() else { return text };
    let candidate = &chosen.evaluation.candidate;
    let against_default = ranking
        .default_candidate()
        .map(|default| 100.0 * (chosen.evaluation.mean_auc - default.evaluation.mean_auc));
    let choice = match against_default {
        None if candidate.preset.is_some() => {
            format!("chosen      {candidate}: the best of what was tried\n")
        }
        _ if candidate.preset.is_some() => {
            format!("chosen      {candidate}: nothing tried is clearly better\n")
        }
        Some(gain) => format!(
            "chosen      {candidate}: {gain:+.1} points over preset {} on made-up faults\n",
            Preset::default()
        ),
        None => format!("chosen      {candidate}\n"),
    };
    text.push_str(&choice);
    if against_default.is_none() {
        let default = Preset::default();
        let missing = if all.iter().any(|candidate| candidate.preset == Some(default)) {
            "was not tried: use it, or allow more"
        } else {
            "was left out by --preset: name it too to compare"
        };
        let line = format!("missing     preset {default}, the default, {missing}\n");
        text.push_str(&line);
    }
    if 2 * tried < in_all {
        text.push_str(
            "tried       less than half of the settings: use the preset, or allow more\n",
        );
    }
    if candidate.preset.is_none() {
        text.push_str(
            "advice      use the preset, unless this one finds more of your known-bad clips: made-up faults are not faults, and \
             where it was measured such a choice found fewer real ones (docs/tuning.md)\n",
        );
    }
    if let Some(path) = written {
        let path = path.display();
        let command = format!("auscult fit RECORDINGS --settings {path} -o MODEL");
        let line = format!("settings    {path} ({command})\n");
        text.push_str(&line);
    }
    text
}
