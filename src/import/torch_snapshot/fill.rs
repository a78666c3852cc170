//! Dicts become rows when they are completed.
//!
//! In: the pairs of a dict. Out: its row. A dict is recognised by a key that no other dict of the format has; what is put
//! into it later changes its row. Keys that are not known are counted, their values are not kept.

use super::keys;
use super::rows::{Action, Annotation, Block, Entry, Extra, Frame, NONE, Segment, has};
use super::snapshot::{plain_text, private_pool};
use super::value::{DictContent, Heap, Kind, Value, narrow};

/// Pairs of a note that is a dict.
const MOST_NOTES: usize = 32;

impl Heap {
    /// Puts pairs (key, value, key, value, ...) into a dict.
    pub(super) fn fill(&mut self, dict: u32, pairs: &[Value]) {
        let before = self.dicts.get(dict).unwrap_or(DictContent::Empty);
        if matches!(before, DictContent::Empty) && pairs.first() == Some(&Value::text(keys::ACTION)) {
            let content = self.whole_entry(pairs);
            return self.dicts.set(dict, content);
        }
        let content = match before {
            DictContent::Empty => self.recognise(pairs).unwrap_or_else(|| {
                self.budget.charge::<Value>(1);
                DictContent::Plain(self.plain.add())
            }),
            DictContent::Plain(position) => match self.recognise(pairs) {
                Some(row) => {
                    self.reread(position, row);
                    row
                }
                None => before,
            },
            row => row,
        };
        self.dicts.set(dict, content);
        self.put(content, pairs);
    }

    /// A new row, by the first key that decides its kind; `None` where none does.
    fn recognise(&mut self, pairs: &[Value]) -> Option<DictContent> {
        for pair in pairs.chunks_exact(2) {
            let Kind::Text(key) = pair[0].kind() else { continue };
            match key {
                keys::ACTION => return Some(self.new_entry()),
                keys::TOTAL_SIZE | keys::BLOCKS => return Some(self.new_segment()),
                keys::STATE => return Some(self.new_block()),
                keys::FILENAME => return Some(self.new_frame()),
                keys::STAGE => return Some(self.new_annotation()),
                _ => {}
            }
        }
        None
    }

    /// Applies the pairs that were put into a dict before it was recognised.
    fn reread(&mut self, plain: u32, row: DictContent) {
        let before: Vec<Value> = self.plain.items(plain).collect();
        for pair in before.chunks_exact(2) {
            self.put(row, pair);
        }
    }

    fn new_entry(&mut self) -> DictContent {
        self.whole_entry(&[])
    }

    /// A new entry that is filled at once.
    fn whole_entry(&mut self, pairs: &[Value]) -> DictContent {
        let mut entry = Entry {
            address: 0,
            size: 0,
            time_us: 0,
            stream: NONE,
            frames: NONE,
            extra: NONE,
            action: Action::Other,
            has: 0,
        };
        self.put_pairs(&mut entry, pairs);
        self.budget.charge::<Entry>(1);
        self.rows.entries.push(&entry);
        DictContent::Entry(narrow(self.rows.entries.len() - 1))
    }

    fn new_segment(&mut self) -> DictContent {
        self.budget.charge::<Segment>(1);
        self.rows.segments.push(Segment {
            device: None,
            address: None,
            total: None,
            allocated: None,
            active: None,
            stream: 0,
            kind: NONE,
            pool: NONE,
            is_expandable: false,
            blocks: NONE,
        });
        DictContent::Segment(narrow(self.rows.segments.len() - 1))
    }

    fn new_block(&mut self) -> DictContent {
        self.budget.charge::<Block>(1);
        self.rows.blocks.push(Block {
            address: 0,
            size: 0,
            requested: 0,
            state: NONE,
            frames: NONE,
            extra: NONE,
            has: 0,
        });
        DictContent::Block(narrow(self.rows.blocks.len() - 1))
    }

