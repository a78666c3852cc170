//! What the text of a record says: fixed texts, tried the most frequent first.
//!
//! Never matched are files, lines and functions, which change with every release.

use super::draft::Draft;
use super::fact::{At, PoolLine, Says, Summary, UnloadLine};
use super::field::{after, enclosed, first_number, leading, leading_and_rest, number};
use super::head::{Record, thread};
use super::{failure, patterns, placement, statistics};
use highwater_model::workload::{LogTime, LoggedStatement, PolicyFrom};

/// Takes one record.
pub(super) fn take(record: &Record<'_>, at: At, draft: &mut Draft) {
    let text = record.text;
    if let Some(rest) = after(text, "[IMAS]") {
        engine_line(text, rest, at, draft);
        return;
    }
    devices(text, draft);
    if text.contains("em stats") && statistics_row(text, at, draft) {
        return;
    }
    if let Some(report) = failure::of_record(record) {
        draft.device(report.device);
        draft.push(at, thread(text), Says::Report(Box::new(report)));
        return;
    }
    if record.is_loud
        && let Some((text, device)) = patterns::first_statement(text)
    {
        draft.device(device);
        let at = at.stamp.map(LogTime);
        draft.state(LoggedStatement { at, text, device });
        return;
    }
    if text.contains("emory") && memory_line(text, at, draft) {
        return;
    }
    if text.contains("[allocator_") && pool_line(text, at, draft) {
        return;
    }
    other_line(text, at, draft);
}

fn statistics_row(text: &str, at: At, draft: &mut Draft) -> bool {
    let Some(row) = statistics::row(text) else {
        return false;
    };
    if statistics::is_of_helpers(text) {
        return true;
    }
    draft.damaged += u64::from(row.module.is_empty() || row.current.is_none() || row.peak.is_none());
    if !row.module.is_empty() {
        draft.device(row.device);
        draft.push(at, None, Says::Driver(Box::new(row)));
    }
    true
}

/// A line with `[IMAS]`; `rest` is after it.
fn engine_line(text: &str, rest: &str, at: At, draft: &mut Draft) {
    let push = |draft: &mut Draft, says| draft.push(at, thread(text), says);
    if let Some(body) = rest.strip_prefix("AssignVarMem Set ") {
        draft.has_info = true;
        if let Some(says) = variable(body) {
            push(draft, says);
        }
    } else if let Some(body) = rest.strip_prefix("AfterAssignMemory : ") {
        draft.policy(number(body, "smp["), PolicyFrom::Summary);
        if let Some(summary) = summary(body) {
            push(draft, Says::Summary(Box::new(summary)));
        }
    } else if rest.starts_with("Init") {
        if let Some(says) = load(rest) {
            draft.has_info |= !rest.starts_with("InitFeatureMap");
            push(draft, says);
        }
    } else if rest.starts_with("graph_") || rest.starts_with("Get") {
        draft.has_info |= rest.contains(" type[") && rest.contains(" name[");
    } else if let Some(set) = rest.find("Set ").filter(|set| *set < 64) {
        draft.has_info = true;
        placement::take(&rest[..set], &rest[set + "Set ".len()..], draft);
    }
}

/// `session_S name[V] output[0] offset to [O] size[N] ...`; a reused address owns nothing.
fn variable(body: &str) -> Option<Says> {
    if body.contains("reuse address of node") {
        return None;
    }
    let (_, rest) = body.split_once("name[")?;
    let name = rest.split_once(']')?.0.to_owned();
    let bytes = number(rest, " size[")?;
    Some(Says::Variable { name, bytes })
}

fn summary(body: &str) -> Option<Summary> {
    let (graph, rest) = body.split_once(" memoffset[")?;
    Some(Summary {
        graph: graph.trim_end_matches(',').to_owned(),
        memory_type: first_number(rest, &["memtype[", "memory type["]),
        total: leading(rest),
        zero_copy: number(rest, "zero_copy["),
        theory_min: number(rest, "theory_min["),
        sum_of_sizes: number(rest, "total_size["),
        no_reuse: number(rest, "no_reuse["),
    })
}

