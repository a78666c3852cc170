//! Values of a pickle as 8 bytes each, and the pools of larger ones.
//!
//! Whole numbers up to 59 bits are stored inline, everything else is a position in a pool, so that a list of
//! millions of dicts costs 8 bytes an item, and a list that many dicts share stays one list. Nothing here follows a
//! reference by itself: the reader of values decides how deep.

use indexmap::IndexSet;

use super::lists::Lists;
use super::rows::Rows;
use crate::pages::Pages;

/// The number of low bits for the kind.
const TAG_BITS: u32 = 4;

/// The largest whole number that is stored inline.
const INLINE_LIMIT: u64 = 1 << 58;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Value(u64);

const TEXT_BYTES: usize = 48;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `None`.
    Nothing,
    Bool(bool),
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
    /// What is at a place of the memo that is not kept.
    Forgotten(u32),
}

impl Value {
    pub(super) const NOTHING: Self = Self(0);
    pub(super) const OPAQUE: Self = Self(8);
    pub(super) const HOLE: Self = Self(9);
    /// An event that was given up.
    pub(super) const GIVEN_UP: Self = Self(10);

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

    /// A number that is stored inline; `None` where it does not fit.
    #[inline]
    pub(super) const fn fitting(value: i64) -> Option<Self> {
        if value.unsigned_abs() < INLINE_LIMIT {
            Some(Self((value << TAG_BITS).cast_unsigned() | 2))
        } else {
            None
        }
    }

    pub(super) const fn text(position: u32) -> Self {
        Self::tagged(5, position)
    }

    /// The value at a place of the memo that is not kept.
    pub(super) const fn forgotten(place: u32) -> Self {
        Self::tagged(11, place)
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
            11 => Kind::Forgotten(payload),
            _ => Kind::Opaque,
        }
    }
}

/// A position in four bytes: of a text, a list or a dict; or a position among other values.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortValue(u32);

impl ShortValue {
    pub(super) const EMPTY: Self = Self(Self::HOLE);

    const HOLE: u32 = 3;
    const OTHER: u32 = 4;

    /// Of which there are fewer than positions: they are written out in the file.
    pub(super) const fn other(position: u32) -> Self {
        Self(position << KIND_BITS | Self::OTHER)
    }

    /// The value, or the position among other values.
    #[inline]
    pub(super) const fn expanded(self) -> Result<Value, u32> {
        let position = self.0 >> KIND_BITS;
        match self.0 & ((1 << KIND_BITS) - 1) {
            0 => Ok(Value::text(position)),
            1 => Ok(Value::list(position)),
            2 => Ok(Value::dict(position)),
            Self::HOLE => Ok(Value::HOLE),
            _ => Err(position),
        }
    }
}

impl Value {
    /// `None` where the value is no position, or one that is too large.
    #[inline]
    pub(super) const fn shortened(self) -> Option<ShortValue> {
        let (kind, position) = match self.kind() {
            Kind::Text(position) => (0, position),
            Kind::List(position) => (1, position),
            Kind::Dict(position) => (2, position),
            Kind::Hole => (ShortValue::HOLE, 0),
            _ => return None,
        };
        if position < 1 << (u32::BITS - KIND_BITS) {
            Some(ShortValue(position << KIND_BITS | kind))
        } else {
            None
        }
    }
}

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
    /// Uninterpreted pairs, by position.
    Plain(u32),
}

impl DictContent {
    /// Kind and position in 32 bits.
    const fn packed(self) -> u32 {
        match self {
            Self::Empty => 0,
            Self::Entry(row) => row << KIND_BITS | 1,
            Self::Block(row) => row << KIND_BITS | 2,
            Self::Segment(row) => row << KIND_BITS | 3,
            Self::Frame(row) => row << KIND_BITS | 4,
            Self::Annotation(row) => row << KIND_BITS | 5,
            Self::Plain(row) => row << KIND_BITS | 6,
        }
    }

    const fn unpacked(packed: u32) -> Self {
        let row = packed >> KIND_BITS;
        match packed & ((1 << KIND_BITS) - 1) {
            1 => Self::Entry(row),
            2 => Self::Block(row),
            3 => Self::Segment(row),
            4 => Self::Frame(row),
            5 => Self::Annotation(row),
            6 => Self::Plain(row),
            _ => Self::Empty,
        }
    }
}

