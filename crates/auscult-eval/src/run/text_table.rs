//! A table of text, and its forms: Markdown, HTML and LaTeX.

use std::fmt::Write;

use auscult_page::Escaped;

use super::tables::escape;

/// Rows of text under heads, with a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextTable {
    pub(super) title: String,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

// Writing to a string cannot fail.
impl TextTable {
    /// Adds the table under its title, and `legend` between them if there is one.
    pub(super) fn markdown(&self, out: &mut String, legend: &str) {
        let _ = writeln!(out, "\n## {}\n", self.title);
        if !legend.is_empty() {
            let _ = writeln!(out, "{legend}\n");
        }
        let _ = writeln!(out, "| {} |", self.heads.join(" | "));
        let _ = writeln!(out, "|{}", "---|".repeat(self.heads.len()));
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
    }

    /// The same as a part of a page.
    pub(super) fn html(&self, out: &mut String, legend: &str) {
        let _ = writeln!(out, "<h2>{}</h2>", Escaped(&self.title));
        if !legend.is_empty() {
            let _ = writeln!(out, "<p>{}</p>", Escaped(legend));
        }
        out.push_str("<div class=\"table\" tabindex=\"0\"><table>\n");
        html_row(out, "th", &self.heads);
        for row in &self.rows {
            html_row(out, "td", row);
        }
        out.push_str("</table></div>\n");
    }

    /// The same for a LaTeX document (package booktabs).
    pub(super) fn latex(&self, out: &mut String) {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            format!("{} \\\\", cells.join(" & "))
        };
        let columns = "r".repeat(self.heads.len().saturating_sub(1));
        let _ = writeln!(out, "% {}", escape(&self.title));
        let _ = writeln!(out, "\\begin{{tabular}}{{l{columns}}}\n\\toprule");
        let _ = writeln!(out, "{}\n\\midrule", line(&self.heads));
        for row in &self.rows {
            let _ = writeln!(out, "{}", line(row));
        }
        let _ = writeln!(out, "\\bottomrule\n\\end{{tabular}}");
    }
}

fn html_row(out: &mut String, tag: &str, cells: &[String]) {
    out.push_str("<tr>");
    for cell in cells {
        let _ = write!(out, "<{tag}>{}</{tag}>", Escaped(cell));
    }
    out.push_str("</tr>\n");
}
