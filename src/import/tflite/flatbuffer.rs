//! Flatbuffers, read table by table from a file that need not fit into memory.
//!
//! In: any `Read + Seek`. Out: tables, numbers, short texts and lists of positions, with byte positions in errors. A table
//! starts with the signed distance to its vtable; the vtable lists its own length, the table's length, and for each field the
//! distance from the table's start, 0 where the field is absent. Lists and texts are a distance, a count and the elements.
//! Own code because the kept crate reads through `unsafe` accessors, which this crate forbids, and wants the whole file,
//! weights included, in memory. Invariants: every position and length is checked against the file before it is used; all that
//! is read is charged to a budget that an honest file cannot exceed, so that tables that share their parts end in an error
//! instead of years of work. Deliberately not here: the meaning of fields.

use std::collections::BTreeMap;
use std::io::{Read as _, SeekFrom};

use crate::{ImportError, ReadSeek};
use highwater_model::progress::Progress;

const PAGE: u64 = 16 << 10;
/// Pages that are kept; then all are dropped, which a file read roughly in order hardly notices.
const KEPT_PAGES: usize = 1024;
/// The price of reading a table, in bytes: none is smaller together with its vtable's share.
const TABLE_COST: u64 = 12;
const TEXT_LIMIT: u64 = 64 << 10;

/// A table: where it starts, and where its vtable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table {
    at: u64,
    vtable: u64,
    vtable_len: u64,
}

/// A list: where its first element is, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    pub(super) at: u64,
    pub(super) len: u64,
}

pub(super) struct Flat<'a> {
    reader: &'a mut dyn ReadSeek,
    progress: Progress<'a>,
    len: u64,
    pages: BTreeMap<u64, Box<[u8]>>,
    /// Bytes that may still be read.
    budget: u64,
}