/// `InitWeightMem graph_G MallocMemory type[W] memaddr[P] mem_size[N]` and its like.
fn load(rest: &str) -> Option<Says> {
    let graph = number(rest, "graph_")?;
    let bytes = || first_number(rest, &["mem_size[", " size["]);
    if rest.contains("type[W]") {
        return Some(Says::Weights { graph, bytes: bytes() });
    }
    let is_features = rest.contains("type[F]");
    is_features.then(|| Says::Features {
        graph,
        bytes: bytes(),
        is_extra: rest.starts_with("InitFeatureMap "),
    })
}

/// Lines on requests of the engine, its arena and pages.
fn memory_line(text: &str, at: At, draft: &mut Draft) -> bool {
    let says = if let Some(rest) = after(text, "MallocMemory, func=") {
        draft.has_info = true;
        page(rest)
    } else if text.contains("LogicalMemoryBlock") {
        None
    } else if let Some(rest) = after(text, "ActiveMemoryBlock active_addr_begin") {
        Some(Says::ArenaBlock {
            total: number(rest, "total_size:"),
            used: number(rest, "used_size:"),
        })
    } else if text.contains("Before malloc logical_memorys") {
        Some(Says::ArenaBegins)
    } else if let Some(rest) = after(text, "ActiveMemoryAllocator::FreeMemory used_count") {
        leading(rest.trim_start_matches([' ', '='])).map(Says::ArenaUsers)
    } else if let Some(says) = arena_total(text).or_else(|| pages(text)).or_else(|| device_free(text)) {
        Some(says)
    } else {
        return false;
    };
    if let Some(says) = says {
        draft.asked_pool = None;
        draft.push(at, thread(text), says);
    }
    true
}

fn arena_total(text: &str) -> Option<Says> {
    let rest = after(text, "Total active memory alloc_size:")?;
    Some(Says::ArenaTotal {
        held: leading(rest),
        used: number(rest, "used_size:"),
        peak: number(rest, "peak_size:"),
    })
}

/// `GetMemoryInfo free[N], total[N], ...`
fn device_free(text: &str) -> Option<Says> {
    let rest = after(text, "GetMemoryInfo free[")?;
    Some(Says::DeviceFree {
        free: leading(rest)?,
        total: number(rest, " total["),
    })
}

/// `rtMalloc, size=N, purpose=TEXT, ...`: a page of variables or of a pool.
fn page(rest: &str) -> Option<Says> {
    let purpose = after(rest, "purpose=")?;
    let is_pool = purpose.starts_with("rt2 memory pool");
    let is_page = is_pool || purpose.starts_with("Auto malloc var and constant op memory");
    let bytes = number(rest, "size=")?;
    is_page.then_some(Says::Page { bytes, is_pool })
}

/// All pages of an allocator, after one came or went.
fn pages(text: &str) -> Option<Says> {
    let rest = after(text, "Physical success pa_index:")?;
    let (bytes, rest) = leading_and_rest(after(rest, "current physical memory size:")?)?;
    let is_shared = number(rest, "reuse:").map(|reuse| reuse != 0);
    Some(Says::Pages { bytes, is_shared })
}

/// Lines of pools: `[allocator_2] FUNC:text`.
fn pool_line(text: &str, at: At, draft: &mut Draft) -> bool {
    let Some(allocator) = enclosed(text, "[allocator_", &[']']) else {
        return false;
    };
    let allocator = Some(format!("allocator_{allocator}"));
    let line = if text.contains("Malloc block device_id") {
        if draft.asked_pool == allocator {
            return true;
        }
        draft.asked_pool.clone_from(&allocator);
        PoolLine::Asked
    } else if let Some(line) = pool_state(text) {
        line
    } else {
        return false;
    };
    draft.push(at, thread(text), Says::Pool { allocator, line });
    true
}

fn pool_state(text: &str) -> Option<PoolLine> {
    if let Some(rest) = after(text, "Device memory").and_then(|rest| after(rest, ": [")) {
        return Some(PoolLine::Device {
            occupied: number(rest, "total size:"),
            theory_min: number(rest, " theory_min:"),
            real_theory_min: number(rest, "real_theory_min:"),
        });
    }
    if let Some(rest) = after(text, "Allocator memory:") {
        return Some(PoolLine::Counts {
            mallocs: number(rest, "alloc count:"),
            frees: number(rest, "free count:"),
        });
    }
    let name = enclosed(text, "model_metrics:name=", &[','])?;
    text.contains("max_alloc_dev_mem=")
        .then(|| PoolLine::Graph(name.to_owned()))
}

