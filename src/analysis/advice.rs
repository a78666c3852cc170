//! Remarks of a comparison that end in one setting: what a document says otherwise, with the figures of that setting.
//!
//! Each is a finding with a fix: the window applies it with a click, and the command line names the flag behind the message.

use std::cmp::Ordering;

use super::assumption::Assumption;
use super::comparison::Comparison;
use super::error::AnalysisError;
use super::lane::Lane;
use super::request::Request;
use super::study::Study;
use highwater_model::diagnostics::Severity;
use highwater_model::graph::{DType, Graph, Phase};
use highwater_model::progress::Progress;
use highwater_model::units::{Nanos, first_of};
use highwater_options::{Edit, Finding, Fix, Lowered, Value, keys};
use highwater_rewrite::PrecisionMode;
use highwater_sim::fold::Cause;
use highwater_sim::{ArenaBehaviour, StaticMemoryPolicy};

/// The value of `precision_mode` that the reference states for training.
const TRAINING_PRECISION: &str = "allow_fp32_to_fp16";

/// The rule about policies that promise less memory.
const PROMISE: &str = "R52";

/// The most names in a sentence.
const MAX_NAMES: usize = 4;

/// The remarks, and the assumption that moves the peak most.
#[derive(Debug, Default)]
pub(super) struct Advised {
    pub(super) findings: Vec<Finding>,
    pub(super) assumption: Option<Assumption>,
}

/// The remarks, in a fixed order; none where policies are not compared.
pub(super) fn advice(
    study: &dyn Study,
    request: &Request,
    lowered: &Lowered,
    comparison: &Comparison,
    progress: &Progress<'_>,
) -> Result<Advised, AnalysisError> {
    if comparison.lane(comparison.active_policy).is_none() || comparison.workload.graphs().is_empty() {
        return Ok(Advised::default());
    }
    let mut found = Vec::new();
    found.extend(one_value(request, lowered, comparison));
    let (precision, assumption) = precision(study, request, lowered, comparison, progress)?.unzip();
    found.extend(precision);
    found.extend(documented(comparison));
    found.extend(separate_clears(request, lowered, comparison));
    Ok(Advised {
        findings: found,
        assumption: assumption.flatten(),
    })
}

fn remark(rule: &'static str, key: &'static str, value: Value, message: &str) -> Finding {
    let text = format!("set {key} to {value}");
    Finding {
        rule,
        severity: Severity::Info,
        options: vec![key.to_owned()],
        message: format!("{message}: set {key} to {value}"),
        fixes: vec![Fix {
            text,
            edits: vec![Edit::Option { key, value }],
        }],
        source: "highwater's own",
    }
}

/// Symbolic dimensions with one value: the graph is simulated as static, and unknown shapes on the device are dynamic.
fn one_value(request: &Request, lowered: &Lowered, comparison: &Comparison) -> Option<Finding> {
    if lowered.all_dynamic {
        return None;
    }
    let entries = comparison.workload.graphs().iter().zip(&comparison.session.graphs);
    let fixed = entries.filter(|(entry, loaded)| loaded.is_static && !entry.graph.symbols().is_empty());
    let names: Vec<&str> = fixed.map(|(entry, _)| &*entry.name).collect();
    let first = names.first()?;
    let more = match names.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let values = request.plan.dims.iter().filter(|(_, values)| values.len() == 1);
    let values: Vec<String> = values.map(|(name, values)| format!("{name}={}", values[0])).collect();
    let values = match &values[..] {
        [] => String::new(),
        values => format!(" ({})", first_of(values.iter(), MAX_NAMES, ", ")),
    };
    let message = format!(
        "the symbolic dimensions of {first}{more} have one value each{values}, so the graph is simulated as static; \
         on a device a graph with unknown shapes is dynamic, which this option simulates"
    );
    Some(remark("C1", keys::COMPILE_DYNAMIC_MODE, Value::Bool(true), &message))
}

fn trains(graph: &Graph) -> bool {
    let mut phases = graph.ops().iter().map(|op| op.phase);
    phases.any(|phase| matches!(phase, Phase::Backward | Phase::Optimizer))
}

fn has_float32(graph: &Graph) -> bool {
    graph.tensors().iter().any(|tensor| tensor.dtype == DType::Float32)
}