    fn new_frame(&mut self) -> DictContent {
        self.budget.charge::<Frame>(1);
        self.rows.frames.push(Frame::EMPTY);
        DictContent::Frame(narrow(self.rows.frames.len() - 1))
    }

    fn new_annotation(&mut self) -> DictContent {
        self.budget.charge::<Annotation>(1);
        self.rows.annotations.push(Annotation {
            stage: NONE,
            name: NONE,
            device: None,
            time_us: None,
        });
        DictContent::Annotation(narrow(self.rows.annotations.len() - 1))
    }

    fn put(&mut self, content: DictContent, pairs: &[Value]) {
        match content {
            DictContent::Entry(row) => return self.put_entry(row, pairs),
            DictContent::Plain(position) => {
                let n_stored = self.plain.append(position, pairs);
                return self.budget.charge::<Value>(n_stored + 2);
            }
            DictContent::Empty
            | DictContent::Block(_)
            | DictContent::Segment(_)
            | DictContent::Frame(_)
            | DictContent::Annotation(_) => {}
        }
        for pair in pairs.chunks_exact(2) {
            let (key, value) = (pair[0], pair[1]);
            let known = match key.kind() {
                Kind::Text(key) => key,
                _ => NONE,
            };
            match content {
                DictContent::Block(_) => self.rows.keys_of_blocks.add(known),
                DictContent::Segment(_) => self.rows.keys_of_segments.add(known),
                _ => {}
            }
            let is_read = match content {
                DictContent::Block(row) => self.put_block(row as usize, known, value),
                DictContent::Segment(row) => self.put_segment(row as usize, known, value),
                DictContent::Frame(row) => self.put_frame(row as usize, known, value),
                DictContent::Annotation(row) => self.put_annotation(row as usize, known, value),
                DictContent::Entry(_) | DictContent::Plain(_) | DictContent::Empty => true,
            };
            if !is_read {
                *self.rows.unread.entry(known).or_default() += 1;
            }
        }
    }

    fn put_entry(&mut self, row: u32, pairs: &[Value]) {
        let Some(mut entry) = self.rows.entries.get(row) else {
            return;
        };
        self.put_pairs(&mut entry, pairs);
        self.rows.entries.set(row, &entry);
    }

    fn put_pairs(&mut self, entry: &mut Entry, pairs: &[Value]) {
        for pair in pairs.chunks_exact(2) {
            let value = pair[1];
            let key = match pair[0].kind() {
                Kind::Text(key) => key,
                _ => NONE,
            };
            self.rows.keys_of_entries.add(key);
            match key {
                keys::ADDR | keys::DEVICE_FREE => {
                    let number = self.unsigned(value);
                    if key == keys::DEVICE_FREE && number.is_some() {
                        entry.has |= has::DEVICE_FREE;
                    }
                    set(&mut entry.has, has::ADDRESS, &mut entry.address, number);
                }
                keys::SIZE => set(&mut entry.has, has::SIZE, &mut entry.size, self.unsigned(value)),
                keys::TIME_US => set(&mut entry.has, has::TIME, &mut entry.time_us, self.unsigned(value)),
                keys::STREAM => {
                    let stream = stream(self, value);
                    entry.stream = self.rows.stream(stream);
                }
                keys::FRAMES => entry.frames = list(value),
                keys::ACTION => self.put_action(entry, value),
                keys::COMPILE_CONTEXT | keys::USER_METADATA | keys::FORWARD_FRAMES => {
                    entry.extra = self.with_extra(entry.extra, key, value);
                }
                keys::POOL_ID | keys::SEGMENT_POOL_ID => {
                    if let Some(pool) = private_pool(self, list(value)) {
                        let extra = Extra {
                            pool,
                            ..self.rows.extra_at(entry.extra)
                        };
                        entry.extra = self.rows.extra(extra);
                    }
                }
                _ => *self.rows.unread.entry(key).or_default() += 1,
            }
        }
    }

