//! A range of events that is read alone is that range of the whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::import;
use super::{Py, block, event, frame, pickle, segment};
use crate::test_help::{messages, tells};
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::{EventRange, RecordedBlock, RecordedRange, Recording, Source};

fn read_range(bytes: &[u8], range: Option<EventRange>) -> Result<(Vec<Arc<Recording>>, Diagnostics), ImportError> {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes("test.pickle", bytes)?;
    input.set_range(range);
    let mut diagnostics = Diagnostics::new();
    match import(&mut input, &Progress::silent(&cancel), &mut diagnostics)? {
        Source::Recordings(recordings) => Ok((recordings, diagnostics)),
        other => panic!("not a recording: {other:?}"),
    }
}

const SLOT: i64 = 0x1000;
const SLOTS: i64 = 4;

/// A random run: what happens, event by event.
#[derive(Default)]
struct Run {
    events: Vec<Py>,
    /// Requested bytes and number of the call stack, by address.
    live: BTreeMap<i64, (i64, u32)>,
    /// Requested to be freed: address, bytes, call stack.
    waiting: Vec<(i64, i64, u32)>,
    segments: Vec<i64>,
    /// Live bytes during each event: held until the event that completes the free.
    heights: Vec<u64>,
    notes: Vec<Py>,
    last_note: i64,
    n_stacks: u32,
}

impl Run {
    fn put(&mut self, action: &str, address: i64, size: i64, stack: Option<u32>) {
        let time = 10 * i64::try_from(self.events.len()).expect("few") + 5;
        let mut event = event(action, address, size, Some(time));
        if let (Py::Dict(pairs), Some(stack)) = (&mut event, stack) {
            let main = Py::Shared(1, Box::new(frame("main", "train.py", 1)));
            let line = Py::Shared(2 + stack % 3, Box::new(frame("load", "train.py", i64::from(stack % 3))));
            // A list for each allocation, which its free names again; single lines are shared.
            let list = Py::List(vec![line, main]);
            pairs.push(("frames", Py::Shared(100 + stack, Box::new(list))));
        }
        self.events.push(event);
        let waiting = self.waiting.iter().map(|(_, bytes, _)| *bytes);
        let live = self.live.values().map(|(bytes, _)| *bytes);
        self.heights.push(live.chain(waiting).sum::<i64>().unsigned_abs());
    }

    fn free_slot(&self, choice: i64) -> Option<i64> {
        let slots = self
            .segments
            .iter()
            .flat_map(|at| (0..SLOTS).map(move |slot| at + slot * SLOT));
        let is_free =
            |slot: &i64| !self.live.contains_key(slot) && self.waiting.iter().all(|(address, ..)| address != slot);
        let free: Vec<i64> = slots.filter(is_free).collect();
        let position = usize::try_from(choice).ok()?.checked_rem(free.len())?;
        free.get(position).copied()
    }

    fn step(&mut self, (what, choice): (u8, i64)) {
        match what {
            0..=3 => {
                let Some(slot) = self.free_slot(choice) else {
                    let at = 0x10_0000 * (1 + choice % 9);
                    if !self.segments.contains(&at) {
                        self.segments.push(at);
                        self.put("segment_alloc", at, SLOT * SLOTS, None);
                    }
                    return;
                };
                let size = 1 + choice * 37 % (SLOT - 1);
                let stack = self.n_stacks;
                self.n_stacks += 1;
                self.live.insert(slot, (size, stack));
                self.put("alloc", slot, size, Some(stack));
            }
            4..=6 => {
                let keys: Vec<i64> = self.live.keys().copied().collect();
                let Some(position) = usize::try_from(choice).ok().and_then(|n| n.checked_rem(keys.len())) else {
                    return;
                };
                let (size, stack) = self.live.remove(&keys[position]).expect("it is live");
                self.waiting.push((keys[position], size, stack));
                self.put("free_requested", keys[position], size, None);
            }
            7 | 8 => {
                if let Some((address, size, stack)) = self.waiting.pop() {
                    self.put("free_completed", address, size, Some(stack));
                }
            }
            9 => {
                let is_idle = |at: &i64| {
                    let is_in = |slot: i64| (*at..at + SLOT * SLOTS).contains(&slot);
                    !self.live.keys().any(|slot| is_in(*slot)) && !self.waiting.iter().any(|(slot, ..)| is_in(*slot))
                };
                if let Some(position) = self.segments.iter().position(is_idle) {
                    let at = self.segments.remove(position);
                    self.put("segment_free", at, SLOT * SLOTS, None);
                }
            }
            10 => self.put("oom", 99, 1 << 30, Some(self.n_stacks % 5)),
            _ => {
                let time = 10 * i64::try_from(self.events.len()).expect("few") + choice % 10;
                self.last_note = self.last_note.max(time);
                let time = self.last_note;
                self.notes.push(Py::Dict(vec![
                    ("stage", if choice % 2 == 0 { "START" } else { "END" }.into()),
                    ("name", if choice % 3 == 0 { "step 1" } else { "forward" }.into()),
                    ("device", 0.into()),
                    ("time_us", time.into()),
                ]));
            }
        }
    }

