//! Curves of all lanes on one axis, thinned for a small drawing.
//!
//! In: a comparison and a number of points. Out: for each lane its reserved and its live bytes where they are known, as
//! the maximum of each of that many equal parts of the axis, so that no peak is lost. O(lanes x steps).

use highwater_analysis::Comparison;
use highwater_model::units::Bytes;
use highwater_sim::fold::StepBytes;

/// The quantity of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayKind {
    Reserved,
    Live,
}

/// A thinned curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayCurve {
    /// The lane by position.
    pub lane: usize,
    pub kind: OverlayKind,
    /// The first step of each part of the axis, and the most bytes within it.
    pub points: Vec<(u32, Bytes)>,
}

/// Curves of all lanes with at most this many points each.
pub fn overlay(comparison: &Comparison, n_points: u32) -> Vec<OverlayCurve> {
    let n_steps = comparison.axis.n_steps;
    let mut curves = Vec::new();
    for (lane, row) in comparison.lanes.iter().enumerate() {
        let (has_reserved, has_live) = comparison.states(lane);
        for (kind, is_known, curve) in [
            (OverlayKind::Reserved, has_reserved, &row.curves.reserved),
            (OverlayKind::Live, has_live, &row.curves.live),
        ] {
            if is_known && !curve.is_empty() {
                let points = thinned(curve, n_steps, n_points);
                curves.push(OverlayCurve { lane, kind, points });
            }
        }
    }
    curves
}

/// The maximum of each part of an axis.
fn thinned(curve: &StepBytes, n_steps: u32, n_points: u32) -> Vec<(u32, Bytes)> {
    let n_parts = n_points.clamp(1, n_steps.max(1));
    let start = |part: u32| {
        let start = u64::from(part) * u64::from(n_steps) / u64::from(n_parts);
        u32::try_from(start).unwrap_or(u32::MAX)
    };
    let most = |part: u32| {
        let steps = start(part) as usize..start(part + 1) as usize;
        let positions = curve.positions(steps);
        let values = curve.values().get(positions).unwrap_or(&[]);
        values.iter().max().copied().unwrap_or_default()
    };
    (0..n_parts).map(|part| (start(part), most(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_maximum() {
        let curve: StepBytes = [1, 5, 2, 2, 9, 0, 3].map(Bytes).into_iter().collect();
        for (n_points, wanted) in [
            (1, vec![(0, 9)]),
            (2, vec![(0, 5), (3, 9)]),
            (7, vec![(0, 1), (1, 5), (2, 2), (3, 2), (4, 9), (5, 0), (6, 3)]),
            (100, vec![(0, 1), (1, 5), (2, 2), (3, 2), (4, 9), (5, 0), (6, 3)]),
        ] {
            let wanted: Vec<(u32, Bytes)> = wanted.into_iter().map(|(step, bytes)| (step, Bytes(bytes))).collect();
            assert_eq!(thinned(&curve, 7, n_points), wanted, "{n_points}");
        }
    }
}