    fn put_action(&mut self, entry: &mut Entry, value: Value) {
        let name = text(value);
        entry.action = match name {
            keys::ALLOC => Action::Alloc,
            keys::FREE_REQUESTED => Action::FreeRequested,
            keys::FREE_COMPLETED => Action::FreeCompleted,
            keys::SEGMENT_ALLOC => Action::SegmentAlloc,
            keys::SEGMENT_FREE => Action::SegmentFree,
            keys::SEGMENT_MAP => Action::SegmentMap,
            keys::SEGMENT_UNMAP => Action::SegmentUnmap,
            keys::SNAPSHOT => Action::Snapshot,
            keys::OOM => Action::OutOfMemory,
            _ => Action::Other,
        };
        if entry.action == Action::Other && name != NONE {
            let extra = Extra {
                action: name,
                ..self.rows.extra_at(entry.extra)
            };
            entry.extra = self.rows.extra(extra);
        }
    }

    /// The texts of an entry or a block with one more.
    fn with_extra(&mut self, extra: u32, key: u32, value: Value) -> u32 {
        let before = self.rows.extra_at(extra);
        let extended = if key == keys::FORWARD_FRAMES {
            let forward = list(value);
            let is_any = self.lists.items(forward).next().is_some();
            is_any.then_some(Extra { forward, ..before })
        } else {
            let text = self.note(value);
            text.map(|text| match key {
                keys::COMPILE_CONTEXT => Extra {
                    compile_context: text,
                    ..before
                },
                _ => Extra {
                    user_metadata: text,
                    ..before
                },
            })
        };
        extended.map_or(extra, |extended| self.rows.extra(extended))
    }

    /// A text, or the pairs of a dict as one; `None` for an empty one: newer versions give every entry such keys.
    fn note(&mut self, value: Value) -> Option<u32> {
        if let Kind::Text(text) = value.kind() {
            let is_empty = self.text_at(text).is_none_or(|text| text.is_empty() || text == b"N/A");
            return (!is_empty).then_some(text);
        }
        let pairs = self.pairs(value).take(MOST_NOTES);
        let pairs = pairs.map(|(key, value)| format!("{}: {}", plain_text(self, key), plain_text(self, value)));
        let joined = pairs.collect::<Vec<String>>().join(", ");
        (!joined.is_empty()).then(|| text(self.intern(joined.as_bytes())))
    }

    fn put_block(&mut self, row: usize, key: u32, value: Value) -> bool {
        let number = self.unsigned(value);
        if matches!(key, keys::COMPILE_CONTEXT | keys::USER_METADATA | keys::FORWARD_FRAMES) {
            let before = self.rows.blocks.get(row).map_or(NONE, |block| block.extra);
            let extra = self.with_extra(before, key, value);
            if let Some(block) = self.rows.blocks.get_mut(row) {
                block.extra = extra;
            }
            return true;
        }
        let older = if key == keys::HISTORY {
            self.history(value)
        } else {
            None
        };
        let Some(block) = self.rows.blocks.get_mut(row) else {
            return true;
        };
        match key {
            keys::ADDRESS => set(&mut block.has, has::ADDRESS, &mut block.address, number),
            keys::SIZE => set(&mut block.has, has::SIZE, &mut block.size, number),
            keys::REQUESTED_SIZE => set(&mut block.has, has::REQUESTED, &mut block.requested, number),
            keys::STATE => block.state = text(value),
            keys::FRAMES => block.frames = list(value),
            keys::HISTORY => {
                if let Some((size, frames)) = older {
                    if let Some(size) = size.filter(|_| block.has & has::REQUESTED == 0) {
                        block.has |= has::REQUESTED;
                        block.requested = size;
                    }
                    block.frames = frames;
                }
            }
            _ => return false,
        }
        true
    }