/// Everything else.
fn other_line(text: &str, at: At, draft: &mut Draft) {
    if let Some(says) = compile(text).or_else(|| unload(text)) {
        draft.push(at, thread(text), says);
        return;
    }
    if let Some(rest) = after(text, "InitRuntimeParams: model_id=") {
        if let Some(model) = leading(rest) {
            draft.push(at, thread(text), Says::Params { model });
        }
    } else if let Some(bytes) = number(text, "Total memory size is") {
        draft.device_total = Some(bytes);
    } else if let Some(line) = pool_state(text) {
        let says = Says::Pool { allocator: None, line };
        draft.push(at, thread(text), says);
    } else {
        for key in ["static_memory_policy", "ge.exec.staticMemoryPolicy"] {
            if let Some(rest) = after(text, key) {
                draft.policy(option_value(rest), PolicyFrom::Option);
            }
        }
    }
}

/// `: 0`, `=0` or `, value: 0.` after the key of an option.
fn option_value(rest: &str) -> Option<u64> {
    let rest = rest.trim_start_matches([' ', ',', ']', '"', '\'']);
    let rest = rest.strip_prefix("value").unwrap_or(rest);
    let digits = rest.trim_start_matches([' ', ':', '=', '[', '"', '\'']);
    leading(digits).filter(|_| digits.len() < rest.len())
}

fn compile(text: &str) -> Option<Says> {
    if let Some(rest) = after(text, "PreRun start") {
        let (graph, rest_of_graph) = leading_and_rest(after(rest, "graph id ")?)?;
        let name = after(rest_of_graph, "graph name ")?.trim_end();
        return Some(Says::Compile {
            session: number(rest, "session id "),
            graph,
            name: name.trim_end_matches('.').to_owned(),
        });
    }
    for (mark, winner) in [
        ("binary-block memory assigner memory size:", "binary-block"),
        ("max-block memory assigner memory size:", "max-block"),
        ("Use binary-block memory assigner method", "binary-block"),
        ("Use max-block memory assigner method", "max-block"),
    ] {
        if text.contains(mark) {
            return Some(Says::Assigner(winner));
        }
    }
    number(text, "mem_offset excluding zero copy memory is").map(Says::ArenaOnly)
}

fn unload(text: &str) -> Option<Says> {
    let line = if let Some(rest) = after(text, "UnLoad model begin") {
        UnloadLine::Begin {
            model: number(rest, "model id:"),
        }
    } else if let Some(rest) = after(text, "model_metrics:name=") {
        let (graph, rest) = rest.split_once(',')?;
        let sizes = after(rest, " alloc_dev_mem=")?;
        UnloadLine::Metrics {
            graph: graph.to_owned(),
            freed: leading(sizes),
            shared: number(sizes, "shared_dev_mem="),
        }
    } else {
        let done = |mark: &str, end: &str| after(text, mark).filter(|rest| rest.contains(end));
        let (rest, is_evicted) = match done("UnloadGraph[", "], model[") {
            Some(rest) => (rest, false),
            None => (done("Unload graph[", "], model[")?, true),
        };
        UnloadLine::Done {
            graph: leading(rest),
            model: number(rest, "model["),
            is_evicted,
        }
    };
    Some(Says::Unload(line))
}

