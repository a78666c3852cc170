//! Policies and settings that act on a failed request, each with its reason.

use super::super::verdict::Verdict;
use super::framework_advice::of_framework;
use super::graphs::{GraphMemory, GraphState, State};
use super::host::of_host;
use super::modules::ModuleMemory;
use super::needs::named;
use super::request::FailedRequest;
use super::torch_advice::of_torch;
use super::vendor::{library, vendor};
use highwater_model::units::Bytes;
use highwater_model::workload::{Library, LoggedFailure, LoggedGraph, LoggedProcess, MemoryPlace, RefusedBy};

/// Something to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// An imperative, such as `Set static_memory_policy=2`.
    pub action: String,
    /// The setting with its value, where the action is one.
    pub setting: Option<String>,
    pub reason: String,
    /// The release that knows the setting first, where the text states none.
    pub needs_version: Option<String>,
}

impl Advice {
    pub(super) fn new(action: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            action: action.into(),
            setting: None,
            reason: reason.into(),
            needs_version: None,
        }
    }

    pub(super) fn set(setting: impl Into<String>, reason: impl Into<String>) -> Self {
        let setting = setting.into();
        Self {
            setting: Some(setting.clone()),
            ..Self::new(format!("Set {setting}"), reason)
        }
    }
}

/// Less memory, where no setting helps.
pub(super) fn reduce(reason: impl Into<String>) -> Advice {
    Advice::new("Reduce the batch, or recompute activations", reason)
}

/// Whether a setting could have served a request, and what to try, first things first.
pub(super) fn advice(
    process: &LoggedProcess,
    request: &FailedRequest,
    state: &State,
    modules: &[ModuleMemory],
) -> (Verdict, Vec<Advice>) {
    let failure = &request.failure;
    if failure.was_retried {
        let retried = Advice::new(
            "Ignore this request if the run went on",
            "as far as the log shows, the pool got the memory after it freed what it had cached; that only costs time",
        );
        return (
            Verdict::unknown("its repetition did not fail, as far as the log shows"),
            vec![retried],
        );
    }
    if failure.memory == MemoryPlace::Host {
        return of_host(failure);
    }
    match library(failure) {
        Library::System => of_host(failure),
        Library::Cann => of_cann(process, request, state, modules),
        one @ (Library::TorchNpu | Library::TorchCuda | Library::TorchHip | Library::TorchXpu | Library::TorchMps) => {
            of_torch(process, request, one)
        }
        one @ (Library::Jax | Library::TensorFlow | Library::MindSpore | Library::Paddle | Library::Other) => {
            of_framework(process, request, one)
        }
    }
}

fn of_cann(
    process: &LoggedProcess,
    request: &FailedRequest,
    state: &State,
    modules: &[ModuleMemory],
) -> (Verdict, Vec<Advice>) {
    let failure = &request.failure;
    let all = match failure.who.as_deref() {
        Some("GE") => of_engine(process, failure, state, modules),
        Some("HCCL") => buffers(process),
        Some("APP") => vec![Advice::new(
            "Add the program's terminal output",
            "the program requested the memory itself (aclrtMalloc; torch_npu's pool, for example), so static_memory_policy \
             does not act on it; torch_npu's own sentence tells which allocator settings do",
        )],
        _ => vec![Advice::new(
            "Add ~/ascend/log/run/plog and ~/ascend/log/debug/plog",
            "these lines do not tell which module requested the memory",
        )],
    };
    let is_setting = all.iter().any(|one| one.setting.is_some());
    let is_alone =
        failure.who.as_deref() == Some("GE") && failure.refused == RefusedBy::Device && is_of_graph(failure, state);
    let verdict = if is_alone && !is_setting && is_policy_known(process, failure, state) {
        Verdict::no("no policy and no option makes this request smaller")
    } else if is_alone && !is_setting {
        Verdict::unknown("no line tells the policy, the graphs that were loaded, or what the device had free")
    } else {
        Verdict::unknown("the log does not state how much the device had free, and in which pieces")
    };
    let is_check = failure.refused == RefusedBy::Check;
    let others = other_processes(vendor(Library::Cann).tool).filter(|_| !is_check);
    (verdict, all.into_iter().chain(others).collect())
}

