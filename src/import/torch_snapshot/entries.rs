//! Events of a trace, packed: 24 bytes each, because a trace may have millions.
//!
//! In: an [`Entry`] at a time. Out: the same by number. Times are kept relative to a time of their page. An entry with
//! anything unusual (4 GiB or more, a text of the user, a time far from its neighbours') is kept whole beside the others.

use super::rows::{Action, Entry, NONE, has};
use super::value::narrow;
use crate::pages::{PAGE, Pages};

#[derive(Clone, Copy, Debug)]
struct Packed {
    /// The address; of a whole entry its position.
    address: u64,
    size: u32,
    /// Microseconds from the base of the page.
    time: i32,
    frames: u32,
    stream: u16,
    /// [`WHOLE`] for an entry that is kept whole.
    action: u8,
    has: u8,
}

/// No [`Action`].
const WHOLE: u8 = u8::MAX;

#[derive(Debug, Default)]
pub(super) struct Entries {
    packed: Pages<Packed>,
    whole: Pages<Entry>,
    /// By page: a time near those of its entries, in microseconds.
    bases: Vec<u64>,
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        if self.len().is_multiple_of(PAGE) {
            self.bases.push(entry.time_us);
        }
        let packed = self.pack(self.len(), entry);
        self.packed.push(packed);
    }

    /// `None` also where its page was freed.
    #[inline]
    pub(super) fn get(&self, row: u32) -> Option<Entry> {
        let packed = self.packed.get(row as usize)?;
        let Some(action) = Action::ALL.get(usize::from(packed.action)) else {
            return self.whole.get(usize::try_from(packed.address).ok()?).copied();
        };
        let has_time = packed.has & has::TIME != 0;
        let base = self.bases.get(row as usize / PAGE).filter(|_| has_time);
        Some(Entry {
            address: packed.address,
            size: packed.size.into(),
            time_us: base.map_or(0, |base| base.wrapping_add_signed(packed.time.into())),
            stream: if packed.stream == u16::MAX {
                NONE
            } else {
                packed.stream.into()
            },
            frames: packed.frames,
            extra: NONE,
            action: *action,
            has: packed.has,
        })
    }

    /// Takes the last entry away.
    pub(super) fn pop(&mut self) {
        if self.packed.pop().is_some_and(|last| last.action == WHOLE) {
            self.whole.pop();
        }
        if self.len().is_multiple_of(PAGE) {
            self.bases.pop();
        }
    }

    /// Replaces an entry that is there.
    pub(super) fn set(&mut self, row: u32, entry: &Entry) {
        let packed = self.pack(row as usize, entry);
        if let Some(place) = self.packed.get_mut(row as usize) {
            *place = packed;
        }
    }

    pub(super) fn free_before(&mut self, row: u32) {
        self.packed.free_before(row as usize);
    }

    fn pack(&mut self, row: usize, entry: &Entry) -> Packed {
        self.packed_small(row, entry).unwrap_or_else(|| {
            self.whole.push(*entry);
            Packed {
                address: u64::from(narrow(self.whole.len() - 1)),
                size: 0,
                time: 0,
                frames: NONE,
                stream: 0,
                action: WHOLE,
                has: 0,
            }
        })
    }

    /// `None` where the entry is unusual.
    fn packed_small(&self, row: usize, entry: &Entry) -> Option<Packed> {
        let time = match self.bases.get(row / PAGE) {
            Some(base) if entry.has(has::TIME) => entry.time_us.wrapping_sub(*base).cast_signed(),
            _ => 0,
        };
        let stream = match entry.stream {
            NONE => Some(u16::MAX),
            stream => u16::try_from(stream).ok().filter(|stream| *stream != u16::MAX),
        };
        Some(Packed {
            address: entry.address,
            size: u32::try_from(entry.size).ok()?,
            time: i32::try_from(time).ok()?,
            frames: entry.frames,
            stream: stream?,
            action: entry.action as u8,
            has: entry.has,
        })
        .filter(|_| entry.extra == NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_comes_back_as_it_was() {
        assert_eq!(size_of::<Packed>(), 24);
        let usual = Entry {
            address: 0x7f00_0000_0200,
            size: 512,
            time_us: 1_759_252_584_204_770,
            stream: 3,
            frames: 7,
            extra: NONE,
            action: Action::FreeRequested,
            has: has::ADDRESS | has::SIZE | has::TIME,
        };
        let others = [
            usual,
            Entry {
                time_us: 0,
                has: has::ADDRESS,
                ..usual
            },
            Entry {
                size: u64::MAX,
                ..usual
            },
            Entry { extra: 4, ..usual },
            Entry {
                stream: NONE,
                frames: NONE,
                ..usual
            },
            Entry {
                stream: 70_000,
                ..usual
            },
            Entry { time_us: 5, ..usual },
            Entry {
                time_us: u64::MAX,
                ..usual
            },
            Entry {
                time_us: usual.time_us - 9,
                ..usual
            },
        ];
        for first in others {
            let mut entries = Entries::default();
            entries.push(&first);
            for entry in &others {
                entries.push(entry);
            }
            let all = std::iter::once(&first).chain(&others);
            for (row, entry) in (0_u32..).zip(all) {
                assert_eq!(entries.get(row), Some(*entry), "{row}");
            }
            entries.set(0, &others[1]);
            assert_eq!(entries.get(0), Some(others[1]));
            assert_eq!(entries.get(99), None);
        }
    }
}