/// In training an unset `precision_mode` is `allow_fp32_to_fp16` by the document; here the widths of the file count.
fn precision(
    study: &dyn Study,
    request: &Request,
    lowered: &Lowered,
    comparison: &Comparison,
    progress: &Progress<'_>,
) -> Result<Option<(Finding, Option<Assumption>)>, AnalysisError> {
    let is_set = |key| request.options.is_set(key);
    let mut graphs = comparison.workload.graphs().iter();
    let applies = !lowered.inference
        && lowered.precision.mode == PrecisionMode::Keep
        && !is_set(keys::PRECISION_MODE)
        && !is_set(keys::PRECISION_MODE_V2)
        && graphs.any(|entry| trains(&entry.graph) && has_float32(&entry.graph));
    let Some(lane) = comparison.lane(comparison.active_policy).filter(|_| applies) else {
        return Ok(None);
    };
    let value = Value::from(TRAINING_PRECISION);
    let mut assumption = None;
    let figures = if request.has_search() {
        // A search may take minutes, and this is a remark.
        "see its effect".to_owned()
    } else {
        let mut changed = request.clone();
        // Cannot fail: the key is a row of the table.
        drop(changed.options.set(keys::PRECISION_MODE, value.clone()));
        changed.policies = vec![comparison.active_policy];
        changed.pins.clear();
        let other = study.compare(&changed, &changed.lowered(), progress)?;
        let Some(other) = other.lane(comparison.active_policy) else {
            return Ok(None);
        };
        if other.summary.peak_reserved == lane.summary.peak_reserved && !lane.summary.out_of_memory {
            return Ok(None);
        }
        let is_whole = !lane.summary.out_of_memory && !other.summary.out_of_memory;
        assumption = is_whole.then(|| Assumption {
            text: "the data types of the file are simulated",
            short: "data types of the file",
            key: keys::PRECISION_MODE,
            value: value.clone(),
            peak: lane.summary.peak_reserved,
            changed: other.summary.peak_reserved,
        });
        format!(
            "it changes the peak of policy {} from {} to {}",
            comparison.active_policy.number(),
            figure(lane),
            figure(other)
        )
    };
    let message = format!(
        "precision_mode is unset: the data types of the file are simulated, the documented default in training is \
         {TRAINING_PRECISION}; {figures}"
    );
    Ok(Some((remark("C2", keys::PRECISION_MODE, value, &message), assumption)))
}

/// The peak, with its end where memory ran out.
fn figure(lane: &Lane) -> String {
    let peak = lane.summary.peak_reserved;
    if lane.summary.out_of_memory {
        format!("{peak} (out of memory)")
    } else {
        peak.to_string()
    }
}

/// Policies 2 and 4 where the engine takes more than the document says, or runs out of memory alone.
fn documented(comparison: &Comparison) -> Vec<Finding> {
    let lanes = comparison.lanes.iter().filter(|lane| lane.pinned.is_none());
    let of_lane = |lane: &Lane| {
        let documented = lane.documented?;
        let engine_fails = lane.summary.out_of_memory && !documented.out_of_memory;
        let number = lane.policy.number();
        let here = if engine_fails {
            "runs out of memory".to_owned()
        } else {
            format!("reserves {}", lane.summary.peak_reserved)
        };
        let is_larger = engine_fails || documented.peak_reserved < lane.summary.peak_reserved;
        let why = if is_larger && lane.policy == StaticMemoryPolicy::StaticExtend {
            "; GE never frees or merges blocks of its arena"
        } else {
            ""
        };
        let message = format!(
            "policy {number} {here} (matches GE), and {} as documented (one arena of the size of the largest \
             graph){why}",
            documented.text()
        );
        let value = Value::from(ArenaBehaviour::Documented.name());
        let mut found = remark("C3", keys::POLICY_2_BEHAVIOUR, value, &message);
        if lane.policy != StaticMemoryPolicy::StaticExtend {
            // The option is about policy 2; the figure is that of the same arena.
            found.fixes.clear();
        }
        // Blocks are rounded to whole pages, which is no difference of the policies.
        let difference = documented
            .peak_reserved
            .get()
            .abs_diff(lane.summary.peak_reserved.get());
        let differs = difference > documented.peak_reserved.get() / 100;
        (engine_fails || differs).then_some(found)
    };
    lanes.filter_map(of_lane).collect()
}

/// The cost of clears op by op, which a single iteration hides behind the cost of loading.
fn separate_clears(request: &Request, lowered: &Lowered, comparison: &Comparison) -> Option<Finding> {
    let lane = comparison.lane(comparison.active_policy)?;
    let clear = lane.summary.overhead.iter().find(|row| row.cause == Cause::Clear)?;
    if !lowered.atomic_clean_separate {
        return None;
    }
    let iterations = comparison.iterations();
    let message = format!(
        "atomic_clean_policy=1 clears {} times per iteration, about {} in total; the remaining overhead is loading, \
         which happens once, so compare overheads per iteration. To clear all at the start",
        clear.count / iterations,
        Nanos(clear.time.0 / iterations)
    );
    let (key, value) = if request.options.is_set(keys::ENGINE_ATOMIC_CLEAN_POLICY) {
        (keys::ENGINE_ATOMIC_CLEAN_POLICY, Value::from("0"))
    } else {
        (keys::ATOMIC_CLEAN_POLICY, Value::Int(0))
    };
    Some(remark("C4", key, value, &message))
}

/// Findings that promise less memory (R52), with the figures of this comparison instead.
pub fn with_figures(mut findings: Vec<Finding>, comparison: &Comparison) -> Vec<Finding> {
    let lanes = (
        comparison.lane(comparison.active_policy),
        comparison.lane(StaticMemoryPolicy::Dynamic),
    );
    let (Some(active), Some(plain)) = lanes else {
        return findings;
    };
    let (peak, other) = (active.summary.peak_reserved, plain.summary.peak_reserved);
    let than = match peak.cmp(&other) {
        Ordering::Less => format!("{} less than policy 0", other.saturating_sub(peak)),
        Ordering::Equal => "as much as policy 0".to_owned(),
        Ordering::Greater => format!("{} more than policy 0", peak.saturating_sub(other)),
    };
    for finding in findings.iter_mut().filter(|finding| finding.rule == PROMISE) {
        let number = active.policy.number();
        finding.message = format!(
            "policy {number} is active{}: it reserves {}, {than}; the documentation warns of lower performance",
            comparison.in_force_if(),
            figure(active)
        );
    }
    findings
}