    /// The pickle without the first events.
    fn pickle(&self, first: usize) -> Vec<u8> {
        let segments = self.segments.iter().map(|at| {
            let slot = |slot: i64| {
                let address = at + slot * SLOT;
                let waiting = self.waiting.iter().find(|(waiting, ..)| *waiting == address);
                match (self.live.get(&address), waiting) {
                    (Some((bytes, _)), _) => block(address, SLOT, *bytes, "active_allocated"),
                    (_, Some((_, bytes, _))) => block(address, SLOT, *bytes, "active_pending_free"),
                    _ => block(address, SLOT, 0, "inactive"),
                }
            };
            segment(*at, SLOT * SLOTS, "large", (0..SLOTS).map(slot).collect())
        });
        let all = Py::Dict(vec![
            ("segments", Py::List(segments.collect())),
            (
                "device_traces",
                Py::List(vec![Py::List(self.events[first..].to_vec()), Py::List(Vec::new())]),
            ),
            ("external_annotations", Py::List(self.notes.clone())),
        ]);
        pickle(&all, 4)
    }
}

/// What two readings must agree on. Of a block that is older than the range the call stack may be unknown, and when a free was
/// requested before.
fn facts(recording: &Recording) -> Vec<String> {
    let stack = |block: &RecordedBlock| {
        if block.is_older {
            String::new()
        } else {
            recording.block_name(block).to_owned()
        }
    };
    let blocks = recording.blocks.iter().map(|one| {
        let (birth, end) = (one.birth, one.end);
        let freed_at = if one.is_older { one.end } else { one.freed_at };
        let (older, freed) = (one.is_older, one.is_freed);
        format!(
            "block {:?} {birth}..{end} {freed_at} {} {older} {freed} {}",
            one.address,
            one.bytes,
            stack(one)
        )
    });
    let regions = recording.regions.iter().map(|one| {
        format!(
            "region {:#x} {}..{} {} {}",
            one.address, one.birth, one.end, one.bytes, one.is_older
        )
    });
    let marks = recording
        .marks
        .iter()
        .map(|one| format!("mark {} {}", one.step, recording.text(one.text)));
    let phases = recording
        .phases
        .iter()
        .map(|one| format!("phase {}..{} {}", one.start, one.end, recording.text(one.name)));
    let mut facts: Vec<String> = blocks.chain(regions).chain(marks).chain(phases).collect();
    facts.sort();
    facts.push(format!("{:?}", recording.times.iter().collect::<Vec<_>>()));
    facts
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }
}

#[test]
fn a_range_is_that_of_the_whole() {
    let mut n_with_steps = 0;
    for seed in 1..=400 {
        let mut random = Random(seed * 0x9e37_79b9);
        let mut run = Run::default();
        for _ in 0..4 + random.below(120) {
            let choice = i64::try_from(random.below(1000)).expect("small");
            run.step((u8::try_from(random.below(13)).expect("small"), choice));
        }
        if run.events.len() < 2 {
            continue;
        }
        let skipped = random.below(20) % run.events.len();
        let n_events = run.events.len() - skipped;
        let first = random.below(n_events);
        let end = (first + 1 + random.below(60)).min(n_events);
        let bytes = run.pickle(skipped);
        let number = |event: usize| u32::try_from(event).expect("few");
        let (first_number, end_number) = (number(first), number(end));
        let numbers = EventRange::Numbers {
            first: first_number,
            end: end_number,
        };
        let (whole, _) = read_range(&bytes, None).expect("a snapshot");
        let (part, diagnostics) = read_range(&bytes, Some(numbers)).expect("a snapshot");
        let told = format!("{seed}: {first}..{end} of {n_events} {}", messages(&diagnostics));
        assert_eq!(part.len(), 1, "{told}");
        let wanted = (*whole[0]).clone().within(first_number, end_number);
        assert_eq!(facts(&part[0]), facts(&wanted), "{told}");
        let range = part[0].range.expect("a range");
        assert_eq!(
            (range.first, range.end, range.of),
            (first_number, end_number, number(n_events))
        );
        // By brute force; what the first event of the file frees is held on it.
        if first > 0 {
            let most = run.heights[skipped + first..skipped + end].iter().max().copied();
            assert_eq!(Some(part[0].peaks().live.0.get()), most, "{told}");
        }
        let last = read_range(&bytes, Some(EventRange::LastSteps(1)));
        if let Ok(Some((first, end))) = whole[0].events_of(EventRange::LastSteps(1)) {
            n_with_steps += 1;
            let (last, _) = last.expect("it has steps");
            assert_eq!(
                facts(&last[0]),
                facts(&(*whole[0]).clone().within(first, end)),
                "{told}"
            );
        } else {
            assert!(last.is_err(), "{told}");
        }
    }
    assert!(n_with_steps > 50, "{n_with_steps}");
}

