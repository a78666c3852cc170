//! Values of a pickle as 8 bytes each, and the pools in which what is larger stands.
//!
//! Whole numbers up to 59 bits stand in the value itself, everything else is a position in a pool, so that a list of
//! millions of dicts costs 8 bytes an item, and a list that many dicts share stays one list. Nothing here follows a
//! reference by itself: whoever reads values decides how deep.

use indexmap::IndexSet;

use super::rows::Rows;

/// How many low bits tell the kind.
const TAG_BITS: u32 = 4;

/// The largest whole number that stands in the value itself.
const INLINE_LIMIT: i128 = 1 << 58;

/// A value; see [`Kind`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Value(u64);

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `None`.
    Nothing,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A larger whole number, by position.
    Wide(u32),
    /// A fraction, by position.
    Float(u32),
    /// A text, by position.
    Text(u32),
    /// A list, tuple or set, by position.
    List(u32),
    /// A dict, by position.
    Dict(u32),
    /// Bytes, or a number of more than 128 bits: nothing that a snapshot has.
    Opaque,
    /// A place of the memo that nothing was put into.
    Hole,
}

impl Value {
    pub(super) const NOTHING: Self = Self(0);
    pub(super) const OPAQUE: Self = Self(8);
    pub(super) const HOLE: Self = Self(9);

    const fn tagged(tag: u64, payload: u32) -> Self {
        Self((payload as u64) << TAG_BITS | tag)
    }

    pub(super) const fn bool(value: bool) -> Self {
        Self::tagged(1, value as u32)
    }

    /// A number of at most 58 bits.
    #[inline]
    pub(super) const fn small(value: i32) -> Self {
        Self(((value as i64) << TAG_BITS).cast_unsigned() | 2)
    }

    pub(super) const fn text(position: u32) -> Self {
        Self::tagged(5, position)
    }

    pub(super) const fn list(position: u32) -> Self {
        Self::tagged(6, position)
    }

    pub(super) const fn dict(position: u32) -> Self {
        Self::tagged(7, position)
    }

    #[inline]
    pub(super) const fn kind(self) -> Kind {
        #[expect(clippy::cast_possible_truncation, reason = "positions have 32 bits")]
        let payload = (self.0 >> TAG_BITS) as u32;
        match self.0 & 15 {
            0 => Kind::Nothing,
            1 => Kind::Bool(payload != 0),
            2 => Kind::Int(self.0.cast_signed() >> TAG_BITS),
            3 => Kind::Wide(payload),
            4 => Kind::Float(payload),
            5 => Kind::Text(payload),
            6 => Kind::List(payload),
            7 => Kind::Dict(payload),
            9 => Kind::Hole,
            _ => Kind::Opaque,
        }
    }
}

/// Where a dict's content stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum DictContent {
    /// Nothing was put into it.
    Empty,
    /// A row of [`Rows::entries`].
    Entry(u32),
    /// A row of [`Rows::blocks`].
    Block(u32),
    /// A row of [`Rows::segments`].
    Segment(u32),
    /// A row of [`Rows::frames`].
    Frame(u32),
    /// A row of [`Rows::annotations`].
    Annotation(u32),
    /// Pairs as they are, by position.
    Plain(u32),
}

/// Everything that values name by position.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// Distinct texts; the first are [`super::keys::KNOWN`].
    pub(super) texts: IndexSet<Box<[u8]>>,
    pub(super) lists: Lists,
    pub(super) dicts: Vec<DictContent>,
    /// Keys and values of dicts that are no rows, in order.
    pub(super) plain: Vec<Vec<(Value, Value)>>,
    pub(super) rows: Rows,
    wide: Vec<i128>,
    floats: Vec<f64>,
}

impl Heap {
    /// An empty heap that knows the keys of a snapshot.
    pub(super) fn new() -> Self {
        Self {
            texts: super::keys::KNOWN.iter().map(|key| key.as_bytes().into()).collect(),
            ..Self::default()
        }
    }

    /// The value of a text; one value for equal texts.
    pub(super) fn intern(&mut self, text: &[u8]) -> Value {
        let position = match self.texts.get_index_of(text) {
            Some(position) => position,
            None => self.texts.insert_full(text.into()).0,
        };
        Value::text(narrow(position))
    }

