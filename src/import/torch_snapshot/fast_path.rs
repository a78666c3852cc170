//! The fast path through the parts of a snapshot: values that take a few bytes, and dicts of nothing but such values.
//!
//! ```text
//! }  MEMOIZE  (  BINGET key  LONG1 number  BINGET key  LONG_BINGET frames  ...  u
//! ```
//!
//! In: buffered bytes. Out: a value, or all pairs of a dict, and how many bytes they took; nothing where the bytes are
//! anything else, end before, or break a rule: then nothing was changed, and the slow path reports the error.

use super::machine::Machine;
use super::opcode as op;
use super::places::SomePlaces;
use super::value::{Kind, ShortValue, Value, narrow};
use crate::ImportError;
use crate::pages::Pages;

/// Bytes that are read for one value: an opcode with a number of 8 bytes, and then some.
const AHEAD: usize = 16;

const MOST_VALUES: usize = 32;

/// Places of the memo that have a copy without pages: those of the short opcodes.
const LOW: usize = 1 << u8::BITS;

/// Nearly every place holds a position, which is kept in four bytes.
#[derive(Debug)]
pub(super) struct Memo {
    all: Pages<ShortValue>,
    /// The places that are kept, where not all are.
    some: Option<SomePlaces>,
    /// Values that are no positions.
    others: Vec<Value>,
    low: [Value; LOW],
}

impl Default for Memo {
    fn default() -> Self {
        Self {
            all: Pages::default(),
            some: None,
            others: Vec::new(),
            low: [Value::HOLE; LOW],
        }
    }
}

impl Memo {
    /// A memo that keeps texts and what [`Self::keep`] puts into it: other places give [`Value::forgotten`].
    pub(super) fn sparse() -> Self {
        Self {
            some: Some(SomePlaces::default()),
            ..Self::default()
        }
    }

    /// Places up to the last that was used.
    #[inline]
    pub(super) fn len(&self) -> usize {
        match &self.some {
            None => self.all.len(),
            Some(some) => some.len,
        }
    }

