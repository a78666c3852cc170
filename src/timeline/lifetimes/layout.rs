//! Where rows and scopes stand: those alive within a viewport, from top to bottom.

use std::collections::BTreeSet;

use super::{LaneRows, Scope};
use crate::viewport::{Canvas, View};

/// No row is higher than this many points.
const MAX_ROW: f64 = 18.0;
/// Rows among scopes are at least as high, so that the view scrolls where there are many.
const LEAST_AMONG_SCOPES: f64 = 3.0;
/// The line that names an open scope, in points.
pub const HEADER: f64 = 18.0;
/// A folded scope, in points: its name, and what its tensors hold.
pub const FOLDED: f64 = 30.0;
/// More lines than these are not open at first.
const MOST_BANDS: usize = 14;
/// More rows likewise.
const MOST_ROWS: usize = 120;
/// No picture of rows is higher than this many points.
const MOST_HEIGHT: f64 = 4096.0;

/// Which scopes are folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    /// Scopes so deep and deeper are folded, unless they are toggled; `None` for as many as suit the graph.
    depth: Option<u16>,
    toggled: BTreeSet<Box<str>>,
}

impl Folds {
    /// All scopes folded, or all open.
    pub fn all(is_folded: bool) -> Self {
        Self {
            depth: Some(if is_folded { 0 } else { u16::MAX }),
            toggled: BTreeSet::new(),
        }
    }

    /// Folds an open scope, opens a folded one.
    pub fn toggle(&mut self, scope: &Scope) {
        if !self.toggled.remove(&scope.path) {
            self.toggled.insert(scope.path.clone());
        }
    }

    fn is_folded(&self, scope: &Scope, usual: u16) -> bool {
        (scope.depth >= self.depth.unwrap_or(usual)) != self.toggled.contains(&scope.path)
    }
}

/// How deep scopes are open at first: as deep as a screen holds.
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

/// A scope within the view.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopeBand {
    /// Position in [`LaneRows::scopes`].
    pub scope: u32,
    /// Upper edge in points from the first row.
    pub top: f64,
    /// Height in points.
    pub height: f64,
    /// Whether it is folded.
    pub is_folded: bool,
    /// How many rows of it are alive within the view.
    pub n_alive: usize,
    /// Where it is folded: the most bytes that its rows hold on a step of each pixel column.
    pub columns: Vec<u64>,
}

impl ScopeBand {
    /// The most bytes that its rows hold on one step within the view.
    pub fn most(&self) -> u64 {
        self.columns.iter().copied().max().unwrap_or(0)
    }
}

/// Consecutive rows without a scope between them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Strip {
    top: f64,
    /// Position of the first one among the rows that are shown.
    first: usize,
    n_rows: usize,
}

/// How wide and how high rows may stand, and which part is in sight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowWindow {
    /// Width, and the height that rows fill where they can, in points.
    pub canvas: Canvas,
    /// Upper and lower end of what is in sight, from the first row.
    pub sight: (f64, f64),
}

/// What lies at a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// A row, by position among those that are shown.
    Row(usize),
    /// A scope, by position among the bands.
    Scope(usize),
}

/// The rows and scopes of a view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowLayout {
    /// Places of the rows that are shown, from top to bottom.
    pub(super) places: Vec<u32>,
    strips: Vec<Strip>,
    /// Scopes, from top to bottom.
    pub bands: Vec<ScopeBand>,
    /// Height of a row in points.
    pub row_height: f64,
    /// Height of everything in points.
    pub height: f64,
    /// How many rows are alive within the view, those in folded scopes among them.
    pub n_alive: usize,
}

impl LaneRows {
    /// Lays out the rows that are alive within the steps of a viewport. `canvas` is the place for them in points.
    /// O(alive rows log alive rows + scopes that are not folded).
    pub fn layout<'v>(&self, view: impl Into<View<'v>>, folds: &Folds, canvas: Canvas) -> RowLayout {
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

/// What stands below what, before heights are known.
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
            // Among scopes one scrolls, but a picture of them stays one that can be drawn.
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
    /// By pixel column: the most bytes that rows hold on a step that it touches. O(pieces log pieces + columns).
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
            // What touches a column by less than a millionth of it is an error of rounding.
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
    /// How many rows are shown one by one.
    pub fn n_rows(&self) -> usize {
        self.places.len()
    }

    /// Whether nothing is shown at all.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.bands.is_empty()
    }

    /// The number of a shown row.
    pub fn number(&self, lifetimes: &LaneRows, position: usize) -> Option<u32> {
        Some(lifetimes.number_at(*self.places.get(position)?))
    }

    /// Where a row is shown, by its number; `None` where it is not. O(log rows).
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

    /// The scope in which a row that is not shown is folded, by position among the bands.
    pub fn folded_in(&self, lifetimes: &LaneRows, number: usize) -> Option<usize> {
        let place = *lifetimes.places.get(number)?;
        self.bands.iter().position(|band| {
            let scope = lifetimes.scopes.get(band.scope as usize);
            band.is_folded && scope.is_some_and(|scope| scope.places.contains(&place))
        })
    }

    /// What lies at a height.
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

    /// The positions of rows that meet a part of the height, with their upper edges, from top to bottom.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the rows after the cast"
    )]
    pub fn rows_within(&self, (from, to): (f64, f64)) -> impl Iterator<Item = (usize, f64)> + '_ {
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
