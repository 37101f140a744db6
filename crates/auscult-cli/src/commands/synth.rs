//! `auscult synth`: synthetic machines on disk.

use auscult_testing::{Fault, Layout, Machine, PerDomain, TreeRecipe, write_tree};

use crate::{Outcome, args::SynthArguments, context::Context, printer::count};

pub(crate) fn run(arguments: &SynthArguments, context: &Context) -> anyhow::Result<Outcome> {
    let per_domain = |counts: &[u32]| PerDomain { source: counts[0], target: counts[1] };
    let faults = parse::<Fault>(&arguments.faults)?;
    let recipe = TreeRecipe {
        machines: machines(&arguments.machines, &faults)?,
        layout: arguments.layout.parse::<Layout>()?,
        train: per_domain(&arguments.train),
        test_normal: per_domain(&arguments.test),
        test_anomalous: per_domain(&arguments.test),
        visits: arguments.visits,
        faults,
        severity: arguments.severity,
        snr_db: arguments.snr_db,
        seconds: arguments.seconds,
        seed: arguments.seed,
        ..TreeRecipe::default()
    };
    let printer = &context.printer;
    printer.start_bar(recipe.files()?.len(), "clips", "");
    let advance = &mut |done, _| printer.move_bar(done, String::new());
    let files = write_tree(&arguments.out, &recipe, advance)?;
    printer.end_bar();
    context.printer.line(format!(
        "{} in {}",
        count(files.len(), "clip"),
        arguments.out.display()
    ))?;
    Ok(Outcome::Done)
}

/// The machines asked for; without a choice, all that can have one of the faults.
fn machines(names: &[String], faults: &[Fault]) -> anyhow::Result<Vec<Machine>> {
    if !names.is_empty() {
        return parse(names);
    }
    let suits = |machine: &Machine| {
        faults.is_empty() || faults.iter().any(|fault| machine.faults().contains(fault))
    };
    Ok(Machine::ALL.into_iter().filter(suits).collect())
}

fn parse<T: std::str::FromStr>(names: &[String]) -> anyhow::Result<Vec<T>>
where
    anyhow::Error: From<T::Err>,
{
    names.iter().map(|name| Ok(name.parse()?)).collect()
}
