//! The placements of a graph as tensors on steps.
//!
//! Ids of ops become steps: an op that owns a tensor, or at which a life begins or ends, has one. Tensors that share bytes while
//! both live (results in the memory of an operand, parts of one continuous block) are one.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::workload::cann_log::{LoggedPlace, OpKinds};

/// The memory type of the device's own memory.
const DEVICE_MEMORY: u8 = 2;

/// Divisor of offsets and sizes in an arena.
const ALIGNMENT: u64 = 512;

/// Op types whose outputs come from outside.
const INPUTS: [&str; 5] = ["Data", "RefData", "AnnData", "AippData", "QueueData"];

/// Most passes that join tensors.
const MOST_PASSES: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Arena {
    /// By step.
    pub(super) ops: Vec<ArenaOp>,
    /// In the order of the log.
    pub(super) tensors: Vec<ArenaTensor>,
    /// Inputs and outputs of the graph.
    pub(super) io: Vec<ArenaTensor>,
    pub(super) n_left_out: usize,
}

/// An op that owns a tensor, or at which lives begin or end.
#[derive(Debug, Default)]
pub(super) struct ArenaOp {
    id: i64,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) stream: u32,
    /// Whether it only makes inputs of the graph.
    is_input: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ArenaTensor {
    pub(super) name: String,
    /// Steps, both included.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) offset: u64,
    /// Bytes that the engine asks for.
    pub(super) size: u64,
    /// Bytes before padding.
    pub(super) bytes: u64,
    /// Order among the results of its op: outputs before workspaces.
    pub(super) slot: (bool, u64),
    pub(super) is_input: bool,
    pub(super) is_cleared: bool,
}

/// A placement with the parts of its name.
struct Whole<'a> {
    op: &'a str,
    kind: Option<&'a str>,
    slot: (bool, u64),
    place: &'a LoggedPlace,
    own: i64,
    begin: i64,
    end: i64,
    offset: u64,
    size: u64,
    is_io: bool,
    is_input: bool,
}

impl Arena {
    /// `arena` are its bytes, behind which inputs and outputs lie.
    pub(super) fn of(plan: &IndexMap<String, LoggedPlace>, arena: Option<u64>, kinds: &OpKinds) -> Self {
        let places = plan.iter().filter_map(|(name, place)| whole(name, place, arena, kinds));
        let mut places: Vec<Whole<'_>> = places.collect();
        let n_left_out = plan.len() - places.len();
        tell_inputs(&mut places);
        let ops = ops(&places);
        let steps = Steps { ops: &ops };
        let (io, tensors): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.is_io);
        let tensor = |place: &&Whole<'_>| steps.tensor(place);
        let tensors: Vec<ArenaTensor> = tensors.iter().map(tensor).collect();
        let io = io.iter().map(tensor).collect();
        Self {
            tensors: joined(tensors),
            io,
            ops,
            n_left_out,
        }
    }

    /// A graph without placements: one op that holds all its feature memory.
    pub(super) fn one_block(bytes: u64) -> Self {
        let block = ArenaTensor {
            name: "feature memory".to_owned(),
            first: 0,
            last: 0,
            offset: 0,
            size: bytes,
            bytes,
            slot: (true, 0),
            is_input: false,
            is_cleared: false,
        };
        Self {
            ops: vec![ArenaOp {
                name: "the whole graph".to_owned(),
                ..ArenaOp::default()
            }],
            tensors: Some(block).filter(|block| block.bytes > 0).into_iter().collect(),
            ..Self::default()
        }
    }
}

/// The parts of a placement; `None` where it lacks one, or owns no memory of the device.
fn whole<'a>(name: &'a str, place: &'a LoggedPlace, arena: Option<u64>, kinds: &'a OpKinds) -> Option<Whole<'a>> {
    let mut parts = name.rsplitn(3, ':');
    let (index, kind, op) = (parts.next()?, parts.next()?, parts.next()?);
    let is_elsewhere = place.memory_type.is_some_and(|kind| kind != DEVICE_MEMORY);
    let size = place.size.or(place.block).filter(|size| *size > 0)?;
    if is_elsewhere || place.block == Some(0) {
        return None;
    }
    let begin = place.begin.filter(|id| *id >= 0)?;
    let offset = place.offset.filter(|offset| offset.checked_add(size).is_some())?;
    Some(Whole {
        op,
        kind: place.kind.map(|kind| kinds.get(kind)),
        slot: (kind == "workspace", index.parse().ok()?),
        place,
        own: place.op.map_or(begin, i64::from),
        begin,
        end: place.end?,
        offset,
        size,
        is_io: place.is_io || arena.is_some_and(|arena| offset >= arena),
        is_input: false,
    })
}

