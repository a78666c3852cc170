//! The table of live blocks on a step of a lane.

use super::column::{amount, number, text};
use super::tensors::{attribute, end, step};
use super::{Column, Target, Value, View};
use crate::search::shown_name;
use crate::{Attribute, LaneView, Tally, subject_text};
use highwater_model::units::{Bytes, Step};
use highwater_sim::{Subject, SubjectId};

pub(super) const COLUMNS: [Column; 9] = [
    text("name", "tensor", 34),
    amount("bytes", "bytes", "exact bytes, without any rounding"),
    number("share", "share", "share of live bytes on this step"),
    number("birth", "birth", "the first step on which this block is live"),
    number("freed", "freed", "the step on which it is freed"),
    text("role", "what the tensor is for", 11),
    text("op type", "the type of the op that computes it", 16),
    amount("offset", "offset", "bytes from the beginning of its region"),
    text("region", "the region of memory that holds it", 22),
];

fn lane<'a>(view: &View<'a>) -> Option<&'a LaneView> {
    view.timeline.lanes.get(view.lane)
}

/// In order of birth.
pub(super) fn natural(view: &View<'_>, step: Step) -> Vec<u32> {
    lane(view).map_or_else(Vec::new, |lane| lane.live_at(step))
}

pub(super) fn bytes(view: &View<'_>, block: u32) -> Option<Bytes> {
    lane(view)?.requested_or_held(&view.lane()?.simulation, block)
}

/// Totals of blocks of tensors, and of others. O(blocks).
pub(super) fn held(view: &View<'_>, all: &[u32]) -> [Tally; 2] {
    let mut held = [Tally::default(); 2];
    let Some(lane) = lane(view) else { return held };
    for block in all {
        let tally = &mut held[usize::from(lane.tensor(*block).is_none())];
        tally.add(bytes(view, *block).unwrap_or_default());
    }
    held
}

fn name<'a>(view: &View<'a>, block: u32) -> Option<Value<'a>> {
    let shown = lane(view)?;
    if let Some(tensor) = shown.tensor(block) {
        return Some(Value::text(shown_name(view.comparison, tensor)));
    }
    let simulation = &view.lane()?.simulation;
    let subject = *shown.blocks.subject.get(block as usize)?;
    let who = simulation.subjects.get(SubjectId(subject))?.subject;
    let text = match who {
        Subject::Session => "the session".to_owned(),
        who => subject_text(view.comparison, simulation, who),
    };
    Some(Value::text(text))
}

pub(super) fn value<'a>(view: &View<'a>, block: u32, column: usize) -> Value<'a> {
    cell(view, block, column).unwrap_or(Value::Nothing)
}

fn cell<'a>(view: &View<'a>, block: u32, column: usize) -> Option<Value<'a>> {
    let lane = lane(view)?;
    let (blocks, at) = (&lane.blocks, block as usize);
    let of_tensor = |of: Attribute| lane.tensor(block).map(|tensor| attribute(view, tensor, of));
    match column {
        0 => name(view, block),
        1 => bytes(view, block).map(Value::Bytes),
        2 => Some(Value::Share {
            part: bytes(view, block)?,
            whole: view.total,
        }),
        3 => Some(step(view, Step(*blocks.start.get(at)?))),
        4 => Some(end(view, Step(*blocks.end.get(at)?))),
        5 => of_tensor(Attribute::Role),
        6 => of_tensor(Attribute::OpType),
        7 => Some(Value::Bytes(Bytes(blocks.offset.get(at)?))),
        _ => {
            let region = lane.regions.get(*blocks.span.get(at)? as usize)?;
            Some(Value::text(&*region.label))
        }
    }
}

pub(super) fn target(view: &View<'_>, block: u32) -> Target {
    Target {
        tensor: lane(view).and_then(|lane| lane.tensor(block)),
        ..Target::default()
    }
}
