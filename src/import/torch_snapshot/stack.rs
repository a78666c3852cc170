//! Operations of the opcode machine on its stack and memo, and the building of values.
//!
//! Every operation checks what it takes: an opcode that finds too little, or something of another kind, is an error with
//! its byte. The sizes of stack and memo are bounded by the size of the file.

use super::machine::Machine;
use super::value::{Kind, Value, narrow};
use crate::ImportError;

/// The most nested lists; a snapshot has six.
const DEPTH: usize = 10_000;

/// The price of a piece of a list, in values.
const CHUNK: usize = 2;

/// Bytes of the longest number that is kept.
const NUMBER_BYTES: u64 = 16;

impl Machine<'_> {
    // ---- the stack ----

    #[inline]
    pub(super) fn push(&mut self, value: Value) -> Result<(), ImportError> {
        if self.stack.len() >= self.most_values {
            return Err(self.fault("the file has more values than a snapshot of its size"));
        }
        self.stack.push(value);
        Ok(())
    }

    /// Values below belong to an outer mark.
    #[inline]
    pub(super) fn floor(&self) -> usize {
        self.marks.last().map_or(0, |mark| *mark as usize)
    }

    #[inline]
    pub(super) fn top(&self) -> Result<Value, ImportError> {
        match self.stack.last() {
            Some(top) if self.stack.len() > self.floor() => Ok(*top),
            _ => Err(self.fault("an opcode takes a value where there is none")),
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Result<Value, ImportError> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    pub(super) fn mark(&mut self) -> Result<(), ImportError> {
        if self.marks.len() >= DEPTH {
            return Err(self.fault("lists are nested deeper than in any snapshot"));
        }
        self.marks.push(narrow(self.stack.len()));
        Ok(())
    }

    pub(super) fn pop_mark(&mut self) -> Result<usize, ImportError> {
        match self.marks.pop() {
            Some(mark) => Ok((mark as usize).min(self.stack.len())),
            None => Err(self.fault("an opcode looks for a mark where there is none")),
        }
    }

    // ---- the memo ----

    pub(super) fn get(&mut self, index: usize) -> Result<(), ImportError> {
        match self.memo.get(index) {
            Some(value) => self.push(value),
            None => Err(self.fault(&format!("place {index} of the memo is empty"))),
        }
    }

    /// Puts the top into the place behind the last.
    #[inline]
    pub(super) fn memoize(&mut self) -> Result<(), ImportError> {
        let top = self.top()?;
        let place = self.memo.len();
        self.check_memo(place)?;
        self.memo.push(top);
        self.note_place(place, top);
        Ok(())
    }

    pub(super) fn put(&mut self, index: usize) -> Result<(), ImportError> {
        if index == self.memo.len() {
            return self.memoize();
        }
        let top = self.top()?;
        self.check_memo(index)?;
        while self.memo.len() <= index {
            self.memo.push(Value::HOLE);
        }
        self.memo.set(index, top);
        Ok(())
    }

    #[inline]
    fn check_memo(&self, index: usize) -> Result<(), ImportError> {
        if index < self.most_memo {
            return Ok(());
        }
        Err(self.fault(&format!("place {index} of the memo is beyond the size of the file")))
    }

    // ---- what is built ----

    pub(super) fn text(&mut self, n: u64) -> Result<(), ImportError> {
        let text = self.window.take_stated(n)?;
        let value = self.heap.intern(text);
        self.push(value)
    }

    pub(super) fn bytes(&mut self, n: u64) -> Result<(), ImportError> {
        self.window.skip(n)?;
        self.push(Value::OPAQUE)
    }

    #[inline]
    pub(super) fn long(&mut self, n: u64) -> Result<(), ImportError> {
        if n > NUMBER_BYTES {
            return self.bytes(n);
        }
        let bytes = self.window.take_stated(n)?;
        let is_negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut wide = if is_negative { [0xff; 16] } else { [0; 16] };
        wide[..bytes.len()].copy_from_slice(bytes);
        let value = self.heap.int(i128::from_le_bytes(wide));
        self.push(value)
    }

    /// A list of the values on the stack from a height on.
    pub(super) fn list_of(&mut self, start: usize) -> Result<(), ImportError> {
        self.check_containers()?;
        let list = self.heap.lists.add();
        self.append_from(list, start);
        self.push(Value::list(list))
    }

    #[inline]
    pub(super) fn empty_dict(&mut self) -> Result<(), ImportError> {
        self.check_containers()?;
        let dict = self.heap.dicts.add();
        self.push(dict)
    }

    #[inline]
    pub(super) fn check_containers(&self) -> Result<(), ImportError> {
        let n_containers = self.heap.dicts.len() + self.heap.lists.len();
        if n_containers < self.most_containers && !self.heap.budget.is_over() {
            return Ok(());
        }
        Err(self.fault("the file has more lists, dicts and texts than a snapshot of its size"))
    }

    #[inline]
    pub(super) fn append(&mut self, list: u32, items: &[Value]) {
        let n_stored = self.heap.lists.append(list, items);
        self.heap.budget.charge::<Value>(n_stored + CHUNK);
    }

    /// Appends the values on the stack from a height on to a list.
    fn append_from(&mut self, list: u32, start: usize) {
        let n_stored = self.heap.lists.append(list, &self.stack[start..]);
        self.heap.budget.charge::<Value>(n_stored + CHUNK);
        self.stack.truncate(start);
    }

    pub(super) fn appends(&mut self) -> Result<(), ImportError> {
        let start = self.pop_mark()?;
        let below = self.stack[..start].last().map(|value| value.kind());
        let Some(Kind::List(list)) = below else {
            return Err(self.fault("values are put into something that is no list"));
        };
        self.append_from(list, start);
        self.check_containers()
    }

    #[inline]
    pub(super) fn set_items(&mut self) -> Result<(), ImportError> {
        let start = self.pop_mark()?;
        let below = self.stack[..start].last().map(|value| value.kind());
        let Some(Kind::Dict(dict)) = below else {
            return Err(self.fault("values are put into something that is no dict"));
        };
        let items = &self.stack[start..];
        if !items.len().is_multiple_of(2) {
            return Err(self.fault("a dict has a key without a value"));
        }
        if self.range.is_some() {
            let items = self.stack.split_off(start);
            return self.fill_dict(dict, &items);
        }
        if !items.is_empty() {
            self.heap.fill(dict, items);
        }
        self.stack.truncate(start);
        Ok(())
    }

    pub(super) fn fill(&mut self, items: &[Value]) -> Result<(), ImportError> {
        let dict = self.top_dict()?;
        if !items.len().is_multiple_of(2) {
            return Err(self.fault("a dict has a key without a value"));
        }
        if !items.is_empty() {
            self.heap.fill(dict, items);
        }
        Ok(())
    }

    pub(super) fn top_list(&self) -> Result<u32, ImportError> {
        match self.top()?.kind() {
            Kind::List(list) => Ok(list),
            _ => Err(self.fault("a value is put into something that is no list")),
        }
    }

    pub(super) fn top_dict(&self) -> Result<u32, ImportError> {
        match self.top()?.kind() {
            Kind::Dict(dict) => Ok(dict),
            _ => Err(self.fault("a value is put into something that is no dict")),
        }
    }

    #[cold]
    pub(super) fn fault(&self, what: &str) -> ImportError {
        ImportError::at_byte(what, self.at)
    }
}
