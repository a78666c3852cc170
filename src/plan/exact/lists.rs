//! Lists of different lengths, for neighbours and sections.

/// Lists of different lengths in one allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists<V> {
    starts: Vec<usize>,
    pub(super) values: Vec<V>,
}

impl<V: Clone + Default> Lists<V> {
    /// Lists of these lengths to be filled in any order, and the position of each list's first value.
    pub(super) fn of_lengths(lengths: &[usize]) -> (Self, Vec<usize>) {
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0;
        starts.push(0);
        for length in lengths {
            end += length;
            starts.push(end);
        }
        let next = starts[..lengths.len()].to_vec();
        let values = vec![V::default(); end];
        (Self { starts, values }, next)
    }
}

impl<V> Lists<V> {
    pub(super) fn new() -> Self {
        Self {
            starts: vec![0],
            values: Vec::new(),
        }
    }

    /// Ends the list of the values appended so far.
    pub(super) fn close(&mut self) {
        self.starts.push(self.values.len());
    }

    /// The start of each list, and the end of the last.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    pub(super) fn of(&self, idx: usize) -> &[V] {
        &self.values[self.starts[idx]..self.starts[idx + 1]]
    }
}
