//! The parts of a snapshot: what a pickle's value holds, device by device.
//!
//! In: the heap and the value that the pickle left behind. Out: entries, segments and blocks by device, settings,
//! annotations. Invariants: every row is named at most once, so that lists which many places share cannot make the work
//! larger than the file; nothing is followed deeper than the format goes. Deliberately not here: the meaning of events.

use std::collections::BTreeMap;

use super::device::{Cuts, Device, FinalBlock, FinalSegment, Place};
use super::keys;
use super::range::undo;
use super::rows::{Annotation, NONE, SeenKeys, has};
use super::value::{DictContent, Heap, Kind, Value, narrow};
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;

/// Characters of a text that is kept of settings.
const TEXT_CHARS: usize = 1000;

/// Parts of a snapshot; further ones are not read.
const MOST_FIELDS: usize = 10_000;

const MOST_SETTINGS: usize = 200;

/// Devices of one machine, and then some.
const MOST_DEVICES: usize = 256;

const ADVICE: &str = "a snapshot is written by torch.cuda.memory._dump_snapshot or torch_npu.npu.memory._dump_snapshot";

/// Whether a block of this state is live, or a stream still works with it.
const fn is_active(state: u32) -> bool {
    matches!(
        state,
        keys::ACTIVE_ALLOCATED | keys::ACTIVE_PENDING_FREE | keys::ACTIVE_AWAITING_FREE
    )
}

#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) devices: BTreeMap<Place, Device>,
    pub(super) settings: Vec<(String, String)>,
    /// As [`Recording::fields`](highwater_model::workload::Recording::fields).
    pub(super) fields: Vec<String>,
    pub(super) annotations: Vec<u32>,
    /// Whether the rows of all traces ascend, so that what was read of them is needed no more.
    pub(super) is_in_order: bool,
}

impl Snapshot {
    fn device(&mut self, place: Place) -> &mut Device {
        self.devices.entry(place).or_insert_with(|| Device {
            is_host: place == Place::Host,
            ..Device::default()
        })
    }
}

pub(super) fn snapshot(
    heap: &Heap,
    root: Value,
    cuts: Cuts,
    diagnostics: &mut Diagnostics,
) -> Result<Snapshot, ImportError> {
    let mut found = Snapshot::default();
    let fields: Vec<(Value, Value)> = heap.pairs(root).take(MOST_FIELDS).collect();
    let field = |wanted: u32| {
        let mut fields = fields.iter().rev();
        fields
            .find(|(key, _)| key.kind() == Kind::Text(wanted))
            .map(|(_, value)| *value)
    };
    let (segments, traces) = match root.kind() {
        // `memory_snapshot()` alone returns the segments.
        Kind::List(_) => (Some(root), None),
        _ => (field(keys::SEGMENTS), field(keys::DEVICE_TRACES)),
    };
    let (host_segments, host_traces) = (field(keys::HOST_SEGMENTS), field(keys::HOST_TRACES));
    if [segments, traces, host_segments, host_traces]
        .iter()
        .all(Option::is_none)
    {
        return Err(ImportError::at(
            "the file holds no memory snapshot: it has neither \"segments\" nor \"device_traces\"",
            "its end",
            ADVICE,
        ));
    }
    read_traces(
        heap,
        &traces_of(heap, traces, host_traces),
        cuts,
        &mut found,
        diagnostics,
    )?;
    read_segments(heap, segments, None, &mut found, diagnostics)?;
    read_segments(heap, host_segments, Some(Place::Host), &mut found, diagnostics)?;
    cut_off(heap, &mut found, diagnostics);
    if found.devices.contains_key(&Place::Host) {
        diagnostics.info(
            "this is pinned memory of the host, not memory of a device; the file states the sizes that its allocator rounded \
             to, to powers of two unless settings say otherwise, and not the requested bytes",
            &Place::Host.to_string(),
        );
    }
    if found.devices.len() > MOST_DEVICES {
        return Err(ImportError::at(
            format!(
                "the snapshot names {} devices, more than {MOST_DEVICES}",
                found.devices.len()
            ),
            "device_traces or segments",
            ADVICE,
        ));
    }
    let settings = field(keys::ALLOCATOR_SETTINGS);
    found.fields = fields_of(heap, root, settings);
    if let Some(settings) = settings {
        found.settings = settings_of(heap, settings);
        report_overflow(&mut found.settings, diagnostics);
    }
    if let Some(Kind::List(list)) = field(keys::EXTERNAL_ANNOTATIONS).map(Value::kind) {
        let rows = heap.lists.items(list).filter_map(|item| match content(heap, item) {
            Some(DictContent::Annotation(row)) => Some(row),
            _ => None,
        });
        found.annotations = rows.take(heap.rows.annotations.len()).collect();
    }
    report_unread(heap, &fields, diagnostics);
    if found.devices.is_empty() {
        diagnostics.warning(
            "the snapshot has no segments and no events; call torch.cuda.memory._record_memory_history() before the work \
             that is to be seen",
            "",
        );
        found.device(Place::Device(0));
    }
    Ok(found)
}

