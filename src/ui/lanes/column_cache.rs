//! Columns of curves, computed once for all lanes that draw them: lanes share curves, and a view at rest does not
//! change.

use std::sync::Arc;

use highwater_timeline::{Curve, TimeAxis, View};

/// Least and greatest value of each pixel column.
pub(super) type CurveColumns = Arc<[(u64, u64)]>;

/// Key of columns. It holds curve and axis, so that no other can get their address.
#[derive(Clone, Debug)]
struct Of {
    curve: Curve,
    axis: Option<Arc<TimeAxis>>,
    /// The bits of the first and the last step.
    steps: [u64; 2],
    width: u32,
}

impl Of {
    fn is(&self, other: &Self) -> bool {
        let is_same_axis = match (&self.axis, &other.axis) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_axis
            && (self.steps, self.width) == (other.steps, other.width)
            && self.curve.is_shared_with(&other.curve)
    }
}

#[derive(Clone, Debug)]
struct Known {
    of: Of,
    columns: CurveColumns,
    is_used: bool,
}

/// The columns drawn in this frame or the one before.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnCache {
    known: Vec<Known>,
}

impl ColumnCache {
    /// Begins a frame: drops columns that the last one did not draw.
    pub(super) fn turn(&mut self) {
        self.known.retain(|known| known.is_used);
        self.known.iter_mut().for_each(|known| known.is_used = false);
    }

    /// The columns of a curve; `axis` is that of the view. See [`Curve::columns`].
    pub(super) fn of(
        &mut self,
        curve: &Curve,
        view: &View<'_>,
        axis: Option<&Arc<TimeAxis>>,
        width: u32,
    ) -> CurveColumns {
        let of = Of {
            curve: curve.clone(),
            axis: axis.cloned(),
            steps: [view.t0.to_bits(), view.t1.to_bits()],
            width,
        };
        if let Some(known) = self.known.iter_mut().find(|known| known.of.is(&of)) {
            known.is_used = true;
            return Arc::clone(&known.columns);
        }
        let columns: CurveColumns = curve.columns(view, width).into();
        self.known.push(Known {
            of,
            columns: Arc::clone(&columns),
            is_used: true,
        });
        columns
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
