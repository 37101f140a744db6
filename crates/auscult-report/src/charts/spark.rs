//! The scores of a machine in one small line, for a list of machines.

use std::fmt::{self, Display, Formatter};

use auscult_page::{
    Escaped,
    svg::{close, line, polyline},
};

use crate::page::Page;

/// The picture.
pub(crate) struct Spark<'a>(pub(crate) &'a Page<'a>);

const SIZE: (f64, f64) = (140.0, 36.0);

impl Display for Spark<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let page = self.0;
        let scale = page.range.scale((SIZE.1 - 3.0, 3.0));
        let label = format!("Scores of {} over time", page.input.title);
        writeln!(
            out,
            "<svg class=\"spark {}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
            page.health.state.name(),
            SIZE.0,
            SIZE.1,
            Escaped(&label)
        )?;
        for y in page.thresholds.iter().filter_map(|threshold| Some(scale.place(threshold.value?)))
        {
            line(out, "threshold", (0.0, y), (SIZE.0, y))?;
        }
        let point = |&at: &usize| {
            let score = page.input.clips[at].score()?;
            Some((page.visits.place(at) * SIZE.0, scale.place(score)))
        };
        polyline(out, "curve", page.visits.order.iter().filter_map(point))?;
        close(out)
    }
}
