//! `auscult explain`: what differs, in sentences.

use super::scoring::Scoring;
use crate::{
    Outcome,
    args::ExplainArguments,
    printer::{Printer, strong},
};

pub(crate) fn run(arguments: &ExplainArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let mut scoring = Scoring::new(&arguments.scoring)?;
    scoring.explain = true;
    let mut records = Vec::new();
    let scored = scoring.run(&arguments.scoring.input.paths, printer, |clip| {
        let explanation = clip.finding.as_ref().and_then(|finding| finding.explanation.as_ref());
        if arguments.json {
            records.push(serde_json::json!({
                "path": clip.label,
                "start_seconds": clip.start_seconds,
                "verdict": clip.verdict(),
                "promised": scoring.standing(clip.domain.as_deref()).is_promised(),
                "score": clip.finding.as_ref().map(|finding| finding.scored.score.value),
                "explanation": explanation,
            }));
            return Ok(());
        }
        let Some(explanation) = explanation else { return Ok(()) };
        printer.line(strong(clip.name()))?;
        printer.line(&explanation.summary)?;
        for sentence in explanation.sentences() {
            printer.line(format!("  {sentence}"))?;
        }
        printer.line("")
    })?;
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&records)?)?;
    }
    scoring.tell_shortcomings(&scored, printer);
    Ok(if scored.complete { Outcome::Done } else { Outcome::Incomplete })
}
