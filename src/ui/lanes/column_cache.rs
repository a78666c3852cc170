//! Columns of curves and areas, computed once for all lanes that draw them: lanes share curves, and a view at rest does not
//! change.

use std::sync::Arc;

use highwater_timeline::{Curve, TimeAxis, View};

/// The values drawn in this frame or the one before, by key.
#[derive(Clone, Debug)]
pub(super) struct FrameCache<K, V> {
    /// Key, value, and whether it is used in this frame.
    known: Vec<(K, V, bool)>,
}

impl<K, V> Default for FrameCache<K, V> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<K: PartialEq, V: Clone> FrameCache<K, V> {
    /// Begins a frame: drops values that the last one did not draw.
    pub(super) fn turn(&mut self) {
        self.known.retain(|(.., is_used)| *is_used);
        self.known.iter_mut().for_each(|(.., is_used)| *is_used = false);
    }

    pub(super) fn known(&self, key: &K) -> Option<&V> {
        let (_, value, _) = self.known.iter().find(|(known, ..)| known == key)?;
        Some(value)
    }

    pub(super) fn get(&mut self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some((_, value, is_used)) = self.known.iter_mut().find(|(known, ..)| *known == key) {
            *is_used = true;
            return value.clone();
        }
        let value = make();
        self.known.push((key, value.clone(), true));
        value
    }
}

/// Least and greatest value of each pixel column.
pub(super) type ColumnCache = FrameCache<CurveKey, Arc<[(u64, u64)]>>;

/// Key of columns. It holds curve and axis, so that no other can get their address.
#[derive(Clone, Debug)]
pub(super) struct CurveKey {
    curve: Curve,
    axis: Option<Arc<TimeAxis>>,
    /// The bits of the first and the last step.
    steps: [u64; 2],
    width: u32,
}

impl PartialEq for CurveKey {
    fn eq(&self, other: &Self) -> bool {
        self.axis.as_ref().map(Arc::as_ptr) == other.axis.as_ref().map(Arc::as_ptr)
            && (self.steps, self.width) == (other.steps, other.width)
            && self.curve.is_shared_with(&other.curve)
    }
}

impl ColumnCache {
    /// The columns of a curve; `axis` is that of the view. See [`Curve::columns`].
    pub(super) fn of(
        &mut self,
        curve: &Curve,
        view: &View<'_>,
        axis: Option<&Arc<TimeAxis>>,
        width: u32,
    ) -> Arc<[(u64, u64)]> {
        let key = CurveKey {
            curve: curve.clone(),
            axis: axis.cloned(),
            steps: [view.t0.to_bits(), view.t1.to_bits()],
            width,
        };
        self.get(key, || curve.columns(view, width).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::units::Bytes;
    use highwater_timeline::Viewport;

    #[test]
    fn columns_are_made_once_for_a_curve_and_a_view() {
        let curve = Curve::new(&[Bytes(1), Bytes(7), Bytes(3), Bytes(3)]);
        let other = Curve::new(&[Bytes(1), Bytes(7), Bytes(3), Bytes(3)]);
        let viewport = Viewport {
            t0: 0.0,
            t1: 4.0,
            a0: 0.0,
            a1: 1.0,
        };
        let (view, near) = (View::from(viewport), View::from(Viewport { t1: 3.0, ..viewport }));
        let mut known = ColumnCache::default();
        let first = known.of(&curve, &view, None, 4);
        assert_eq!(*first, *curve.columns(view, 4));
        assert!(Arc::ptr_eq(&first, &known.of(&curve.clone(), &view, None, 4)), "shared");
        assert!(!Arc::ptr_eq(&first, &known.of(&other, &view, None, 4)), "another curve");
        assert_eq!(
            *known.of(&curve, &near, None, 4),
            *curve.columns(near, 4),
            "another view"
        );
        assert_eq!(known.of(&curve, &view, None, 2).len(), 2, "another width");
        known.turn();
        assert!(
            Arc::ptr_eq(&first, &known.of(&curve, &view, None, 4)),
            "the frame before"
        );
        known.turn();
        assert_eq!(known.known.len(), 1, "the others are let go");
    }
}
