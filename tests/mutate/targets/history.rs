//! Recorded histories of the caching allocator with contradictions.
//!
//! The first byte chooses a history, the second how many of its events are missing at the start; then each eight bytes
//! are an edit: the position of an event or segment (two bytes), what of it changes, how, and a number (four bytes).

use std::sync::LazyLock;

use highwater_torch::recording::{Recording, Replayable, Stop, check_all_orders, what_if};
use highwater_torch::{
    Action, Allocator, DeviceSpec, Event, Order, Player, SegmentState, Settings, SimulatedDevice, Trace, Version,
};

use super::Readable;

/// What the histories record: frees of several streams, private pools, a full device, an emptied cache.
const COMMANDS: &str = include_str!("../seeds/commands.trace");

const CONFS: [(&str, Version); 5] = [
    ("", Version::NEWEST),
    ("expandable_segments:True", Version::NEWEST),
    (
        "max_split_size_mb:32,garbage_collection_threshold:0.5",
        Version::Torch2_9,
    ),
    ("", Version::Npu),
    ("expandable_segments:True", Version::Npu),
];

static HISTORIES: LazyLock<Vec<(Settings, Recording)>> =
    LazyLock::new(|| CONFS.iter().map(|(conf, version)| recorded(conf, *version)).collect());

fn recorded(conf: &str, version: Version) -> (Settings, Recording) {
    let trace = Trace::parse(COMMANDS).expect("the seed is a trace");
    let settings = Settings::parse(conf, version).expect("the settings are right");
    let device = SimulatedDevice::new(trace.device);
    let allocator = Allocator::new(device, Vec::<Event>::new(), settings.clone());
    let mut player = Player::new(allocator, trace.allocations);
    for command in &trace.commands {
        player.play(command);
    }
    let segments = player.allocator().segments();
    let events = std::mem::take(player.allocator_mut().observer_mut());
    (settings, Recording { events, segments })
}

pub(super) fn read(bytes: &[u8]) -> Option<Readable> {
    let [chosen, skipped, edits @ ..] = bytes else {
        return None;
    };
    let (settings, recording) = &HISTORIES[usize::from(*chosen) % CONFS.len()];
    let mut recording = recording.clone();
    recording
        .events
        .drain(..usize::from(*skipped).min(recording.events.len()));
    for edit in edits.chunks_exact(8) {
        let place = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
        let number = u32::from_le_bytes([edit[4], edit[5], edit[6], edit[7]]);
        if edit[2] < 128 {
            edit_events(&mut recording.events, place, edit[2], (edit[3], number));
        } else {
            edit_segments(&mut recording.segments, place, edit[2], (edit[3], number));
        }
    }
    replayed(settings, &recording)
}

fn replayed(settings: &Settings, recording: &Recording) -> Option<Readable> {
    let mut readable = None;
    for total in [None, Some(1 << 28)] {
        let Ok(replayable) = Replayable::new(recording, settings, total, Stop::NEVER) else {
            continue;
        };
        drop(check_all_orders(&replayable, settings));
        let device = DeviceSpec {
            total: total.unwrap_or(1 << 50),
            other: 0,
            order: Order::Up,
        };
        for (other, _) in &*HISTORIES {
            let rules = (other.clone(), other.version.rules());
            what_if(&replayable, rules, device, ()).expect("nothing stops it");
        }
        readable = Some(Readable::Other);
    }
    readable
}

/// How a number changes.
fn change(value: &mut u64, (how, number): (u8, u32)) {
    let number = u64::from(number);
    *value = match how % 6 {
        0 => number,
        1 => value.wrapping_add(number),
        2 => value.wrapping_sub(number),
        3 => number << 32,
        4 => u64::MAX - number,
        _ => *value ^ (1 << (number % 64)),
    };
}

fn edit_events(events: &mut Vec<Event>, place: usize, what: u8, by: (u8, u32)) {
    let other = usize::try_from(by.1).unwrap_or(0) % events.len().max(1);
    let len = events.len().max(1);
    let Some(model) = events.get(other).copied() else {
        return;
    };
    let Some(event) = events.get_mut(place % len) else {
        return;
    };
    match what % 10 {
        0 => event.action = Action::NAMES[usize::from(by.0) % Action::NAMES.len()].0,
        1 => change(&mut event.addr, by),
        2 => change(&mut event.size, by),
        3 => change(&mut event.stream, by),
        4 => event.pool = (by.0 > 0).then_some(u64::from(by.1)),
        5 => drop(events.remove(place % len)),
        6 => {
            let copy = *event;
            events.insert(other, copy);
        }
        7 => events.swap(place % len, other),
        8 => event.addr = model.addr,
        _ => event.size = model.size,
    }
}

fn edit_segments(segments: &mut Vec<SegmentState>, place: usize, what: u8, by: (u8, u32)) {
    let len = segments.len().max(1);
    let Some(segment) = segments.get_mut(place % len) else {
        return;
    };
    let block = usize::from(by.0 / 8) % segment.blocks.len().max(1);
    match (what % 12, segment.blocks.get_mut(block)) {
        (0, _) => change(&mut segment.addr, by),
        (1, _) => change(&mut segment.size, by),
        (2, _) => change(&mut segment.stream, by),
        (3, _) => segment.is_small ^= true,
        (4, _) => segment.is_expandable ^= true,
        (5, _) => segment.pool = (by.0 > 0).then_some(u64::from(by.1)),
        (6, _) => drop(segments.remove(place % len)),
        (7, _) => {
            let copy = segment.clone();
            segments.push(copy);
        }
        (8, Some(block)) => change(&mut block.addr, by),
        (9, Some(block)) => change(&mut block.size, by),
        (10, Some(block)) => change(&mut block.requested, by),
        (11, Some(_)) => drop(segment.blocks.remove(block)),
        _ => {}
    }
}
