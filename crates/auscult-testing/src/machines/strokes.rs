//! Strokes that repeat with a jittered period, and which of them go missing.

use super::Scene;
use super::random::Purpose;

/// The share of strokes that are missing at severity 1.
const MISSING_SHARE: f64 = 0.7;

/// One cycle of a machine that works in strokes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    /// When it starts, in seconds; the first one may start before the clip.
    pub(super) start: f64,
    /// How long the whole cycle takes, in seconds.
    pub(super) period: f64,
    /// How hard it strikes, around 1.
    pub(super) force: f64,
    /// The number in the sequence; machines that go back and forth tell the two by it.
    pub(super) number: usize,
}

/// The strokes that sound in a clip, from one that started before it on.
pub(super) fn schedule(scene: &Scene, nominal_period: f64) -> Vec<Stroke> {
    let mut random = scene.seeds.stream(Purpose::Motion);
    let nominal = nominal_period / scene.visit.speed;
    let seconds = scene.length as f64 / scene.rate;
    let mut start = -nominal * random.unit();
    let mut strokes = Vec::new();
    while start < seconds {
        let period = nominal * random.between(0.98, 1.02);
        let force = random.between(0.85, 1.15);
        strokes.push(Stroke { start, period, force, number: strokes.len() });
        start += period;
    }
    strokes
}

/// The strokes that a fault of this severity leaves out: in proportion to it, and at least one.
pub(super) fn missing(scene: &Scene, strokes: &[Stroke], severity: f64) -> Vec<Stroke> {
    let mut random = scene.seeds.stream(Purpose::Fault);
    let mut lots: Vec<(f64, Stroke)> =
        strokes.iter().map(|&stroke| (random.unit(), stroke)).collect();
    lots.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = (severity * MISSING_SHARE * strokes.len() as f64).round() as usize;
    lots.into_iter().take(count.max(1)).map(|(_, stroke)| stroke).collect()
}