/// Inputs are known by the types of their ops; releases that print none have them before all else.
fn tell_inputs(places: &mut [Whole<'_>]) {
    let inner = places.iter().filter(|place| !place.is_io);
    let first = inner.map(|place| place.begin).min().unwrap_or(0);
    for place in places.iter_mut().filter(|place| place.is_io) {
        place.is_input = match place.kind {
            Some(kind) => INPUTS.contains(&kind),
            None => place.begin <= first,
        };
    }
}

fn ops(places: &[Whole<'_>]) -> Vec<ArenaOp> {
    let mut named: IndexMap<(i64, &str), ArenaOp> = IndexMap::new();
    for place in places {
        let op = named.entry((place.own, place.op)).or_insert_with(|| ArenaOp {
            id: place.own,
            name: place.op.to_owned(),
            kind: place.kind.unwrap_or_default().to_owned(),
            stream: 0,
            is_input: true,
        });
        op.stream = op.stream.max(place.place.stream.map_or(0, u32::from));
        op.is_input &= place.is_input;
    }
    let mut ops: BTreeMap<i64, Vec<ArenaOp>> = BTreeMap::new();
    for op in named.into_values().filter(|op| !op.is_input) {
        ops.entry(op.id).or_default().push(op);
    }
    let ids = places.iter().filter(|place| !place.is_io);
    for id in ids.flat_map(|place| [place.begin, place.end]).filter(|id| *id >= 0) {
        ops.entry(id).or_insert_with(|| {
            vec![ArenaOp {
                id,
                name: format!("op {id}"),
                ..ArenaOp::default()
            }]
        });
    }
    let mut ops: Vec<ArenaOp> = ops.into_values().flatten().collect();
    if ops.is_empty() {
        ops.push(ArenaOp::default());
    }
    ops
}

/// Finds steps of ids.
struct Steps<'a> {
    ops: &'a [ArenaOp],
}

impl Steps<'_> {
    fn tensor(&self, place: &Whole<'_>) -> ArenaTensor {
        let from = self.ops.partition_point(|op| op.id < place.begin);
        let to = self.ops.partition_point(|op| op.id <= place.begin);
        let is_own = |op: &ArenaOp| place.begin == place.own && op.name == place.op;
        let first = self.ops[from..to]
            .iter()
            .position(is_own)
            .map_or(from, |own| from + own);
        let last = match place.end {
            ..0 => self.ops.len(),
            end => self.ops.partition_point(|op| op.id <= end),
        };
        let step = |position: usize| u32::try_from(position.min(self.ops.len() - 1)).unwrap_or(u32::MAX);
        let first = step(first);
        let (is_workspace, index) = place.slot;
        // A block holds its tensor; a damaged line may say otherwise.
        let unpadded = place.place.unpadded.filter(|bytes| *bytes <= place.size);
        ArenaTensor {
            name: if is_workspace {
                format!("{}:workspace{index}", place.op)
            } else {
                format!("{}:{index}", place.op)
            },
            first,
            last: step(last.saturating_sub(1)).max(first),
            offset: place.offset,
            size: place.size,
            bytes: unpadded.unwrap_or(place.size),
            slot: place.slot,
            is_input: place.is_input,
            is_cleared: place.place.is_cleared,
        }
    }
}

impl ArenaTensor {
    /// The end of its bytes in the arena.
    fn end(&self) -> u64 {
        let size = u128::from(self.size).next_multiple_of(u128::from(ALIGNMENT));
        u64::try_from(u128::from(self.offset) + size).unwrap_or(u64::MAX)
    }

    /// Takes over the bytes and the life of another.
    fn join(&mut self, other: &Self) {
        let (offset, end) = (self.offset.min(other.offset), self.end().max(other.end()));
        if (other.first, other.slot) < (self.first, self.slot) {
            self.name.clone_from(&other.name);
            self.slot = other.slot;
        }
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.offset = offset;
        self.size = end - offset;
        self.bytes = self.size;
        // It lives longer than the step of one op.
        self.slot.0 &= self.first == self.last;
        self.is_cleared |= other.is_cleared;
    }
}

/// Joins tensors that share bytes while both live, until none do.
fn joined(mut tensors: Vec<ArenaTensor>) -> Vec<ArenaTensor> {
    for _ in 0..MOST_PASSES {
        let count = tensors.len();
        tensors = joined_once(tensors);
        if tensors.len() == count {
            break;
        }
    }
    tensors
}

