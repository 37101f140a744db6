//! `auscult inspect`: what a model holds.

use auscult::Preset;

use crate::{Outcome, args::InspectArguments, context::Context, tables::model};

pub(crate) fn run(arguments: &InspectArguments, context: &Context) -> anyhow::Result<Outcome> {
    let printer = &context.printer;
    let found = auscult::files::load(&arguments.model)?;
    let axis = context.front_ends.axis_of_model(&found)?;
    let preset = Preset::of_model(&context.front_ends, &found);
    if arguments.json {
        let facts = model::facts(&found, &axis, preset.as_ref(), arguments.references);
        printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        printer.text(&model::describe(&found, &axis, preset.as_ref()))?;
        if arguments.references {
            printer.text(&format!("\n{}", model::references(&found)))?;
        }
    }
    Ok(Outcome::Done)
}
