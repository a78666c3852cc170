//! One event of a Chrome trace, and the list of them read one by one.

use std::fmt;

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
    args: Option<Args>,
}

/// A text; anything else counts as an empty one.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).unwrap_or_default()))
    }
}

/// The arguments of a memory event; empty for all other events.
#[derive(Default)]
struct Args {
    address: Option<u64>,
    bytes: Option<i64>,
    allocated: Option<u64>,
    reserved: Option<u64>,
    device_type: Option<i64>,
    device_id: Option<i64>,
    /// Fields that were there but are no such number.
    has_fault: bool,
}

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgsVisitor)
    }
}

struct ArgsVisitor;

impl<'de> Visitor<'de> for ArgsVisitor {
    type Value = Args;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments of an event")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Args, A::Error> {
        let mut args = Args::default();
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            match &*key {
                "Addr" => args.address = number(&mut map, &mut args.has_fault)?,
                "Bytes" => args.bytes = number(&mut map, &mut args.has_fault)?,
                "Total Allocated" => args.allocated = number(&mut map, &mut args.has_fault)?,
                "Total Reserved" => args.reserved = number(&mut map, &mut args.has_fault)?,
                "Device Type" => args.device_type = number(&mut map, &mut args.has_fault)?,
                "Device Id" => args.device_id = number(&mut map, &mut args.has_fault)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(args)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Args, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Args::default())
    }
    fn visit_str<E>(self, _: &str) -> Result<Args, E> {
        Ok(Args::default())
    }
    fn visit_unit<E>(self) -> Result<Args, E> {
        Ok(Args::default())
    }
    fn visit_bool<E>(self, _: bool) -> Result<Args, E> {
        Ok(Args::default())
    }
    fn visit_i64<E>(self, _: i64) -> Result<Args, E> {
        Ok(Args::default())
    }
    fn visit_u64<E>(self, _: u64) -> Result<Args, E> {
        Ok(Args::default())
    }
    fn visit_f64<E>(self, _: f64) -> Result<Args, E> {
        Ok(Args::default())
    }
}

/// A whole number, also where it is written as a text.
fn number<'de, A: MapAccess<'de>, T: std::str::FromStr>(
    map: &mut A,
    has_fault: &mut bool,
) -> Result<Option<T>, A::Error> {
    let raw = map.next_value::<Box<RawValue>>()?;
    let found = raw.get().trim_matches('"').parse().ok();
    *has_fault |= found.is_none();
    Ok(found)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryEvent {
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

#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) memory: Vec<MemoryEvent>,
    pub(super) ops: Ops,
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
        let is_op = text(&event.ph) == "X" && matches!(text(&event.cat).as_str(), "cpu_op" | "Operator" | "operator");
        if !is_op {
            return;
        }
        let Some((start, length)) = time(&event.ts).zip(time(&event.dur)) else {
            self.unreadable_ops += 1;
            return;
        };
        let thread = self.thread(event);
        self.ops.push(thread, &name, (start, start.saturating_add(length)));
    }

    fn thread(&mut self, event: &WireEvent) -> u32 {
        let raw = |raw: &Option<Box<RawValue>>| raw.as_ref().map_or("", |raw| raw.get()).to_owned();
        self.ops.thread(&raw(&event.pid), &raw(&event.tid))
    }

    fn memory_event(&mut self, event: &WireEvent, at: Option<u64>, is_out_of_memory: bool) {
        let args = event.args.as_ref().filter(|args| !args.has_fault);
        let whole = args.and_then(|args| {
            let address = args.address.or(is_out_of_memory.then_some(0))?;
            Some((args, at?, address, args.bytes?))
        });
        let Some((args, at, address, bytes)) = whole else {
            if self.unreadable.0 == 0 {
                self.unreadable.1 = self.events - 1;
            }
            self.unreadable.0 += 1;
            return;
        };
        let thread = self.thread(event);
        self.memory.push(MemoryEvent {
            at,
            address,
            bytes,
            allocated: args.allocated,
            reserved: args.reserved,
            device: (args.device_type.unwrap_or(0), args.device_id.unwrap_or(-1)),
            thread,
            is_out_of_memory,
        });
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