/// One pass over the tensors by birth. The live ones lie apart from each other: they are kept by offset.
fn joined_once(mut tensors: Vec<ArenaTensor>) -> Vec<ArenaTensor> {
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    order.sort_by_key(|position| (tensors[*position].first, *position));
    let mut live: BTreeMap<u64, usize> = BTreeMap::new();
    let mut is_gone = vec![false; tensors.len()];
    for mut position in order {
        loop {
            let (offset, end) = (tensors[position].offset, tensors[position].end());
            let below = live.range(..end).next_back().map(|(at, other)| (*at, *other));
            let Some((at, other)) = below.filter(|(_, other)| tensors[*other].end() > offset) else {
                break;
            };
            live.remove(&at);
            if tensors[other].last < tensors[position].first {
                continue;
            }
            // The earlier of the log stays in its place.
            let (kept, gone) = (position.min(other), position.max(other));
            let taken = tensors[gone].clone();
            tensors[kept].join(&taken);
            is_gone[gone] = true;
            position = kept;
        }
        live.insert(tensors[position].offset, position);
    }
    let mut is_gone = is_gone.into_iter();
    tensors.retain(|_| !is_gone.next().unwrap_or(false));
    tensors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(name: &str, (first, last): (u32, u32), offset: u64, size: u64) -> ArenaTensor {
        ArenaTensor {
            name: name.to_owned(),
            first,
            last,
            offset,
            size,
            bytes: size,
            slot: (false, 0),
            is_input: false,
            is_cleared: false,
        }
    }

    fn texts(tensors: Vec<ArenaTensor>) -> Vec<String> {
        let text =
            |one: &ArenaTensor| format!("{} {}-{} at {}+{}", one.name, one.first, one.last, one.offset, one.size);
        joined(tensors).iter().map(text).collect()
    }

    #[test]
    fn tensors_that_share_bytes_while_both_live_are_one() {
        for (tensors, wanted) in [
            // One behind the other in time, and side by side.
            (
                vec![
                    tensor("a", (0, 1), 0, 512),
                    tensor("b", (2, 3), 0, 600),
                    tensor("c", (2, 3), 1024, 1),
                ],
                vec!["a 0-1 at 0+512", "b 2-3 at 0+600", "c 2-3 at 1024+1"],
            ),
            // A result in the memory of its operand; a smaller one after it within the same bytes.
            (
                vec![
                    tensor("a", (0, 2), 0, 1024),
                    tensor("ref", (2, 4), 0, 1024),
                    tensor("c", (5, 6), 512, 512),
                ],
                vec!["a 0-4 at 0+1024", "c 5-6 at 512+512"],
            ),
            // A continuous block with two parts; what it meets while it is whole belongs to it too.
            (
                vec![
                    tensor("whole", (3, 5), 0, 1024),
                    tensor("left", (1, 3), 0, 512),
                    tensor("right", (2, 3), 512, 512),
                    tensor("meets", (1, 1), 512, 512),
                ],
                vec!["left 1-5 at 0+1024"],
            ),
        ] {
            assert_eq!(texts(tensors), wanted);
        }
    }

    #[test]
    fn ids_become_steps_and_what_lacks_a_part_is_left_out() {
        let place = |offset, size, begin, end| LoggedPlace {
            offset: Some(offset),
            block: Some(size),
            size: Some(size),
            unpadded: Some(size - 32),
            begin: Some(begin),
            end,
            ..LoggedPlace::default()
        };
        let mut kinds = OpKinds::default();
        let input = LoggedPlace {
            op: Some(0),
            kind: kinds.intern("Data"),
            is_io: true,
            ..place(4096, 64, 1, Some(-1))
        };
        let too_large = LoggedPlace {
            unpadded: Some(65),
            ..place(3072, 64, 7, Some(7))
        };
        let plan: IndexMap<String, LoggedPlace> = [
            ("x:output:0".to_owned(), input),
            ("a:b:output:0".to_owned(), place(0, 544, 3, Some(7))),
            ("a:b:workspace:0".to_owned(), place(1024, 64, 3, Some(3))),
            ("c:output:1".to_owned(), place(2048, 64, 7, Some(-1))),
            ("cut:output:0".to_owned(), place(0, 64, 7, None)),
            ("d:output:0".to_owned(), too_large),
        ]
        .into_iter()
        .collect();
        let arena = Arena::of(&plan, Some(4096), &kinds);
        let names: Vec<&str> = arena.ops.iter().map(|op| op.name.as_str()).collect();
        assert_eq!((names, arena.n_left_out), (vec!["a:b", "c", "d"], 1));
        let tensors: Vec<(&str, u32, u32, u64)> = arena
            .tensors
            .iter()
            .map(|one| (one.name.as_str(), one.first, one.last, one.bytes))
            .collect();
        assert_eq!(
            tensors,
            [
                ("a:b:0", 0, 2, 512),
                ("a:b:workspace0", 0, 0, 32),
                ("c:1", 1, 2, 32),
                ("d:0", 2, 2, 64)
            ]
        );
        assert!(arena.io.len() == 1 && arena.io[0].is_input);
    }
}
