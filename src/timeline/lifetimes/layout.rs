//! Layout of the rows and scopes alive within a viewport, from top to bottom.

use std::collections::BTreeSet;

use super::{LaneRows, Scope};
use crate::viewport::{Canvas, View};

/// Maximum height of a row, in points.
const MAX_ROW: f64 = 18.0;
/// Minimum height of rows among scopes, in points; the view scrolls where there are many.
const LEAST_AMONG_SCOPES: f64 = 3.0;
/// Height of the header of an open scope, in points.
pub const HEADER: f64 = 18.0;
/// Height of a folded scope, in points: its header and its area.
pub const FOLDED: f64 = 30.0;
/// Scopes open initially as long as there are at most this many scope headers,
const MOST_BANDS: usize = 14;
/// and at most this many rows.
const MOST_ROWS: usize = 120;
/// Maximum height of a picture of rows, in points.
const MOST_HEIGHT: f64 = 4096.0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeFolds {
    /// Scopes at this depth and deeper are folded unless toggled; `None` for the depth that suits the graph.
    depth: Option<u16>,
    toggled: BTreeSet<Box<str>>,
}

impl ScopeFolds {
    pub fn all(is_folded: bool) -> Self {
        Self {
            depth: Some(if is_folded { 0 } else { u16::MAX }),
            toggled: BTreeSet::new(),
        }
    }

    pub fn toggle(&mut self, scope: &Scope) {
        if !self.toggled.remove(&scope.path) {
            self.toggled.insert(scope.path.clone());
        }
    }

    fn is_folded(&self, scope: &Scope, usual: u16) -> bool {
        (scope.depth >= self.depth.unwrap_or(usual)) != self.toggled.contains(&scope.path)
    }
}

/// The initial depth of open scopes: as many levels as fit a screen.
pub(super) fn usual_depth(scopes: &[Scope]) -> u16 {
    let deepest = scopes.iter().map(|scope| scope.depth).max().unwrap_or(0);
    let suits = |depth: u16| {
        let n_bands = scopes.iter().filter(|scope| scope.depth <= depth).count();
        let open = scopes.iter().filter(|scope| scope.depth < depth);
        let n_rows: usize = open.map(|scope| scope.n_own as usize).sum();
        n_bands <= MOST_BANDS && n_rows <= MOST_ROWS
    };
    (1..=deepest.saturating_add(1))
        .take_while(|depth| suits(*depth))
        .last()
        .unwrap_or(0)
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScopeBand {
    /// Position in [`LaneRows::scopes`].
    pub scope: u32,
    /// Upper edge in points from the first row.
    pub top: f64,
    /// In points.
    pub height: f64,
    pub is_folded: bool,
    /// Number of its rows alive within the view.
    pub n_alive: usize,
    /// If folded: the most live bytes of its rows on a step of each pixel column.
    pub columns: Vec<u64>,
}

impl ScopeBand {
    /// The most live bytes of its rows on one step within the view.
    pub fn most(&self) -> u64 {
        self.columns.iter().copied().max().unwrap_or(0)
    }
}

/// Consecutive rows without a scope between them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Strip {
    top: f64,
    /// Position of its first row among the rows shown.
    first: usize,
    n_rows: usize,
}

/// The space for rows, and its visible part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowWindow {
    /// Width, and the height that rows fill if possible, in points.
    pub canvas: Canvas,
    /// Upper and lower end of the visible part, from the first row.
    pub sight: (f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// By position among the rows shown.
    Row(usize),
    /// By position among the bands.
    Scope(usize),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowLayout {
    /// Places of the rows shown, from top to bottom.
    pub(super) places: Vec<u32>,
    strips: Vec<Strip>,
    /// From top to bottom.
    pub bands: Vec<ScopeBand>,
    pub row_height: f64,
    /// Of everything, in points.
    pub height: f64,
    /// Number of rows alive within the view, including those in folded scopes.
    pub n_alive: usize,
}

impl LaneRows {
    /// Lays out the rows alive within the steps of a viewport; `canvas` is in points. O(alive rows log alive rows +
    /// open scopes).
    pub fn layout<'v>(&self, view: impl Into<View<'v>>, folds: &ScopeFolds, canvas: Canvas) -> RowLayout {
        let view = view.into();
        let alive = self.alive(&view);
        let mut drafts = Drafts::default();
        let outside = self.scopes.first().map_or(u32::MAX, |scope| scope.places.start);
        drafts.rows(within(&alive, 0, outside));
        let mut at = 0;
        while let Some(scope) = self.scopes.get(at) {
            let own = within(&alive, scope.places.start, scope.places.end);
            if own.is_empty() {
                at = scope.end as usize;
                continue;
            }
            let is_folded = folds.is_folded(scope, self.usual_depth);
            drafts.scope(u32::try_from(at).unwrap_or(u32::MAX), own, is_folded);
            if is_folded {
                at = scope.end as usize;
            } else {
                drafts.rows(within(&alive, scope.places.start, scope.places.start + scope.n_own));
                at += 1;
            }
        }
        drafts.finish(self, &view, canvas, alive.len())
    }
}

