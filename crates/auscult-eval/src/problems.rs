//! Files that could not be used, grouped by reason.

use serde::{Deserialize, Serialize};

/// A file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProblem {
    /// The file, as shown to users.
    pub file: String,
    /// Why, and what to do.
    pub reason: String,
}

impl FileProblem {
    /// A problem whose reason may begin with the file's name already.
    pub(crate) fn new(file: String, reason: &str) -> Self {
        let without_name = reason.strip_prefix(&format!("{file}: "));
        let unreadable = || reason.strip_prefix(&format!("cannot read {file}: "));
        let reason = match (without_name, unreadable()) {
            (Some(rest), _) => rest.to_owned(),
            (None, Some(why)) => format!("cannot be read: {why}"),
            (None, None) => reason.to_owned(),
        };
        Self { file, reason }
    }
}

/// The most files named for one problem, and the most problems; the others are counted.
const MOST_NAMED: usize = 10;

/// One line for each reason, in the order they were first met, with the files it is the reason of.
pub fn grouped(problems: &[FileProblem]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for FileProblem { file, reason } in problems {
        match groups.iter_mut().find(|(other, _)| other == reason) {
            Some((_, files)) => files.push(file),
            None => groups.push((reason, vec![file])),
        }
    }
    let line = |(reason, files): &(&str, Vec<&str>)| match files.as_slice() {
        [file] => format!("{file}: {reason}"),
        files => {
            let more = match files.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named = files[..files.len().min(MOST_NAMED)].join(", ");
            format!("{} files: {reason}: {named}{more}", files.len())
        }
    };
    let mut lines: Vec<String> = groups.iter().take(MOST_NAMED).map(line).collect();
    let others: usize = groups.iter().skip(MOST_NAMED).map(|(_, files)| files.len()).sum();
    if others > 0 {
        lines.push(format!("and {others} more with other problems"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_reason_is_given_once_with_its_files() {
        let problem = |file: usize, reason: &str| {
            FileProblem::new(format!("{file}.wav"), &format!("{file}.wav: {reason}"))
        };
        let mut problems = vec![problem(0, "cut")];
        problems.extend((1..=12).map(|file| problem(file, "empty")));
        problems.push(FileProblem::new("a".to_owned(), "cut"));
        assert_eq!(
            grouped(&problems),
            [
                "2 files: cut: 0.wav, a",
                "12 files: empty: 1.wav, 2.wav, 3.wav, 4.wav, 5.wav, 6.wav, 7.wav, 8.wav, 9.wav, 10.wav and 2 more",
            ]
        );
        assert_eq!(grouped(&problems[..2]), ["0.wav: cut", "1.wav: empty"]);
        let each: Vec<FileProblem> = (0..14).map(|at| problem(at, &at.to_string())).collect();
        let lines = grouped(&each);
        assert_eq!((lines.len(), &*lines[10]), (11, "and 4 more with other problems"));
    }

    #[test]
    fn names_in_reasons_do_not_keep_files_apart() {
        for reason in ["cannot read a.wav: gone", "a.wav: cannot be read: gone"] {
            let problem = FileProblem::new("a.wav".to_owned(), reason);
            assert_eq!(problem.reason, "cannot be read: gone");
        }
    }
}
