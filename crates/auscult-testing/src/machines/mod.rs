//! Synthetic machines, healthy and faulty, as pure functions of a [`ClipRecipe`].
//!
//! The modules stand in the order a clip is made: a recipe draws its random
//! numbers ([`recipe`]), a machine plans and sounds (`fan`, `pump`, `valve`,
//! `slider`), a fault adds to it (`faults`), the visit colours it (`visit`), and
//! the factory around it makes `noise`. Every part draws from a stream of its own,
//! so that a faulty clip is the healthy clip of the same recipe plus the fault.

mod fan;
mod faults;
mod filters;
pub(crate) mod kinds;
mod noise;
mod pump;
mod random;
pub mod recipe;
mod rotor;
mod signal;
mod slider;
mod strokes;
mod valve;
mod visit;

pub use kinds::{Domain, Fault, Machine};
pub use recipe::ClipRecipe;

use random::Seeds;
use visit::Visit;

/// How many operating states (speeds or loads) every machine has.
pub const STATE_COUNT: usize = 3;

/// What a machine has to know to sound: the recipe's numbers, already checked.
#[derive(Debug)]
struct Scene {
    state: usize,
    domain: Domain,
    /// Length of the clip in samples.
    length: usize,
    /// Samples a second.
    rate: f64,
    seeds: Seeds,
    visit: Visit,
}

/// A machine that has planned one clip: when it turns, opens and strikes.
trait Plan {
    /// The sound without fault, in an arbitrary but fixed scale.
    fn healthy(&self, scene: &Scene) -> Vec<f64>;

    /// What the fault adds to `healthy`, in the same scale.
    fn fault(&self, scene: &Scene, fault: Fault, severity: f64, healthy: &[f64]) -> Vec<f64>;
}

fn plan(machine: Machine, scene: &Scene) -> Box<dyn Plan> {
    match machine {
        Machine::Fan => Box::new(fan::Fan::new(scene)),
        Machine::Pump => Box::new(pump::Pump::new(scene)),
        Machine::Valve => Box::new(valve::Valve::new(scene)),
        Machine::Slider => Box::new(slider::Slider::new(scene)),
    }
}