/// The part of ascending places that lies within `from..to`.
fn within(alive: &[u32], from: u32, to: u32) -> &[u32] {
    let low = alive.partition_point(|place| *place < from);
    let rest = &alive[low..];
    &rest[..rest.partition_point(|place| *place < to)]
}

enum Draft<'a> {
    Rows(&'a [u32]),
    Scope {
        scope: u32,
        rows: &'a [u32],
        is_folded: bool,
    },
}

/// The order of rows and scopes before heights are known.
#[derive(Default)]
struct Drafts<'a>(Vec<Draft<'a>>);

impl<'a> Drafts<'a> {
    fn rows(&mut self, rows: &'a [u32]) {
        if !rows.is_empty() {
            self.0.push(Draft::Rows(rows));
        }
    }

    fn scope(&mut self, scope: u32, rows: &'a [u32], is_folded: bool) {
        self.0.push(Draft::Scope { scope, rows, is_folded });
    }

    fn finish(self, lifetimes: &LaneRows, view: &View<'_>, canvas: Canvas, n_alive: usize) -> RowLayout {
        let mut n_rows = 0_usize;
        let mut fixed = 0.0;
        for draft in &self.0 {
            match draft {
                Draft::Rows(rows) => n_rows += rows.len(),
                Draft::Scope { is_folded: true, .. } => fixed += FOLDED,
                Draft::Scope { .. } => fixed += HEADER,
            }
        }
        let count = f64::from(u32::try_from(n_rows.max(1)).unwrap_or(u32::MAX));
        let mut row_height = ((canvas.height - fixed).max(0.0) / count).min(MAX_ROW);
        if fixed > 0.0 {
            // Rows among scopes scroll, but a picture of them must remain drawable.
            row_height = row_height.max(LEAST_AMONG_SCOPES.min(MOST_HEIGHT / count));
        }
        let mut layout = RowLayout {
            row_height,
            n_alive,
            ..RowLayout::default()
        };
        for draft in self.0 {
            let top = layout.height;
            match draft {
                Draft::Rows(rows) => {
                    let height = row_height * f64::from(u32::try_from(rows.len()).unwrap_or(u32::MAX));
                    layout.strips.push(Strip {
                        top,
                        first: layout.places.len(),
                        n_rows: rows.len(),
                    });
                    layout.places.extend_from_slice(rows);
                    layout.height += height;
                }
                Draft::Scope { scope, rows, is_folded } => {
                    let height = if is_folded { FOLDED } else { HEADER };
                    let columns = if is_folded {
                        lifetimes.most_held(rows, view, canvas.width)
                    } else {
                        Vec::new()
                    };
                    layout.bands.push(ScopeBand {
                        scope,
                        top,
                        height,
                        is_folded,
                        n_alive: rows.len(),
                        columns,
                    });
                    layout.height += height;
                }
            }
        }
        layout
    }
}