    /// Size and frames of the first item of a block's history, as older versions write it.
    fn history(&self, value: Value) -> Option<(Option<u64>, u32)> {
        let Kind::List(position) = value.kind() else {
            return None;
        };
        let first = self.lists.items(position).next()?;
        let find = |wanted: u32| {
            let mut pairs = self.pairs(first).take(16);
            pairs.find(|(key, _)| text(*key) == wanted).map(|(_, value)| value)
        };
        let size = find(keys::REAL_SIZE).and_then(|size| self.unsigned(size));
        Some((size, find(keys::FRAMES).map_or(NONE, list)))
    }

    fn put_segment(&mut self, row: usize, key: u32, value: Value) -> bool {
        let number = self.unsigned(value);
        let stream = stream(self, value);
        let segment = &mut self.rows.segments[row];
        match key {
            keys::DEVICE => segment.device = number,
            keys::ADDRESS => segment.address = number,
            keys::TOTAL_SIZE => segment.total = number,
            keys::ALLOCATED_SIZE => segment.allocated = number,
            keys::ACTIVE_SIZE => segment.active = number,
            keys::STREAM => segment.stream = stream,
            keys::SEGMENT_TYPE => segment.kind = text(value),
            keys::SEGMENT_POOL_ID => segment.pool = list(value),
            keys::IS_EXPANDABLE => segment.is_expandable = value == Value::bool(true),
            keys::BLOCKS => segment.blocks = list(value),
            // The sums of its blocks, and its call site.
            keys::REQUESTED_SIZE | keys::FRAMES => {}
            _ => return false,
        }
        true
    }

    fn put_frame(&mut self, row: usize, key: u32, value: Value) -> bool {
        let number = self.unsigned(value);
        if matches!(
            key,
            keys::FX_NODE_OP | keys::FX_NODE_NAME | keys::FX_NODE_TARGET | keys::FX_ORIGINAL_TRACE
        ) {
            self.put_fx_node(row, key, value);
            return true;
        }
        let frame = &mut self.rows.frames[row];
        match key {
            keys::NAME => frame.function = text(value),
            keys::FILENAME => frame.file = text(value),
            keys::LINE => frame.line = number.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
            _ => return false,
        }
        true
    }

    fn put_fx_node(&mut self, row: usize, key: u32, value: Value) {
        let Some(text) = self.note(value) else { return };
        let mut node = self.rows.fx_node_at(self.rows.frames[row].fx);
        *match key {
            keys::FX_NODE_OP => &mut node.op,
            keys::FX_NODE_NAME => &mut node.name,
            keys::FX_NODE_TARGET => &mut node.target,
            _ => &mut node.original_trace,
        } = text;
        self.rows.frames[row].fx = self.rows.fx_node(node);
    }

    fn put_annotation(&mut self, row: usize, key: u32, value: Value) -> bool {
        let number = self.unsigned(value);
        let annotation = &mut self.rows.annotations[row];
        match key {
            keys::STAGE => annotation.stage = text(value),
            keys::NAME => annotation.name = text(value),
            keys::DEVICE => annotation.device = number,
            keys::TIME_US => annotation.time_us = number,
            _ => return false,
        }
        true
    }
}

/// A number of a row, and whether it was read.
fn set(has: &mut u8, field: u8, place: &mut u64, number: Option<u64>) {
    *has = if number.is_some() { *has | field } else { *has & !field };
    *place = number.unwrap_or(0);
}

fn text(value: Value) -> u32 {
    match value.kind() {
        Kind::Text(position) => position,
        _ => NONE,
    }
}

fn list(value: Value) -> u32 {
    match value.kind() {
        Kind::List(position) => position,
        _ => NONE,
    }
}

/// Streams are addresses of the driver's, which some versions write with a sign.
fn stream(heap: &Heap, value: Value) -> u64 {
    match value.kind() {
        Kind::Int(value) => value.cast_unsigned(),
        _ => heap.unsigned(value).unwrap_or(0),
    }
}
