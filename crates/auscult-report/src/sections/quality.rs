//! What the recordings are worth, before any score.

use std::fmt::{self, Formatter};

use auscult_core::ClipCondition;

use crate::{
    page::Page,
    text::{Escaped, counted},
};

/// Clips named for each condition; more would be a list nobody reads.
const MOST_NAMED: usize = 5;

pub(crate) fn write(out: &mut Formatter<'_>, page: &Page<'_>) -> fmt::Result {
    let clips = page.input.clips;
    let fine = clips.iter().filter(|clip| clip.condition == ClipCondition::Usable).count();
    write!(
        out,
        "<section aria-labelledby=\"quality\">\n<h2 id=\"quality\">Input quality</h2>\n\
         <p>{fine} of {} have nothing to remark on.</p>\n",
        counted(clips.len(), "clip")
    )?;
    if fine < clips.len() {
        writeln!(out, "<ul>")?;
        // In the order of the clips, each condition once, with its advice.
        let mut seen: Vec<&str> = Vec::new();
        for clip in clips.iter().filter(|clip| clip.condition != ClipCondition::Usable) {
            let name = clip.condition.name();
            if !seen.contains(&name) {
                seen.push(name);
                write_condition(out, page, name)?;
            }
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "</section>")
}

fn write_condition(out: &mut Formatter<'_>, page: &Page<'_>, name: &str) -> fmt::Result {
    let affected: Vec<usize> = (0..page.input.clips.len())
        .filter(|&index| page.input.clips[index].condition.name() == name)
        .collect();
    let Some(&first) = affected.first() else {
        return Ok(());
    };
    let condition = page.input.clips[first].condition;
    let mut numbers: Vec<String> =
        affected.iter().take(MOST_NAMED).map(|index| (index + 1).to_string()).collect();
    if affected.len() > MOST_NAMED {
        numbers.push(format!("and {} more", affected.len() - MOST_NAMED));
    }
    let effect = if condition.is_usable() { "scored all the same" } else { "not scored" };
    let (which, first) = match affected.len() {
        1 => (format!("Clip {}", numbers.join("")), ""),
        count => (format!("{count} clips ({})", numbers.join(", ")), "the first one is "),
    };
    let condition = condition.to_string();
    writeln!(out, "<li>{which}, {effect}: {first}{}.</li>", Escaped(&condition))
}

#[cfg(test)]
mod tests {
    use auscult_core::ClipCondition;

    use crate::{render, testing::sample};

    #[test]
    fn conditions_are_counted_with_their_advice() {
        let mut sample = sample();
        assert!(render(&sample.input()).contains("3 of 3 clips have nothing to remark on."));
        sample.clips[1].condition = ClipCondition::Clipped { share: 0.02 };
        let page = render(&sample.input());
        assert!(page.contains("2 of 3 clips have nothing"));
        assert!(page.contains("Clip 2, scored all the same: clipped: 2.0 % of"));
        sample.clips[0].condition = ClipCondition::Clipped { share: 0.01 };
        let page = render(&sample.input());
        assert!(
            page.contains("2 clips (1, 2), scored all the same: the first one is clipped: 1.0")
        );
    }
}
