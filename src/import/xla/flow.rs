//! The flattened schedule of a module, and when each value of its buffer assignment lives, as XLA works both out.
//!
//! ```text
//! schedule  a loop's condition and body, the computations of a call or branch come before the instruction itself
//! value     starts where it is defined (a parameter: with its computation), ends at its last place or use
//! place     where the value is without a copy: in tuples, behind bitcasts, within loops; a value that is defined there
//!           (a join) ends the way
//! ```
//!
//! Both ends are included. A value at the root of a computation lives to the computation's end, a parameter of the entry that
//! is not donated to the end of the schedule; a loop's operand ends where the body begins.

use std::collections::{BTreeMap, BTreeSet};

use super::assignment_proto::Place;
use super::forwarded::{Source, forwarded};
use super::model::{Alias, Instruction, Module};
use crate::ImportError;
use highwater_model::progress::Progress;

const PLACES: u64 = 1 << 24;

/// First and last step of values, by id.
pub(super) type Ranges = BTreeMap<u64, (u64, u64)>;

#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The step of each instruction by number; `None` where it never runs.
    times: Vec<Option<u64>>,
    /// First step of each computation, and the one behind its last.
    spans: Vec<Option<(u64, u64)>>,
    /// The number of each computation's first instruction.
    bases: Vec<u32>,
    pub(super) n_steps: u64,
}

/// A computation in the middle of being put into order.
struct Open {
    computation: usize,
    position: usize,
    child: usize,
}

/// Puts a module into the order in which it runs.
pub(super) fn schedule(module: &Module) -> Schedule {
    let mut schedule = Schedule {
        spans: vec![None; module.computations.len()],
        ..Schedule::default()
    };
    let mut base = 0_u32;
    for computation in &module.computations {
        schedule.bases.push(base);
        base = base.saturating_add(u32::try_from(computation.instructions.len()).unwrap_or(u32::MAX));
    }
    schedule.times = vec![None; base as usize];
    let mut open = vec![Open {
        computation: 0,
        position: 0,
        child: 0,
    }];
    schedule.spans[0] = Some((0, 0));
    while let Some(top) = open.last_mut() {
        let Some(instruction) = module.computations[top.computation].instructions.get(top.position) else {
            if let Some(span) = &mut schedule.spans[top.computation] {
                span.1 = schedule.n_steps;
            }
            open.pop();
            continue;
        };
        if let Some(child) = nth_child(instruction, top.child) {
            top.child += 1;
            let child = child as usize;
            if schedule.spans[child].is_none() {
                schedule.spans[child] = Some((schedule.n_steps, schedule.n_steps));
                open.push(Open {
                    computation: child,
                    position: 0,
                    child: 0,
                });
            }
            continue;
        }
        let number = schedule.bases[top.computation] as usize + top.position;
        schedule.times[number] = Some(schedule.n_steps);
        schedule.n_steps += 1;
        top.position += 1;
        top.child = 0;
    }
    schedule
}

/// Computations in the order in which they run: of a loop the condition first.
fn nth_child(instruction: &Instruction, child: usize) -> Option<u32> {
    let count = instruction.called.len();
    let place = if &*instruction.opcode == "while" {
        count.checked_sub(child + 1)?
    } else {
        child
    };
    instruction.called.get(place).copied()
}

/// A module with what walks need: instructions by number, who reads them, who calls their computation.
struct Walk<'m> {
    module: &'m Module,
    schedule: &'m Schedule,
    instructions: Vec<(&'m Instruction, u32)>,
    /// Readers of each instruction: number and operand.
    users: Vec<Vec<(u32, u32)>>,
    nodes: Vec<u32>,
    /// By instruction: nodes of operands that it passes on, ascending, and its own nodes.
    passed: Vec<Box<[(Source, u32)]>>,
    /// Callers of each computation: number, and which of the called it is.
    callers: Vec<Vec<(u32, usize)>>,
    /// Parameters of each computation by their number.
    parameters: Vec<BTreeMap<u64, u32>>,
}

impl<'m> Walk<'m> {
    fn new(module: &'m Module, schedule: &'m Schedule) -> Self {
        let mut walk = Self {
            module,
            schedule,
            instructions: Vec::new(),
            users: vec![Vec::new(); schedule.times.len()],
            nodes: Vec::new(),
            passed: Vec::new(),
            callers: vec![Vec::new(); module.computations.len()],
            parameters: vec![BTreeMap::new(); module.computations.len()],
        };
        for (at, computation) in (0_u32..).zip(&module.computations) {
            let base = schedule.bases[at as usize];
            for (number, instruction) in (base..).zip(&computation.instructions) {
                for (operand, position) in (0..).zip(&instruction.operands) {
                    walk.users[(base + position) as usize].push((number, operand));
                }
                for (which, called) in instruction.called.iter().enumerate() {
                    walk.callers[*called as usize].push((number, which));
                }
                if &*instruction.opcode == "parameter" {
                    walk.parameters[at as usize].insert(instruction.number, number);
                }
                walk.instructions.push((instruction, at));
                walk.nodes.push(instruction.n_nodes());
                let sources = forwarded(computation, instruction).into_iter();
                let passed = (0..).zip(sources).filter_map(|(node, source)| Some((source?, node)));
                let mut passed: Vec<(Source, u32)> = passed.collect();
                passed.sort_unstable();
                walk.passed.push(passed.into());
            }
        }
        walk
    }

    fn is_root(&self, number: u32) -> bool {
        let (_, computation) = self.instructions[number as usize];
        let base = self.schedule.bases[computation as usize];
        self.module.computations[computation as usize].root == number - base
    }

