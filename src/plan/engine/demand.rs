//! Requests to the arena in order: shapes, graph inputs and outputs; and the order of their release.
//!
//! In: shapes, an order that may name buffers twice or not at all. Out: a [`Demand`]. Invariants: requests begin in
//! ascending order and `deaths` end in ascending order; `bytes` are whole units above zero.

use super::unit_of;
use crate::problem::{PlanError, ProblemError};
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationOrder, Shapes};

/// Limit of the sum of all bytes.
const LIMIT: u64 = 1 << 62;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// Takes part in reuse.
    Feature,
    /// Behind the arena.
    Input,
    /// Behind the arena, before the inputs.
    Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// First step, inclusive.
    pub(super) begin: u32,
    /// Last step, inclusive.
    pub(super) end: u32,
    /// Whole units.
    pub(super) bytes: u64,
    /// Requests of different streams never share bytes.
    pub(super) stream: u32,
    pub(super) usage: Usage,
    /// The shape, or the position among the graph's inputs and outputs.
    pub(super) source: u32,
}

/// All requests of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Demand {
    /// All sizes and offsets are multiples of it.
    pub(super) unit: u64,
    /// In request order.
    pub(super) requests: Vec<Request>,
    /// Requests that take part in reuse, in the order of their release.
    pub(super) deaths: Vec<u32>,
    /// Shapes with a separate region, and their whole units, in request order.
    pub(super) separate: Vec<(u32, u64)>,
    /// Shapes with a given offset.
    pub(super) fixed: Vec<(u32, u64)>,
    /// Start of the free bytes: the highest fixed end.
    pub(super) floor: u64,
    pub(super) n_items: usize,
    pub(super) n_io: usize,
}

/// The engine's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statistics {
    pub(super) theory_min: Bytes,
    pub(super) no_reuse: Bytes,
    pub(super) sum: Bytes,
}

impl Demand {
    /// O(n log n).
    pub(super) fn new(shapes: &Shapes, order: Option<&AllocationOrder>) -> Result<Self, PlanError> {
        let none = AllocationOrder::default();
        let order = order.unwrap_or(&none);
        let unit = unit_of(shapes).filter(|unit| *unit <= LIMIT);
        let unit = unit.ok_or(PlanError::Problem(ProblemError::TooLarge))?;
        let mut demand = Self {
            unit,
            n_items: shapes.items.len(),
            n_io: order.io.len(),
            ..Self::default()
        };
        let births = ranks(&order.births, shapes, true);
        let deaths = ranks(&order.deaths, shapes, false);
        let mut is_separate = vec![false; shapes.items.len()];
        for item in order
            .separate
            .iter()
            .filter_map(|buffer| shapes.item_of.get(*buffer as usize))
        {
            is_separate[*item as usize] = true;
        }
        let mut features: Vec<u32> = Vec::with_capacity(shapes.items.len());
        for (number, item) in (0_u32..).zip(&shapes.items) {
            if let Some(offset) = item.fixed {
                demand.fixed.push((number, offset));
                demand.floor = demand.floor.max(offset.saturating_add(item.size));
            } else if item.size > 0 {
                features.push(number);
            }
        }
        let of = |number: &u32| &shapes.items[*number as usize];
        features.sort_by_key(|number| (of(number).lower, births[*number as usize]));
        let (separate, features): (Vec<u32>, Vec<u32>) =
            features.into_iter().partition(|item| is_separate[*item as usize]);
        let in_units = |item: u32| shapes.items[item as usize].size.checked_next_multiple_of(unit);
        let separate = separate.into_iter().map(|item| Some((item, in_units(item)?)));
        let separate: Option<Vec<(u32, u64)>> = separate.collect();
        demand.separate = separate.ok_or(PlanError::Problem(ProblemError::TooLarge))?;
        let streams = streams(shapes, order);
        demand.add_requests(shapes, &features, order, &births, &streams)?;
        demand.check()?;
        let mut dying: Vec<(u32, u64, u32)> = (0_u32..)
            .zip(&demand.requests)
            .filter(|(_, request)| request.usage == Usage::Feature)
            .map(|(number, request)| (request.end, deaths[request.source as usize], number))
            .collect();
        dying.sort_unstable();
        demand.deaths = dying.into_iter().map(|(.., number)| number).collect();
        Ok(demand)
    }