fn buffers(process: &LoggedProcess) -> Vec<Advice> {
    let set = process.settings.get("HCCL_BUFFSIZE");
    let set = set.map_or_else(String::new, |value| format!(" (the text sets {value}, in MiB)"));
    vec![Advice::new(
        "Lower HCCL_BUFFSIZE",
        format!(
            "HCCL's buffers are outside torch's pool and GE's arenas, so allocator settings and policies do not act on \
             them{set}"
        ),
    )]
}

pub(super) fn other_processes(tool: Option<&str>) -> Option<Advice> {
    let reason = "it lists all processes on the device; the log covers only those above";
    tool.map(|tool| Advice::new(format!("Run {tool}"), reason))
}

fn of_engine(process: &LoggedProcess, failure: &LoggedFailure, state: &State, modules: &[ModuleMemory]) -> Vec<Advice> {
    const POOLS: [&str; 3] = ["page caching", "rt2 memory pool", "Memory for caching"];
    let purpose = failure.purpose.as_deref().unwrap_or("");
    let policy = process.policy.map(|(policy, _)| policy);
    if failure.refused == RefusedBy::Check {
        let reason =
            "GE compares the sum of the graph's memory and the variables with its limit, before it requests anything";
        return vec![smaller_batch(failure, reason.to_owned())];
    }
    if POOLS.iter().any(|pool| purpose.starts_with(pool)) {
        return of_pool(policy, failure, is_without_engine(process));
    }
    if purpose.contains("malloc var") {
        let reason = "every policy reserves variables once per session";
        return vec![Advice::new("Reduce the variables", reason)];
    }
    let first = if is_of_graph(failure, state) {
        let sharing = sharing(policy, failure, state);
        sharing.unwrap_or_else(|| {
            if purpose.starts_with("weights") {
                let reason = "every policy reserves the weights of each loaded graph";
                Advice::new("Store the weights in a smaller type", reason)
            } else {
                smaller_batch(failure, why_no_policy(policy, failure, state))
            }
        })
    } else {
        let reason = "the log does not tell what the memory is for, so no policy can be named";
        smaller_batch(failure, reason.to_owned())
    };
    let others = modules.iter().filter(|one| one.module != "GE");
    let largest = others.max_by_key(|one| one.at_failure);
    let largest = largest.and_then(|one| Some((one, one.at_failure.filter(|bytes| *bytes > 0)?)));
    let lower = largest.map(|(one, bytes)| {
        let what = match one.module.as_str() {
            "APP" => "the program itself, by aclrtMalloc, such as torch_npu's pool",
            _ => "the largest module besides GE",
        };
        Advice::new(
            format!("Reduce the {} of {}", Bytes(bytes), one.module),
            format!("{} is {what}", one.module),
        )
    });
    let by_caller = inputs_by_caller(process, failure);
    [Some(first), by_caller, lower].into_iter().flatten().collect()
}

/// Inputs and outputs of the graph out of its feature map, where they are at least a hundredth of it. Without them the
/// request already is as small as under the option.
fn inputs_by_caller(process: &LoggedProcess, failure: &LoggedFailure) -> Option<Advice> {
    let is_for_weights = failure
        .purpose
        .as_ref()
        .is_some_and(|purpose| purpose.starts_with("weights"));
    let own = |graph: &&LoggedGraph| Some(graph.id) == failure.graph;
    let graph = process.graphs.iter().rev().find(own).filter(|_| !is_for_weights)?;
    let is_without = failure.requested.is_some() && failure.requested == graph.arena;
    let bytes = graph
        .zero_copy
        .filter(|bytes| *bytes > 0 && *bytes >= graph.total.unwrap_or(0) / 100 && !is_without)?;
    Some(Advice::set(
        "ge.exec.reuseZeroCopyMemory=1",
        format!(
            "the {} of inputs and outputs of graph {} are then memory that the program passes in, not part of the feature map",
            Bytes(bytes),
            graph.id
        ),
    ))
}

fn smaller_batch(failure: &LoggedFailure, reason: String) -> Advice {
    let graph = failure
        .graph
        .map_or_else(|| "the graph".to_owned(), |graph| format!("graph {graph}"));
    Advice::new(format!("Reduce the batch or shapes of {graph}"), reason)
}

