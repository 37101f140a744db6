//! Buffers that are used again: memory that is new to the program costs as much as what a fit does
//! with it.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, PoisonError},
};

use auscult_kernels::PairLane;

use super::copies::Line;

/// What the fits of several bands share, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) rows: Spare<Line<f32>>,
    pub(crate) pairs: Spare<PairLane>,
    pub(crate) bounds: Spare<f32>,
}

/// Buffers nobody needs at the moment.
#[derive(Debug)]
pub(crate) struct Spare<T>(Mutex<Vec<Vec<T>>>);

impl<T> Spare<T> {
    /// An empty buffer, with room if one has come back.
    pub(crate) fn lend(&self) -> Lent<'_, T> {
        let mut values = self.returned(Vec::pop).unwrap_or_default();
        values.clear();
        Lent { values, home: self }
    }

    fn returned<R>(&self, change: impl FnOnce(&mut Vec<Vec<T>>) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A buffer that goes back when it is dropped.
#[derive(Debug)]
pub(crate) struct Lent<'a, T> {
    values: Vec<T>,
    home: &'a Spare<T>,
}

impl<T> Deref for Lent<'_, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.values
    }
}

impl<T> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.values
    }
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.values);
        self.home.returned(|returned| returned.push(values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_and_with_its_room() {
        let spare = Spare::default();
        let mut first = spare.lend();
        first.extend(0..1000);
        let (other, place) = (spare.lend(), first.as_ptr());
        assert_eq!(other.capacity(), 0);
        drop(first);
        let again = spare.lend();
        assert!(again.is_empty() && again.capacity() >= 1000);
        assert_eq!(again.as_ptr(), place);
    }
}
