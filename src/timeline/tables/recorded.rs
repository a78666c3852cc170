//! Columns of recorded blocks, in the tables of tensors and of live blocks. A column that the recording leaves empty is
//! not shown.

use super::column::{amount, number, text};
use super::live;
use super::tensors::{attribute, end, step};
use super::{Column, TableKind, Value, View};
use crate::search::shown_name;
use crate::{Attribute, Selected};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{BlockAddress, Category, RecordedBlock, Recording, Segments};

/// What a column says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    CallSite,
    Bytes,
    Allocated,
    Share,
    Category,
    Op,
    Birth,
    Freed,
    Steps,
    Stream,
    Segment,
    Address,
}

const fn column(field: Field) -> Column {
    match field {
        Field::Name => text("name", "the op or the text that the file states", 34),
        Field::CallSite => Column {
            raw: "call_site",
            ..text("call site", "the line of the program that asked for it", 34)
        },
        Field::Bytes => amount("bytes", "bytes", "requested bytes"),
        Field::Allocated => amount("allocated", "allocated_bytes", "bytes of its block, rounding included"),
        Field::Share => number("share", "share", "share of live bytes on this step"),
        Field::Category => text(
            "category",
            "what it is for; an inference from call stacks and lifetimes",
            15,
        ),
        Field::Op => Column {
            raw: "op",
            ..text("op", "the operator that asked for it", 22)
        },
        Field::Birth => number("birth", "birth", "the first event at which it is live"),
        Field::Freed => number(
            "freed",
            "freed",
            "the event at which it is freed; empty where the recording ends before",
        ),
        Field::Steps => number("events", "events", "number of events during which it is live"),
        Field::Stream => number("stream", "stream", "the stream that it was allocated for"),
        Field::Segment => Column {
            letters: 16,
            ..number("segment", "segment", "the address of the segment that contains it")
        },
        Field::Address => Column {
            letters: 16,
            ..number("address", "address", "its address")
        },
    }
}

/// The columns of a recording's table.
#[derive(Debug, Default)]
pub(super) struct Shown {
    fields: Vec<Field>,
    segments: Segments,
}

impl Shown {
    /// `None` where the table or the lane is of another kind. O(blocks).
    pub(super) fn new(kind: TableKind, recording: &Recording) -> Option<(Self, Vec<Column>)> {
        let candidates: &[Field] = match kind {
            TableKind::Tensors => &[
                Field::Name,
                Field::CallSite,
                Field::Bytes,
                Field::Allocated,
                Field::Category,
                Field::Op,
                Field::Birth,
                Field::Freed,
                Field::Steps,
                Field::Stream,
                Field::Segment,
                Field::Address,
            ],
            TableKind::Live => &[
                Field::Name,
                Field::CallSite,
                Field::Bytes,
                Field::Allocated,
                Field::Share,
                Field::Category,
                Field::Op,
                Field::Birth,
                Field::Freed,
                Field::Stream,
                Field::Segment,
                Field::Address,
            ],
            TableKind::Ops | TableKind::Events | TableKind::Evictions | TableKind::Problems => return None,
        };
        let any = |is: fn(&RecordedBlock) -> bool| recording.blocks.iter().any(is);
        let is_stated = |field: &Field| match field {
            Field::Name => recording.stacks.is_empty(),
            Field::CallSite | Field::Op => !recording.stacks.is_empty(),
            Field::Allocated => any(|block| block.held != block.bytes),
            Field::Category => any(|block| block.category != Category::Unknown),
            Field::Stream => any(|block| block.stated_stream().is_some()),
            Field::Segment => !recording.regions.is_empty() && any(|block| block.address.is_some()),
            Field::Address => any(|block| block.address.is_some()),
            Field::Bytes | Field::Share | Field::Birth | Field::Freed | Field::Steps => true,
        };
        let fields: Vec<Field> = candidates.iter().copied().filter(is_stated).collect();
        let columns = fields.iter().copied().map(column).collect();
        let segments = Segments::new(recording);
        Some((Self { fields, segments }, columns))
    }

    /// The cell of a row. O(log segments).
    pub(super) fn value<'a>(&self, view: &View<'a>, row: u32, column: usize) -> Value<'a> {
        let field = self.fields.get(column);
        let value = field.and_then(|field| self.field(view, &Block::new(view, row)?, *field));
        value.unwrap_or(Value::Nothing)
    }

    /// All cells of a row, which is read once.
    pub(super) fn values<'a>(&self, view: &View<'a>, row: u32, cells: &mut Vec<Value<'a>>) {
        let Some(block) = Block::new(view, row) else { return };
        let fields = self.fields.iter();
        cells.extend(fields.map(|field| self.field(view, &block, *field).unwrap_or(Value::Nothing)));
    }

    fn field<'a>(&self, view: &View<'a>, of: &Block<'a>, field: Field) -> Option<Value<'a>> {
        let (tensor, block) = (of.tensor, of.recorded);
        let address = |address: Option<u64>| address.map_or(Value::Nothing, Value::Address);
        Some(match field {
            Field::Name | Field::CallSite => Value::text(shown_name(view.comparison, tensor?)),
            Field::Op => attribute(view, tensor?, Attribute::OpType),
            Field::Category => attribute(view, tensor?, Attribute::Category),
            Field::Bytes => Value::Bytes(of.bytes),
            Field::Allocated => Value::Bytes(block?.held),
            Field::Share => Value::Share {
                part: of.bytes,
                whole: view.total,
            },
            Field::Birth => step(view, of.start),
            // A block that outlives the recording is not freed in it.
            Field::Freed if block.is_some_and(|block| !block.is_freed) => Value::Nothing,
            Field::Freed => end(view, of.end),
            Field::Steps => {
                let start = view.comparison.shown_step(view.lane, of.start);
                let end = view.comparison.shown_end(view.lane, of.end);
                Value::Count(u64::from(end.0.saturating_sub(start.0)))
            }
            Field::Stream => Value::count(block?.stated_stream()),
            Field::Segment => address(self.segments.of(block?).map(|segment| segment.address)),
            Field::Address => address(block?.address.map(BlockAddress::get)),
        })
    }
}

/// A row of either table.
struct Block<'a> {
    tensor: Option<Selected>,
    recorded: Option<&'a RecordedBlock>,
    bytes: Bytes,
    start: Step,
    end: Step,
}

impl<'a> Block<'a> {
    fn new(view: &View<'a>, row: u32) -> Option<Self> {
        let recorded = |tensor: Selected| view.comparison.recorded_block(tensor.graph, tensor.tensor);
        let recorded = |tensor: Selected| recorded(tensor).map(|(_, block)| block);
        if view.kind == TableKind::Live {
            let lane = view.timeline.lanes.get(view.lane)?;
            let start = *lane.blocks.start.get(row as usize)?;
            let end = *lane.blocks.end.get(row as usize)?;
            return Some(Self {
                tensor: lane.tensor(row),
                recorded: lane.tensor(row).and_then(recorded),
                bytes: live::bytes(view, row)?,
                start: Step(start),
                end: Step(end),
            });
        }
        let found = view.rows().get(row as usize)?;
        Some(Self {
            tensor: Some(found.tensor),
            recorded: recorded(found.tensor),
            bytes: found.bytes,
            start: found.start,
            end: found.end,
        })
    }
}
