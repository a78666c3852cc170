//! The page pools against recorded answers of the original allocator, call by call.
//!
//! Reads whatever lies in `$HIGHWATER_SHARED/conformance/ge/dyn` (a trace, and answers of policies 0 and 3) and
//! compares addresses, spans, driver calls, bytes in use and the pools' own counters. Without the variable the
//! comparison is skipped. Answers of policy 3 that join scattered pages or destroy pools are left out: neither is
//! modelled.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::sim::{DeviceSession, StaticMemoryPolicy};

const GUARD: u64 = 2 << 20;

/// One trace being replayed.
struct Replay {
    policy: StaticMemoryPolicy,
    memory: DeviceMemory,
    pools: Pools,
    /// Names of the pools, in the order of `pools`.
    names: Vec<u64>,
    current: u64,
    live: BTreeMap<String, Option<(u64, Grant)>>,
    /// Fake addresses of regions: space and start.
    starts: Vec<(&'static str, u64)>,
    pages: BTreeMap<u64, u64>,
    next: BTreeMap<&'static str, u64>,
    seen: usize,
    used: u64,
}

impl Replay {
    fn new(policy: StaticMemoryPolicy, header: &Value) -> Self {
        let device = crate::workload::Device {
            name: String::new(),
            memory_bytes: header["device"].as_u64().expect("a device"),
            malloc_ns: 0,
            free_ns: 0,
            map_ns: 0,
            sync_ns: 0,
            launch_ns: 0,
            memory_bytes_per_second: 1,
            host_bytes_per_second: 1,
            source: String::new(),
        };
        let params = Params::for_device(&device);
        let mut pools = Pools::new(&params, policy.row().expands_pools);
        pools.rules.threshold = header["threshold"].as_u64().expect("a threshold");
        pools.device.rules = pools.rules;
        Self {
            policy,
            memory: DeviceMemory::new(policy, params.device_bytes, &DeviceSession::default(), 0),
            pools,
            names: Vec::new(),
            current: 0,
            live: BTreeMap::new(),
            starts: vec![("dev", 0)],
            pages: BTreeMap::new(),
            next: BTreeMap::new(),
            seen: 0,
            used: 0,
        }
    }

    fn pool(&mut self, name: u64) -> usize {
        if let Some(at) = self.names.iter().position(|other| *other == name) {
            return at;
        }
        self.names.push(name);
        self.pools.add(GraphIdx(0), &mut self.memory)
    }

    /// Runs one command; the answer in the golden form, as far as it is compared.
    fn command(&mut self, words: &[&str]) -> Value {
        let mut answer = json!({});
        let mut shown = Some(self.current);
        match words {
            ["use", name] => {
                self.current = name.parse().expect("a number");
                self.pool(self.current);
                shown = Some(self.current);
            }
            ["a", id, size] => {
                let pool = self.pool(self.current);
                let bytes = Bytes(size.parse().expect("bytes"));
                let granted = self.pools.allocate(pool, bytes, &mut self.memory).ok();
                answer["ok"] = json!(granted.is_some());
                if let Some(grant) = granted {
                    self.follow(&mut Vec::new(), self.seen);
                    let (space, start) = self.starts[grant.region.0 as usize];
                    answer["addr"] = json!([space, start + grant.offset]);
                    answer["span"] = json!(grant.bytes.get());
                }
                self.live
                    .insert((*id).to_owned(), granted.map(|grant| (self.current, grant)));
            }
            ["f", id] => {
                if let Some((name, grant)) = self.live.remove(*id).flatten() {
                    let pool = self.pool(name);
                    self.pools.release(pool, grant.span);
                    shown = Some(name);
                }
            }
            ["sync"] => self.memory.record(EventKind::Sync, NO_REGION, 0, Bytes::ZERO),
            ["recycle"] => {
                let pool = self.pool(self.current);
                let before = self.memory.n_events();
                self.pools.recycle(pool, &mut self.memory);
                // The trace's command does not wait for the stream.
                self.seen = before + 1;
            }
            ["recycle_l1"] => self.pools.device.recycle(&mut self.memory),
            ["destroy", name] => shown = self.destroy(name.parse().expect("a number")),
            _ => {}
        }
        let mut calls = Vec::new();
        self.follow(&mut calls, self.seen);
        self.seen = self.memory.n_events();
        answer["dev"] = Value::Array(calls);
        answer["used"] = json!(self.used);
        if let Some(at) = shown.and_then(|name| self.names.iter().position(|other| *other == name)) {
            let pool = &self.pools.graphs[at];
            let occupied = pool.blocks + pool.range.as_ref().map_or(0, VirtualRange::occupied);
            answer["pool"] = json!([occupied, pool.spans.idle()]);
        }
        answer["l1"] = json!([self.pools.device.occupied, self.pools.device.spans.idle()]);
        answer
    }

    fn destroy(&mut self, name: u64) -> Option<u64> {
        let at = self.pool(name);
        let mut below = Below {
            device: &mut self.pools.device,
            store: &mut self.pools.store,
            memory: &mut self.memory,
        };
        self.pools.graphs[at].recycle(&mut below);
        self.pools.graphs.remove(at);
        self.names.remove(at);
        None
    }

