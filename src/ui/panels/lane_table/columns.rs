//! The columns of the table of lanes: their places by the width, and which are hidden first.

use eframe::egui::Rangef;

/// Widths in points.
const NAME: (f32, f32) = (215.0, 320.0);
const BAR: (f32, f32) = (60.0, 420.0);
const GAP: f32 = 10.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Peak,
    Difference,
    Fragmentation,
    Overhead,
    DeviceCalls,
    Fits,
}

/// Every column with its label, its width and what it means.
pub(super) const COLUMNS: [(Column, &str, f32, &str); 6] = [
    (Column::Peak, "peak reserved", 84.0, "Peak of reserved device memory"),
    (
        Column::Difference,
        "diff",
        62.0,
        "Difference of the peak from the baseline",
    ),
    (
        Column::Fragmentation,
        "fragmentation",
        82.0,
        "Share of reserved feature memory that holds no live tensor, at the peaks",
    ),
    (
        Column::Overhead,
        "overhead",
        74.0,
        "Estimated time of device calls, waits and recomputation",
    ),
    (
        Column::DeviceCalls,
        "device calls",
        76.0,
        "Driver calls: allocations, frees, pages created, deleted, mapped and unmapped",
    ),
    (
        Column::Fits,
        "fits",
        34.0,
        "Whether the session completes on the device of the lane",
    ),
];

/// Columns that give way to the others.
const HIDDEN_FIRST: [Column; 4] = [
    Column::DeviceCalls,
    Column::Fragmentation,
    Column::Overhead,
    Column::Difference,
];

/// Places of the columns in a row, from its left end.
pub(super) struct Columns {
    pub(super) name: Rangef,
    pub(super) bar: Rangef,
    /// Visible columns.
    pub(super) shown: Vec<(Column, Rangef)>,
    pub(super) n_hidden: usize,
}

impl Columns {
    pub(super) fn of(width: f32) -> Self {
        let mut hidden: Vec<Column> = Vec::new();
        let figures = |hidden: &[Column]| -> f32 {
            let shown = COLUMNS.iter().filter(|(column, ..)| !hidden.contains(column));
            shown.map(|(_, _, width, _)| width + GAP).sum()
        };
        for column in HIDDEN_FIRST {
            if NAME.0 + BAR.0 + figures(&hidden) > width {
                hidden.push(column);
            }
        }
        let rest = (width - figures(&hidden)).max(0.0);
        let name = (rest * 0.45).clamp(NAME.0.min(rest), NAME.1);
        let bar = (rest - name - GAP).clamp(0.0, BAR.1);
        let mut x = name + GAP + bar + GAP;
        let mut shown = Vec::new();
        for (column, _, width, _) in COLUMNS.iter().filter(|(column, ..)| !hidden.contains(column)) {
            shown.push((*column, Rangef::new(x, x + width)));
            x += width + GAP;
        }
        Self {
            name: Rangef::new(0.0, name),
            bar: Rangef::new(name + GAP, name + GAP + bar),
            shown,
            n_hidden: hidden.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Columns};

    #[test]
    fn narrow_tables_hide_columns_and_count_them() {
        for (width, n_hidden) in [(2000.0, 0), (800.0, 0), (700.0, 1), (560.0, 3), (300.0, 4), (0.0, 4)] {
            let columns = Columns::of(width);
            assert_eq!(columns.n_hidden, n_hidden, "{width}");
            assert_eq!(columns.shown.len() + n_hidden, 6);
            assert!(columns.shown.iter().any(|(column, _)| *column == Column::Fits));
            assert!(columns.name.max >= columns.name.min && columns.bar.max >= columns.bar.min);
            let ends = columns.shown.windows(2);
            assert!(ends.into_iter().all(|pair| pair[0].1.max <= pair[1].1.min));
        }
    }
}
