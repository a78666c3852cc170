//! Headings of a table: names without case, blanks and marks, units in brackets.
//!
//! In: the first row, such as `Name,Size(KB),Allocation Time(us)`. Out: columns with a factor to bytes or nanoseconds.
//! The heading alone decides the unit; a heading without a known unit is an error.

use csv::ByteRecord;

use crate::ImportError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeColumn {
    pub(super) at: usize,
    /// Bytes of its unit.
    pub(super) factor: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeColumn {
    pub(super) at: usize,
    pub(super) factor: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    text: String,
    /// In small letters, words divided by single blanks, without the unit.
    name: String,
    /// The text in brackets at the end, in small letters; empty without brackets.
    unit: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header(Vec<Heading>);

impl Header {
    pub(super) fn of(record: &ByteRecord) -> Self {
        Self(record.iter().map(heading).collect())
    }

    pub(super) fn width(&self) -> usize {
        self.0.len()
    }

    /// Whether a row repeats the headings, as the later slices of a table do.
    pub(super) fn is_repeated_by(&self, record: &ByteRecord) -> bool {
        let is_first = record.get(0).zip(self.0.first()).is_some_and(|(field, first)| {
            let field = field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field).trim_ascii();
            field.trim_ascii_start().eq_ignore_ascii_case(first.text.as_bytes()) || field.starts_with(b"\"")
        });
        is_first && record.len() == self.width() && Self::of(record) == *self
    }

    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        names
            .iter()
            .find_map(|name| self.0.iter().position(|heading| heading.name == *name))
    }

    pub(super) fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.find(&[name]).is_some())
    }

    /// The column with this name and this in brackets.
    pub(super) fn find_marked(&self, name: &str, mark: &str) -> Option<usize> {
        let is_wanted = |heading: &Heading| heading.name == name && heading.unit == mark;
        self.0.iter().position(is_wanted)
    }

    /// A column that its kind of table has.
    ///
    /// # Errors
    /// [`ImportError::Malformed`] where it is missing.
    pub(super) fn needed<T>(column: Option<T>) -> Result<T, ImportError> {
        column.ok_or_else(|| ImportError::at("a column is missing", "the header", "export the table again"))
    }

    /// The column of sizes with one of these names.
    ///
    /// # Errors
    /// [`ImportError::Malformed`] where its unit is missing or unknown.
    pub(super) fn size(&self, names: &[&str]) -> Result<Option<SizeColumn>, ImportError> {
        let Some(at) = self.find(names) else { return Ok(None) };
        let factor = match self.0[at].unit.as_str() {
            "b" | "byte" | "bytes" => 1,
            "kb" | "kib" => 1 << 10,
            "mb" | "mib" => 1 << 20,
            "gb" | "gib" => 1 << 30,
            _ => return Err(self.wrong_unit(at, "Size(B), Size(KB) or Size(MB)")),
        };
        Ok(Some(SizeColumn { at, factor }))
    }

    /// The column of times with one of these names.
    pub(super) fn time(&self, names: &[&str]) -> Result<Option<TimeColumn>, ImportError> {
        let Some(at) = self.find(names) else { return Ok(None) };
        let factor = match self.0[at].unit.as_str() {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return Err(self.wrong_unit(at, "Timestamp(us) or Timestamp(ns)")),
        };
        Ok(Some(TimeColumn { at, factor }))
    }

    fn wrong_unit(&self, at: usize, example: &str) -> ImportError {
        ImportError::at(
            format!(
                "the heading \"{}\" states no unit that is known (wanted is one like {example})",
                self.0[at].text
            ),
            format!("column {} of the header", at + 1),
            "a value without its unit is not guessed at: write the unit into the header if you know it",
        )
    }
}

fn heading(field: &[u8]) -> Heading {
    let text = String::from_utf8_lossy(field);
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '"'));
    let lower = text.to_lowercase();
    let (name, unit) = match lower.strip_suffix(')').and_then(|open| open.rsplit_once('(')) {
        Some((name, unit)) => (name, unit.trim()),
        None => (lower.as_str(), ""),
    };
    let words: Vec<&str> = name
        .split(|c: char| c.is_whitespace() || c == '_')
        .filter(|word| !word.is_empty())
        .collect();
    Heading {
        text: text.to_owned(),
        name: words.join(" "),
        unit: unit.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_in_any_spelling() {
        let record = ByteRecord::from(vec![
            "\u{feff}Device_id",
            " size ( kb )\t",
            "TIMESTAMP(us)",
            "Call Stack(C)",
        ]);
        let header = Header::of(&record);
        assert_eq!(header.find(&["device id"]), Some(0));
        assert_eq!(
            header.size(&["size"]).ok(),
            Some(Some(SizeColumn { at: 1, factor: 1024 }))
        );
        assert_eq!(
            header.time(&["timestamp"]).ok(),
            Some(Some(TimeColumn { at: 2, factor: 1000 }))
        );
        assert_eq!(header.find_marked("call stack", "c"), Some(3));
        let again = ByteRecord::from(vec!["Device_id", "Size(KB)", "Timestamp(us)", "Call Stack(C)"]);
        assert!(Header::of(&again).is_repeated_by(&ByteRecord::from(vec![
            "\u{feff}Device_id",
            "Size(KB)",
            "Timestamp(us)",
            "Call Stack(C)\r"
        ])));
    }

    #[test]
    fn an_unknown_unit_is_an_error() {
        let header = Header::of(&ByteRecord::from(vec!["Size(pages)", "Timestamp"]));
        let error = header.size(&["size"]).expect_err("pages are no unit").to_string();
        assert!(error.contains("Size(pages)"), "{error}");
        assert!(header.time(&["timestamp"]).is_err());
    }
}
