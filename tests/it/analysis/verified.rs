//! Whatever is compared under whatever options: plans, simulations and figures hold.

use std::sync::Arc;

use highwater::analysis::{
    Comparison, Configuration, LaneSet, Pin, RematLane, Request, Verified, arena_problem, compare,
};
use highwater::options::{Environment, OptionKind, TABLE, resolve_device};
use highwater::plan::{Plan, STRATEGIES};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::{Budget, HEURISTICS};
use highwater::units::Bytes;
use highwater::workload::{Source, Workload};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::support;
use crate::workloads::{configuration, with_values};

fn verified(comparison: &Comparison) -> Result<Verified, String> {
    let verified = comparison.verify(&Progress::silent(&Cancel::new())).expect("no cancel");
    verified.map_err(|defect| defect.to_string())
}

/// An op: its kind, the distances back to its inputs, the width of its result, its data type, its scratch memory, and
/// whether its result is a view.
type Op = (u8, Vec<usize>, u64, bool, u64, bool);

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let width = prop_oneof![1..64_u64, 1..5_000_u64, Just(1 << 20)];
    let scratch = prop_oneof![3 => Just(0_u64), 1 => 1..3_000_000_u64];
    let inputs = prop::collection::vec(1..5_usize, 1..3);
    let op = (
        0..6_u8,
        inputs,
        width,
        any::<bool>(),
        scratch,
        prop::bool::weighted(0.1),
    );
    prop::collection::vec(op, 1..24)
}

/// A graph as highwater's own JSON; results have a leading dimension `batch`, or 4.
fn graph(name: &str, ops: &[Op], is_symbolic: bool) -> Json {
    let kinds = [
        "aten.mm",
        "aten.relu",
        "aten.conv2d",
        "aten.add",
        "aten.sum",
        "aten.view",
    ];
    let batch = if is_symbolic { json!("batch") } else { json!(4) };
    let mut values = vec!["x".to_owned()];
    let mut nodes = Vec::new();
    for (position, (kind, back, width, is_wide, scratch, is_view)) in ops.iter().enumerate() {
        let inputs: Vec<&String> = back
            .iter()
            .map(|back| &values[values.len() - (*back).min(values.len())])
            .collect();
        let id = format!("v{position}");
        let mut output = json!({
            "id": id, "shape": [batch, width], "dtype": if *is_wide { "float32" } else { "float16" },
        });
        if *is_view {
            output["alias_of"] = json!(inputs[0]);
        }
        nodes.push(json!({
            "name": format!("op{position}"), "op": kinds[usize::from(*kind)], "inputs": inputs, "outputs": [output],
            "workspace_bytes": scratch, "phase": if position * 2 > ops.len() { "backward" } else { "forward" },
        }));
        values.push(id);
    }
    json!({
        "highwater_graph": 1, "name": name, "nodes": nodes,
        "inputs": [{"id": "x", "shape": [batch, 16], "dtype": "float32"}],
        "params": [{"id": "w", "shape": [64, 64], "dtype": "float32"}],
        "outputs": [values.last()],
    })
}

/// A setting: a row of the table, and its text.
fn setting() -> impl Strategy<Value = (&'static str, String)> {
    let rows: Vec<_> = TABLE.iter().filter(|row| row.lowers_to.is_some()).collect();
    (prop::sample::select(rows), any::<prop::sample::Index>()).prop_map(|(row, index)| {
        let texts: Vec<String> = match row.kind {
            OptionKind::Bool => vec!["True".to_owned(), "False".to_owned()],
            OptionKind::IntChoice(choices) => choices.iter().map(|choice| choice.0.to_string()).collect(),
            OptionKind::TextChoice(choices) => choices.iter().map(|choice| choice.0.to_owned()).collect(),
            _ => ["0", "1", "2", "0.5", "512", "4096", "3MiB", "200MiB", "2GiB", "1e9"]
                .map(str::to_owned)
                .to_vec(),
        };
        (row.key, texts[index.index(texts.len())].clone())
    })
}

