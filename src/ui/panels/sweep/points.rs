//! Points of a sweep as the pane shows them: columns of figures, from which table, plot and texts follow.

use std::borrow::Cow;

use super::PointsState;
use highwater_analysis::Figure;
use highwater_session::Command;

/// Least width of words.
const WORDS: f32 = 44.0;

/// The colour of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
}

/// The content of a cell: its place in the order, and what is read.
pub(super) struct Cell {
    /// Infinite without a figure: it comes last.
    pub(super) rank: f64,
    /// In the plot.
    pub(super) figure: Option<Figure>,
    /// Of the figure, where there is no other.
    text: Option<Cow<'static, str>>,
    exact: Option<String>,
    pub(super) tone: Tone,
}

impl Cell {
    pub(super) const EMPTY: Self = Self {
        rank: f64::INFINITY,
        figure: None,
        text: None,
        exact: None,
        tone: Tone::Plain,
    };

    /// A place in the order, and a text.
    pub(super) fn words(rank: f64, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rank,
            text: Some(text.into()),
            ..Self::EMPTY
        }
    }

    /// Empty, with a place in the order.
    pub(super) fn ranked(rank: f64) -> Self {
        Self { rank, ..Self::EMPTY }
    }

    /// Another text for its figure.
    pub(super) fn with_text(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: Some(text.into()),
            ..self
        }
    }

    pub(super) fn with_exact(self, exact: String) -> Self {
        Self {
            exact: Some(exact),
            ..self
        }
    }

    pub(super) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.figure.is_none() && self.text.is_none()
    }

    pub(super) const fn has_text_of_figure(&self) -> bool {
        self.text.is_none()
    }

    pub(super) fn text(&self) -> String {
        match (&self.text, self.figure) {
            (Some(text), _) => text.to_string(),
            (None, figure) => figure.map_or_else(String::new, |figure| figure.to_string()),
        }
    }

    pub(super) fn exact(&self) -> String {
        match (&self.exact, self.figure) {
            (Some(exact), _) => exact.clone(),
            (None, Some(figure)) => figure.exact(),
            (None, None) => self.text(),
        }
    }
}

impl From<Figure> for Cell {
    fn from(figure: Figure) -> Self {
        Self {
            rank: figure.number(),
            figure: Some(figure),
            ..Self::EMPTY
        }
    }
}

impl From<Option<Figure>> for Cell {
    fn from(figure: Option<Figure>) -> Self {
        figure.map_or(Self::EMPTY, Self::from)
    }
}

/// Identifies a column, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnId {
    Named(&'static str),
    /// Of an axis, by position: its name is the user's.
    Axis(usize),
}

/// A column of the table, which gives the cell of a point.
pub(super) struct Column<'p> {
    pub(super) id: ColumnId,
    pub(super) name: Cow<'p, str>,
    pub(super) meaning: Cow<'p, str>,
    pub(super) cell: Box<dyn Fn(usize) -> Cell + 'p>,
    /// The rank of its cell, where that is costly to make.
    rank: Option<Box<dyn Fn(usize) -> f64 + 'p>>,
    /// The exact text, where the cell has none.
    exact: Option<Box<dyn Fn(usize) -> String + 'p>>,
    /// Right-aligned, and part of texts about the point.
    pub(super) is_figure: bool,
    /// The least width of words.
    pub(super) least: f32,
    /// Takes a part of the remaining width.
    pub(super) grows: bool,
}

impl<'p> Column<'p> {
    pub(super) fn figure<C: Into<Cell>>(
        name: &'static str,
        meaning: &'static str,
        cell: impl Fn(usize) -> C + 'p,
    ) -> Self {
        Self {
            is_figure: true,
            grows: false,
            ..Self::words(name, meaning, move |at| cell(at).into())
        }
    }

