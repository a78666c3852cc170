//! Slices: msprof writes a large table in parts, `op_slice_0_20240101.csv`, `op_slice_1_20240101.csv`, ...
//!
//! In: the names of the files of a folder, and the files. Out: which of them are one table, in which order, and one input
//! that reads them one after the other. A line break is put between two parts; the header of a later part stays and is
//! skipped by the table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};

use crate::import::{ImportError, Input, ReadSeek};

/// What stands in front of the number of a slice.
const MARK: &str = "_slice_";

/// Which files are one table: positions in `names`, one list for each table, in the order of its slices. Lists stand in
/// the order of their first file; a file that is no slice stands alone. Slices belong together where their names are equal
/// up to `_slice_N_`; where the same number stands twice (two exports in one folder), what follows has to be equal too.
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

/// The numbers that are missing between the slices of a table, at most ten of them: slices count from 0 (or all from 1).
pub fn missing_slices(names: &[String]) -> Vec<u64> {
    let numbers: BTreeSet<u64> = names
        .iter()
        .filter_map(|name| slice_of(name))
        .map(|(_, number, _)| number)
        .collect();
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return Vec::new();
    };
    let missing = (u64::from(*first == 1)..*last).filter(|number| !numbers.contains(number));
    missing.take(10).collect()
}

/// What stands before the mark, the number, and what follows it.
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

/// Several readers as one.
struct Joined<'a> {
    parts: Vec<(Box<dyn ReadSeek + 'a>, u64)>,
    /// The part that is read, and how far; behind its last byte stands a line break unless it is the last.
    part: usize,
    within: u64,
}

impl<'a> Joined<'a> {
    fn new(parts: Vec<Box<dyn ReadSeek + 'a>>) -> Result<Self, Error> {
        let measured = parts.into_iter().map(|mut part| {
            let len = part.seek(SeekFrom::End(0))?;
            part.rewind()?;
            Ok((part, len))
        });
        Ok(Self {
            parts: measured.collect::<Result<_, Error>>()?,
            part: 0,
            within: 0,
        })
    }

    /// Bytes of a part with its line break.
    fn len_of(&self, part: usize) -> u64 {
        self.parts
            .get(part)
            .map_or(0, |(_, len)| len.saturating_add(u64::from(part + 1 < self.parts.len())))
    }
}

impl Read for Joined<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some((reader, len)) = self.parts.get_mut(self.part) {
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
            if let Some((reader, _)) = self.parts.get_mut(self.part) {
                reader.rewind()?;
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
        if let Some((reader, len)) = self.parts.get_mut(self.part) {
            reader.seek(SeekFrom::Start(self.within.min(*len)))?;
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
        assert_eq!(missing(&["m_slice_1_5.csv", "m_slice_2_5.csv"]), Vec::<u64>::new());
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
