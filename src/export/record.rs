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

/// Records with the same fields: a list for programs, a table for people, CSV for spreadsheets.
pub(crate) struct Rows<'a> {
    count: usize,
    row: Box<dyn Fn(usize) -> Record<'a> + 'a>,
    caption: String,
    /// Replaces the first heading in text, which has no captions.
    title: &'static str,
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
        }
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
        let mut rows = (0..self.count.min(most)).map(&self.row).peekable();
        let first: Vec<&str> = rows
            .peek()
            .map_or_else(Vec::new, |row| row.columns().map(|field| &*field.heading).collect());
        let mut table = Table::captioned(&*self.caption, &first);
        if !self.title.is_empty() {
            table = table.titled(self.title);
        }
        for row in rows {
            table.cells(row.cells());
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
            .chain(left_out(self.count, most))
            .collect()
    }

    /// A header of the keys, or `header` without rows, then a line per row. Cells are as in JSON, null is empty.
    pub(crate) fn csv(&self, header: &str) -> String {
        if self.count == 0 {
            return format!("{header}\n");
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        for position in 0..self.count {
            let row = (self.row)(position);
            // Writing to memory does not fail.
            if position == 0 {
                drop(writer.write_record(row.keyed().map(|(key, _)| key)));
            }
            drop(writer.write_record(row.keyed().map(|(_, value)| value.cell())));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.count).map(&self.row))
    }
}

/// How many of `count` rows are beyond the first `most`; `None` without such.
pub(crate) fn left_out(count: usize, most: usize) -> Option<Block> {
    let left = count.saturating_sub(most);
    (left > 0).then(|| Block::Note(text(format!("and {} more", grouped(left as u64)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_64_bits_are_written_whole_and_kept_rounded() {
        let record = Record::new().key("least", i128::MIN).key("most", u128::MAX).key("one", 1_i128);
        let digits = format!("{{\"least\":{},\"most\":{},\"one\":1}}", i128::MIN, u128::MAX);
        assert_eq!(serde_json::to_string(&record).ok(), Some(digits));
        let kept = record.to_json();
        assert_eq!(kept["one"], 1);
        assert!(kept["least"].as_f64().is_some_and(|least| least < -1e38));
        assert!(kept["most"].as_f64().is_some_and(|most| most > 1e38));
    }
}