/// Whether the request is for feature memory or weights of a static graph: by its purpose, or by its size.
fn is_of_graph(failure: &LoggedFailure, state: &State) -> bool {
    if let Some(purpose) = &failure.purpose {
        return purpose.contains("feature map") || purpose.starts_with("weights");
    }
    let graph = failure.graph.and_then(|graph| state.graph(graph));
    graph.is_some_and(|graph| graph.feature_map.is_some() && graph.feature_map == failure.requested)
}

/// Whether the text tells what a policy would change of a request for a graph's memory. Every policy reserves weights alike.
fn is_policy_known(process: &LoggedProcess, failure: &LoggedFailure, state: &State) -> bool {
    let is_for_weights = failure.purpose.as_ref().is_some_and(|one| one.starts_with("weights"));
    let graph = failure.graph.and_then(|graph| state.graph(graph));
    let is_graph_known = graph.is_some_and(|graph| graph.feature_map.is_some());
    is_for_weights || is_graph_known && (process.policy.is_some() || others(failure, state).next().is_none())
}

/// Whether the text is of a framework that runs op by op, and tells of no graph of GE: policies of graphs do not act then.
fn is_without_engine(process: &LoggedProcess) -> bool {
    const FRAMEWORKS: [&str; 3] = ["torch", "torch_npu", "mindspore"];
    let is_of_engine = process.policy.is_some()
        || !process.graphs.is_empty()
        || !process.events.is_empty()
        || !process.pools.is_empty()
        || !process.arena_loads.is_empty();
    let mut libraries = process.failures.iter().map(library);
    let is_of_framework = libraries.any(|one| matches!(one, Library::TorchNpu | Library::MindSpore))
        || FRAMEWORKS.iter().any(|name| process.versions.contains_key(*name));
    is_of_framework && !is_of_engine
}

/// Other loaded graphs with feature memory.
fn others<'a>(failure: &LoggedFailure, state: &'a State) -> impl Iterator<Item = &'a GraphMemory> {
    let own = failure.graph;
    state
        .of_state(GraphState::Loaded)
        .filter(move |graph| graph.feature_map > Some(0) && Some(graph.id) != own)
}

fn why_no_policy(policy: Option<u64>, failure: &LoggedFailure, state: &State) -> String {
    let graph = failure.graph.and_then(|graph| state.graph(graph));
    match (graph.and_then(|graph| Some((graph.id, graph.feature_map?))), policy) {
        (Some((graph, bytes)), _) if others(failure, state).next().is_none() => format!(
            "no policy helps: graph {graph} alone needs {}, and no other graph was loaded",
            Bytes(bytes)
        ),
        (_, Some(policy @ (2 | 4))) => format!("static graphs share one arena already under policy {policy}"),
        _ => "the log shows no graphs that could share memory under another policy".to_owned(),
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
    let others = others(failure, state).filter_map(|graph| Some((graph.id, graph.feature_map?)));
    let others: Vec<(u64, u64)> = others.collect();
    let largest = others.iter().map(|(_, bytes)| *bytes).max()?;
    let ids: Vec<u64> = others.iter().map(|(id, _)| *id).chain(failure.graph).collect();
    let sum = others.iter().fold(own, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let unsure = match policy {
        None => "; the log does not tell the active policy, so check it first",
        Some(_) => "",
    };
    let (shared, sum) = (Bytes(own.max(largest)), Bytes(sum));
    Some(Advice::set(
        setting,
        format!(
            "feature maps of {} share one arena: at least {shared} instead of {sum}, as documented; the graphs must not run at \
             the same time{unsure}",
            named(&ids)
        ),
    ))
}

/// Pools of dynamic graphs.
fn of_pool(policy: Option<u64>, failure: &LoggedFailure, is_without_engine: bool) -> Vec<Advice> {
    let setting = match policy {
        None if is_without_engine => None,
        None | Some(0) => Some("static_memory_policy=3"),
        Some(2) => Some("static_memory_policy=4"),
        Some(_) => None,
    };
    let pages = "the request is for a pool of dynamic graphs, which maps pages of 8 MiB under this policy, so that free pieces \
                 need not be contiguous";
    let unsure = match policy {
        None => "; the log does not tell the active policy, so check it first",
        Some(_) => "",
    };
    let mut all: Vec<Advice> = setting
        .map(|setting| Advice::set(setting, format!("{pages}{unsure}")))
        .into_iter()
        .collect();
    all.push(smaller_batch(
        failure,
        "pools of dynamic graphs grow with their tensors".to_owned(),
    ));
    all
}
