//! Figures of an answer, each named once: an object of JSON for programs, a table for people, a line of CSV.
//!
//! In: fields with a key, a heading and a value. A field without a heading is for programs alone, one without a key for people alone.
//! Keys and their order are a contract. Lists are read row by row when they are written, so that a long one needs no memory.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value as Json;

use super::blocks::{Block, Line, Table, bytes, step, text};
use highwater_model::units::{Bytes, Nanos, Step, grouped, percent_text};

#[derive(Debug)]
pub(crate) enum Value<'a> {
    /// Null; nothing for people.
    Nothing,
    /// Null; "unknown" for people.
    Unknown,
    Flag(bool),
    Count(u64),
    /// Offsets and exact sizes, as digits.
    Digits(u64),
    Bytes(Bytes),
    /// Shown to the byte.
    Exact(Bytes),
    /// With the sign of a bound, which people alone see.
    Bound(&'static str, Bytes),
    Nanos(Nanos),
    Step(Step),
    Percent(f64),
    Number(f64),
    /// Bytes times steps.
    Wide(u128),
    Signed(i128),
    Text(Cow<'a, str>),
    Texts(Vec<&'a str>),
    Json(Json),
    Record(Record<'a>),
    Rows(Rows<'a>),
    /// For people alone.
    Line(Line),
}

impl Value<'_> {
    fn line(&self) -> Line {
        match self {
            Self::Nothing | Self::Texts(_) | Self::Json(_) | Self::Record(_) | Self::Rows(_) => Line::default(),
            Self::Unknown => text("unknown"),
            Self::Flag(is_set) => text(if *is_set { "yes" } else { "no" }),
            Self::Count(count) => text(grouped(*count)),
            Self::Digits(number) => text(number),
            Self::Bytes(value) => bytes(*value),
            Self::Exact(value) => text(value.exact()),
            Self::Bound(sign, value) => text(sign).and(bytes(*value)),
            Self::Nanos(time) => text(time),
            Self::Step(at) => step(at.0),
            Self::Percent(percent) => text(percent_text(*percent)),
            Self::Number(number) => text(number),
            Self::Wide(number) => text(number),
            Self::Signed(number) => text(number),
            Self::Text(words) if words.is_empty() => Line::default(),
            Self::Text(words) => text(words),
            Self::Line(line) => line.clone(),
        }
    }

    /// The exact bytes of a rounded figure.
    fn exact(&self) -> Line {
        match self {
            Self::Bytes(value) => text(value.exact()),
            Self::Bound(sign, value) => text(format!("{sign}{}", value.exact())),
            _ => Line::default(),
        }
    }

    /// Of CSV.
    fn cell(&self) -> String {
        match self {
            Self::Text(words) => words.to_string(),
            Self::Nothing | Self::Unknown => String::new(),
            other => serde_json::to_string(other).unwrap_or_default(),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing | Self::Unknown | Self::Line(_) => serializer.serialize_none(),
            Self::Flag(is_set) => serializer.serialize_bool(*is_set),
            Self::Count(number) | Self::Digits(number) => serializer.serialize_u64(*number),
            Self::Bytes(value) | Self::Exact(value) | Self::Bound(_, value) => serializer.serialize_u64(value.get()),
            Self::Nanos(time) => serializer.serialize_u64(time.0),
            Self::Step(at) => serializer.serialize_u32(at.0),
            Self::Percent(number) | Self::Number(number) => serializer.serialize_f64(*number),
            Self::Wide(number) => serializer.serialize_u128(*number),
            Self::Signed(number) => serializer.serialize_i128(*number),
            Self::Text(words) => serializer.serialize_str(words),
            Self::Texts(texts) => texts.serialize(serializer),
            Self::Json(json) => json.serialize(serializer),
            Self::Record(record) => record.serialize(serializer),
            Self::Rows(rows) => rows.serialize(serializer),
        }
    }
}

macro_rules! from {
    ($($kind:ty => |$value:ident| $made:expr,)*) => {$(
        impl<'a> From<$kind> for Value<'a> {
            fn from($value: $kind) -> Self {
                $made
            }
        }
    )*};
}

from! {
    bool => |is_set| Self::Flag(is_set),
    u32 => |count| Self::Count(count.into()),
    u64 => |count| Self::Count(count),
    u128 => |number| Self::Wide(number),
    i128 => |number| Self::Signed(number),
    f64 => |number| Self::Number(number),
    usize => |count| Self::Count(count as u64),
    Bytes => |bytes| Self::Bytes(bytes),
    Nanos => |time| Self::Nanos(time),
    Step => |at| Self::Step(at),
    &'a str => |words| Self::Text(words.into()),
    &'a String => |words| Self::Text(words.into()),
    String => |words| Self::Text(words.into()),
    Cow<'a, str> => |words| Self::Text(words),
    Json => |json| Self::Json(json),
    Record<'a> => |record| Self::Record(record),
    Rows<'a> => |rows| Self::Rows(rows),
    Line => |line| Self::Line(line),
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

/// A value that people see as "unknown" where there is none.
pub(crate) fn known<'a>(value: Option<impl Into<Value<'a>>>) -> Value<'a> {
    value.map_or(Value::Unknown, Into::into)
}

#[derive(Debug)]
struct Field<'a> {
    key: Option<&'a str>,
    heading: Cow<'a, str>,
    value: Value<'a>,
}

/// Fields in their order.
#[derive(Debug, Default)]
pub(crate) struct Record<'a>(Vec<Field<'a>>);

