//! The byte order mark that some editors put before UTF-8 text: importers see the text behind it.
//!
//! In: an [`Input`] that begins with the mark. Out: an input without it. Positions in messages then count from behind the
//! mark, three bytes less than an editor of bytes shows.

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};

use super::{ImportError, Input};

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The part of a reader behind its first bytes.
struct AfterMark<R> {
    inner: R,
    skipped: u64,
}

pub(super) fn is_marked(head: &[u8]) -> bool {
    head.starts_with(MARK)
}

pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

pub(super) fn unmarked_head<'a>(input: &'a Input<'_>) -> Option<Input<'a>> {
    Input::from_bytes(input.name(), input.head().get(MARK.len()..)?).ok()
}

pub(super) fn unmarked<'a>(input: &'a mut Input<'_>) -> std::result::Result<Input<'a>, ImportError> {
    let name = input.name().to_owned();
    let skipped = MARK.len() as u64;
    let inner = input.reader()?;
    inner.seek(SeekFrom::Start(skipped))?;
    Input::new(&name, AfterMark { inner, skipped })
}

impl<R: Read> Read for AfterMark<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.inner.read(buffer)
    }
}

impl<R: Seek> Seek for AfterMark<R> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let to = match to {
            SeekFrom::Start(position) => SeekFrom::Start(position.saturating_add(self.skipped)),
            relative => relative,
        };
        let position = self.inner.seek(to)?;
        let before = || Error::new(ErrorKind::InvalidInput, "a seek before the start");
        position.checked_sub(self.skipped).ok_or_else(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::{Cancel, Progress};

    #[test]
    fn importers_see_the_bytes_after_the_mark() {
        let mut marked = Input::from_bytes("x", "\u{feff}abc").expect("memory can be read");
        assert!(is_marked(marked.head()));
        let mut plain = unmarked(&mut marked).expect("memory can be read");
        assert_eq!((plain.len(), plain.head()), (3, &b"abc"[..]));
        let cancel = Cancel::new();
        assert_eq!(
            plain.read_all(&Progress::silent(&cancel)).expect("memory can be read"),
            b"abc"
        );
        let reader = plain.reader().expect("memory can be read");
        assert_eq!(reader.seek(SeekFrom::End(-1)).expect("within"), 2);
        assert!(reader.seek(SeekFrom::End(-4)).is_err());
    }
}
