//! Policies and settings that act on a failed request, each with its reason.

use super::graphs::{GraphState, State};
use super::modules::ModuleMemory;
use super::needs::named;
use super::request::{FailedRequest, difference};
use highwater_model::units::Bytes;
use highwater_model::workload::{LoggedFailure, LoggedProcess, RefusedBy};
use highwater_options::PYTORCH_NPU_ALLOC_CONF;

/// Something to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// A setting with its value, or an action.
    pub setting: String,
    pub reason: String,
}

fn advise(setting: impl Into<String>, reason: impl Into<String>) -> Advice {
    Advice {
        setting: setting.into(),
        reason: reason.into(),
    }
}

/// What to try, first things first.
pub(super) fn advice(
    process: &LoggedProcess,
    request: &FailedRequest,
    state: &State,
    modules: &[ModuleMemory],
) -> Vec<Advice> {
    let failure = &request.failure;
    match failure.who.as_deref() {
        Some("torch") => of_torch(request),
        Some("GE") => of_engine(process, failure, state, modules),
        Some("HCCL") => vec![
            advise(
                "a smaller HCCL_BUFFSIZE",
                "HCCL's buffers are outside torch's pool and GE's arenas, so policies and allocator settings do not act on them",
            ),
            other_processes(),
        ],
        Some("APP") => vec![advise(
            "the terminal output of the program",
            "the caller of aclrtMalloc requested the memory (torch_npu's pool, for example), and static_memory_policy does not \
             act on it; torch_npu's own sentence tells which allocator settings do",
        )],
        _ => vec![
            advise(
                "the logs in ~/ascend/log/run/plog and ~/ascend/log/debug/plog",
                "these sentences do not tell who requested the memory, or what the process had",
            ),
            other_processes(),
        ],
    }
}

fn other_processes() -> Advice {
    advise(
        "npu-smi info",
        "it lists the processes on the device; this log tells of its own processes only",
    )
}

fn of_engine(process: &LoggedProcess, failure: &LoggedFailure, state: &State, modules: &[ModuleMemory]) -> Vec<Advice> {
    let purpose = failure.purpose.as_deref().unwrap_or("");
    let policy = process.policy.map(|(policy, _)| policy);
    if failure.refused == RefusedBy::Check {
        return vec![smaller_batch(
            failure,
            "GE adds the graph's memory and the variables and compares the sum with its limit, before it asks the device",
        )];
    }
    if ["page caching", "rt2 memory pool", "Memory for caching"]
        .iter()
        .any(|pool| purpose.starts_with(pool))
    {
        return of_pool(policy, failure);
    }
    if purpose.contains("var") {
        return vec![
            advise(
                "fewer or smaller variables",
                "variables are reserved once per session under every policy",
            ),
            other_processes(),
        ];
    }
    let mut all = Vec::new();
    all.extend(sharing(policy, failure, state));
    if all.is_empty() {
        all.push(smaller_batch(failure, &why_no_policy(failure, state)));
    }
    let others = modules.iter().filter(|one| !matches!(one.module.as_str(), "GE"));
    let largest = others.max_by_key(|one| one.at_failure);
    if let Some((module, bytes)) = largest.and_then(|one| Some((&one.module, one.at_failure.filter(|held| *held > 0)?)))
    {
        let what = if module == "APP" {
            "APP is the program itself, by aclrtMalloc"
        } else {
            "it is the largest module besides GE"
        };
        all.push(advise(format!("less memory for {module} ({})", Bytes(bytes)), what));
    }
    all.push(other_processes());
    all
}

fn smaller_batch(failure: &LoggedFailure, reason: &str) -> Advice {
    let graph = failure
        .graph
        .map_or_else(|| "the graph".to_owned(), |graph| format!("graph {graph}"));
    advise(format!("a smaller batch or shape for {graph}"), reason)
}

fn why_no_policy(failure: &LoggedFailure, state: &State) -> String {
    let alone = failure.graph.and_then(|graph| state.graph(graph));
    let is_alone = state.of_state(GraphState::Loaded).next().is_none();
    match alone.and_then(|graph| Some((graph.id, graph.feature_map?))) {
        Some((graph, bytes)) if is_alone => format!(
            "no policy helps: graph {graph} alone needs {} and no other graph was loaded",
            Bytes(bytes)
        ),
        _ => "the log does not show graphs that could share memory under another policy".to_owned(),
    }
}

