//! `auscult bench run`: a protocol on data sets.

use auscult_eval::{
    given::GivenFrontEnd,
    protocol::Protocol,
    run::{
        DataTables, FrontEndName, RunFacts, RunPlan, RunResults, RunSettings, evaluate, identities,
        markdown, remove_results, remove_stale_sections, too_many_neighbours,
    },
};

use super::{fine_tuned::Trained, list, opening};
use crate::{
    Outcome,
    args::RunArguments,
    context::Context,
    output::{run_facts, write_results, write_scores},
    printer::count,
};

pub(super) fn run(arguments: &RunArguments, context: &Context) -> anyhow::Result<Outcome> {
    let context = &context.keeping(&arguments.data.keeping)?.of_table();
    list::refuse_cost(&arguments.protocol)?;
    let mut protocol = Protocol::find(&arguments.protocol)?;
    if let Some(seconds) = arguments.clip_seconds.filter(|&it| it != protocol.clip_seconds) {
        protocol.clip_seconds = seconds;
        protocol.forget_paper();
    }
    let clip = protocol.clip();
    let channel = protocol.channel.parse()?;
    let mut facts = run_facts(&context.command);
    for note in protocol.choose_members(clip.check()?) {
        context.printer.note(&note);
        facts.remarks.push(note);
    }
    let datasets = if protocol.needs_data() {
        opening::open_all(arguments, &protocol, &mut facts, context)?
    } else {
        Vec::new()
    };
    for dataset in &datasets {
        facts.data.insert(dataset.kind.to_string(), dataset.fingerprint());
        facts.remarks.extend(dataset.remarks());
        if let Some(note) = too_many_neighbours(dataset, &protocol.systems) {
            context.printer.note(&note);
            facts.remarks.push(format!("{}: {note}", dataset.kind));
        }
        if let Some(problem) = opening::untested(dataset) {
            context.printer.problem(&problem);
            facts.not_run.push(problem);
        }
    }
    let (table, width) = (arguments.features_from.as_deref(), arguments.band_width);
    let own = opening::own(table, width, &datasets, clip, channel)?;
    protocol.systems.extend(own.iter().flat_map(GivenFrontEnd::systems));
    let named = protocol.heard_front_ends();
    // Trials are called by their seeds; weights are those of the encoder that they begin with.
    let all = protocol.front_ends();
    let of_windows = protocol.windows.iter().map(|windows| windows.front_end.as_str());
    let names: Vec<&str> = all.values().map(|name| name.name.as_str()).chain(of_windows).collect();
    context.front_ends.refuse_unused_file(&protocol.name, &names.join("+"))?;
    let maker = |name: &FrontEndName, length| {
        opening::front_end(name, length, &context.front_ends, own.as_ref())
    };
    let tables = DataTables::of(&protocol, &datasets, clip.check()?, &maker)?;
    facts.front_ends = identities(&named, clip.check()?, &maker);
    claim(arguments, &protocol, &facts)?;
    let control = context.control();
    let mut sections = Vec::new();
    // Tables of the data alone hear nothing.
    let hears = !named.is_empty();
    for dataset in datasets.iter().filter(|_| hears) {
        let Some(trained) = Trained::of(&protocol, dataset, arguments, context)? else {
            return Err(stopped(arguments, context));
        };
        let maker = |name: &FrontEndName, length| trained.front_end(name, length, own.as_ref());
        let own = identities(&named, clip.check()?, &maker).into_iter();
        facts.front_ends.extend(own.map(|(name, identity)| (trained.called(&name), identity)));
        let settings = RunSettings {
            clip,
            channel,
            out: Some(&arguments.out),
            front_ends: &maker,
            control: &control,
        };
        let Some(found) = evaluate(dataset, &protocol.systems, &protocol.diagnostics, &settings)?
        else {
            return Err(stopped(arguments, context));
        };
        write_scores(&arguments.out, dataset.kind, &found.sections)?;
        sections.extend(found.sections);
        facts.missing = found.missing;
    }
    context.printer.end_bar();
    let results = RunResults::new(protocol, facts, &sections, arguments.samples).with_data(tables);
    write_results(&arguments.out, &results)?;
    remove_stale_sections(&arguments.out, &results.section_files)?;
    context.printer.text(&markdown(&results))?;
    context.printer.note(format!(
        "written to {}: results.json, results.md, results.tex, index.html",
        arguments.out.display()
    ));
    let missing = results.rows.iter().filter(|row| row.problem.is_some()).count();
    if missing > 0 {
        context
            .printer
            .problem(format!("{} without a score; the reasons are above", count(missing, "cell")));
    }
    for missing in &results.facts.missing {
        context.printer.problem(format!("not run: {}: {}", missing.front_end, missing.reason));
    }
    let facts = &results.facts;
    let complete = missing == 0
        && results.problems.is_empty()
        && facts.not_run.is_empty()
        && facts.missing.is_empty();
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

fn stopped(arguments: &RunArguments, context: &Context) -> anyhow::Error {
    context.printer.end_bar();
    anyhow::anyhow!(
        "stopped; finished sections are kept in {} and the same command goes on from there",
        arguments.out.display()
    )
}

/// Makes the folder this run's, unless it is another's.
fn claim(arguments: &RunArguments, protocol: &Protocol, facts: &RunFacts) -> anyhow::Result<()> {
    let plan = RunPlan {
        protocol: protocol.clone(),
        data: facts.data.clone(),
        front_ends: facts.front_ends.clone(),
        samples: arguments.samples,
    };
    let out = &arguments.out;
    if arguments.replace {
        remove_results(out)?;
    } else {
        let differences = plan.differences(out)?;
        anyhow::ensure!(
            differences.is_empty(),
            "{} holds another run, nothing was done: {}; choose another folder with --out, or give --replace",
            out.display(),
            differences.join("; ")
        );
    }
    Ok(plan.claim(out)?)
}