fn request(
    graphs: Vec<Json>,
    settings: &[(&'static str, String)],
    batches: &[u64],
    iterations: u32,
) -> Option<Request> {
    let mut entries = Vec::new();
    for graph in graphs {
        let imported = support::read("graph.json", graph.to_string().as_bytes()).ok()?;
        let Source::Graphs(read) = imported.source else {
            return None;
        };
        entries.extend(read);
    }
    let workload = Workload::new("random".to_owned(), Source::Graphs(entries));
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let mut configuration = with_values(configuration(&settings, &[]), &workload, batches);
    configuration.plan.iterations = iterations;
    resolve_device(&configuration.options).ok()?;
    Some(Request {
        search: 500.into(),
        ..Request::new(workload, configuration)
    })
}

/// Random cases; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn every_session_under_every_option_holds(
        ops in prop::collection::vec((ops(), any::<bool>()), 1..3),
        settings in prop::collection::vec(setting(), 0..5),
        pinned in prop::collection::vec(setting(), 0..3),
        batches in prop::collection::vec(1..40_u64, 1..3),
        iterations in 1..3_u32,
        kind in 0..4_u8,
    ) {
        let graphs = ops.iter().enumerate().map(|(at, (ops, is_symbolic))| graph(&format!("g{at}"), ops, *is_symbolic));
        let request = request(graphs.collect(), &settings, &batches, iterations);
        prop_assume!(request.is_some());
        let mut request = request.expect("it is there");
        if kind == 1 {
            request.lanes = LaneSet::NameReuse;
        } else if kind == 2 {
            let mut options = request.options.clone();
            pinned.iter().for_each(|(key, text)| options.set_text(key, text).expect("a known option"));
            let configuration = Configuration {
                options,
                environment: Environment::new(),
                plan: request.plan.clone(),
            };
            request.pins = vec![Pin::new("pinned".to_owned(), configuration)];
        } else if kind == 3 {
            let lane = |budget| RematLane {
                heuristic: &HEURISTICS[batches.len() % HEURISTICS.len()],
                budget,
            };
            request.lanes = LaneSet::Remat(vec![lane(Budget::Unlimited), lane(Budget::Ratio(0.7))]);
        }
        if let Ok(comparison) = compare(&request, &Progress::silent(&Cancel::new())) {
            let verified = verified(&comparison);
            prop_assert!(verified.is_ok(), "{verified:?}");
            prop_assert_eq!(verified.map(|verified| verified.simulations), Ok(comparison.lanes.len()));
        }
    }
}

#[test]
fn every_strategy_holds_on_every_policy() {
    let ops: Vec<Op> = (0..40)
        .map(|at: u64| {
            (
                0,
                vec![1, 3],
                at * at % 977 + 1,
                at.is_multiple_of(2),
                at % 3 * 1000,
                at.is_multiple_of(11),
            )
        })
        .collect();
    let mut n_plans = 0;
    for strategy in STRATEGIES {
        let settings = [("simulation.placement_strategy", strategy.name.to_owned())];
        let graphs = vec![graph("g", &ops, false), graph("h", &ops[..20], false)];
        let request = request(graphs, &settings, &[4], 1).expect("a graph");
        let comparison = compare(&request, &Progress::silent(&Cancel::new())).expect("an answer");
        n_plans += verified(&comparison).expect("it holds").plans;
    }
    assert!(n_plans >= STRATEGIES.len() * 8, "{n_plans}");
}

/// A comparison to damage.
fn whole() -> Comparison {
    let ops: Vec<Op> = (0..12).map(|at| (0, vec![1], 1000 + at * 7, true, 0, false)).collect();
    let request = request(vec![graph("g", &ops, false)], &[], &[4], 1).expect("a graph");
    compare(&request, &Progress::silent(&Cancel::new())).expect("an answer")
}

#[test]
fn every_kind_of_damage_is_found() {
    assert_eq!(
        verified(&whole()),
        Ok(Verified {
            simulations: 4,
            plans: 4
        })
    );
    type Damage = fn(&mut Comparison);
    let damages: [(&str, Damage); 6] = [
        ("both hold byte", |comparison| {
            let bound = &comparison.session.runs[0].bound;
            let problem = arena_problem(&bound.program, &bound.engine_sizes);
            let planned = Arc::make_mut(&mut comparison.lanes[1].plans[0].1);
            planned.plan = Plan::new(&problem, vec![0; problem.buffers.len()]);
        }),
        ("no multiple of 512", |comparison| {
            let planned = Arc::make_mut(&mut comparison.lanes[1].plans[0].1);
            planned.plan.offsets[0] += 1;
        }),
        ("states a footprint", |comparison| {
            let planned = Arc::make_mut(&mut comparison.lanes[1].plans[0].1);
            planned.plan.footprint = Bytes(1);
        }),
        ("peak reserved is", |comparison| {
            comparison.lanes[1].summary.peak_reserved = Bytes(7)
        }),
        ("its parts add up to", |comparison| {
            comparison.lanes[1].summary.reserved.features = Bytes(7)
        }),
        ("", |comparison| {
            let events = &mut comparison.lanes[1].simulation.events;
            let middle = events.len() / 2;
            let others = events.iter().enumerate().filter(|(position, _)| *position != middle);
            *events = others.map(|(_, event)| event).collect();
        }),
    ];
    for (words, damage) in damages {
        let mut comparison = whole();
        damage(&mut comparison);
        let defect = verified(&comparison).expect_err(words);
        assert!(defect.contains(words), "{words}: {defect}");
        assert!(defect.starts_with("policy 2: "), "{defect}");
    }
}
