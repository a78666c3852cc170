//! Texts of a model, each stored once and named by a small id.
//!
//! In: texts. Out: [`NameIdx`]es that are equal exactly where the texts are. The text lies end to end in one
//! string and the index holds ids alone, so that a million names cost little more than their letters.

use std::hash::BuildHasher as _;

use indexmap::IndexMap;
use indexmap::map::RawEntryApiV1 as _;
use indexmap::map::raw_entry_v1::RawEntryMut;

/// A text's id. Id 0 is the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NameIdx(pub(super) u32);

impl NameIdx {
    pub(super) const EMPTY: Self = Self(0);

    /// Whether the text is empty: an optional value that is not there.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[derive(Debug)]
pub(super) struct Interner {
    text: String,
    ends: Vec<usize>,
    index: IndexMap<NameIdx, ()>,
}

impl Interner {
    pub(super) fn new() -> Self {
        let mut names = Self {
            text: String::new(),
            ends: Vec::new(),
            index: IndexMap::new(),
        };
        names.intern("");
        names
    }

    pub(super) fn intern(&mut self, text: &str) -> NameIdx {
        let Self { text: all, ends, index } = self;
        let hash = index.hasher().hash_one(text);
        let next = NameIdx(u32::try_from(ends.len()).unwrap_or(u32::MAX));
        match index
            .raw_entry_mut_v1()
            .from_hash(hash, |name| slice(all, ends, *name) == text)
        {
            RawEntryMut::Occupied(entry) => *entry.key(),
            RawEntryMut::Vacant(entry) => {
                all.push_str(text);
                ends.push(all.len());
                entry.insert_hashed_nocheck(hash, next, ());
                next
            }
        }
    }

    /// Frees the index, since no text will be added any more.
    pub(super) fn close(&mut self) {
        self.index = IndexMap::new();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self, name: NameIdx) -> &str {
        slice(&self.text, &self.ends, name)
    }

    /// The first value under a name.
    pub(super) fn find<'v, V>(&self, values: &'v [(NameIdx, V)], name: &str) -> Option<&'v V> {
        let found = values.iter().find(|(key, _)| self.text(*key) == name);
        found.map(|(_, value)| value)
    }
}

fn slice<'a>(all: &'a str, ends: &[usize], name: NameIdx) -> &'a str {
    let position = name.0 as usize;
    let start = match position.checked_sub(1) {
        Some(before) => ends.get(before).copied().unwrap_or(0),
        None => 0,
    };
    let end = ends.get(position).copied().unwrap_or(start);
    all.get(start..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_an_id() {
        let mut names = Interner::new();
        let a = names.intern("a");
        let b = names.intern("bb");
        assert_eq!(
            (names.intern("a"), names.intern("bb"), names.intern("")),
            (a, b, NameIdx::EMPTY)
        );
        assert_eq!(
            (names.text(a), names.text(b), names.text(NameIdx::EMPTY)),
            ("a", "bb", "")
        );
    }
}