fn content(heap: &Heap, value: Value) -> Option<DictContent> {
    match value.kind() {
        Kind::Dict(dict) => heap.dicts.get(dict),
        _ => None,
    }
}

/// A list was named twice, so that what it holds would count twice.
fn named_twice(what: &str) -> ImportError {
    ImportError::at(
        format!("{what} of the snapshot are listed more often than they were written"),
        "device_traces or segments",
        ADVICE,
    )
}

/// The lists of events. Those of the host are one list, not a list for each device.
fn traces_of(heap: &Heap, devices: Option<Value>, host: Option<Value>) -> Vec<(Place, u32)> {
    let list = |value: Value| match value.kind() {
        Kind::List(list) => Some(list),
        _ => None,
    };
    let inner = |traces: u32| {
        let items = heap.lists.items(traces).map(list);
        (0_u64..).zip(items)
    };
    let of_devices = devices.and_then(list).into_iter().flat_map(inner);
    let mut traces: Vec<(Place, u32)> = of_devices
        .filter_map(|(device, trace)| Some((Place::Device(device), trace?)))
        .collect();
    if let Some(host) = host.and_then(list) {
        let is_nested = heap.lists.items(host).next().is_some_and(|item| list(item).is_some());
        if is_nested {
            traces.extend(inner(host).filter_map(|(_, trace)| Some((Place::Host, trace?))));
        } else {
            traces.push((Place::Host, host));
        }
    }
    traces
}

