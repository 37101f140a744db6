//! Many short lists in one piece of memory.

/// A list of values for each of some keys.
#[derive(Debug, Clone)]
pub(crate) struct Lists<T> {
    /// Where each list starts; one more says where the last one ends.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// Lists for the keys `0..count`; values keep their order within a key.
    pub(crate) fn new(count: usize, entries: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for (key, _) in entries.clone() {
            starts[key + 1] += 1;
        }
        for key in 0..count {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut values: Vec<T> = entries.clone().map(|(_, value)| value).collect();
        for (key, value) in entries {
            values[next[key]] = value;
            next[key] += 1;
        }
        Self { starts, values }
    }

    /// The values of one key.
    pub(crate) fn of(&self, key: usize) -> &[T] {
        &self.values[self.starts[key]..self.starts[key + 1]]
    }

    /// The lists of all keys, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        self.starts.windows(2).map(|ends| &self.values[ends[0]..ends[1]])
    }

    /// The same lists of other values.
    pub(crate) fn map(&self, change: impl Fn(T) -> T) -> Self {
        let values = self.values.iter().copied().map(change).collect();
        Self { starts: self.starts.clone(), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_values_in_order() {
        let lists = Lists::new(3, [(2, 'a'), (0, 'b'), (2, 'c')].into_iter());
        assert_eq!(lists.iter().collect::<Vec<_>>(), [&['b'][..], &[], &['a', 'c']]);
        assert_eq!(lists.of(2), ['a', 'c']);
    }
}