    /// Further places of a value, without a copy.
    fn next(&self, place: Place, to: &mut Vec<Place>) {
        let (number, node) = place;
        for (user, operand) in &self.users[number as usize] {
            self.through(place, *user, *operand, to);
        }
        if self.is_root(number) {
            let (_, computation) = self.instructions[number as usize];
            for (caller, which) in &self.callers[computation as usize] {
                let called = &self.instructions[*caller as usize].0.called;
                match (&*self.instructions[*caller as usize].0.opcode, which) {
                    ("while", 0) => {
                        to.push((*caller, node));
                        to.extend(called.iter().filter_map(|one| Some((self.parameter(*one, 0)?, node))));
                    }
                    ("call" | "conditional", _) => to.push((*caller, node)),
                    _ => {}
                }
            }
        }
    }

    /// The places where a reader puts the value that it reads without a copy.
    fn through(&self, place: Place, user: u32, operand: u32, to: &mut Vec<Place>) {
        let node = place.1;
        let instruction = self.instructions[user as usize].0;
        let passed = &self.passed[user as usize];
        let first = passed.partition_point(|entry| entry.0 < (operand, node));
        let same = passed[first..].iter().take_while(|entry| entry.0 == (operand, node));
        to.extend(same.map(|entry| (user, entry.1)));
        match &*instruction.opcode {
            "bitcast" => to.push((user, node)),
            "while" => {
                let called = instruction.called.iter();
                to.extend(called.filter_map(|one| Some((self.parameter(*one, 0)?, node))));
                to.push((user, node));
            }
            "call" => {
                let called = instruction.called.first();
                to.extend(called.and_then(|one| Some((self.parameter(*one, u64::from(operand))?, node))));
            }
            "conditional" => {
                let branch = (operand as usize).checked_sub(1);
                let called = branch.and_then(|branch| instruction.called.get(branch));
                to.extend(called.and_then(|one| Some((self.parameter(*one, 0)?, node))));
            }
            _ => {}
        }
    }

    fn parameter(&self, computation: u32, number: u64) -> Option<u32> {
        self.parameters[computation as usize].get(&number).copied()
    }

    fn time(&self, number: u32) -> Option<u64> {
        self.schedule.times[number as usize]
    }

    /// The last step on which a value is at a place or read there.
    fn end_at(&self, place: Place) -> Option<u64> {
        let (number, node) = place;
        let (_, computation) = self.instructions[number as usize];
        let own = match self.schedule.spans[computation as usize] {
            Some(span) if self.is_root(number) => self.time(number).map(|_| span.1),
            _ => self.time(number),
        };
        let uses = self.users[number as usize].iter().filter_map(|(user, _)| {
            let instruction = self.instructions[*user as usize].0;
            match &*instruction.opcode {
                "tuple" | "call" | "bitcast" | "optimization-barrier" | "domain" | "add-dependency" => None,
                "get-tuple-element" if node != 0 => None,
                "while" => self.time(self.parameter(*instruction.called.first()?, 0)?),
                _ => self.time(*user),
            }
        });
        uses.chain(own).max()
    }
}

/// Live ranges of values; `None` where the module is too entangled. Values that are never defined while it runs are
/// missing.
pub(super) fn ranges(
    module: &Module,
    schedule: &Schedule,
    defined: &BTreeMap<u64, Place>,
    progress: &Progress<'_>,
) -> Result<Option<Ranges>, ImportError> {
    let walk = Walk::new(module, schedule);
    let definitions: BTreeSet<Place> = defined.values().copied().collect();
    let mut ranges = Ranges::new();
    let mut budget = PLACES;
    let mut places: Vec<Place> = Vec::new();
    for (id, place) in defined {
        progress.check()?;
        let (instruction, computation) = walk.instructions[place.0 as usize];
        let Some(span) = schedule.spans[computation as usize] else {
            continue;
        };
        let Some(time) = walk.time(place.0) else { continue };
        let is_parameter = &*instruction.opcode == "parameter";
        let start = if is_parameter { span.0 } else { time };
        places.clear();
        places.push(*place);
        let mut seen: BTreeSet<Place> = places.iter().copied().collect();
        let mut end = start;
        while let Some(place) = places.pop() {
            let Some(left) = budget.checked_sub(1 + walk.users[place.0 as usize].len() as u64) else {
                return Ok(None);
            };
            budget = left;
            if budget.is_multiple_of(4096) {
                progress.check()?;
            }
            end = end.max(walk.end_at(place).unwrap_or(0));
            let before = places.len();
            walk.next(place, &mut places);
            let mut kept = before;
            for at in before..places.len() {
                let next = places[at];
                let is_real = next.1 < walk.nodes[next.0 as usize];
                if is_real && !definitions.contains(&next) && seen.insert(next) {
                    places[kept] = next;
                    kept += 1;
                }
            }
            places.truncate(kept);
        }
        if is_parameter && computation == 0 && place.1 == 0 && !is_donated(module, instruction.number) {
            end = schedule.n_steps;
        }
        ranges.insert(*id, (start, end));
    }
    Ok(Some(ranges))
}

/// Whether an output takes the buffer of a parameter, or of an element of it.
fn is_donated(module: &Module, number: u64) -> bool {
    let of_parameter = Alias {
        operand: number,
        ..Alias::default()
    };
    let mut from = module.donated.range(of_parameter..);
    from.next().is_some_and(|donated| donated.operand == number)
}
