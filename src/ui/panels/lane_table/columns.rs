//! The columns of the table of lanes: their places by the width, and which are hidden first.

use eframe::egui::Rangef;

/// Widths in points.
const NAME: (f32, f32) = (215.0, 420.0);
const BAR: (f32, f32) = (60.0, 420.0);
/// The least width of bars beside long names, which come first.
const NARROW_BAR: f32 = 34.0;
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

impl Column {
    /// The figure by which its rows are sorted.
    pub(super) const fn metric(self) -> &'static str {
        match self {
            Self::Peak | Self::Difference | Self::Fits => "peak_reserved",
            Self::Fragmentation => "fragmentation",
            Self::Overhead => "estimated_overhead",
            Self::DeviceCalls => "device_calls",
        }
    }
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

/// What a metric means, or `fits`.
pub fn about_metric(name: &str) -> &'static str {
    let is_meant = |column: Column| match column {
        Column::Fits => name == "fits",
        column => column.metric() == name,
    };
    let row = COLUMNS.iter().find(|(column, ..)| is_meant(*column));
    row.map_or("Peak live bytes, rounded: feature memory only", |row| row.3)
}

/// Places of the columns in a row, from its left end.
pub(super) struct Columns {
    pub(super) name: Rangef,
    pub(super) bar: Rangef,
    /// Visible columns.
    pub(super) shown: Vec<(Column, Rangef)>,
    /// Columns without room.
    pub(super) hidden: Vec<Column>,
}

impl Columns {
    /// `wanted` is the width of the longest name; `present` are the columns with figures.
    pub(super) fn of(width: f32, wanted: f32, present: &[Column]) -> Self {
        let mut hidden: Vec<Column> = Vec::new();
        let shown_of = |hidden: &[Column]| -> Vec<(Column, f32)> {
            let rows = COLUMNS.iter().map(|(column, _, width, _)| (*column, *width));
            rows.filter(|(column, _)| present.contains(column) && !hidden.contains(column))
                .collect()
        };
        let figures = |hidden: &[Column]| -> f32 { shown_of(hidden).iter().map(|(_, width)| width + GAP).sum() };
        for column in HIDDEN_FIRST.into_iter().filter(|column| present.contains(column)) {
            if NAME.0 + BAR.0 + figures(&hidden) > width {
                hidden.push(column);
            }
        }
        let rest = (width - figures(&hidden)).max(0.0);
        let most = (rest - NARROW_BAR - GAP).clamp(NAME.0.min(rest), NAME.1.max(NAME.0));
        let name = wanted.clamp(NAME.0.min(rest), most);
        let bar = (rest - name - GAP).clamp(0.0, BAR.1);
        let mut x = name + GAP + bar + GAP;
        let mut shown = Vec::new();
        for (column, width) in shown_of(&hidden) {
            shown.push((column, Rangef::new(x, x + width)));
            x += width + GAP;
        }
        Self {
            name: Rangef::new(0.0, name),
            bar: Rangef::new(name + GAP, name + GAP + bar),
            shown,
            hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, Column, Columns};

    fn all() -> [Column; 6] {
        COLUMNS.map(|(column, ..)| column)
    }

    #[test]
    fn every_column_is_at_its_number() {
        for (number, (column, ..)) in COLUMNS.iter().enumerate() {
            assert_eq!(*column as usize, number, "{column:?}");
        }
    }

    #[test]
    fn narrow_tables_hide_columns_and_count_them() {
        for (width, n_hidden) in [(2000.0, 0), (800.0, 0), (700.0, 1), (560.0, 3), (300.0, 4), (0.0, 4)] {
            let columns = Columns::of(width, 0.0, &all());
            assert_eq!(columns.hidden.len(), n_hidden, "{width}");
            assert_eq!(columns.shown.len() + n_hidden, 6);
            assert!(columns.shown.iter().any(|(column, _)| *column == Column::Fits));
            assert!(columns.name.max >= columns.name.min && columns.bar.max >= columns.bar.min);
            let ends = columns.shown.windows(2);
            assert!(ends.into_iter().all(|pair| pair[0].1.max <= pair[1].1.min));
        }
    }

    #[test]
    fn columns_without_figures_take_no_room_and_are_not_hidden() {
        let columns = Columns::of(420.0, 0.0, &[Column::Peak, Column::Fits]);
        assert!(columns.hidden.is_empty());
        assert_eq!(columns.shown.len(), 2);
    }

    #[test]
    fn names_take_the_room_of_bars() {
        for (width, wanted, name) in [(1000.0, 260.0, 260.0), (700.0, 260.0, 260.0), (700.0, 400.0, 270.0)] {
            let columns = Columns::of(width, wanted, &all());
            assert!((columns.name.max - name).abs() < 0.5, "{width}: {}", columns.name.max);
            assert!(columns.bar.max - columns.bar.min >= 33.5, "{width}");
        }
    }
}