    /// Turns new events into driver calls at fake addresses.
    fn follow(&mut self, calls: &mut Vec<Value>, from: usize) {
        let log = self.memory.log();
        self.used = 0;
        (self.starts, self.pages, self.next) = (vec![("dev", 0)], BTreeMap::new(), BTreeMap::new());
        for (idx, event) in log.events.iter().enumerate() {
            let bytes = event.bytes.get();
            let region = event.region.0 as usize;
            let call = match event.kind {
                EventKind::DeviceMalloc => {
                    self.used += bytes;
                    let next = self.next.entry("dev").or_default();
                    self.starts.push(("dev", *next));
                    *next += Bytes(bytes).align_up(GUARD).get() + GUARD;
                    json!(["malloc", self.starts[region].1, bytes])
                }
                EventKind::DeviceFree => {
                    self.used -= bytes;
                    json!(["free", self.starts[region].1, bytes])
                }
                EventKind::Reserve => {
                    let next = self.next.entry("va").or_default();
                    self.starts.push(("va", *next));
                    *next += Bytes(bytes).align_up(GUARD).get();
                    json!(["reserve", self.starts[region].1, bytes])
                }
                EventKind::PageAlloc => {
                    self.used += bytes;
                    json!(["palloc", bytes])
                }
                EventKind::Map => json!(["map", self.starts[region].1 + event.offset, bytes]),
                EventKind::Unmap => json!(["unmap", self.starts[region].1 + event.offset]),
                EventKind::Sync => json!(["sync"]),
                _ => continue,
            };
            if idx >= from {
                calls.push(call);
            }
        }
    }
}

/// A golden answer, as far as it is compared.
fn expected(golden: &Value) -> Value {
    let mut answer = json!({ "used": golden["used"], "dev": [] });
    for key in ["ok", "addr", "span"] {
        if let Some(value) = golden.get(key) {
            answer[key] = value.clone();
        }
    }
    for call in golden["dev"].as_array().into_iter().flatten() {
        let mut call = call.as_array().cloned().unwrap_or_default();
        match call[0].as_str() {
            Some("malloc_fail" | "palloc_fail" | "reserve_fail") => continue,
            // Handles of pages are not in the log.
            Some("palloc") => drop(call.remove(1)),
            Some("map") => drop(call.remove(2)),
            _ => {}
        }
        answer["dev"].as_array_mut().expect("a list").push(Value::Array(call));
    }
    for key in ["pool", "l1"] {
        if let Some(list) = golden[key].as_array() {
            answer[key] = json!([list[0], list[1]]);
        }
    }
    answer
}

fn compare(trace: &str, golden: &str, policy: StaticMemoryPolicy) -> Result<usize, String> {
    let mut lines = golden
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let header = lines.next().expect("a header");
    let mut replay = Replay::new(policy, &header);
    let mut count = 0;
    for (number, line) in (1..).zip(trace.lines()) {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        if words.is_empty() || matches!(words[0], "device" | "threshold_gb" | "no_reserve") {
            continue;
        }
        let mut answer = replay.command(&words);
        let mut wanted = expected(&lines.next().expect("an answer"));
        for key in ["pool", "l1"] {
            if wanted.get(key).is_none() || answer.get(key).is_none() {
                for side in [&mut answer, &mut wanted] {
                    side.as_object_mut().expect("an object").remove(key);
                }
            }
        }
        if answer != wanted {
            let policy = replay.policy.number();
            return Err(format!(
                "policy {policy}, line {number}: {line}\n  is     {answer}\n  wanted {wanted}"
            ));
        }
        count += 1;
    }
    Ok(count)
}

#[test]
fn pools_answer_as_the_original() {
    let Ok(shared) = std::env::var("HIGHWATER_SHARED") else {
        eprintln!("skipped: HIGHWATER_SHARED is not set");
        return;
    };
    let folder = Path::new(&shared).join("conformance/ge/dyn");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of answers")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "trace"))
        .collect();
    names.sort();
    let mut wrong = Vec::new();
    for path in names {
        let trace = std::fs::read_to_string(&path).expect("a trace");
        for policy in [StaticMemoryPolicy::Dynamic, StaticMemoryPolicy::DynamicExtend] {
            let name = path.with_extension(format!("p{}.jsonl", policy.number()));
            let golden = std::fs::read_to_string(&name).expect("answers");
            let expands = policy.row().expands_pools;
            let not_modelled = ["\"nv\":1", "\"ev\":\"destroy\""]
                .iter()
                .any(|text| golden.contains(text));
            // Without virtual ranges the engine falls back to the pools of policy 0.
            let policy = if expands && trace.contains("\nno_reserve") {
                StaticMemoryPolicy::Dynamic
            } else {
                policy
            };
            if expands && not_modelled {
                continue;
            }
            match compare(&trace, &golden, policy) {
                Ok(count) => eprintln!("{}: {count} answers equal", name.display()),
                Err(text) => wrong.push(format!("{}: {text}", name.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
