//! Slices: msprof writes a large table in parts, `op_slice_0_20240101.csv`, `op_slice_1_20240101.csv`, ...
//!
//! In: the names of the files of a folder, and the files. Out: which of them are one table, in which order, and one input
//! that reads them one after the other. A line break is put between two parts. The byte order mark of a later part is passed
//! over, and so is its first line where that is the first line of the table; a header that is written otherwise stays and is
//! skipped by the table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

use crate::byte_order_mark::without_mark;
use crate::{ImportError, Input, ReadSeek};

const MARK: &str = "_slice_";

/// Groups files by table: positions in `names`, one list for each table, in the order of its slices. Lists are in
/// the order of their first file; a file that is no slice is alone in its list. Slices belong together where their names are equal
/// up to `_slice_N_`; where a number occurs twice (two exports in one folder), what follows has to be equal too.
pub fn group_slices(names: &[String]) -> Vec<Vec<usize>> {
    let mut tables: BTreeMap<(&str, &str), Vec<(u64, usize)>> = BTreeMap::new();
    for (position, name) in names.iter().enumerate() {
        if let Some((stem, number, _)) = slice_of(name) {
            tables.entry((stem, "")).or_default().push((number, position));
        }
    }
    let mut split = BTreeMap::new();
    for ((stem, _), mut slices) in tables {
        slices.sort_unstable();
        if slices.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            split.insert((stem, ""), slices);
            continue;
        }
        for slice in slices {
            let rest = slice_of(&names[slice.1]).map_or("", |(_, _, rest)| rest);
            split.entry((stem, rest)).or_insert_with(Vec::new).push(slice);
        }
    }
    let positions = |slices: Vec<(u64, usize)>| slices.into_iter().map(|(_, position)| position).collect();
    let mut groups: Vec<Vec<usize>> = split.into_values().map(positions).collect();
    groups.extend(
        (0..names.len())
            .filter(|position| slice_of(&names[*position]).is_none())
            .map(|alone| vec![alone]),
    );
    groups.sort_unstable_by_key(|group| group.iter().min().copied());
    groups
}

/// The numbers that are missing before and between the slices of a table, at most ten of them: slices count from 0.
pub fn missing_slices(names: &[String]) -> Vec<u64> {
    let numbers: BTreeSet<u64> = names
        .iter()
        .filter_map(|name| slice_of(name))
        .map(|(_, number, _)| number)
        .collect();
    let Some(last) = numbers.last() else {
        return Vec::new();
    };
    let missing = (0..*last).filter(|number| !numbers.contains(number));
    missing.take(10).collect()
}

/// The text before the mark, the number, and the text behind it.
fn slice_of(name: &str) -> Option<(&str, u64, &str)> {
    let (stem, rest) = name.rsplit_once(MARK)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((stem, rest[..end].parse().ok()?, &rest[end..]))
}

/// One input that reads the parts of a table one after the other.
///
/// # Errors
/// [`ImportError::Io`].
pub fn join_slices<'a>(name: &str, parts: Vec<Box<dyn ReadSeek + 'a>>) -> Result<Input<'a>, ImportError> {
    Input::new(name, Joined::new(parts)?)
}

/// The longest first line that is compared with that of the first part.
const LINE_BYTES: u64 = 64 << 10;

struct Part<'a> {
    reader: Box<dyn ReadSeek + 'a>,
    start: u64,
    /// Bytes from there.
    len: u64,
}

struct Joined<'a> {
    parts: Vec<Part<'a>>,
    /// The part that is read, and how far; a line break follows its last byte unless it is the last part.
    part: usize,
    within: u64,
}

/// The first line of a part with its line break, behind the byte order mark; and where it ends.
fn first_line(part: &mut dyn ReadSeek) -> Result<(Vec<u8>, u64), Error> {
    let mut head = Vec::new();
    part.take(LINE_BYTES).read_to_end(&mut head)?;
    let line = without_mark(&head);
    let end = line
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(line.len(), |at| at + 1);
    let passed = head.len() - line.len() + end;
    Ok((line[..end].to_vec(), passed as u64))
}

impl<'a> Joined<'a> {
    fn new(parts: Vec<Box<dyn ReadSeek + 'a>>) -> Result<Self, Error> {
        let mut header: Option<Vec<u8>> = None;
        let measured = parts.into_iter().map(|mut reader| {
            let len = reader.seek(SeekFrom::End(0))?;
            reader.rewind()?;
            let (line, end) = first_line(&mut *reader)?;
            let start = match &header {
                // The input as a whole begins with the first part; its mark is the input stage's.
                None => {
                    header = Some(line.trim_ascii_end().to_vec());
                    0
                }
                Some(header) if line.trim_ascii_end() == header => end,
                Some(_) => end - line.len() as u64,
            };
            reader.seek(SeekFrom::Start(start))?;
            let len = len.saturating_sub(start);
            Ok(Part { reader, start, len })
        });
        Ok(Self {
            parts: measured.collect::<Result<_, Error>>()?,
            part: 0,
            within: 0,
        })
    }

    fn len_of(&self, part: usize) -> u64 {
        let is_last = part + 1 >= self.parts.len();
        self.parts
            .get(part)
            .map_or(0, |one| one.len.saturating_add(u64::from(!is_last)))
    }
}