    pub(super) fn words(name: &'static str, meaning: &'static str, cell: impl Fn(usize) -> Cell + 'p) -> Self {
        Self {
            id: ColumnId::Named(name),
            name: name.into(),
            meaning: meaning.into(),
            cell: Box::new(cell),
            rank: None,
            exact: None,
            is_figure: false,
            least: WORDS,
            grows: true,
        }
    }

    /// Of the values of an axis.
    pub(super) fn axis(position: usize, name: &'p str, key: String, cell: impl Fn(usize) -> Cell + 'p) -> Self {
        Self {
            id: ColumnId::Axis(position),
            name: name.into(),
            meaning: key.into(),
            ..Self::words("", "", cell)
        }
    }

    pub(super) fn ranked(self, rank: impl Fn(usize) -> f64 + 'p) -> Self {
        Self {
            rank: Some(Box::new(rank)),
            ..self
        }
    }

    pub(super) fn with_exact(self, exact: impl Fn(usize) -> String + 'p) -> Self {
        Self {
            exact: Some(Box::new(exact)),
            ..self
        }
    }

    /// The place of a point in the order.
    pub(super) fn rank(&self, at: usize) -> f64 {
        self.rank.as_ref().map_or_else(|| (self.cell)(at).rank, |rank| rank(at))
    }

    /// The exact text of the cell of a point.
    pub(super) fn exact(&self, at: usize, cell: &Cell) -> String {
        self.exact.as_ref().map_or_else(|| cell.exact(), |exact| exact(at))
    }

    /// Whether it is one of some named columns.
    pub(super) fn is_in(&self, names: &[&'static str]) -> bool {
        matches!(self.id, ColumnId::Named(name) if names.contains(&name))
    }

    pub(super) fn at_least(self, least: f32) -> Self {
        Self { least, ..self }
    }

    pub(super) fn exactly(self, least: f32) -> Self {
        Self {
            grows: false,
            ..self.at_least(least)
        }
    }
}

/// How a point ended, as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Filled: it completed within its limits.
    Fits,
    /// Hollow: it completed beyond a limit.
    Over,
    /// Small and hollow: it was stopped, and its figures are those up to its end.
    Stopped,
    /// A cross: it has no figures, or those up to its end.
    Failed,
}

impl Mark {
    /// Whether its figures are those of the whole program.
    pub(super) const fn has_completed(self) -> bool {
        matches!(self, Self::Fits | Self::Over)
    }
}

/// Points of one colour and marker.
pub(super) struct Series {
    /// Gives colour and marker.
    pub(super) position: usize,
    pub(super) label: String,
    pub(super) meaning: String,
    /// Where it fits from there on, as text; empty without points.
    pub(super) limit: Cow<'static, str>,
    /// The point of the limit.
    pub(super) limit_at: Option<usize>,
}

