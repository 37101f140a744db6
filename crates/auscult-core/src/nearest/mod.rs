//! Nearest neighbours, fast: rounded copies rule most references out, the rest is computed exactly.
//!
//! None of this changes a bit of a result; tests compare each part with the plain form. In the order
//! the numbers travel:
//!
//! - `copies`: references scaled, centred and rounded, in panels, and how far each copy is from the truth.
//! - `outline`: all copies of a band in half the memory, for one query against all references.
//! - `panels`, `products`: copies whose products bound the distances among references.
//! - `pairs`: lower bounds of all distances among the references, exact ones on demand.
//! - `queries`: lower bounds of the distances from many queries to the references.
//! - `search`: the smallest values by their lower bounds.
//! - `lists`, `spare`: many short lists in one piece of memory, and buffers that are used again.

mod copies;
mod lists;
mod outline;
mod pairs;
mod panels;
mod products;
mod queries;
mod search;
mod spare;

pub(crate) use self::{
    copies::{Centre, Copies, Line, PANEL, Row, add_scaled, map_panels},
    lists::Lists,
    outline::{GROUP, GroupRows, Outline},
    pairs::{BandPairs, DistancesFrom, PairwiseDistances, PartOfPairs, RowBuffer, bands_at_once},
    queries::QueryBounds,
    search::{Search, round_up},
    spare::{Buffers, Spare},
};