#[test]
fn other_pickles_and_texts_are_cut_behind_the_reading() {
    let mut run = Run::default();
    for step in [(0, 1), (0, 2), (0, 3), (4, 0), (7, 0), (0, 9)] {
        run.step(step);
    }
    let range = EventRange::Numbers { first: 2, end: 4 };
    let (whole, _) = read_range(&run.pickle(0), None).expect("a snapshot");
    let wanted = facts(&(*whole[0]).clone().within(2, 4));
    let text = br#"{"device_traces": [[{"action": "alloc", "addr": 512, "size": 5}, {"action": "alloc", "addr": 1024, "size": 6}]]}"#;
    let imported = |bytes: &[u8], range: EventRange| {
        let cancel = Cancel::new();
        let mut input = Input::from_bytes("a.pickle", bytes).expect("bytes");
        input.set_range(Some(range));
        crate::import(&mut input, &Progress::silent(&cancel))
    };
    let found = imported(&run.pickle(0), range).expect("a snapshot");
    let Source::Recordings(recordings) = &found.source else {
        panic!("a recording")
    };
    assert_eq!(facts(&recordings[0]), wanted);
    tells(&found.diagnostics, &[("only events 2 to 3 of 6 are read", 1)]);
    let old = b"(dVdevice_traces\n(l(l(dVaction\nValloc\nsVaddr\nI512\nsVsize\nI5\nsa(dVaction\nValloc\nsVaddr\nI1024\nsVsize\nI6\nsaas.";
    let found = imported(old, EventRange::Numbers { first: 1, end: 9 }).expect("a snapshot");
    let Source::Recordings(recordings) = &found.source else {
        panic!("a recording")
    };
    assert_eq!(
        recordings[0].range,
        Some(RecordedRange {
            first: 1,
            end: 2,
            of: 2
        })
    );
    let found = imported(text, EventRange::Numbers { first: 1, end: 9 }).expect("a snapshot");
    let Source::Recordings(recordings) = &found.source else {
        panic!("a recording")
    };
    assert_eq!(
        recordings[0].range,
        Some(RecordedRange {
            first: 1,
            end: 2,
            of: 2
        })
    );
    for (bytes, range, wanted) in [
        (
            &run.pickle(0)[..],
            EventRange::Numbers { first: 6, end: 9 },
            "the file has 6 events, and none is in the range",
        ),
        (
            &run.pickle(0)[..],
            EventRange::LastSteps(2),
            "no annotation marks steps",
        ),
        (text, EventRange::Numbers { first: 2, end: 9 }, "the file has 2 events"),
        (
            b"id,lower,upper,size\na,0,1,5\n",
            EventRange::Numbers { first: 0, end: 9 },
            "planner_problem has no events",
        ),
    ] {
        let error = imported(bytes, range).expect_err("refused").to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn damage_is_an_error_or_another_range() {
    let mut run = Run::default();
    for step in [
        (0, 1),
        (12, 0),
        (0, 2),
        (0, 3),
        (4, 0),
        (10, 0),
        (7, 0),
        (0, 9),
        (12, 1),
        (4, 1),
    ] {
        run.step(step);
    }
    let whole = run.pickle(0);
    let ranges = [EventRange::Numbers { first: 2, end: 4 }, EventRange::LastSteps(1)];
    let mut n_read = 0;
    for at in 0..whole.len() {
        for value in [
            0,
            whole[at] ^ 1,
            whole[at].wrapping_add(7),
            b'(',
            b'}',
            b'u',
            b'a',
            0x94,
            255,
        ] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            for range in ranges {
                let read = read_range(&bytes, Some(range));
                n_read += usize::from(read.is_ok());
                for one in read.into_iter().flat_map(|(recordings, _)| recordings) {
                    assert_eq!(one.check(), Ok(()), "byte {at} is {value}");
                }
            }
        }
        assert!(read_range(&whole[..at], Some(ranges[0])).is_err(), "{at} bytes");
    }
    assert!(n_read > 100, "{n_read}");
}