fn read_traces(
    heap: &Heap,
    traces: &[(Place, u32)],
    mut cuts: Cuts,
    found: &mut Snapshot,
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportError> {
    let mut n_entries = 0_usize;
    let mut last = None;
    found.is_in_order = true;
    for (place, trace) in traces {
        let mut rows = found
            .devices
            .get_mut(place)
            .map(|device| std::mem::take(&mut device.trace));
        let rows = rows.get_or_insert_default();
        for (position, item) in heap.lists.items(*trace).enumerate() {
            if let Some(DictContent::Entry(row)) = content(heap, item) {
                rows.push(row);
                found.is_in_order &= last < Some(row);
                last = Some(row);
            } else {
                let place = format!("{}[{position}]", place.trace());
                diagnostics.warning("an item of a trace is no event and is left out", &place);
            }
            n_entries += 1;
            if n_entries > heap.dicts.len() {
                return Err(named_twice("events"));
            }
        }
        let cut = cuts.remove(trace);
        if rows.len() > 0 || cut.is_some() {
            let device = found.device(*place);
            (device.trace, device.cut) = (std::mem::take(rows), cut);
        }
    }
    if n_entries > heap.rows.entries.len() + SOME_ITEMS {
        return Err(named_twice("events"));
    }
    Ok(())
}

/// Takes the events behind a range away: the state at its end is that of the devices. Devices without an event in it are left
/// out.
fn cut_off(heap: &Heap, found: &mut Snapshot, diagnostics: &mut Diagnostics) {
    let is_any = found.devices.values().any(|device| device.cut.is_some());
    found.devices.retain(|place, device| {
        let Some(cut) = device.cut.take() else {
            if is_any {
                diagnostics.warning("it has no events and is left out", &place.to_string());
            }
            return !is_any;
        };
        if cut.n_within == 0 {
            let n_events = highwater_model::units::counted(u64::from(cut.range().of), "event");
            let what = format!("it has only {n_events}, none of them in the range, and is left out");
            diagnostics.warning(what, &place.to_string());
            return false;
        }
        let behind = device.trace.split_off(cut.n_within as usize);
        undo(heap, device, &cut, &behind);
        device.cut = Some(cut);
        true
    });
}

/// Items that may be no events.
const SOME_ITEMS: usize = 1000;

/// Without a place, segments say which device has them.
fn read_segments(
    heap: &Heap,
    segments: Option<Value>,
    place: Option<Place>,
    found: &mut Snapshot,
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportError> {
    let Some(Kind::List(segments)) = segments.map(Value::kind) else {
        return Ok(());
    };
    let list = if place.is_some() { "host_segments" } else { "segments" };
    let (mut n_segments, mut n_blocks) = (0_usize, 0_usize);
    for (position, item) in heap.lists.items(segments).enumerate() {
        n_segments += 1;
        if n_segments > heap.dicts.len() {
            return Err(named_twice("segments"));
        }
        let row = match content(heap, item) {
            Some(DictContent::Segment(row)) => heap.rows.segments.get(row as usize).copied(),
            _ => None,
        };
        let whole = row.and_then(|row| Some((row, row.address?, row.total?)));
        let Some((row, address, bytes)) = whole.filter(|(_, address, bytes)| address.checked_add(*bytes).is_some())
        else {
            diagnostics.warning(
                "a segment has no address or size that can be read and is left out",
                &format!("{list}[{position}]"),
            );
            continue;
        };
        let device = found.device(place.unwrap_or(Place::Device(row.device.unwrap_or(0))));
        device.segments.push(FinalSegment { row, address, bytes });
        n_blocks += read_blocks(heap, device, &format_args!("{list}[{position}]"), diagnostics)?;
        if n_blocks > heap.rows.blocks.len() {
            return Err(named_twice("blocks"));
        }
    }
    Ok(())
}

/// The blocks of the last segment; returns how many there are.
fn read_blocks(
    heap: &Heap,
    device: &mut Device,
    place: &dyn std::fmt::Display,
    diagnostics: &mut Diagnostics,
) -> Result<usize, ImportError> {
    let Some(segment) = device.segments.last().copied() else {
        return Ok(0);
    };
    let mut next = segment.address;
    let mut sum = 0_u64;
    let mut n_blocks = 0_usize;
    for item in heap.lists.items(segment.row.blocks) {
        n_blocks += 1;
        if n_blocks > heap.dicts.len() {
            return Err(named_twice("blocks"));
        }
        let row = match content(heap, item) {
            Some(DictContent::Block(row)) => heap.rows.blocks.get(row as usize),
            _ => None,
        };
        // Older versions leave the address out: blocks are contiguous.
        let whole = row.and_then(|row| {
            let address = row.stated(has::ADDRESS, row.address).unwrap_or(next);
            Some((row, address, row.stated(has::SIZE, row.size)?))
        });
        let whole = whole.and_then(|(row, address, held)| Some((row, address, held, address.checked_add(held)?)));
        let Some((row, address, held, end)) = whole else {
            diagnostics.warning(
                "a block of a segment has no size that can be read and is left out",
                &format!("{place}.blocks[{}]", n_blocks - 1),
            );
            continue;
        };
        next = end;
        sum = sum.saturating_add(held);
        device.count(row.state, held);
        if is_active(row.state) {
            device.blocks.push(FinalBlock {
                address,
                held,
                bytes: row.stated(has::REQUESTED, row.requested).unwrap_or(held),
                states_bytes: row.stated(has::REQUESTED, row.requested).is_some(),
                frames: row.frames,
                extra: row.extra,
                stream: segment.row.stream,
            });
        }
    }
    if sum != segment.bytes {
        device.uneven += 1;
    }
    Ok(n_blocks)
}

/// Says that the ring of events overflowed, where the file states it: that is no setting.
fn report_overflow(settings: &mut Vec<(String, String)>, diagnostics: &mut Diagnostics) {
    const OVERFLOWED: &str = "trace_alloc_overflowed";
    if settings.iter().any(|(key, value)| key == OVERFLOWED && value == "True") {
        let message = "the ring of events overflowed: the oldest events are missing; record with a larger \
                       _record_memory_history(max_entries=...)";
        diagnostics.warning(message, "allocator_settings");
    }
    settings.retain(|(key, _)| key != OVERFLOWED);
}

/// The fields by which a release of torch is known, and the places whose lack of a field is known, too.
fn fields_of(heap: &Heap, root: Value, settings: Option<Value>) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |place: &str, keys: Vec<String>| {
        if !keys.is_empty() {
            all.push(place.to_owned());
            all.extend(keys.iter().map(|key| format!("{place}.{key}")));
        }
    };
    let of_dict = |dict: Value| {
        let pairs = heap.pairs(dict).take(MOST_SETTINGS);
        pairs.filter_map(|(key, _)| heap.text(key).map(cut)).collect()
    };
    let of_rows = |seen: SeenKeys| {
        let texts = seen.iter().filter_map(|key| keys::KNOWN.get(key as usize));
        texts.map(|text| (*text).to_owned()).collect()
    };
    add(
        "top",
        if matches!(root.kind(), Kind::List(_)) {
            Vec::new()
        } else {
            of_dict(root)
        },
    );
    add("settings", settings.map(of_dict).unwrap_or_default());
    add("segment", of_rows(heap.rows.keys_of_segments));
    add("block", of_rows(heap.rows.keys_of_blocks));
    add("event", of_rows(heap.rows.keys_of_entries));
    all
}

/// Keys with their values as texts; settings of settings have a dot.
fn settings_of(heap: &Heap, settings: Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (key, value) in heap.pairs(settings) {
        let key = cut(heap.text(key).unwrap_or(b"?"));
        let mut inner = heap.pairs(value).take(MOST_SETTINGS).peekable();
        if inner.peek().is_none() {
            all.push((key.clone(), plain_text(heap, value)));
        }
        for (name, value) in inner {
            let name = cut(heap.text(name).unwrap_or(b"?"));
            all.push((format!("{key}.{name}"), plain_text(heap, value)));
        }
        if all.len() >= MOST_SETTINGS {
            break;
        }
    }
    all
}

pub(super) fn plain_text(heap: &Heap, value: Value) -> String {
    if let Some(number) = heap.whole(value) {
        return number.to_string();
    }
    if let Some(number) = heap.fraction(value) {
        return number.to_string();
    }
    match value.kind() {
        Kind::Nothing => "None".to_owned(),
        Kind::Bool(true) => "True".to_owned(),
        Kind::Bool(false) => "False".to_owned(),
        Kind::Text(_) => cut(heap.text(value).unwrap_or_default()),
        Kind::List(list) => {
            let items = heap.lists.items(list).take(32).map(|item| match heap.whole(item) {
                Some(number) => number.to_string(),
                None => heap.text(item).map_or_else(|| "?".to_owned(), cut),
            });
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Kind::Dict(_) => "{}".to_owned(),
        _ => "?".to_owned(),
    }
}

/// At most so many characters of a text.
pub(super) fn cut(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * TEXT_CHARS)]);
    text.chars().take(TEXT_CHARS).collect()
}

