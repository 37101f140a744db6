//! Where a key is written, and what the parser says, in the words of people who write configurations.

use std::ops::Range;

/// Where a key of a table is written: below the head of the table, in a table of its own (`[machine.learn]`), or with dots. The
/// head if the key is not there.
pub(super) fn key_span(text: &str, table: &Range<usize>, key: &str) -> Range<usize> {
    let first = line_start(text, table.start);
    let mut at = first;
    let (mut head, mut inner) = (None, String::new());
    for line in text.get(first..).unwrap_or_default().split_inclusive('\n') {
        let (start, words) = (at, line.trim());
        at += line.len();
        if let Some(name) = table_name(words) {
            let head = *head.get_or_insert(name);
            match name.strip_prefix(head) {
                Some("") if start == first => {}
                Some(rest) if rest.starts_with('.') => inner = format!("{}.", &rest[1..]),
                _ => break,
            }
        } else if let Some((written, _)) = words.split_once('=')
            && format!("{inner}{}", written.trim()) == key
        {
            return start..at;
        }
    }
    table.clone()
}

/// Where a machine, or a key of it, is written, as a line from 1.
pub(super) fn line_of(text: &str, machine: &str, key: &str) -> Option<usize> {
    let mut at = 0;
    let mut heads = Vec::new();
    for line in text.split_inclusive('\n') {
        if table_name(line.trim()) == Some("machine") {
            heads.push(at..at);
        }
        at += line.len();
    }
    let is_named = |head: &Range<usize>| {
        let line = text.get(key_span(text, head, "name"));
        line.and_then(|line| line.split(['"', '\'']).nth(1)) == Some(machine)
    };
    let head = heads.into_iter().find(is_named)?;
    Some(line_at(text, key_span(text, &head, key).start))
}

/// The line of a place, from 1.
pub(super) fn line_at(text: &str, place: usize) -> usize {
    text.get(..place).unwrap_or_default().matches('\n').count() + 1
}

/// `machine.learn` of `[machine.learn]  # comment`.
fn table_name(words: &str) -> Option<&str> {
    words.starts_with('[').then(|| words.trim_start_matches('[').split(']').next())?
}

/// What a parser says about a place in a text.
pub(super) fn plain(text: &str, span: Option<&Range<usize>>, message: &str) -> String {
    let from = line_start(text, span.map_or(0, |span| span.start));
    let line = text.get(from..).unwrap_or_default().lines().next().unwrap_or_default().trim();
    match in_plain_words(message.trim(), line) {
        Some(words) if span.is_some() && line.contains('=') => format!("{line}: {words}"),
        Some(words) => words,
        None => message.trim().replace('\n', ", "),
    }
}

fn line_start(text: &str, place: usize) -> usize {
    text.get(..place).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// Serde's words for what people write; `None` if it says something else.
fn in_plain_words(message: &str, line: &str) -> Option<String> {
    let without_quotes = |text: &str| text.replace('`', "");
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let known =
            rest.split_once("expected ").map(|(_, known)| known.trim_start_matches("one of "));
        return Some(format!(
            "unknown key; known here: {}",
            without_quotes(known.unwrap_or("none"))
        ));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (found, known) = rest.split_once(", expected ")?;
        let known = known.trim_start_matches("one of ");
        return Some(format!("{} is not one of {}", without_quotes(found), without_quotes(known)));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return Some(format!("the key {} is missing", without_quotes(key)));
    }
    if message.starts_with("data did not match any variant") {
        return Some(
            "write a number, or a text with a unit such as \"90s\", \"4h\" or \"2GB\"".to_owned(),
        );
    }
    let rest =
        ["invalid type: ", "invalid value: "].iter().find_map(|it| message.strip_prefix(it))?;
    let (found, wanted) = rest.split_once(", expected ")?;
    if wanted == "a sequence" && line.starts_with('[') {
        return Some(format!("there may be several of these: write [{line}]"));
    }
    let wanted = match wanted {
        "a boolean" => "true or false",
        "a sequence" => "a list in [ ]",
        "f32" | "f64" => "a number",
        "usize" | "u8" | "u16" | "u32" | "u64" | "i64" => "a whole number",
        table if table.starts_with("struct") || table.contains("map") => "a table",
        text if text.contains("string") => "a text in quotes",
        other => other,
    };
    let found = match found.split_once('`').map_or(found, |(_, value)| value.trim_end_matches('`'))
    {
        "map" => "a table",
        "sequence" => "a list",
        found => found.strip_prefix("string ").unwrap_or(found),
    };
    let from = if found.starts_with('-') && wanted == "a whole number" { " from 0 on" } else { "" };
    Some(format!("{wanted}{from} is needed here, not {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_below_their_table_whatever_form_they_have() {
        let text = "site = \"x\"\n[[machine]]\nname = \"a\"\nring = \"5s\"\n[[machine]] # two\nname = 'b'\nrunning.topic = \"t\"\n\
            [machine.learn]\nclips = 3\n[mqtt]\nring = 1\n";
        let line = |machine: &str, key: &str| line_of(text, machine, key);
        assert_eq!(line("a", "ring"), Some(4));
        assert_eq!(line("b", "running.topic"), Some(7));
        assert_eq!(line("b", "learn.clips"), Some(9));
        assert_eq!(line("b", "ring"), Some(5), "not there: the table");
        assert_eq!(line("c", "ring"), None);
    }
}
