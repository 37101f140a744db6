//! Sentences for the first screen of a machine: how sure, what to do, what is promised.

use auscult::{Machine, alarm::AlarmSettings, plural};
use auscult_monitor::watch::MachineStatus;

/// What somebody in front of the machine should do.
pub(crate) fn what_to_do(status: &MachineStatus) -> String {
    if let Some(reason) = &status.out_of_service {
        return format!("Nothing: it is out of service ({reason}). Put it back when it is ready.");
    }
    if !status.source.alive {
        let problem = status.source.problem.as_deref().unwrap_or("no sound arrives");
        return format!("Check the source of its sound: {problem}.");
    }
    let text = match status.state.as_str() {
        "alarm" if status.acknowledged => {
            "Somebody knows. Look at the machine, then say what it was: normal, or a fault."
        }
        "alarm" => {
            "Listen to the clip beside its closest normal one, look at the machine, and acknowledge. If it is a fault, \
             say so; if it was normal, let the machine learn it."
        }
        "alert" => "Nothing yet: a single clip stands out. If it goes on, this becomes an alarm.",
        "sensor-fault" => {
            "Check the microphone, its cable and its gain; the machine itself is not judged meanwhile."
        }
        "no-data" => "Check whether the source sends sound.",
        "learning" => "Let it run as usual; recordings of other days make the promise stronger.",
        "not-running" => "Nothing: it stands still, and a machine at rest is not judged.",
        _ if status.drift => {
            "The normal has moved. If season, product or microphone changed, accept it or learn a new baseline."
        }
        _ => "Nothing.",
    };
    text.to_owned()
}

/// What makes an alert and what makes an alarm, of clips above the line; no alert if the first one is an alarm already.
pub(crate) fn rule(rule: &AlarmSettings) -> (Option<String>, String) {
    let AlarmSettings { raise, window, on_delay_seconds: delay, .. } = *rule;
    let clips = |count: usize| match (count, window) {
        (_, 1) => "one clip".to_owned(),
        (1, window) => format!("one of the last {window} clips"),
        (count, window) if count == window => format!("{count} clips in a row"),
        (count, window) => format!("{count} of the last {window} clips"),
    };
    let lasting = if delay > 0.0 { format!(" for {delay} s") } else { String::new() };
    let is_gradual = raise > 1 || delay > 0.0;
    (is_gradual.then(|| clips(1)), format!("{}{lasting}", clips(raise)))
}

/// How sure the answer is.
pub(crate) fn how_sure(status: &MachineStatus) -> String {
    let Some(model) = &status.model else {
        return "Not yet: there is no model to judge by.".to_owned();
    };
    let Some(p_value) = status.p_value.filter(|_| status.score.is_some()) else {
        return "Nothing has been scored with this model yet.".to_owned();
    };
    let share = match p_value {
        p if p >= 0.1 => format!("{:.0} of 100 normal clips score at least as high", 100.0 * p),
        p => format!("about 1 in {:.0} normal clips scores at least as high", 1.0 / p.max(1e-9)),
    };
    let references = plural(model.references, "normal clip");
    let yet = if model.promised { "" } else { "not yet " };
    format!(
        "The last clip: {share}. The model knows {references}; its false-alarm rate is {yet}promised."
    )
}

/// What the drift flag means.
pub(crate) fn drift_text(status: &MachineStatus) -> Option<String> {
    let text = match status.state.as_str() {
        "alarm" | "alert" => {
            "Most clips differ, in the same way: a fault that grows does that, and so does another load, season or microphone."
        }
        _ => {
            "What is normal has moved: most clips differ a little, in the same way. That is not an alarm."
        }
    };
    status.drift.then(|| text.to_owned())
}

/// What is promised, and whether that holds now; `None` if nothing is.
pub(crate) fn promise(machine: &Machine, status: &MachineStatus) -> (String, Option<bool>) {
    let model = machine.model();
    let standing = machine.standing(None);
    let aimed_at = status.rule.as_ref().filter(|rule| !rule.promised);
    let aimed_at = aimed_at.and_then(|rule| rule.budget.as_deref().zip(rule.missing.as_deref()));
    if let Some(lack) = standing.lack() {
        let aim = aimed_at.map(|(budget, _)| format!(" {budget} is aimed at."));
        return (format!("Nothing is promised yet: {lack}.{}", aim.unwrap_or_default()), None);
    }
    let promise = model.settings().promise();
    let sure = promise.confidence.map(|confidence| format!(", {confidence} sure"));
    let condition = standing.condition(model.calibration().basis());
    let condition = condition.map_or(String::new(), |condition| format!(" ({condition})"));
    let budget = model.settings().alarm_budget;
    let budget = budget.map_or(String::new(), |budget| format!("; at most {budget}"));
    let aim = aimed_at.map(|(budget, missing)| {
        format!(" {budget} is aimed at, and not promised yet: {missing}.")
    });
    let text = format!(
        "At most {} of normal clips are called anomalous{}{condition}{budget}.{}",
        promise.rate,
        sure.unwrap_or_default(),
        aim.unwrap_or_default()
    );
    // It is a promise about sound like that which was learnt.
    (text, Some(!status.drift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_in_clips() {
        let of = |raise, window, on_delay_seconds| {
            let (alert, alarm) = rule(&AlarmSettings {
                raise,
                window,
                on_delay_seconds,
                ..AlarmSettings::default()
            });
            (alert.unwrap_or_default(), alarm)
        };
        let told = |alert: &str, alarm: &str| (alert.to_owned(), alarm.to_owned());
        assert_eq!(of(3, 5, 0.0), told("one of the last 5 clips", "3 of the last 5 clips"));
        assert_eq!(of(4, 4, 0.0), told("one of the last 4 clips", "4 clips in a row"));
        assert_eq!(of(1, 5, 0.0), told("", "one of the last 5 clips"));
        assert_eq!(of(1, 1, 15.0), told("one clip", "one clip for 15 s"));
    }
}
