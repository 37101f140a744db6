//! `auscult bench cost`: what a clip costs on this machine.

use auscult::{ClipSettings, Preset, encoders::KNOWN};
use auscult_eval::{
    cost::{CostRow, CostSettings, front_end_cost, preset_cost},
    run::FrontEndName,
};
use serde_json::json;

use super::opening;
use crate::{
    Outcome, args::CostArguments, context::Context, output::run_facts, tables::cost::describe,
};

/// Front ends without weights.
const PLAIN: [&str; 4] = ["log-mel", "mfcc", "lpc", "modulation"];

pub(super) fn run(arguments: &CostArguments, context: &Context) -> anyhow::Result<Outcome> {
    let settings = CostSettings {
        clip: ClipSettings { seconds: arguments.clip_seconds, ..ClipSettings::default() },
        references: arguments.references,
        runs: arguments.runs,
    };
    settings.clip.check()?;
    let wanted = arguments.front_end.as_slice();
    let names: Vec<&str> = match wanted {
        [] => PLAIN.into_iter().chain(KNOWN.iter().map(|known| known.name)).collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    context.front_ends.refuse_unused_file("", &names.join("+"))?;
    let presets = if wanted.is_empty() { Preset::ALL } else { &[] };
    let (mut rows, mut missing): (Vec<CostRow>, Vec<(String, String)>) = Default::default();
    let make =
        |name: &FrontEndName, length| opening::front_end(name, length, &context.front_ends, None);
    context.printer.start_bar(names.len() + presets.len(), "front ends", "cost");
    for name in names {
        anyhow::ensure!(
            !context.cancel.is_cancelled(),
            "stopped before the end; nothing was written"
        );
        let named = FrontEndName { name: name.to_owned(), convention: None, precision: None };
        match front_end_cost(&named, &make, &settings)? {
            Ok(row) => rows.push(row),
            Err(reason) => missing.push((name.to_owned(), reason)),
        }
        context.printer.advance_bar();
    }
    for &preset in presets {
        anyhow::ensure!(
            !context.cancel.is_cancelled(),
            "stopped before the end; nothing was written"
        );
        rows.push(preset_cost(preset, &context.front_ends, &settings)?);
        context.printer.advance_bar();
    }
    context.printer.end_bar();
    let facts = run_facts(&context.command);
    if arguments.json {
        let missing: Vec<_> = missing
            .iter()
            .map(|(name, reason)| json!({ "front_end": name, "reason": reason }))
            .collect();
        let value = json!({
            "machine": facts.machine, "program": facts.program, "command": facts.command,
            "threads": rayon::current_num_threads(), "runs": settings.runs,
            "references": settings.references, "clip_seconds": settings.clip.seconds,
            "rows": rows, "missing": missing,
        });
        context.printer.line(serde_json::to_string_pretty(&value)?)?;
    } else {
        context.printer.text(&describe(&rows, &settings, &facts.machine))?;
        for (name, reason) in &missing {
            context.printer.note(format!("not measured: {name}: {reason}"));
        }
    }
    // What was asked for by name and is not here is a failure; what merely is not here is not.
    Ok(if wanted.is_empty() || missing.is_empty() { Outcome::Done } else { Outcome::Incomplete })
}