impl LaneRows {
    /// By pixel column: the most live bytes on a step that it touches. O(live ranges log live ranges + columns).
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the columns before the cast"
    )]
    fn most_held(&self, places: &[u32], view: &View<'_>, width: f64) -> Vec<u64> {
        let mut changes: Vec<(u32, i128)> = Vec::with_capacity(places.len() * 2);
        for place in places {
            let Some(row) = self.row(self.number_at(*place)) else {
                continue;
            };
            let bytes = i128::from(row.bytes.get());
            self.rows.each_piece(row.tensor, |start, end| {
                changes.push((start.0, bytes));
                changes.push((end.0, -bytes));
            });
        }
        changes.sort_unstable_by_key(|(step, _)| *step);
        let n_columns = width.ceil().clamp(1.0, 65_536.0) as usize;
        let mut columns = vec![0_u64; n_columns];
        let mut held = 0_i128;
        let mut same = changes.chunk_by(|one, other| one.0 == other.0).peekable();
        while let Some(now) = same.next() {
            held += now.iter().map(|(_, change)| change).sum::<i128>();
            let Some(until) = same.peek().map(|next| next[0].0) else {
                break;
            };
            let x = |step: u32| view.x_from_step(f64::from(step), width);
            // A step that covers less than a millionth of a column is a rounding error.
            let (left, right) = ((x(now[0].0) + 1e-6).floor(), (x(until) - 1e-6).ceil());
            let most = width.ceil();
            let (first, end) = (left.clamp(0.0, most) as usize, right.clamp(0.0, most) as usize);
            let bytes = u64::try_from(held.max(0)).unwrap_or(u64::MAX);
            for column in columns.iter_mut().take(end).skip(first) {
                *column = (*column).max(bytes);
            }
        }
        columns
    }
}

impl RowLayout {
    pub fn n_rows(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.bands.is_empty()
    }

    /// The row number at a position among the rows shown.
    pub fn number(&self, lifetimes: &LaneRows, position: usize) -> Option<u32> {
        Some(lifetimes.number_at(*self.places.get(position)?))
    }

    /// The position of a row among those shown, by its number. O(log rows).
    pub fn position(&self, lifetimes: &LaneRows, number: usize) -> Option<usize> {
        let place = lifetimes.places.get(number)?;
        self.places.binary_search(place).ok()
    }

    /// The upper edge of a shown row.
    #[expect(clippy::cast_precision_loss, reason = "rows of a screen")]
    pub fn top(&self, position: usize) -> f64 {
        let strip = self.strips.partition_point(|strip| strip.first <= position);
        let strip = strip.checked_sub(1).and_then(|strip| self.strips.get(strip));
        strip.map_or(0.0, |strip| {
            strip.top + (position - strip.first) as f64 * self.row_height
        })
    }

    /// The folded scope that contains a row, by position among the bands.
    pub fn folded_in(&self, lifetimes: &LaneRows, number: usize) -> Option<usize> {
        let place = *lifetimes.places.get(number)?;
        self.bands.iter().position(|band| {
            let scope = lifetimes.scopes.get(band.scope as usize);
            band.is_folded && scope.is_some_and(|scope| scope.places.contains(&place))
        })
    }

    /// The row or scope at a height.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked against the rows after the cast"
    )]
    pub fn at(&self, y: f64) -> Option<RowPlace> {
        if y.is_nan() || y < 0.0 {
            return None;
        }
        let band = self.bands.partition_point(|band| band.top <= y).checked_sub(1);
        let is_on = |band: &usize| y < self.bands[*band].top + self.bands[*band].height;
        if let Some(band) = band.filter(is_on) {
            return Some(RowPlace::Scope(band));
        }
        let strip = self.strips.partition_point(|strip| strip.top <= y).checked_sub(1)?;
        let strip = &self.strips[strip];
        let position = ((y - strip.top) / self.row_height.max(f64::MIN_POSITIVE)) as usize;
        (position < strip.n_rows).then_some(RowPlace::Row(strip.first + position))
    }

    /// Positions of the rows within a range of heights, with their upper edges, from top to bottom.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the rows after the cast"
    )]
    pub fn rows_within(&self, heights: (f64, f64)) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (from, to) = heights;
        let height = self.row_height.max(f64::MIN_POSITIVE);
        self.strips.iter().flat_map(move |strip| {
            let first = (((from - strip.top) / height).floor().max(0.0) as usize).min(strip.n_rows);
            let end = (((to - strip.top) / height).ceil().max(0.0) as usize).min(strip.n_rows);
            (first..end).map(move |position| {
                let below = f64::from(u32::try_from(position).unwrap_or(u32::MAX));
                (strip.first + position, strip.top + below * self.row_height)
            })
        })
    }
}