impl<'a> Flat<'a> {
    pub(super) fn new(reader: &'a mut dyn ReadSeek, len: u64, progress: Progress<'a>) -> Self {
        Self {
            reader,
            progress,
            len,
            pages: BTreeMap::new(),
            budget: len.saturating_mul(2).saturating_add(64 << 10),
        }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// The table that the file starts with.
    pub(super) fn root(&mut self) -> Result<Table, ImportError> {
        let distance = self.u32(0, "the first table")?;
        self.table_at(u64::from(distance), "the first table")
    }

    /// A field that is a table; `None` where it is absent.
    pub(super) fn part(&mut self, table: Table, number: u64, what: &'static str) -> Result<Option<Table>, ImportError> {
        let Some(at) = self.field(table, number, what)? else {
            return Ok(None);
        };
        let start = at + u64::from(self.u32(at, what)?);
        self.table_at(start, what).map(Some)
    }

    pub(super) fn table_at(&mut self, at: u64, what: &'static str) -> Result<Table, ImportError> {
        self.charge(TABLE_COST, at, what)?;
        let distance = self.u32(at, what)?.cast_signed();
        let vtable = at.checked_add_signed(-i64::from(distance));
        let Some(vtable) = vtable.filter(|vtable| vtable.saturating_add(4) <= self.len) else {
            return Err(ImportError::at_byte(format!("{what} points outside the file"), at));
        };
        let vtable_len = u64::from(self.u16(vtable, what)?);
        if vtable_len < 4 || vtable + vtable_len > self.len {
            return Err(ImportError::at_byte(
                format!("{what} has a list of fields of {vtable_len} bytes"),
                vtable,
            ));
        }
        Ok(Table { at, vtable, vtable_len })
    }

    /// The position of a field; `None` where it is absent.
    fn field(&mut self, table: Table, number: u64, what: &'static str) -> Result<Option<u64>, ImportError> {
        let slot = 4 + 2 * number;
        if slot + 2 > table.vtable_len {
            return Ok(None);
        }
        let distance = self.u16(table.vtable + slot, what)?;
        Ok((distance != 0).then(|| table.at + u64::from(distance)))
    }

    /// A field of one byte; 0 where it is absent.
    pub(super) fn byte(&mut self, table: Table, number: u64, what: &'static str) -> Result<u8, ImportError> {
        match self.field(table, number, what)? {
            Some(at) => Ok(self.bytes::<1>(at, what)?[0]),
            None => Ok(0),
        }
    }

    /// A field of four bytes; 0 where it is absent.
    pub(super) fn number(&mut self, table: Table, number: u64, what: &'static str) -> Result<u32, ImportError> {
        match self.field(table, number, what)? {
            Some(at) => self.u32(at, what),
            None => Ok(0),
        }
    }

    /// A field of eight bytes; 0 where it is absent.
    pub(super) fn long(&mut self, table: Table, number: u64, what: &'static str) -> Result<u64, ImportError> {
        match self.field(table, number, what)? {
            Some(at) => Ok(u64::from_le_bytes(self.bytes(at, what)?)),
            None => Ok(0),
        }
    }

    pub(super) fn has(&mut self, table: Table, number: u64, what: &'static str) -> Result<bool, ImportError> {
        Ok(self.field(table, number, what)?.is_some())
    }

    /// A field that is a list of elements of `width` bytes; `None` where it is absent. Only its extent is read.
    pub(super) fn list(
        &mut self,
        table: Table,
        number: u64,
        width: u64,
        what: &'static str,
    ) -> Result<Option<List>, ImportError> {
        let Some(at) = self.field(table, number, what)? else {
            return Ok(None);
        };
        let start = at + u64::from(self.u32(at, what)?);
        let len = u64::from(self.u32(start, what)?);
        let end = (start + 4).saturating_add(len.saturating_mul(width));
        if end > self.len {
            return Err(ImportError::at_byte(
                format!("{what} is a list of {len} elements that reaches behind the end of the file"),
                start,
            ));
        }
        Ok(Some(List { at: start + 4, len }))
    }

    /// A field that is a list of tables: the position of each.
    pub(super) fn tables(&mut self, table: Table, number: u64, what: &'static str) -> Result<List, ImportError> {
        let list = self.list(table, number, 4, what)?.unwrap_or_default();
        self.charge(list.len * 4, list.at, what)?;
        Ok(list)
    }

    /// The table at a place of a list of tables.
    pub(super) fn nth(&mut self, list: List, place: u64, what: &'static str) -> Result<Table, ImportError> {
        if place >= list.len {
            return Err(ImportError::at_byte(
                format!("{what} {place} is asked for, but there are {}", list.len),
                list.at,
            ));
        }
        let at = list.at + 4 * place;
        let start = at + u64::from(self.u32(at, what)?);
        self.table_at(start, what)
    }

    /// A field that is a list of integers; `None` where it is absent.
    pub(super) fn ints(
        &mut self,
        table: Table,
        number: u64,
        what: &'static str,
    ) -> Result<Option<Vec<i32>>, ImportError> {
        let Some(list) = self.list(table, number, 4, what)? else {
            return Ok(None);
        };
        self.ints_at(list, what).map(Some)
    }

    /// The integers of a list of them.
    pub(super) fn ints_at(&mut self, list: List, what: &'static str) -> Result<Vec<i32>, ImportError> {
        self.charge(list.len.saturating_mul(4), list.at, what)?;
        (0..list.len)
            .map(|place| Ok(self.u32(list.at + 4 * place, what)?.cast_signed()))
            .collect()
    }

    /// A field that is a text; empty where it is absent. Bytes that are no UTF-8 are replaced.
    pub(super) fn text(&mut self, table: Table, number: u64, what: &'static str) -> Result<String, ImportError> {
        match self.list(table, number, 1, what)? {
            Some(list) => self.text_at(list, what),
            None => Ok(String::new()),
        }
    }

    /// The text that a list of bytes holds, cut off behind 64 KiB.
    pub(super) fn text_at(&mut self, list: List, what: &'static str) -> Result<String, ImportError> {
        let len = list.len.min(TEXT_LIMIT);
        self.charge(len, list.at, what)?;
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let mut at = list.at;
        while at < list.at + len {
            let piece = self.available(at, what)?;
            let wanted = usize::try_from(list.at + len - at).unwrap_or(usize::MAX);
            let piece = &piece[..piece.len().min(wanted)];
            bytes.extend_from_slice(piece);
            at += piece.len() as u64;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn u16(&mut self, at: u64, what: &'static str) -> Result<u16, ImportError> {
        Ok(u16::from_le_bytes(self.bytes(at, what)?))
    }

    fn u32(&mut self, at: u64, what: &'static str) -> Result<u32, ImportError> {
        Ok(u32::from_le_bytes(self.bytes(at, what)?))
    }

    fn bytes<const N: usize>(&mut self, at: u64, what: &'static str) -> Result<[u8; N], ImportError> {
        let mut found = [0; N];
        for (place, byte) in (0..).zip(&mut found) {
            *byte = self.available(at.saturating_add(place), what)?[0];
        }
        Ok(found)
    }

    /// At least one byte at a position.
    fn available(&mut self, at: u64, what: &'static str) -> Result<&[u8], ImportError> {
        if at >= self.len {
            return Err(ImportError::Truncated {
                at: self.len,
                what: what.to_owned(),
            });
        }
        let page = at / PAGE;
        if !self.pages.contains_key(&page) {
            self.load(page)?;
        }
        let offset = usize::try_from(at % PAGE).unwrap_or(usize::MAX);
        let bytes = self.pages.get(&page).and_then(|bytes| bytes.get(offset..));
        bytes
            .filter(|bytes| !bytes.is_empty())
            .ok_or_else(|| ImportError::Truncated {
                at,
                what: what.to_owned(),
            })
    }

    fn load(&mut self, page: u64) -> Result<(), ImportError> {
        self.progress.set("reading", page * PAGE, self.len)?;
        if self.pages.len() >= KEPT_PAGES {
            self.pages.clear();
        }
        self.reader.seek(SeekFrom::Start(page * PAGE))?;
        let mut bytes = Vec::new();
        let mut piece = std::io::Read::take(&mut *self.reader, PAGE);
        piece.read_to_end(&mut bytes)?;
        self.pages.insert(page, bytes.into_boxed_slice());
        Ok(())
    }

    fn charge(&mut self, bytes: u64, at: u64, what: &'static str) -> Result<(), ImportError> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                self.progress.check()?;
                Ok(())
            }
            None => Err(ImportError::at_byte(
                format!("{what} is listed more often than the file has room for"),
                at,
            )),
        }
    }
}