impl Read for Joined<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some(Part { reader, len, .. }) = self.parts.get_mut(self.part) {
            if self.within < *len {
                let read = reader.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    self.within += read as u64;
                    return Ok(read);
                }
                // The file became shorter meanwhile.
                self.within = *len;
            }
            if self.within < self.len_of(self.part) {
                let Some(first) = buffer.first_mut() else { return Ok(0) };
                *first = b'\n';
                self.within += 1;
                return Ok(1);
            }
            self.part += 1;
            self.within = 0;
            if let Some(Part { reader, start, .. }) = self.parts.get_mut(self.part) {
                reader.seek(SeekFrom::Start(*start))?;
            }
        }
        Ok(0)
    }
}

impl Seek for Joined<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let lengths: Vec<u64> = (0..self.parts.len()).map(|part| self.len_of(part)).collect();
        let before = |part: usize| lengths[..part].iter().fold(0_u64, |sum, len| sum.saturating_add(*len));
        let wanted = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => before(lengths.len()).checked_add_signed(by),
            SeekFrom::Current(by) => (before(self.part.min(lengths.len())) + self.within).checked_add_signed(by),
        };
        let wanted = wanted.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "before the start"))?;
        let inside = (0..lengths.len()).find(|part| wanted < before(part + 1));
        (self.part, self.within) = match inside {
            Some(part) => (part, wanted - before(part)),
            None => (lengths.len(), 0),
        };
        if let Some(Part { reader, start, len }) = self.parts.get_mut(self.part) {
            reader.seek(SeekFrom::Start(start.saturating_add(self.within.min(*len))))?;
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&str]) -> Vec<Vec<usize>> {
        group_slices(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn slices_of_a_table_stand_together_in_their_order() {
        let names = [
            "memory_slice_10_5.csv",
            "a.csv",
            "memory_slice_2_5.csv",
            "op_slice_0_5.csv",
            "memory_slice_1_6.csv",
        ];
        assert_eq!(groups(&names), [vec![4, 2, 0], vec![1], vec![3]]);
        assert_eq!(groups(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(groups(&["m_slice_x_1.csv", "m_slice_"]), [vec![0], vec![1]]);
    }

    #[test]
    fn missing_slices_are_told() {
        let missing = |names: &[&str]| missing_slices(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(missing(&["m_slice_0_5.csv", "m_slice_3_5.csv"]), [1, 2]);
        assert_eq!(missing(&["m_slice_2_5.csv"]), [0, 1]);
        assert_eq!(missing(&["m_slice_1_5.csv", "m_slice_2_5.csv"]), [0]);
        assert_eq!(missing(&["m_slice_1_5.csv"]), [0]);
        assert_eq!(missing(&["m_slice_18446744073709551615_5.csv"]).len(), 10);
        assert_eq!(missing(&["m.csv"]), Vec::<u64>::new());
    }

    #[test]
    fn two_exports_are_two_tables() {
        let names = [
            "m_slice_0_5.csv",
            "m_slice_0_9.csv",
            "m_slice_1_9.csv",
            "m_slice_1_5.csv",
        ];
        assert_eq!(groups(&names), [vec![0, 3], vec![1, 2]]);
    }

    #[test]
    fn headers_and_marks_of_later_parts_are_passed_over() {
        let parts = [
            "\u{feff}a,b\r\n1,2\r\n",
            "\u{feff}a,b\n3,4",
            "a,b",
            "b,a\n5,6\n",
            "\u{feff}7,8\n",
        ];
        let parts = parts.map(|part| Box::new(std::io::Cursor::new(part.as_bytes().to_vec())) as Box<dyn ReadSeek>);
        let mut joined = Joined::new(parts.into()).expect("memory can be read");
        let whole = "\u{feff}a,b\r\n1,2\r\n\n3,4\n\nb,a\n5,6\n\n7,8\n";
        assert_eq!(joined.seek(SeekFrom::End(0)).ok(), Some(whole.len() as u64));
        for start in 0..whole.len() {
            joined.seek(SeekFrom::Start(start as u64)).expect("within");
            let mut bytes = Vec::new();
            joined.read_to_end(&mut bytes).expect("memory can be read");
            assert_eq!(bytes, whole.as_bytes()[start..], "from {start}");
        }
    }

    #[test]
    fn joined_parts_read_and_seek_as_one() {
        let parts: Vec<Box<dyn ReadSeek>> = vec![
            Box::new(std::io::Cursor::new(b"ab\ncd".to_vec())),
            Box::new(std::io::Cursor::new(Vec::new())),
            Box::new(std::io::Cursor::new(b"ef\n".to_vec())),
        ];
        let mut joined = Joined::new(parts).expect("memory can be read");
        let whole = "ab\ncd\n\nef\n";
        assert_eq!(joined.seek(SeekFrom::End(0)).ok(), Some(10));
        for start in 0..=12_u64 {
            assert_eq!(joined.seek(SeekFrom::Start(start)).ok(), Some(start));
            let mut text = String::new();
            joined.read_to_string(&mut text).expect("memory can be read");
            let from = usize::try_from(start).map_or(whole.len(), |start| start.min(whole.len()));
            assert_eq!(text, whole[from..], "from {start}");
        }
        assert!(joined.seek(SeekFrom::End(-11)).is_err());
        joined.rewind().expect("memory can be read");
        let mut three = [0; 3];
        joined.read_exact(&mut three).expect("memory can be read");
        assert_eq!(joined.stream_position().ok(), Some(3));
    }
}