    /// The value of a whole number.
    #[inline]
    pub(super) fn int(&mut self, value: i128) -> Value {
        if -INLINE_LIMIT < value && value < INLINE_LIMIT {
            #[expect(clippy::cast_possible_truncation, reason = "checked against the limit")]
            let value = value as i64;
            return Value((value << TAG_BITS).cast_unsigned() | 2);
        }
        self.wide.push(value);
        Value::tagged(3, narrow(self.wide.len() - 1))
    }

    /// The value of a fraction.
    pub(super) fn float(&mut self, value: f64) -> Value {
        self.floats.push(value);
        Value::tagged(4, narrow(self.floats.len() - 1))
    }

    /// The text of a value; `None` where it is none.
    pub(super) fn text(&self, value: Value) -> Option<&[u8]> {
        match value.kind() {
            Kind::Text(position) => self.text_at(position),
            _ => None,
        }
    }

    /// The text at a position.
    pub(super) fn text_at(&self, position: u32) -> Option<&[u8]> {
        self.texts.get_index(position as usize).map(|text| &**text)
    }

    /// The whole number of a value; `None` where it is none.
    #[inline]
    pub(super) fn whole(&self, value: Value) -> Option<i128> {
        match value.kind() {
            Kind::Int(value) => Some(i128::from(value)),
            Kind::Wide(position) => self.wide.get(position as usize).copied(),
            _ => None,
        }
    }

    /// A whole number of 64 bits without a sign; `None` where it is none.
    #[inline]
    pub(super) fn unsigned(&self, value: Value) -> Option<u64> {
        match value.kind() {
            Kind::Int(value) => u64::try_from(value).ok(),
            _ => self.whole(value).and_then(|value| u64::try_from(value).ok()),
        }
    }

    /// The fraction of a value; `None` where it is none.
    pub(super) fn fraction(&self, value: Value) -> Option<f64> {
        match value.kind() {
            Kind::Float(position) => self.floats.get(position as usize).copied(),
            _ => None,
        }
    }

    /// Pairs of a dict that is no row; empty where it is one.
    pub(super) fn pairs(&self, value: Value) -> &[(Value, Value)] {
        let Kind::Dict(dict) = value.kind() else { return &[] };
        match self.dicts.get(dict as usize) {
            Some(DictContent::Plain(position)) => &self.plain[*position as usize],
            _ => &[],
        }
    }
}

/// A position or a count; files that need more than 32 bits are refused before.
pub(super) fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// No chunk.
const NO_CHUNK: u32 = u32::MAX;

/// Lists that grow by pieces, in one pool.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// First and last chunk of each.
    ends: Vec<(u32, u32)>,
    chunks: Vec<Chunk>,
    items: Vec<Value>,
}

/// A run of items.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: u32,
    len: u32,
    next: u32,
}

impl Lists {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A new one.
    pub(super) fn add(&mut self) -> u32 {
        self.ends.push((NO_CHUNK, NO_CHUNK));
        narrow(self.ends.len() - 1)
    }

    /// Puts items at the end of a list.
    pub(super) fn append(&mut self, list: u32, items: &[Value]) {
        if items.is_empty() {
            return;
        }
        let (start, len) = (narrow(self.items.len()), narrow(items.len()));
        self.items.extend_from_slice(items);
        let next = narrow(self.chunks.len());
        let ends = &mut self.ends[list as usize];
        if let Some(last) = self.chunks.get_mut(ends.1 as usize) {
            if last.start + last.len == start {
                last.len += len;
                return;
            }
            last.next = next;
        }
        ends.1 = next;
        if ends.0 == NO_CHUNK {
            ends.0 = ends.1;
        }
        self.chunks.push(Chunk {
            start,
            len,
            next: NO_CHUNK,
        });
    }

    /// The items of a list, in order.
    pub(super) fn items(&self, list: u32) -> impl Iterator<Item = Value> + '_ {
        let mut chunk = self.ends.get(list as usize).map_or(NO_CHUNK, |ends| ends.0);
        let pieces = std::iter::from_fn(move || {
            let found = self.chunks.get(chunk as usize)?;
            chunk = found.next;
            let start = found.start as usize;
            Some(&self.items[start..start + found.len as usize])
        });
        pieces.flatten().copied()
    }
}
