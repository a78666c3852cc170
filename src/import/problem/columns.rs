//! The header of a problem file: which field means what.
//!
//! Names are compared without case and without spaces around them; columns are in any order. `end` in place of
//! `upper` makes last steps inclusive, also those of gaps.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Lower,
    Upper,
    End,
    Size,
    Alignment,
    Offset,
    Gaps,
    SameAddressAs,
    MemId,
}

/// Names of columns; the first name of a column is the one that messages use.
const NAMES: &[(&str, Column)] = &[
    ("id", Column::Id),
    ("buffer", Column::Id),
    ("buffer_id", Column::Id),
    ("lower", Column::Lower),
    ("begin", Column::Lower),
    ("start", Column::Lower),
    ("upper", Column::Upper),
    ("end", Column::End),
    ("size", Column::Size),
    ("alignment", Column::Alignment),
    ("offset", Column::Offset),
    ("gaps", Column::Gaps),
    ("same_address_as", Column::SameAddressAs),
    ("mem_id", Column::MemId),
];

impl Column {
    fn of(heading: &str) -> Option<Self> {
        let heading = heading.trim().to_ascii_lowercase();
        let row = NAMES.iter().find(|(name, _)| *name == heading)?;
        Some(row.1)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) id: usize,
    pub(super) lower: usize,
    /// The column of the end, exclusive or (see `is_inclusive`) inclusive.
    pub(super) upper: usize,
    pub(super) is_inclusive: bool,
    pub(super) size: usize,
    pub(super) alignment: Option<usize>,
    pub(super) offset: Option<usize>,
    pub(super) gaps: Option<usize>,
    pub(super) same_address_as: Option<usize>,
    pub(super) mem_id: Option<usize>,
    pub(super) headings: Vec<String>,
    /// Headings that mean nothing here.
    pub(super) unknown: Vec<String>,
}

/// Whether headings are those of a problem: where buffers start, end, and how large they are. The other names of
/// `lower` are too common to tell, so with them all headings must be known.
pub(super) fn is_problem(headings: &[Cow<'_, str>]) -> bool {
    let columns: Vec<Option<Column>> = headings.iter().map(|heading| Column::of(heading)).collect();
    let has = |column: Column| columns.contains(&Some(column));
    let is_named = headings
        .iter()
        .any(|heading| heading.trim().eq_ignore_ascii_case("lower"))
        || (has(Column::Lower) && has(Column::Id) && columns.iter().all(Option::is_some));
    is_named && (has(Column::Upper) || has(Column::End)) && has(Column::Size)
}

impl Layout {
    /// The layout of a header line.
    ///
    /// # Errors
    /// A sentence: a column is missing or duplicate.
    pub(super) fn new(headings: &[Cow<'_, str>]) -> Result<Self, String> {
        let mut positions: [Option<usize>; 10] = [None; 10];
        let mut unknown = Vec::new();
        for (position, heading) in headings.iter().enumerate() {
            let Some(column) = Column::of(heading) else {
                if !heading.is_empty() {
                    unknown.push(heading.trim().to_owned());
                }
                continue;
            };
            if positions[column as usize].replace(position).is_some() {
                return Err(format!("column \"{}\" occurs twice", heading.trim()));
            }
        }
        let at = |column: Column| positions[column as usize];
        let needed = |column: Column, name: &str| {
            at(column).ok_or_else(|| format!("the header has no column \"{name}\" (it has {})", headings.join(", ")))
        };
        if at(Column::Upper).is_some() && at(Column::End).is_some() {
            return Err("the header has both \"upper\" (exclusive) and \"end\" (inclusive)".to_owned());
        }
        Ok(Self {
            id: needed(Column::Id, "id")?,
            lower: needed(Column::Lower, "lower")?,
            upper: at(Column::End).map_or_else(|| needed(Column::Upper, "upper"), Ok)?,
            is_inclusive: at(Column::End).is_some(),
            size: needed(Column::Size, "size")?,
            alignment: at(Column::Alignment),
            offset: at(Column::Offset),
            gaps: at(Column::Gaps),
            same_address_as: at(Column::SameAddressAs),
            mem_id: at(Column::MemId),
            headings: headings.iter().map(|heading| heading.trim().to_owned()).collect(),
            unknown,
        })
    }
}