impl<'a> Record<'a> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// For programs and people. A heading that starts with `>` is over figures; one that starts with `&` continues the fact before
    /// it, and is no column of a table.
    #[must_use]
    pub(crate) fn field(mut self, key: &'a str, heading: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Self {
        self.0.push(Field {
            key: Some(key),
            heading: heading.into(),
            value: value.into(),
        });
        self
    }

    /// For programs alone.
    #[must_use]
    pub(crate) fn key(self, key: &'a str, value: impl Into<Value<'a>>) -> Self {
        self.field(key, "", value)
    }

    /// For programs alone, and left out where there is none.
    #[must_use]
    pub(crate) fn optional(self, key: &'a str, value: Option<impl Into<Value<'a>>>) -> Self {
        match value {
            Some(value) => self.key(key, value),
            None => self,
        }
    }

    /// As a value of JSON; a number beyond 64 bits is rounded.
    pub(crate) fn to_json(&self) -> Json {
        let text = serde_json::to_string(self).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// This record, then the fields of another.
    #[must_use]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// For people alone.
    #[must_use]
    pub(crate) fn shown(mut self, heading: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Self {
        let (heading, value) = (heading.into(), value.into());
        self.0.push(Field {
            key: None,
            heading,
            value,
        });
        self
    }

    fn keyed(&self) -> impl Iterator<Item = (&'a str, &Value<'a>)> {
        self.0.iter().filter_map(|field| Some((field.key?, &field.value)))
    }

    fn columns(&self) -> impl Iterator<Item = &Field<'a>> {
        let fields = self.0.iter();
        fields.filter(|field| !field.heading.is_empty() && !field.heading.starts_with('&'))
    }

    /// Its cells in a table for people.
    pub(crate) fn cells(&self) -> Vec<Line> {
        self.columns().map(|field| field.value.line()).collect()
    }

    /// A row per field with something to show, with exact bytes.
    pub(crate) fn facts(&self, what: &str, title: &str) -> Table {
        let mut rows: Vec<Vec<Line>> = Vec::new();
        for field in self.0.iter().filter(|field| !field.heading.is_empty()) {
            let line = field.value.line();
            match (rows.last_mut(), field.heading.strip_prefix('&')) {
                _ if line.is_empty() => {}
                (Some(row), Some(words)) => row[1] = std::mem::take(&mut row[1]).and(text(words)).and(line),
                _ => {
                    let heading = text(field.heading.trim_start_matches('>'));
                    rows.push(vec![heading, line, field.value.exact()]);
                }
            }
        }
        let mut table = Table::new(&[what, title, ">"]);
        for row in rows {
            table.cells(row);
        }
        table
    }
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.keyed() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The columns of a list: the names of all its rows, in the order in which they first appear. A name that a row has twice is two
/// columns.
#[derive(Debug, Default)]
struct Columns(Vec<(String, usize)>);

impl Columns {
    /// The columns of a row's cells; new ones come last.
    fn of<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for name in names {
            let equal = places.iter().filter(|place| self.0[**place].0 == name).count();
            let is_it = |(other, before): &(String, usize)| *before == equal && other == name;
            let place = self.0.iter().position(is_it).unwrap_or_else(|| {
                self.0.push((name.to_owned(), equal));
                self.0.len() - 1
            });
            places.push(place);
        }
        places
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// A line of the table; cells that the row lacks are empty.
    fn line<T: Clone + Default>(&self, cells: impl IntoIterator<Item = (usize, T)>) -> Vec<T> {
        let mut line = vec![T::default(); self.0.len()];
        for (place, cell) in cells {
            line[place] = cell;
        }
        line
    }
}

/// Records with about the same fields: a list for programs, a table for people, CSV for spreadsheets.
pub(crate) struct Rows<'a> {
    count: usize,
    row: Box<dyn Fn(usize) -> Record<'a> + 'a>,
    caption: String,
    /// Replaces the first heading in text, which has no captions.
    title: &'static str,
    /// The option that lists more rows than the table.
    more: &'static str,
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries((0..self.count).map(&self.row)).finish()
    }
}

