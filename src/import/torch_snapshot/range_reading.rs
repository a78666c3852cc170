//! What the machine does besides where it keeps a range of events: dicts are noted when they open and judged when they are filled.
//!
//! In: opcodes that open, memoize and fill dicts. Out: events outside the range leave the stack, and their rows, lists and
//! places in the memo are given up. Invariant: what an event holds was made after the event opened, so that its lists are the
//! last ones.

use super::machine::{Machine, OpenDict};
use super::range::Verdict;
use super::value::{DictContent, Kind, Value};
use crate::ImportError;

impl Machine<'_> {
    /// A dict that is filled later.
    #[inline]
    pub(super) fn open_dict(&mut self) -> Result<(), ImportError> {
        let lists = self.range.is_some().then(|| self.heap.lists.size());
        self.empty_dict()?;
        let top = self.top()?.kind();
        if let (Some(range), Some(lists), Kind::Dict(dict)) = (&mut self.range, lists, top) {
            range.open.push(OpenDict {
                dict,
                place: None,
                lists,
            });
        }
        Ok(())
    }

    /// A value was put into a place of the memo.
    #[inline]
    pub(super) fn note_place(&mut self, place: usize, value: Value) {
        let Some(range) = &mut self.range else { return };
        match value.kind() {
            Kind::Dict(dict) => {
                if let Some(open) = range.open.last_mut().filter(|open| open.dict == dict) {
                    open.place = Some(place);
                }
            }
            Kind::List(list) if u32::try_from(place).is_ok_and(|place| range.filter.wanted.contains(&place)) => {
                range.n_wanted = list as usize + 1;
                self.memo.keep(place, value);
            }
            _ => {}
        }
    }

    /// Fills the dict on top of the stack.
    #[inline]
    pub(super) fn fill_dict(&mut self, dict: u32, items: &[Value]) -> Result<(), ImportError> {
        if !items.is_empty() {
            self.heap.fill(dict, items);
        }
        if self.range.is_some() {
            self.judge(dict, items)
        } else {
            Ok(())
        }
    }

    fn judge(&mut self, dict: u32, items: &[Value]) -> Result<(), ImportError> {
        let list = self.list_below();
        let Some(range) = &mut self.range else { return Ok(()) };
        // Dicts that nothing was put into stay open until one around them is filled.
        let Some(position) = range.open.iter().rposition(|open| open.dict == dict) else {
            return Ok(());
        };
        let open = range.open[position];
        range.open.truncate(position);
        let content = self.heap.dicts.get(dict).unwrap_or(DictContent::Empty);
        if let (DictContent::Entry(row), Some(list)) = (content, list)
            && row as usize + 1 == self.heap.rows.entries.len()
            && let Some(entry) = self.heap.rows.entries.get(row)
            && range.filter.judge(list, &entry) == Verdict::GiveUp
        {
            self.heap.rows.entries.pop();
            self.heap.dicts.give_up(dict);
            if range.n_wanted <= open.lists.lists {
                self.heap.lists.shrink_to(open.lists);
            }
            self.pop()?;
            // An opcode that appends one value takes it from the stack.
            return if self.stack.len() > self.floor() && matches!(self.top()?.kind(), Kind::List(_)) {
                self.push(Value::GIVEN_UP)
            } else {
                Ok(())
            };
        }
        for item in items {
            if let Kind::Forgotten(place) = item.kind() {
                range.filter.wanted.insert(place);
            }
        }
        if let (DictContent::Frame(_) | DictContent::Plain(_), Some(place)) = (content, open.place) {
            self.memo.keep(place, Value::dict(dict));
        }
        Ok(())
    }

    /// The list that the dict on top is to be put into: below it, or below the mark that several items have.
    fn list_below(&self) -> Option<u32> {
        let below = self.stack.len().checked_sub(2)?;
        let floor = self.floor();
        let list = |position: usize| match self.stack.get(position)?.kind() {
            Kind::List(list) => Some(list),
            _ => None,
        };
        if below >= floor
            && let Some(list) = list(below)
        {
            return Some(list);
        }
        list(floor.checked_sub(1)?)
    }
}
