//! The plans of logs in the shared corpus: what the log states, and what the simulated compiler makes of the same lives.

use std::path::PathBuf;

use highwater::analysis::logged_arenas;
use highwater::plan::{PlanRequest, default_strategy, plan, verify};
use highwater::progress::{Cancel, Progress};
use highwater::session::{SourceSpec, read_source};
use highwater::workload::{LOG_MAKER, Recording, Source};
use serde_json::Value as Json;
use std::sync::Arc;

use crate::support::shared;

fn recordings(target: PathBuf) -> Vec<Arc<Recording>> {
    let cancel = Cancel::new();
    let imported = read_source(&SourceSpec::Path(target), &Progress::silent(&cancel));
    match imported.expect("a log").source {
        Source::Recordings(recordings) => recordings,
        _ => panic!("recordings"),
    }
}

/// The tensor of an output or workspace as graphs name it: `op:0`, `op:workspace0`.
fn graph_name(tensor: &str) -> String {
    let mut parts = tensor.rsplitn(3, ':');
    let (index, kind, op) = (parts.next(), parts.next(), parts.next());
    let (index, op) = (index.expect("an index"), op.expect("an op"));
    if kind == Some("workspace") {
        format!("{op}:workspace{index}")
    } else {
        format!("{op}:{index}")
    }
}

#[test]
fn every_logged_plan_equals_that_of_the_simulated_compiler_offset_for_offset() {
    let Some(folder) = shared("corpus/made/plog") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("the figures are there");
    let expected: Json = serde_json::from_str(&text).expect("JSON");
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let (mut n_plans, mut counts) = (0, Vec::new());
    for (name, log) in expected["logs"].as_object().expect("an object of logs") {
        let recordings = recordings(folder.join(log["target"].as_str().expect("a path")));
        let arenas = logged_arenas(&recordings);
        let plans = log["plans"].as_object().expect("an object of plans");
        assert_eq!(arenas.len(), plans.len(), "{name}");
        n_plans += plans.len();
        for (arena, wanted) in arenas.iter().zip(plans.values()) {
            let entry = &*arena.problem;
            let recorded = entry.recorded.as_ref().expect("the log's plan");
            assert_eq!(recorded.maker, LOG_MAKER);
            let order = entry.order.as_ref();
            let request = PlanRequest {
                order,
                ..PlanRequest::new(&entry.problem)
            };
            let simulated = plan(default_strategy(), &request, &progress).expect("a plan").plan;
            assert_eq!(recorded.offsets, simulated.offsets, "{name}: {}", entry.name);
            assert_eq!(verify(&entry.problem, &simulated), Ok(()));
            let wanted: Vec<(String, u64)> = wanted
                .as_object()
                .expect("an object of tensors")
                .iter()
                .filter_map(|(tensor, place)| Some((graph_name(tensor), place[0].as_u64()?)))
                .collect();
            let own = recorded.offsets.iter().enumerate();
            for (position, offset) in own {
                let tensor = entry.ids.get(position);
                let pair = (tensor.to_owned(), *offset);
                assert!(wanted.contains(&pair), "{name}: {tensor} at {offset}");
            }
            counts.push(recorded.offsets.len());
        }
    }
    counts.sort_unstable();
    assert_eq!((n_plans, counts), (6, vec![13, 14, 14, 14, 71, 71]));
}
