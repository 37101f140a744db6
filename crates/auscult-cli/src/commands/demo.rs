//! `auscult demo`: the whole story on a synthetic machine, with the commands it is made of.

use std::path::Path;

use anyhow::Context as _;
use auscult::{ClipRecord, Learn, Listen, Machine, Sources};
use auscult_report::Report;
use auscult_testing::{Machine as Kind, write_tree};

use crate::{
    Outcome,
    args::DemoArguments,
    context::Context,
    output::demo_folder,
    printer::strong,
    tables::{learned::LearnedTable, promise, scores::ScoreTable},
};

pub(crate) fn run(arguments: &DemoArguments, context: &Context) -> anyhow::Result<Outcome> {
    let printer = &context.printer;
    let kind: Kind = arguments.machine.parse()?;
    let folder = &arguments.out;
    demo_folder::prepare(folder)?;
    let sounds = folder.join("sounds");
    demo_folder::remove_own(&sounds, arguments.seed)
        .with_context(|| format!("cannot replace {}", sounds.display()))?;
    let recipe = demo_folder::recipe(kind, arguments.seed);
    printer.line(strong(format!(
        "1. A synthetic {kind}: {} normal clips on {} visits to learn from, {} normal and {} faulty ones to check",
        recipe.train.source, recipe.visits, recipe.test_normal.source, recipe.test_anomalous.source
    )))?;
    printer.start_bar(recipe.files()?.len(), "clips", "");
    write_tree(&sounds, &recipe, &mut |done, _| printer.move_bar(done, String::new()))?;
    printer.end_bar();

    let [normal, check] = ["normal", "check"].map(|part| sounds.join(kind.name()).join(part));
    let model = folder.join(format!("{kind}.auscult"));
    printer.line(strong("\n2. Learn how it sounds when it is well"))?;
    printer.line(format!("$ auscult fit {} -o {}", normal.display(), model.display()))?;
    let learn = Learn { control: context.control(), ..Learn::default() };
    let machine = Machine::learn(normal, &learn)?;
    machine.save(&model)?;
    printer.text(&LearnedTable::new(&machine, &model, &context.front_ends).to_string())?;
    promise::warn(machine.model(), printer);

    printer.line(strong("\n3. Check new recordings"))?;
    printer.line(format!("$ auscult score {} {}", model.display(), check.display()))?;
    let machine = Machine::open(&model)?;
    let listen = Listen { explain: true, control: context.control(), ..Listen::default() };
    let mut listening = machine.listen_with(Sources::of([&check])?, &listen)?;
    let records: Vec<ClipRecord> = listening.by_ref().collect::<auscult::Result<_>>()?;
    let summary = listening.summary();
    let mut table = ScoreTable::new();
    for record in &records {
        table.add(record, false);
    }
    printer.text(&table.render(&promise::closing_lines(&machine, &summary, false)))?;
    printer.line(tally(&records))?;

    let page = folder.join("report.html");
    let title = format!("Synthetic {kind}");
    let report =
        Report::new(&title, &machine, &records).with_truth(|record| Some(truth(record).to_owned()));
    auscult::files::write_atomically(&page, report.render().as_bytes())?;
    printer.line(strong("\n4. Read the report"))?;
    printer.line(format!("{} (opens in any browser, no network needed)", page.display()))?;
    Ok(if summary.is_complete { Outcome::Done } else { Outcome::Incomplete })
}

/// What a clip really is: its file name says so (`leak_0003.wav`).
fn truth(record: &ClipRecord) -> &str {
    let name =
        Path::new(record.path()).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('_').map_or(name, |(kind, _)| kind)
}

fn tally(records: &[ClipRecord]) -> String {
    let count = |faulty: bool, anomalous: Option<bool>| {
        records
            .iter()
            .filter(|record| (truth(record) != "normal") == faulty)
            .filter(|record| anomalous.is_none_or(|wanted| record.is_anomalous() == wanted))
            .count()
    };
    format!(
        "According to the file names, {} of {} faulty clips were found and {} of {} normal ones were called anomalous.",
        count(true, Some(true)),
        count(true, None),
        count(false, Some(true)),
        count(false, None),
    )
}
