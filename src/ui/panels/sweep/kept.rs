//! Results about all points of a sweep, which are made once for a state of its points.

use std::sync::Arc;

use super::PointsState;
use super::plot::PlacedPoints;
use super::points::Points;
use super::table::Endings;

/// What a result depends on: version and number of the points, hidden series, plotted columns.
type Of = (u64, usize, Vec<usize>, [&'static str; 2]);

/// The last result.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    of: Option<Of>,
    known: Option<Arc<T>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { of: None, known: None }
    }
}

impl<T> Kept<T> {
    /// The result; points without a version are few, and looked at in each frame.
    fn get(&mut self, of: Option<Of>, make: impl FnOnce() -> T) -> Arc<T> {
        if let Some(known) = self.known.as_ref().filter(|_| of.is_some() && of == self.of) {
            return Arc::clone(known);
        }
        self.of = of;
        Arc::clone(self.known.insert(Arc::new(make())))
    }
}

impl PointsState {
    /// How the points ended.
    pub(super) fn endings(&mut self, points: &dyn Points) -> Arc<Endings> {
        let of = points
            .version()
            .map(|version| (version, points.len(), Vec::new(), [""; 2]));
        self.endings.get(of, || Endings::of(points))
    }

    /// The shown points with two figures.
    pub(super) fn placed(&mut self, points: &dyn Points, columns: [&'static str; 2]) -> Arc<PlacedPoints> {
        let version = points.version();
        let of = version.map(|version| (version, points.len(), self.hidden.clone(), columns));
        let mut kept = std::mem::take(&mut self.placed);
        let placed = kept.get(of, || PlacedPoints::of(points, self, columns));
        self.placed = kept;
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_made_again_for_other_points_only() {
        let mut kept = Kept::default();
        let of = |n_points| Some((1, n_points, Vec::new(), ["peak", "overhead"]));
        assert_eq!(*kept.get(of(1), || 1), 1);
        assert_eq!(*kept.get(of(1), || 2), 1);
        assert_eq!(*kept.get(of(2), || 3), 3);
        assert_eq!(*kept.get(None, || 4), 4);
        assert_eq!(*kept.get(None, || 5), 5);
    }
}