/// The policy under which static graphs share an arena, where several graphs are loaded and do not share yet.
fn sharing(policy: Option<u64>, failure: &LoggedFailure, state: &State) -> Option<Advice> {
    let setting = match policy {
        None | Some(0) => "static_memory_policy=2",
        Some(3) => "static_memory_policy=4",
        Some(_) => return None,
    };
    let own = state.graph(failure.graph?)?.feature_map?;
    let others = state
        .of_state(GraphState::Loaded)
        .filter(|graph| graph.feature_map > Some(0));
    let others: Vec<(u64, u64)> = others
        .filter_map(|graph| Some((graph.id, graph.feature_map?)))
        .collect();
    let largest = others.iter().map(|(_, bytes)| *bytes).max()?;
    let ids: Vec<u64> = others.iter().map(|(id, _)| *id).chain(failure.graph).collect();
    let sum = others.iter().fold(own, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let unsure = match policy {
        None => "; the log does not tell the policy in effect, so check it first",
        Some(_) => "",
    };
    Some(advise(
        setting,
        format!(
            "{} share one arena: about {} instead of {} (as documented; GE's blocks can take more), if they do not run at the \
             same time{unsure}",
            named(&ids),
            Bytes(own.max(largest)),
            Bytes(sum)
        ),
    ))
}

/// Pools of dynamic graphs.
fn of_pool(policy: Option<u64>, failure: &LoggedFailure) -> Vec<Advice> {
    let expanding = match policy {
        None | Some(0) => Some("static_memory_policy=3"),
        Some(2) => Some("static_memory_policy=4"),
        Some(_) => None,
    };
    let reason = "the request is for a pool of dynamic graphs; under this policy pools map pages of 8 MiB, so that free pieces \
                  need not be contiguous";
    let mut all: Vec<Advice> = expanding.map(|setting| advise(setting, reason)).into_iter().collect();
    all.push(smaller_batch(failure, "the request is for a pool of dynamic graphs"));
    all.push(other_processes());
    all
}

/// Settings of torch's allocator, by the figures of its sentence.
fn of_torch(request: &FailedRequest) -> Vec<Advice> {
    let failure = &request.failure;
    match failure.refused {
        RefusedBy::Fraction => {
            return vec![advise(
                "a larger per_process_memory_fraction",
                "the program limits its own memory; the device was not asked",
            )];
        }
        RefusedBy::Workspace => {
            return vec![advise(
                "TASK_QUEUE_ENABLE=1",
                "torch_npu suggests it for workspaces; they are outside the pool, so expandable_segments, max_split_size_mb and \
                 garbage_collection_threshold do not act on them",
            )];
        }
        RefusedBy::Device | RefusedBy::Check => {}
    }
    let (Some(requested), Some(unused)) = (failure.requested, difference(failure.reserved, failure.allocated)) else {
        return vec![
            advise(
                "torch_npu's whole sentence",
                "these lines state neither allocated nor reserved bytes, which tell whether fragmentation is the cause",
            ),
            other_processes(),
        ];
    };
    let room = room(failure);
    let limit = difference(failure.allowed, failure.reserved);
    let is_limited = limit.is_some_and(|left| left < requested);
    let mut all = Vec::new();
    if unused.saturating_add(room) >= requested {
        all.extend(against_fragmentation(
            requested,
            unused,
            room,
            failure.allowed.is_some(),
        ));
    }
    let outside = request.outside_pool.unwrap_or(0);
    if all.is_empty() && outside > failure.reserved.unwrap_or(0) {
        all.push(advise(
            "npu-smi info",
            format!(
                "{} of the device is outside torch's pool, more than in it: look for other processes on the device, and for \
                 memory of GE, HCCL and operators in this one",
                Bytes(outside)
            ),
        ));
    }
    if is_limited {
        all.push(advise(
            "a larger per_process_memory_fraction",
            format!("the limit leaves {} to torch's pool", Bytes(limit.unwrap_or(0))),
        ));
    }
    if all.is_empty() {
        let missing = requested - unused.saturating_add(room).min(requested);
        all.push(advise(
            "a smaller batch, or recomputation of activations",
            format!(
                "not fragmentation: {} unused in the pool and {} free are {} short of the request, so allocator settings \
                 cannot help",
                Bytes(unused),
                Bytes(room),
                Bytes(missing)
            ),
        ));
    }
    all
}

/// Bytes by which the pool may grow: free ones, as far as a limit allows.
fn room(failure: &LoggedFailure) -> u64 {
    let free = failure.free.unwrap_or(0);
    difference(failure.allowed, failure.reserved).map_or(free, |left| free.min(left))
}

fn against_fragmentation(requested: u64, unused: u64, room: u64, has_limit: bool) -> Vec<Advice> {
    let reason = if unused >= requested {
        format!(
            "the pool has {} reserved, unused, more than the request: fragmentation; expandable segments can use it",
            Bytes(unused)
        )
    } else {
        format!(
            "{} reserved, unused and {} free together exceed the request: expandable segments can use both",
            Bytes(unused),
            Bytes(room)
        )
    };
    let setting = |pair: &str| format!("{PYTORCH_NPU_ALLOC_CONF}={pair}");
    let mut all = vec![
        advise(setting("expandable_segments:True"), reason),
        advise(
            setting("max_split_size_mb:128"),
            "where expandable segments are not available: large blocks are not split, so fewer are left in pieces; try several \
             sizes",
        ),
    ];
    if has_limit {
        all.push(advise(
            setting("garbage_collection_threshold:0.8"),
            "the program has a limit, so that unused blocks are released near it",
        ));
    }
    all
}
