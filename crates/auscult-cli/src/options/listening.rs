//! What `score`, `explain` and `report` listen with.

use auscult::{Listen, Listening, Machine, RunSummary, audio::Location};

use crate::{
    args::{InputArguments, ScoringArguments},
    context::Context,
    options::front_end::rules,
};

/// A machine, and how to listen to it.
pub(crate) struct Scoring {
    pub(crate) machine: Machine,
    pub(crate) listen: Listen,
    /// Whether a rate was given that is not the model's: its alarm rule was not chosen for that.
    pub(crate) has_other_rate: bool,
    input: InputArguments,
}

impl Scoring {
    pub(crate) fn open(arguments: &ScoringArguments, context: &Context) -> anyhow::Result<Self> {
        let machine = Machine::open_with(&arguments.model, &context.front_ends)?;
        let own_rate = machine.model().settings().false_alarm_rate;
        let has_other_rate = arguments.false_alarm_rate.is_some_and(|rate| rate != own_rate)
            && machine.model().settings().alarm.is_some();
        let machine = match arguments.false_alarm_rate {
            Some(rate) => machine.at_rate(rate)?,
            None => machine,
        };
        let listen = Listen {
            channel: arguments.channel,
            hop_seconds: arguments.input.hop_seconds,
            rules: rules(arguments.input.clips),
            domain: arguments.domain.clone(),
            control: context.control(),
            ..Listen::default()
        };
        Ok(Self { machine, listen, has_other_rate, input: arguments.input.clone() })
    }

    /// The same with the reasons of every band.
    pub(crate) fn explained(mut self, explain: bool) -> Self {
        self.listen.explain = explain;
        self
    }

    /// Where the recording with this path is read from.
    pub(crate) fn location(&self, path: &str) -> Location {
        Location::of_path(path, self.input.samples_csv.as_ref())
    }

    /// Starts to listen.
    pub(crate) fn start(&self, context: &Context) -> anyhow::Result<Listening<'_>> {
        let listening = self.machine.listen_with(self.input.sources()?, &self.listen)?;
        let unknown = listening.summary().unknown_domains;
        if !unknown.is_empty() {
            let unknown: Vec<String> = unknown.into_iter().collect();
            let known = match &self.machine.domains()[..] {
                [] => "the model knows no domains (auscult fit --domain, or a manifest column)"
                    .to_owned(),
                known => format!("the model knows {}", known.join(", ")),
            };
            context.printer.note(format!(
                "clips of domain {} are judged by the threshold of all domains together; {known}",
                unknown.join(", ")
            ));
        }
        Ok(listening)
    }
}

/// Prints what a run left over.
pub(crate) fn print_rest(summary: &RunSummary, context: &Context) {
    if summary.recordings_with_rest > 0 {
        context.printer.note(format!(
            "{:.1} s at the end of {}, less than a clip each, were not scored; --hop-seconds shorter than a clip \
             covers more",
            summary.seconds_dropped,
            crate::printer::count(summary.recordings_with_rest, "recording")
        ));
    }
}
