//! Constant regions of a lane: weights, variables and whatever else never changes while graphs run.

use super::RegionSpan;
use highwater_model::units::{Bytes, counted};
use highwater_sim::RegionKind;

/// Constant regions of one kind, at adjacent display addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantRegions {
    pub kind: RegionKind,
    /// Such as `weights of train`, or `3 segments`.
    pub label: String,
    /// Positions in [`super::LaneView::regions`].
    pub regions: Vec<usize>,
    pub start: u64,
    /// Exclusive.
    pub end: u64,
}

impl ConstantRegions {
    pub fn bytes(&self) -> Bytes {
        Bytes(self.end - self.start)
    }
}

/// Upwards by display address. O(regions log regions).
pub(super) fn of(regions: &[RegionSpan]) -> Vec<ConstantRegions> {
    let mut constant: Vec<usize> = (0..regions.len()).filter(|idx| regions[*idx].is_constant).collect();
    constant.sort_by_key(|idx| regions[*idx].base);
    let same_kind = constant.chunk_by(|one, next| regions[*one].kind == regions[*next].kind);
    same_kind.map(|chunk| of_kind(regions, chunk)).collect()
}

fn of_kind(regions: &[RegionSpan], chunk: &[usize]) -> ConstantRegions {
    let (first, last) = (&regions[chunk[0]], &regions[chunk[chunk.len() - 1]]);
    let label = match (chunk.len(), first.kind) {
        (1, _) => first.label.to_string(),
        (n, RegionKind::Variables) => format!("variables ({})", counted(n as u64, "region")),
        (n, RegionKind::Weights) => format!("weights ({})", counted(n as u64, "region")),
        (n, RegionKind::InputOutput) => format!("inputs and outputs ({})", counted(n as u64, "region")),
        (n, _) => counted(n as u64, "region"),
    };
    ConstantRegions {
        kind: first.kind,
        label,
        regions: chunk.to_vec(),
        start: first.base,
        end: last.base.saturating_add(last.bytes.get()),
    }
}