/// A button for the selected point: label, explanation, effect.
pub(super) type Action = (&'static str, String, Command);

/// A result that links to its point: label, result, more about it, position.
pub(super) type Highlight = (String, String, String, usize);

/// The points of one kind of sweep. Positions are those of the points in the order of their arrival.
pub(super) trait Points {
    /// Their name, such as "runs".
    fn nouns(&self) -> &'static str;

    fn len(&self) -> usize;

    /// Names a point while others arrive.
    fn key(&self, at: usize) -> u64 {
        at as u64
    }

    fn find(&self, key: u64) -> Option<usize> {
        (0..self.len()).find(|at| self.key(*at) == key)
    }

    /// The number of the sweep: keys of another name other points.
    fn number(&self) -> u64 {
        0
    }

    /// Whether it is above all others in every order.
    fn is_first(&self, _at: usize) -> bool {
        false
    }

    /// Orders points of equal figures.
    fn tie(&self, _at: usize) -> usize {
        0
    }

    /// Whether a click on its row does something.
    fn can_choose(&self, _at: usize) -> bool {
        true
    }

    /// Changes with the points, where sorting them in each frame is too slow.
    fn version(&self) -> Option<u64> {
        None
    }

    fn title(&self, at: usize) -> String;

    /// How it ended, and that in words; no words where the figures say it.
    fn status(&self, at: usize) -> (Mark, &'static str);

    /// More about it, in lines.
    fn details(&self, _at: usize) -> Vec<String> {
        Vec::new()
    }

    /// The first one has the buttons of the rows.
    fn columns(&self) -> Vec<Column<'_>>;

    /// The columns in the sentence about a point.
    fn brief(&self) -> &'static [&'static str];

    /// What a click on a point does, such as "pin".
    fn verb(&self) -> &'static str;

    fn choose(&self, at: usize) -> Option<Command>;

    fn actions(&self, _at: usize) -> Vec<Action> {
        Vec::new()
    }

    /// Whether a lane shows it.
    fn is_lane(&self, _at: usize) -> bool {
        false
    }

    /// The position that gives colour and marker.
    fn series_of(&self, _at: usize) -> usize {
        0
    }

    /// Those of the points, in order.
    fn series(&self) -> Vec<Series> {
        Vec::new()
    }

    /// The recommended point.
    fn winner(&self) -> Option<u64> {
        None
    }

    fn summary(&self) -> Option<String> {
        None
    }

    fn highlights(&self) -> Vec<Highlight> {
        Vec::new()
    }

    /// The columns along and up in the plot with titles, where there is one.
    fn plotted(&self) -> Option<[(&'static str, &'static str); 2]> {
        None
    }

    /// Names of the strip above the plot, for points that did not complete, and of that below it, for the limits of series.
    fn strips(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// The Pareto front, by the figure along; `None` where each series has a line instead.
    fn front(&self) -> Option<&[usize]> {
        None
    }

    /// A line at a figure along, with its name.
    fn limit(&self) -> Option<(Figure, &'static str)> {
        None
    }
}

/// The point and its most important figures in a line.
pub(super) fn sentence(points: &dyn Points, at: usize) -> String {
    let brief = points.brief();
    let (_, status) = points.status(at);
    let status = Some(status.to_owned()).filter(|status| !status.is_empty());
    let figures = figures(points, at, |column| column.is_in(brief), |_, cell| cell.text());
    let parts: Vec<String> = status.into_iter().chain(figures).collect();
    format!("{}: {}", points.title(at), parts.join(", "))
}

/// The point and its status, its exact figures, more about it: a line each.
pub(super) fn hover_text(points: &dyn Points, at: usize) -> String {
    let first = match points.status(at).1 {
        "" => points.title(at),
        status => format!("{}: {status}", points.title(at)),
    };
    let exact = |column: &Column<'_>, cell: &Cell| column.exact(at, cell);
    let figures = figures(points, at, |column| column.is_figure, exact).join(", ");
    let lines = std::iter::once(first)
        .chain(Some(figures).filter(|line| !line.is_empty()))
        .chain(points.details(at));
    lines.collect::<Vec<_>>().join("\n")
}

fn figures(
    points: &dyn Points,
    at: usize,
    is_wanted: impl Fn(&Column<'_>) -> bool,
    text: impl Fn(&Column<'_>, &Cell) -> String,
) -> Vec<String> {
    let columns = points.columns();
    let cells = columns
        .iter()
        .filter(|column| is_wanted(column))
        .map(|column| (column, (column.cell)(at)));
    let cells = cells.filter(|(_, cell)| !cell.is_empty());
    cells
        .map(|(column, cell)| format!("{} {}", column.name, text(column, &cell)))
        .collect()
}

/// Positions that are not hidden.
pub(super) fn shown(points: &dyn Points, state: &PointsState) -> Vec<usize> {
    let is_shown = |at: &usize| state.hidden.is_empty() || !state.hidden.contains(&points.series_of(*at));
    (0..points.len()).filter(is_shown).collect()
}
