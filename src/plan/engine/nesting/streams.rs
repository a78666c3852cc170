//! Positions of the list by stream: blocks of different streams never share bytes, so a taker is offered blocks of its stream alone.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Streams {
    /// By stream, ascending; empty where there is one stream.
    positions: BTreeMap<u32, Vec<usize>>,
}

impl Streams {
    /// Replaces the positions at and after `first` by those up to `n`. The first call lists all positions and tells whether there is
    /// more than one stream: no stream comes or goes later. O(replaced log streams + streams log n).
    pub(super) fn rebuild(&mut self, first: usize, n: usize, stream: impl Fn(usize) -> u32) {
        if first == 0 {
            self.positions.clear();
            if (1..n).all(|at| stream(at) == stream(0)) {
                return;
            }
        } else if self.positions.is_empty() {
            return;
        }
        for positions in self.positions.values_mut() {
            positions.truncate(positions.partition_point(|at| *at < first));
        }
        for at in first..n {
            self.positions.entry(stream(at)).or_default().push(at);
        }
    }

    /// The first position of a stream that is not before `at`. O(log streams + log n).
    pub(super) fn next(&self, stream: u32, at: usize) -> Option<usize> {
        if self.positions.is_empty() {
            return Some(at);
        }
        let own = self.positions.get(&stream)?;
        own.get(own.partition_point(|own| *own < at)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Streams;

    #[test]
    fn positions_are_found_by_stream() {
        let mut streams = Streams::default();
        streams.rebuild(0, 3, |_| 7);
        assert_eq!(streams.next(7, 1), Some(1));
        let list = [4, 9, 4, 4, 9];
        streams.rebuild(0, list.len(), |at| list[at]);
        assert_eq!(
            [0, 1, 3, 4].map(|at| streams.next(4, at)),
            [Some(0), Some(2), Some(3), None]
        );
        assert_eq!(streams.next(5, 0), None);
        let longer = [4, 9, 9, 9, 4, 4];
        streams.rebuild(2, longer.len(), |at| longer[at]);
        assert_eq!([0, 1, 4].map(|at| streams.next(4, at)), [Some(0), Some(4), Some(4)]);
        assert_eq!(streams.next(9, 2), Some(2));
    }
}