impl<'a> Rows<'a> {
    pub(crate) fn new<T>(items: &'a [T], row: impl Fn(&'a T) -> Record<'a> + 'a) -> Self {
        Self::indexed(items.len(), move |position| row(&items[position]))
    }

    pub(crate) fn indexed(count: usize, row: impl Fn(usize) -> Record<'a> + 'a) -> Self {
        Self {
            count,
            row: Box::new(row),
            caption: String::new(),
            title: "",
            more: ALL_IN_JSON,
        }
    }

    /// The option that lists more rows than the table; unless set, JSON lists all.
    #[must_use]
    pub(crate) fn more_with(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    #[must_use]
    pub(crate) fn captioned(self, caption: impl Into<String>, title: &'static str) -> Self {
        let caption = caption.into();
        Self { caption, title, ..self }
    }

    /// The first `most` rows alone.
    #[must_use]
    pub(crate) fn first(self, most: usize) -> Self {
        let count = self.count.min(most);
        Self { count, ..self }
    }

    /// The first `most` rows.
    pub(crate) fn table(&self, most: usize) -> Table {
        self.table_with(most, None)
    }

    /// The first `most` rows, and a last one, such as a sum.
    pub(crate) fn table_with(&self, most: usize, last: Option<Record<'a>>) -> Table {
        let rows = (0..self.count.min(most)).map(&self.row).chain(last);
        let mut columns = Columns::default();
        let mut lines = Vec::new();
        for row in rows {
            let places = columns.of(row.columns().map(|field| &*field.heading));
            lines.push((places, row.cells()));
        }
        let mut table = Table::captioned(&*self.caption, &columns.names());
        if !self.title.is_empty() {
            table = table.titled(self.title);
        }
        for (places, cells) in lines {
            table.cells(columns.line(places.into_iter().zip(cells)));
        }
        table
    }

    /// The table, and the number of the rows that it leaves out; nothing without rows.
    pub(crate) fn blocks(&self, most: usize) -> Vec<Block> {
        let table = self.table(most);
        if table.is_empty() {
            return Vec::new();
        }
        std::iter::once(table.into())
            .chain(self.left_out(self.count, most))
            .collect()
    }

    /// How many of `count` rows are beyond the first `most`, and what lists them; `None` without such.
    pub(crate) fn left_out(&self, count: usize, most: usize) -> Option<Block> {
        let left = count.saturating_sub(most);
        let words = format!("and {} more ({})", grouped(left as u64), self.more);
        (left > 0).then(|| Block::Note(text(words)))
    }

    /// A header of the keys, or `header` without rows, then a line per row. Cells are as in JSON, null is empty. Rows are made twice
    /// instead of kept.
    pub(crate) fn csv(&self, header: &str) -> String {
        if self.count == 0 {
            return format!("{header}\n");
        }
        let mut columns = Columns::default();
        for row in (0..self.count).map(&self.row) {
            columns.of(row.keyed().map(|(key, _)| key));
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory does not fail.
        drop(writer.write_record(columns.names()));
        for row in (0..self.count).map(&self.row) {
            let places = columns.of(row.keyed().map(|(key, _)| key));
            let cells = row.keyed().map(|(_, value)| value.cell());
            drop(writer.write_record(columns.line(places.into_iter().zip(cells))));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.count).map(&self.row))
    }
}

/// What lists the rows that a table leaves out.
const ALL_IN_JSON: &str = "`--format json` lists all";

/// As [`ALL_IN_JSON`], of `peak`, whose JSON has as many rows as its text.
pub(crate) const MORE_WITH_TOP: &str = "`highwater peak --top N` lists more";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_other_fields_keep_their_cells_under_their_headings() {
        let rows = Rows::indexed(4, |row| {
            let record = Record::new().field("name", "name", ["a", "b", "c", "d"][row]);
            let record = match row {
                1 | 3 => record.field("early", ">early", row).shown(">exact", row + 10),
                _ => record,
            };
            record
                .field("bytes", ">bytes", row + 20)
                .shown(">exact", row + 30)
                .optional("late", (row > 1).then_some(row + 40))
        });
        let csv = "name,bytes,early,late\na,20,,\nb,21,1,\nc,22,,42\nd,23,3,43\n";
        assert_eq!(rows.csv("none"), csv);
        let table = rows.table(usize::MAX).text();
        let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0], ["name", "bytes", "exact", "early", "exact"]);
        assert_eq!(words[1], ["a", "20", "30"]);
        assert_eq!(words[2], ["b", "21", "11", "1", "31"]);
        let rest = "and 1 more (`--format json` lists all)";
        assert!(matches!(&rows.blocks(3)[1], Block::Note(line) if *line == text(rest)));
    }

    #[test]
    fn numbers_beyond_64_bits_are_written_whole_and_kept_rounded() {
        let record = Record::new()
            .key("least", i128::MIN)
            .key("most", u128::MAX)
            .key("one", 1_i128);
        let digits = format!("{{\"least\":{},\"most\":{},\"one\":1}}", i128::MIN, u128::MAX);
        assert_eq!(serde_json::to_string(&record).ok(), Some(digits));
        let kept = record.to_json();
        assert_eq!(kept["one"], 1);
        assert!(kept["least"].as_f64().is_some_and(|least| least < -1e38));
        assert!(kept["most"].as_f64().is_some_and(|most| most > 1e38));
    }
}