fn report_unread(heap: &Heap, fields: &[(Value, Value)], diagnostics: &mut Diagnostics) {
    for (key, _) in fields {
        let is_read = matches!(
            key.kind(),
            Kind::Text(
                keys::SEGMENTS
                    | keys::DEVICE_TRACES
                    | keys::ALLOCATOR_SETTINGS
                    | keys::EXTERNAL_ANNOTATIONS
                    | keys::HOST_SEGMENTS
                    | keys::HOST_TRACES
            )
        );
        if !is_read {
            diagnostics.skipped(
                "a part of the snapshot that is not known",
                &cut(heap.text(*key).unwrap_or(b"?")),
            );
        }
    }
    for (key, count) in heap.rows.unread.iter().take(64) {
        let name = if *key == NONE {
            "a key that is no text".to_owned()
        } else {
            cut(heap.text_at(*key).unwrap_or(b"?"))
        };
        let message = format!("field \"{name}\" of {count} events, segments, blocks or frames is not read");
        diagnostics.info(message, "");
    }
}

/// The annotations of a snapshot, in order.
pub(super) fn annotations(heap: &Heap, root: Value) -> impl Iterator<Item = Annotation> + '_ {
    let fields = heap.pairs(root).take(MOST_FIELDS);
    let list = fields
        .filter(|(key, _)| key.kind() == Kind::Text(keys::EXTERNAL_ANNOTATIONS))
        .filter_map(|(_, value)| match value.kind() {
            Kind::List(list) => Some(list),
            _ => None,
        })
        .last();
    let items = list.into_iter().flat_map(|list| heap.lists.items(list));
    items
        .filter_map(|item| match content(heap, item) {
            Some(DictContent::Annotation(row)) => heap.rows.annotations.get(row as usize).copied(),
            _ => None,
        })
        .take(heap.rows.annotations.len())
}

/// The two numbers of a pool, from a list; `None` for the default pool.
pub(super) fn private_pool(heap: &Heap, list: u32) -> Option<(u64, u64)> {
    let mut numbers = heap.lists.items(list).map(|number| heap.unsigned(number));
    let pool = (numbers.next()??, numbers.next()??);
    (pool != (0, 0)).then_some(pool)
}

/// Distinct rows of a count that fits a step.
pub(super) fn n_steps(device: &Device) -> Option<u32> {
    let n = device.trace.len().max(1);
    (n < NONE as usize).then(|| narrow(n))
}
