//! Runs a trace.

use crate::allocator::Allocator;
use crate::answer::{Answer, Closing, Outcome};
use crate::block::BlockId;
use crate::device::{Device, SimulatedDevice};
use crate::event::{Event, Observer};
use crate::settings::Settings;
use crate::stats::Stats;
use crate::trace::{Command, Trace};
use crate::version::Rules;

/// What the number of an allocation means now.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// Nothing: not allocated, failed, or freed.
    Undefined,
    /// An allocation of 0 bytes.
    Null,
    Block(BlockId),
}

/// An allocator and the allocations that the commands speak of.
#[derive(Clone, Debug)]
pub struct Player<D, O> {
    allocator: Allocator<D, O>,
    slots: Vec<Slot>,
}

impl<D: Device, O: Observer> Player<D, O> {
    /// Plays commands of so many allocations.
    pub fn new(allocator: Allocator<D, O>, allocations: usize) -> Self {
        Self {
            allocator,
            slots: vec![Slot::Undefined; allocations],
        }
    }

    /// The allocator.
    pub fn allocator(&self) -> &Allocator<D, O> {
        &self.allocator
    }

    /// The allocator, to read its logs.
    pub fn allocator_mut(&mut self) -> &mut Allocator<D, O> {
        &mut self.allocator
    }

    /// Runs one command.
    pub fn play(&mut self, command: &Command) -> Outcome {
        match command {
            Command::Alloc { id, size, stream } => return self.alloc(*id, *size, *stream),
            Command::Free { id } => return self.free(*id),
            Command::Record { id, stream } => return self.record(*id, *stream),
            Command::Done(stream) => self.allocator.finish_stream(*stream),
            Command::Empty(None) => self.allocator.empty_cache(),
            Command::Empty(Some(pool)) => self.allocator.empty_pool(*pool),
            Command::Fraction(part) => self.allocator.set_fraction(*part),
            Command::PoolBegin(pool, filter) => self.allocator.begin_pool(*pool, *filter),
            Command::PoolEnd(pool) => self.allocator.end_pool(*pool),
            Command::PoolRelease(pool) => self.allocator.release_pool_use(*pool),
            Command::PoolUseOnOom(pool) => self.allocator.use_pool_on_oom(*pool),
            Command::PoolNoSplit(pool) => self.allocator.never_split_pool(*pool),
            Command::Set(conf) => {
                if let Err(error) = self.allocator.apply(conf) {
                    return Outcome::Refused(error.to_string());
                }
            }
            Command::Snapshot => {}
        }
        Outcome::Done
    }

    fn alloc(&mut self, id: u32, size: u64, stream: u64) -> Outcome {
        let Ok(grant) = self.allocator.alloc(size, stream) else {
            return Outcome::OutOfMemory;
        };
        let slot = &mut self.slots[id as usize];
        *slot = grant.map_or(Slot::Null, |grant| Slot::Block(grant.block));
        Outcome::Granted {
            addr: grant.map(|grant| grant.addr),
            block: grant.map_or(0, |grant| grant.size),
        }
    }

    fn free(&mut self, id: u32) -> Outcome {
        match std::mem::replace(&mut self.slots[id as usize], Slot::Undefined) {
            Slot::Undefined => Outcome::Skipped,
            Slot::Null => Outcome::Done,
            Slot::Block(block) => {
                self.allocator.free(block);
                Outcome::Done
            }
        }
    }

    fn record(&mut self, id: u32, stream: u64) -> Outcome {
        match self.slots[id as usize] {
            Slot::Undefined => Outcome::Skipped,
            Slot::Null => Outcome::Done,
            Slot::Block(block) => {
                self.allocator.record_stream(block, stream);
                Outcome::Done
            }
        }
    }
}

/// A trace on its simulated device, answer by answer.
#[derive(Clone, Debug)]
pub struct Replay<'t> {
    player: Player<SimulatedDevice, Vec<Event>>,
    commands: std::iter::Enumerate<std::slice::Iter<'t, Command>>,
}

impl<'t> Replay<'t> {
    /// From the first command.
    pub fn new(trace: &'t Trace, settings: Settings, rules: Rules) -> Self {
        let device = SimulatedDevice::new(trace.device).with_calls();
        let allocator = Allocator::with_rules(device, Vec::new(), settings, rules);
        Self {
            player: Player::new(allocator, trace.allocations),
            commands: trace.commands.iter().enumerate(),
        }
    }

    /// What is there now.
    pub fn closing(&self) -> Closing {
        Closing {
            stats: *self.player.allocator.stats(),
            segments: self.player.allocator.segments(),
        }
    }
}

impl Iterator for Replay<'_> {
    type Item = Answer;

    /// The next command's answer, in canonical order.
    fn next(&mut self) -> Option<Answer> {
        let (index, command) = self.commands.next()?;
        let outcome = self.player.play(command);
        let allocator = self.player.allocator_mut();
        let segments = matches!(command, Command::Snapshot).then(|| allocator.segments());
        let mut answer = Answer {
            index,
            outcome,
            calls: allocator.device_mut().take_calls(),
            events: std::mem::take(allocator.observer_mut()),
            stats: *allocator.stats(),
            segments,
        };
        answer.make_canonical();
        Some(answer)
    }
}

/// What a whole trace comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of commands.
    pub commands: usize,
    /// Calls that reached the device.
    pub device_calls: u64,
    /// Counters with their peaks.
    pub stats: Stats,
}

/// Runs a trace without keeping answers.
pub fn summary(trace: &Trace, settings: Settings, rules: Rules) -> Summary {
    let device = SimulatedDevice::new(trace.device);
    let allocator = Allocator::with_rules(device, (), settings, rules);
    let mut player = Player::new(allocator, trace.allocations);
    for command in &trace.commands {
        player.play(command);
    }
    let allocator = player.allocator();
    Summary {
        commands: trace.commands.len(),
        device_calls: allocator.device().count(),
        stats: *allocator.stats(),
    }
}