/// Bits of a packed [`DictContent`] for its kind; there are fewer dicts than the other bits can count.
const KIND_BITS: u32 = 3;

pub(super) const MOST_CONTAINERS: u64 = 1 << (32 - KIND_BITS);

#[derive(Debug, Default)]
pub(super) struct Dicts(Pages<u32>);

impl Dicts {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(super) fn add(&mut self) -> Value {
        self.0.push(DictContent::Empty.packed());
        Value::dict(narrow(self.0.len() - 1))
    }

    /// Takes a dict that was given up away: the last one leaves no place.
    pub(super) fn give_up(&mut self, dict: u32) {
        if dict as usize + 1 == self.0.len() {
            self.0.pop();
        } else {
            self.set(dict, DictContent::Empty);
        }
    }

    /// The content of a dict; `None` where there is no such.
    #[inline]
    pub(super) fn get(&self, dict: u32) -> Option<DictContent> {
        self.0.get(dict as usize).map(|packed| DictContent::unpacked(*packed))
    }

    #[inline]
    pub(super) fn set(&mut self, dict: u32, content: DictContent) {
        if let Some(place) = self.0.get_mut(dict as usize) {
            *place = content.packed();
        }
    }
}

/// Everything that values name by position.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// Distinct texts; the first are [`super::keys::KNOWN`].
    pub(super) texts: IndexSet<Box<[u8]>>,
    pub(super) lists: Lists,
    pub(super) dicts: Dicts,
    /// Keys and values of dicts that are no rows, in turn.
    pub(super) plain: Lists,
    /// Bytes that may still be stored.
    pub(super) budget: StorageBudget,
    pub(super) rows: Rows,
    wide: Vec<i128>,
    floats: Vec<f64>,
}

impl Heap {
    /// An empty heap that knows the keys of a snapshot, for a file of `len` bytes.
    pub(super) fn new(len: u64) -> Self {
        Self {
            budget: StorageBudget::for_file(len),
            texts: super::keys::KNOWN.iter().map(|key| key.as_bytes().into()).collect(),
            ..Self::default()
        }
    }

    /// The value of a text; one value for equal texts.
    pub(super) fn intern(&mut self, text: &[u8]) -> Value {
        let position = if let Some(position) = self.texts.get_index_of(text) {
            position
        } else {
            self.budget.charge::<u8>(text.len() + TEXT_BYTES);
            self.texts.insert_full(text.into()).0
        };
        Value::text(narrow(position))
    }

    #[inline]
    pub(super) fn int(&mut self, value: i128) -> Value {
        if let Some(value) = i64::try_from(value).ok().and_then(Value::fitting) {
            return value;
        }
        self.wide.push(value);
        Value::tagged(3, narrow(self.wide.len() - 1))
    }

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

    /// Pairs of a dict that is no row; none where it is one.
    pub(super) fn pairs(&self, value: Value) -> impl Iterator<Item = (Value, Value)> + '_ {
        let content = match value.kind() {
            Kind::Dict(dict) => self.dicts.get(dict),
            _ => None,
        };
        let plain = match content {
            Some(DictContent::Plain(position)) => position,
            _ => super::rows::NONE,
        };
        let mut items = self.plain.items(plain);
        std::iter::from_fn(move || Some((items.next()?, items.next()?)))
    }
}

/// The bytes of rows and lists that may be stored: real snapshots need half the bytes of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StorageBudget {
    left: u64,
    is_over: bool,
}

impl StorageBudget {
    /// Twice the file, and 8 MiB.
    pub(super) const fn for_file(len: u64) -> Self {
        Self {
            left: len.saturating_mul(2).saturating_add(8 << 20),
            is_over: false,
        }
    }

    /// Takes the size of values off.
    #[inline]
    pub(super) const fn charge<T>(&mut self, n: usize) {
        match self.left.checked_sub((n * size_of::<T>()) as u64) {
            Some(left) => self.left = left,
            None => self.is_over = true,
        }
    }

    #[inline]
    pub(super) const fn is_over(self) -> bool {
        self.is_over
    }
}

/// A position or a count; files that need more than 32 bits are refused before.
pub(super) fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