    /// The value at a place; `None` where it is empty.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Value> {
        let short = match &self.some {
            None => *self.all.get(index)?,
            Some(some) => match some.get(index) {
                Some(short) => short,
                None if index < some.len => return Some(Value::forgotten(narrow(index))),
                None => return None,
            },
        };
        match short.expanded() {
            Ok(value) => Some(value).filter(|value| *value != Value::HOLE),
            Err(other) => self.others.get(other as usize).copied(),
        }
    }

    /// Like [`Self::get`], for the first places.
    #[inline]
    fn get_low(&self, index: u8) -> Option<Value> {
        let value = self.low[usize::from(index)];
        (value != Value::HOLE).then_some(value)
    }

    /// Puts a value behind the last place.
    #[inline]
    pub(super) fn push(&mut self, value: Value) {
        if let Some(some) = &mut self.some {
            let place = some.len;
            some.len += 1;
            if !matches!(value.kind(), Kind::List(_) | Kind::Dict(_)) {
                self.keep(place, value);
            }
            return;
        }
        if let Some(place) = self.low.get_mut(self.all.len()) {
            *place = value;
        }
        let short = self.short(value);
        self.all.push(short);
    }

    fn short(&mut self, value: Value) -> ShortValue {
        value.shortened().unwrap_or_else(|| {
            self.others.push(value);
            ShortValue::other(narrow(self.others.len() - 1))
        })
    }

    /// Puts a value at a place that is there.
    pub(super) fn set(&mut self, index: usize, value: Value) {
        if self.some.is_some() {
            return self.keep(index, value);
        }
        if let Some(place) = self.low.get_mut(index) {
            *place = value;
        }
        let short = self.short(value);
        if let Some(place) = self.all.get_mut(index) {
            *place = short;
        }
    }

    /// Keeps the value of a place, where not all are kept.
    pub(super) fn keep(&mut self, index: usize, value: Value) {
        if let Some(place) = self.low.get_mut(index) {
            *place = value;
        }
        let short = self.short(value);
        if let Some(some) = &mut self.some {
            some.put(index, short);
        }
    }

    /// The value of a few bytes, and how many they are.
    #[inline]
    fn value(&self, bytes: &[u8; AHEAD]) -> Option<(Value, usize)> {
        let [opcode, first, ..] = *bytes;
        match opcode {
            op::BINGET => Some((self.get_low(first)?, 2)),
            op::LONG1 if matches!(first, 1..=8) => {
                Some((Value::fitting(signed(bytes, first))?, 2 + usize::from(first)))
            }
            op::BININT => Some((Value::small(word(bytes).cast_signed()), 5)),
            op::BININT1 => Some((Value::small(i32::from(first)), 2)),
            op::BININT2 => Some((Value::small(i32::from(u16::from_le_bytes([first, bytes[2]]))), 3)),
            op::LONG_BINGET => Some((self.get(word(bytes) as usize)?, 5)),
            op::NONE => Some((Value::NOTHING, 1)),
            op::NEWTRUE => Some((Value::bool(true), 1)),
            op::NEWFALSE => Some((Value::bool(false), 1)),
            _ => None,
        }
    }

    /// The pairs of a dict that takes the next place of the memo, from its first opcode on.
    #[inline]
    fn pairs(&self, bytes: &[u8], pairs: &mut [Value; MOST_VALUES]) -> Option<WholeDict> {
        let memoized = match bytes.get(1..)?.first_chunk::<5>()? {
            [op::MEMOIZE, ..] => 1,
            [op::BINPUT, index, ..] if usize::from(*index) == self.len() => 2,
            [op::LONG_BINPUT, index @ ..] if u32::from_le_bytes(*index) as usize == self.len() => 5,
            _ => return None,
        };
        let mut rest = bytes.get(1 + memoized..)?;
        if *rest.first()? != op::MARK {
            return None;
        }
        rest = rest.get(1..)?;
        let mut n_values = 0;
        loop {
            let next = rest.first_chunk()?;
            if let Some((value, n)) = self.value(next) {
                *pairs.get_mut(n_values)? = value;
                n_values += 1;
                rest = rest.get(n..)?;
            } else if next[0] == op::SETITEMS && n_values > 0 && n_values.is_multiple_of(2) {
                let n_bytes = bytes.len() - rest.len() + 1;
                return Some(WholeDict { n_values, n_bytes });
            } else {
                return None;
            }
        }
    }
}

/// A dict that was read in one piece.
struct WholeDict {
    n_values: usize,
    n_bytes: usize,
}

impl Machine<'_> {
    /// Runs opcodes that the fast path knows; false where the slow path is needed.
    #[inline]
    pub(super) fn step_fast(&mut self) -> Result<bool, ImportError> {
        let bytes = self.window.buffered();
        let Some(next) = bytes.first_chunk() else {
            return Ok(false);
        };
        if next[0] == op::EMPTY_DICT {
            return self.whole_dict();
        }
        let Some((value, n)) = self.memo.value(next) else {
            return Ok(false);
        };
        self.window.pass(n);
        self.push(value)?;
        Ok(true)
    }

    fn whole_dict(&mut self) -> Result<bool, ImportError> {
        let mut pairs = [Value::NOTHING; MOST_VALUES];
        let Some(whole) = self.memo.pairs(self.window.buffered(), &mut pairs) else {
            return Ok(false);
        };
        self.window.pass(whole.n_bytes);
        self.open_dict()?;
        self.memoize()?;
        if let Kind::Dict(dict) = self.top()?.kind() {
            self.fill_dict(dict, &pairs[..whole.n_values])?;
        }
        Ok(true)
    }
}

/// The four bytes behind an opcode.
const fn word(bytes: &[u8; AHEAD]) -> u32 {
    u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]])
}

/// The bytes behind an opcode and a length of 1 to 8 in two's complement.
fn signed(bytes: &[u8; AHEAD], n: u8) -> i64 {
    let number = bytes[2..].first_chunk().copied().unwrap_or_default();
    let unused = u8::BITS * (8_u32.saturating_sub(u32::from(n)) & 7);
    i64::from_le_bytes(number) << unused >> unused
}