/// The devices that a text names.
pub(super) fn devices(text: &str, draft: &mut Draft) {
    if !text.contains("evice") && !text.contains("dev") {
        return;
    }
    for mark in ["device_id", "device id", "Device[", "devid=", "drvDevId="] {
        if let Some(rest) = after(text, mark) {
            let rest = if mark.starts_with("device") {
                rest.trim_start_matches([' ', ':', '='])
            } else {
                rest
            };
            draft.device(leading(rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Option<Says> {
        let mut draft = Draft::default();
        let record = Record {
            is_error: false,
            is_loud: false,
            module: "GE",
            pid: 1,
            name: "p",
            stamp: 0,
            text,
        };
        let at = At {
            stamp: Some(0),
            file: 0,
            position: 0,
        };
        take(&record, at, &mut draft);
        draft.facts.pop().map(|fact| fact.says)
    }

    /// Lines, and below them what they say.
    const LINES: &str = r#"
        [a.cc:1]9 F:[IMAS]InitFeatureMapAndP2PMem graph_11 MallocMemory type[F] memaddr[0x1] mem_size[64]Bytes
        [a.cc:1]9 F:[IMAS]InitFeatureMapAndP2PMem graph_11 MallocMemory type[F] memaddr[0x1] mem_size[64]
        [a.cc:1]9 F:[IMAS]InitModelMem graph_11 MallocMemory type[F] memaddr[0x1] mem_size[64]
            = Features { graph: 11, bytes: Some(64), is_extra: false }
        [IMAS]InitFeatureMap graph_1 MallocMemory type[F] mem_type[17] mem_type_origin[17] mem_addr[0x1] size[8].
            = Features { graph: 1, bytes: Some(8), is_extra: true }
        [IMAS]InitWeightMem graph_1 MallocMemory type[W] memaddr[0x1] mem_size[8]
            = Weights { graph: 1, bytes: Some(8) }
        9 F:UnloadGraph[11], model[2] success.
            = Unload(Done { graph: Some(11), model: Some(2), is_evicted: false })
        9 F:Unload graph[11], model[2] finished.
            = Unload(Done { graph: Some(11), model: Some(2), is_evicted: true })
        9 F:model_metrics:name=g_1, alloc_dev_mem=66560 B, shared_dev_mem=0 B, device_id=1, rts_model_id=3
            = Unload(Metrics { graph: "g_1", freed: Some(66560), shared: Some(0) })
        9 F:model_metrics:name=g_1, alloc_var_mem=66560 B, shared_var_mem=0 B
            = None
        [IMAS]AfterAssignMemory : ge_default_2020 memoffset[2712576]
            = Summary(Summary { graph: "ge_default_2020", memory_type: None, total: Some(2712576), zero_copy: None, theory_min: None, sum_of_sizes: None, no_reuse: None })
        [IMAS]AfterAssignMemory : g memoffset[5], memory type[2]
            = Summary(Summary { graph: "g", memory_type: Some(2), total: Some(5), zero_copy: None, theory_min: None, sum_of_sizes: None, no_reuse: None })
        [IMAS]AfterAssignMemory : g memoffset[5], memtype[2], theory_min[4], zero_copy[1], total_size[9], no_reuse[1], streams[1]
            = Summary(Summary { graph: "g", memory_type: Some(2), total: Some(5), zero_copy: Some(1), theory_min: Some(4), sum_of_sizes: Some(9), no_reuse: Some(1) })
        9 ge::C::F:aclrtFreePhysical success pa_index:2, current physical memory size:0, pg_type:2M
            = Pages { bytes: 0, is_shared: None }
        [a.cc:1]9 F:Total active memory alloc_size:8, used_size:4, peak_size:4
            = ArenaTotal { held: Some(8), used: Some(4), peak: Some(4) }
        [a.cc:1]9 F:Before malloc logical_memorys:
            = ArenaBegins
        9 F:ActiveMemoryAllocator::FreeMemory used_count = 0 device_id = 0
            = ArenaUsers(0)
        9 F:MallocMemory, func=rtMalloc, size=8388608, purpose=rt2 memory pool, ptr=0x1
            = Page { bytes: 8388608, is_pool: true }
        [a.cc:1]9 F:PreRun start, graph node size 16, session id 0, graph id 1, graph name g_1
        [a.cc:1]9 F:PreRun start: graph node size 16, session id 0, graph id 1, graph name g_1.
            = Compile { session: Some(0), graph: 1, name: "g_1" }
    "#;

    #[test]
    fn lines_of_all_releases_are_read() {
        let mut found = Vec::new();
        for line in LINES.trim().lines().map(str::trim) {
            match line.strip_prefix("= ") {
                Some(expected) => found.drain(..).for_each(|one: String| assert_eq!(one, expected)),
                None => found.push(says(&format!("{line}\n")).map_or("None".to_owned(), |says| format!("{says:?}"))),
            }
        }
        assert!(found.is_empty());
    }

    #[test]
    fn options_tell_the_policy_that_was_asked_for() {
        assert_eq!(option_value(": 3\n"), Some(3));
        assert_eq!(option_value(", value: 0.\n"), Some(0));
        assert_eq!(option_value(": \n"), None);
        assert_eq!(option_value("3 is no value\n"), None);
    }
}