    /// Features in order, with inputs and outputs inserted where the order names them.
    fn add_requests(
        &mut self,
        shapes: &Shapes,
        features: &[u32],
        order: &AllocationOrder,
        births: &[u64],
        streams: &[u32],
    ) -> Result<(), PlanError> {
        let mut io = (0_u32..).zip(&order.io).peekable();
        let too_large = || PlanError::Problem(ProblemError::TooLarge);
        let mut io_before = |rank: u64, requests: &mut Vec<Request>| -> Result<(), PlanError> {
            while let Some((source, block)) = io.next_if(|(_, block)| u64::from(block.before) <= rank) {
                let bytes = block
                    .bytes
                    .get()
                    .checked_next_multiple_of(self.unit)
                    .ok_or_else(too_large)?;
                requests.push(Request {
                    begin: 1,
                    end: u32::MAX,
                    bytes,
                    stream: 0,
                    usage: if block.is_input { Usage::Input } else { Usage::Output },
                    source,
                });
            }
            Ok(())
        };
        for item in features {
            io_before(births[*item as usize], &mut self.requests)?;
            let shape = &shapes.items[*item as usize];
            self.requests.push(Request {
                begin: shape.lower,
                end: shape.upper - 1,
                bytes: shape.size.checked_next_multiple_of(self.unit).ok_or_else(too_large)?,
                stream: streams.get(*item as usize).copied().unwrap_or(0),
                usage: Usage::Feature,
                source: *item,
            });
        }
        io_before(u64::MAX, &mut self.requests)
    }

    /// All sums of requests stay below 63 bits.
    fn check(&self) -> Result<(), PlanError> {
        let separate = self.separate.iter().map(|(_, bytes)| *bytes);
        let mut sizes = self.requests.iter().map(|request| request.bytes).chain(separate);
        let start = self.floor.checked_next_multiple_of(self.unit);
        // Children may need a unit more than their parent: one unit more for each.
        let sum =
            start.and_then(|start| sizes.try_fold(start, |sum, bytes| sum.checked_add(bytes)?.checked_add(self.unit)));
        match sum {
            Some(sum) if sum <= LIMIT => Ok(()),
            _ => Err(PlanError::Problem(ProblemError::TooLarge)),
        }
    }

    /// Sums, and the peak of reusable bytes. O(n).
    pub(super) fn statistics(&self, reuses: bool) -> Statistics {
        let separate: u64 = self.separate.iter().map(|(_, bytes)| *bytes).sum();
        let mut sum = separate;
        let mut no_reuse = separate;
        let (mut live, mut peak) = (0_u64, 0_u64);
        let mut deaths = self
            .deaths
            .iter()
            .map(|number| &self.requests[*number as usize])
            .peekable();
        for request in &self.requests {
            sum += request.bytes;
            if !reuses || request.usage != Usage::Feature {
                no_reuse += request.bytes;
                continue;
            }
            while let Some(dead) = deaths.next_if(|dead| dead.end < request.begin) {
                live -= dead.bytes;
            }
            live += request.bytes;
            peak = peak.max(live);
        }
        Statistics {
            theory_min: Bytes(no_reuse + peak),
            no_reuse: Bytes(no_reuse),
            sum: Bytes(sum),
        }
    }
}

/// The rank of each shape in a list of buffers; shapes that are not named come last. Of several mentions the first or
/// the last counts.
fn ranks(list: &[u32], shapes: &Shapes, is_first: bool) -> Vec<u64> {
    let behind = list.len() as u64;
    let mut ranks: Vec<u64> = (behind..).take(shapes.items.len()).collect();
    for (rank, buffer) in (0_u64..).zip(list) {
        let Some(item) = shapes.item_of.get(*buffer as usize) else {
            continue;
        };
        let slot = &mut ranks[*item as usize];
        if !is_first || *slot >= behind {
            *slot = rank;
        }
    }
    ranks
}

/// The stream of each shape: that of its first buffer.
fn streams(shapes: &Shapes, order: &AllocationOrder) -> Vec<u32> {
    let mut streams = vec![0; shapes.items.len()];
    for (item, stream) in shapes.item_of.iter().zip(&order.streams).rev() {
        streams[*item as usize] = *stream;
    }
    streams
}
