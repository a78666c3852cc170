//! One event of a Chrome trace, and the list of them read one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::names::Ops;
use crate::decimal::nanos_of_micros;

/// Fields of an event, as far as they matter. Numbers stay text where a double would lose digits.
#[derive(Deserialize)]
struct WireEvent {
    #[serde(default)]
    ph: Option<Text>,
    #[serde(default)]
    cat: Option<Text>,
    #[serde(default)]
    name: Option<Text>,
    #[serde(default)]
    pid: Option<Box<RawValue>>,
    #[serde(default)]
    tid: Option<Box<RawValue>>,
    #[serde(default)]
    ts: Option<Box<RawValue>>,
    #[serde(default)]
    dur: Option<Box<RawValue>>,
    #[serde(default)]
    args: Option<Box<RawValue>>,
}

/// A text; anything else counts as an empty one.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).unwrap_or_default()))
    }
}

/// The arguments of a memory event.
type Args<'a> = BTreeMap<String, &'a RawValue>;

/// A whole number, also where it is written as a text; an error where it is anything else.
fn number<T: FromStr>(args: &Args<'_>, key: &str) -> Result<Option<T>, T::Err> {
    let number = args.get(key).map(|raw| raw.get().trim_matches('"').parse());
    number.transpose()
}

/// The number that joins an op and its kernels.
fn external(args: Option<&RawValue>) -> Option<u64> {
    const KEYS: [&str; 2] = ["\"External id\":", "\"external id\":"];
    let args = args?.get();
    let after = KEYS.iter().find_map(|key| args.split_once(key))?.1.trim_start();
    let digits = after.trim_start_matches('"');
    let end = digits.find(|letter: char| !letter.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())].parse().ok()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryEvent {
    /// Among all events of the file.
    pub(super) number: u64,
    pub(super) at: u64,
    pub(super) address: u64,
    /// Negative where memory is freed; of a failed request the requested bytes.
    pub(super) bytes: i64,
    pub(super) allocated: Option<u64>,
    pub(super) reserved: Option<u64>,
    pub(super) device: (i64, i64),
    pub(super) thread: u32,
    pub(super) is_out_of_memory: bool,
}

/// Characters of an annotation's name that are kept.
const NAME_CHARS: usize = 1000;

/// An annotated range, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) end: u64,
}

#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) memory: Vec<MemoryEvent>,
    pub(super) ops: Ops,
    /// Ranges that the program annotates, `ProfilerStep#3` among them.
    pub(super) annotations: Vec<Annotation>,
    /// Bytes of the devices that state them, by number.
    pub(super) device_memory: BTreeMap<i64, u64>,
    pub(super) events: u64,
    /// Memory events without a readable time, address or size, and the position of the first.
    pub(super) unreadable: (u64, u64),
    pub(super) unreadable_ops: u64,
    /// Whether the file is a list without an object around it: such may lack their end.
    pub(super) ends_open: bool,
}

impl Collector {
    fn event(&mut self, event: &WireEvent) {
        self.events += 1;
        let text = |text: &Option<Text>| text.as_ref().map_or("", |text| text.0.as_str()).to_owned();
        let time = |raw: &Option<Box<RawValue>>| raw.as_ref().and_then(|raw| nanos_of_micros(raw.get()));
        let name = text(&event.name);
        let is_out_of_memory = name == "[OutOfMemory]";
        if name == "[memory]" || is_out_of_memory {
            return self.memory_event(event, time(&event.ts), is_out_of_memory);
        }
        let category = text(&event.cat);
        let is_op = matches!(category.as_str(), "cpu_op" | "Operator" | "operator");
        let is_annotation = category == "user_annotation";
        let is_kernel = matches!(category.as_str(), "kernel" | "gpu_memcpy" | "gpu_memset" | "Kernel");
        if text(&event.ph) != "X" || !(is_op || is_annotation || is_kernel) {
            return;
        }
        if is_kernel {
            if let Some((external, time)) = external(event.args.as_deref()).zip(time(&event.dur)) {
                self.ops.push_kernel(external, time);
            }
            return;
        }
        let Some((start, length)) = time(&event.ts).zip(time(&event.dur)) else {
            self.unreadable_ops += u64::from(is_op);
            return;
        };
        if is_annotation {
            let name = name.chars().take(NAME_CHARS).collect();
            let end = start.saturating_add(length);
            return self.annotations.push(Annotation { name, start, end });
        }
        let thread = self.thread(event);
        let external = external(event.args.as_deref()).unwrap_or(0);
        let span = (start, start.saturating_add(length));
        self.ops.push(thread, &name, span, external);
    }

    /// Notes the memory of a device that states it.
    fn device(&mut self, raw: &RawValue) {
        let fields: Args<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let id = number(&fields, "id").ok().flatten();
        let bytes = number(&fields, "totalGlobalMem").ok().flatten();
        if let Some((id, bytes)) = id.zip(bytes).filter(|(_, bytes)| *bytes > 0) {
            self.device_memory.insert(id, bytes);
        }
    }

    fn thread(&mut self, event: &WireEvent) -> u32 {
        let raw = |raw: &Option<Box<RawValue>>| raw.as_ref().map_or("", |raw| raw.get()).to_owned();
        self.ops.thread(&raw(&event.pid), &raw(&event.tid))
    }

    fn memory_event(&mut self, event: &WireEvent, at: Option<u64>, is_out_of_memory: bool) {
        if let Some(event) = self.readable(event, at, is_out_of_memory) {
            self.memory.push(event);
            return;
        }
        if self.unreadable.0 == 0 {
            self.unreadable.1 = self.events - 1;
        }
        self.unreadable.0 += 1;
    }

    /// A memory event; `None` where its time, address or size cannot be read.
    fn readable(&mut self, event: &WireEvent, at: Option<u64>, is_out_of_memory: bool) -> Option<MemoryEvent> {
        let args: Args<'_> = serde_json::from_str(event.args.as_ref()?.get()).ok()?;
        let address: Option<u64> = number(&args, "Addr").ok()?;
        let bytes: Option<i64> = number(&args, "Bytes").ok()?;
        let device_type: Option<i64> = number(&args, "Device Type").ok()?;
        let device_id: Option<i64> = number(&args, "Device Id").ok()?;
        Some(MemoryEvent {
            number: self.events,
            at: at?,
            address: address.or(is_out_of_memory.then_some(0))?,
            bytes: bytes?,
            allocated: number(&args, "Total Allocated").ok()?,
            reserved: number(&args, "Total Reserved").ok()?,
            device: (device_type.unwrap_or(0), device_id.unwrap_or(-1)),
            thread: self.thread(event),
            is_out_of_memory,
        })
    }
}

/// The whole document: an object with `traceEvents`, or the list alone.
pub(super) struct Document<'a>(pub(super) &'a mut Collector);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"traceEvents\", or a list of events")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == "traceEvents" {
                let collector = &mut *self.0;
                map.next_value_seed(super::super::each::each(|event: WireEvent| {
                    collector.event(&event);
                    Ok(())
                }))?;
            } else if key == "deviceProperties" {
                let collector = &mut *self.0;
                map.next_value_seed(super::super::each::each(|device: Box<RawValue>| {
                    collector.device(&device);
                    Ok(())
                }))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.ends_open = true;
        while let Some(event) = seq.next_element::<WireEvent>()? {
            self.0.event(&event);
        }
        Ok(())
    }
}
