//! Rewriting passes in the comparison: recomputations find their inputs, lanes share an axis, memory fits the
//! decisions.

use highwater::analysis::{Comparison, LaneId, LaneKind, LaneSet, RematLane, Request, RunRemat, compare};
use highwater::graph::Id as _;
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::{Budget, Engine, HEURISTICS, RematStatus};
use highwater::session::SAMPLES;
use highwater::sim::DeviceRun;
use highwater::units::Step;
use highwater::workload::{Source, Workload};

use crate::support;
use crate::workloads::{configuration, with_values};

/// Graphs with more ops take too long together.
const MOST_OPS: usize = 1500;

/// Maximum number of graphs of the corpus.
const MOST_GRAPHS: usize = 6;

fn request(workload: Workload, settings: &[(&str, &str)]) -> Request {
    let configuration = with_values(configuration(settings, &[]), &workload, &[2]);
    Request {
        search: 10_000.into(),
        ..Request::new(workload, configuration)
    }
}

fn run(request: &Request) -> Comparison {
    let cancel = Cancel::new();
    compare(request, &Progress::silent(&cancel)).expect("every dimension has a value")
}

/// Training graphs of the samples and the corpus.
fn training_graphs() -> Vec<Workload> {
    let mut found = Vec::new();
    let mut add = |name: &str, bytes: &[u8]| {
        let Ok(imported) = support::read(name, bytes) else {
            return;
        };
        let workload = Workload::new(name.to_owned(), imported.source);
        if let Source::Graphs(graphs) = &workload.source
            && graphs.iter().all(|entry| entry.graph.ops().len() <= MOST_OPS)
        {
            found.push(workload);
        }
    };
    for file in SAMPLES.iter().flat_map(|sample| sample.files) {
        add(file.name, file.bytes);
    }
    if let Some(folder) = support::shared("corpus/made/torch_train") {
        for path in support::files(&folder, ".json").into_iter().take(MOST_GRAPHS) {
            add(&support::name(&path), &std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Every executed op finds its inputs: at its step, each storage in feature memory that it reads is live.
fn check_inputs(run: &RunRemat, device: &DeviceRun, what: &str) {
    let items = &device.bound.program.lifetimes.items;
    let mut held: Vec<Vec<(u32, u32)>> = Vec::new();
    for item in items {
        let idx = item.tensor.idx();
        if held.len() <= idx {
            held.resize(idx + 1, Vec::new());
        }
        held[idx].push((item.birth.0, item.end.0));
    }
    let tape = &run.tape.tape;
    let end = run.sequence.ended_at.unwrap_or(u32::MAX);
    for (slot, executed) in (0_u32..end).zip(&run.sequence.slots) {
        let step = run.steps[slot as usize];
        let op = &tape.ops[executed.op as usize];
        // Of several recomputed results those that were not requested may be freed at once.
        let is_asked = |output: &&u32| !executed.is_recomputed || executed.wanted == Some(**output);
        let touched = op.inputs.iter().chain(op.outputs.iter().filter(is_asked));
        for tensor in touched {
            let root = tape.tensors[*tensor as usize].storage;
            let tensor = run.tape.tensors[root as usize];
            let Some(ranges) = held.get(tensor.idx()).filter(|ranges| !ranges.is_empty()) else {
                continue;
            };
            let is_held = ranges.iter().any(|(birth, end)| (*birth..*end).contains(&step));
            assert!(
                is_held,
                "{what}: op {} on step {step} lacks {}",
                op.name, tape.tensors[root as usize].name
            );
        }
    }
}

/// No tensor has two live ranges at once.
fn check_pieces(device: &DeviceRun, what: &str) {
    let mut items: Vec<_> = device.bound.program.lifetimes.items.iter().collect();
    items.sort_by_key(|item| (item.tensor, item.birth));
    for pair in items.windows(2) {
        let overlap = pair[0].tensor == pair[1].tensor && pair[1].birth < pair[0].end;
        assert!(!overlap, "{what}: {:?} and {:?}", pair[0], pair[1]);
    }
}

#[test]
fn recomputations_find_their_inputs_on_the_common_axis() {
    for workload in training_graphs() {
        let mut request = request(workload, &[]);
        let lane = |heuristic, ratio| RematLane {
            heuristic,
            budget: Budget::Ratio(ratio),
        };
        for heuristics in HEURISTICS.chunks(3) {
            let lanes = heuristics.iter().flat_map(|row| [lane(row, 0.8), lane(row, 0.5)]);
            request.lanes = LaneSet::Remat(lanes.collect());
            let comparison = run(&request);
            assert_eq!(comparison.lanes.len(), 1 + 2 * heuristics.len());
            for (position, lane) in comparison.lanes.iter().enumerate() {
                let what = format!("{} {}", request.workload.name, lane.title.clone().unwrap_or_default());
                assert_eq!(lane.id, LaneId::Pass(u8::try_from(position).unwrap()));
                let session = comparison.session_of(position);
                assert_eq!(session.n_steps, comparison.axis.n_steps, "{what}");
                let rewrites = lane.rewrite.iter().flat_map(|rewrite| &rewrite.remat);
                for (remat, device) in rewrites.zip(&session.runs) {
                    check_pieces(device, &what);
                    if let Some(remat) = remat {
                        check_inputs(remat, device, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn a_budget_acts_under_every_policy() {
    let saved = crate::workloads::workload("saved.json", crate::effects::SAVED.as_bytes());
    let plain = run(&request(saved.clone(), &[]));
    let tight = run(&request(saved, &[("dtr.eviction_threshold", "14MiB")]));
    assert_eq!(tight.lanes.len(), 4);
    assert!(tight.axis.n_steps > plain.axis.n_steps);
    for (before, after) in plain.lanes.iter().zip(&tight.lanes) {
        assert!(after.summary.peak_live < before.summary.peak_live, "{:?}", after.id);
        assert!(after.summary.estimated_overhead > before.summary.estimated_overhead);
        let rewrite = after.rewrite.as_ref().expect("rewritten");
        let run = rewrite.remat[0].as_ref().expect("rewritten");
        assert_eq!(run.answer.status, RematStatus::Ok);
        assert_eq!(run.answer.heuristic.engine, Engine::StaticPlanner);
    }
    let slots = tight.axis.runs[0].slots.as_ref().expect("ops are recomputed");
    for (step, slot) in (0_u32..).zip(slots.iter()) {
        assert_eq!(tight.axis.locate(Step(step)), Some((0, slot.op)));
    }
}

#[test]
fn a_log_opens_as_lanes_of_budgets() {
    let log = DTR_LOG;
    let comparison = run(&request(crate::workloads::workload("small.log", log.as_bytes()), &[]));
    assert!(comparison.lane_kind() == LaneKind::Passes);
    assert!(comparison.lanes.len() >= 3);
    let peaks: Vec<u64> = comparison
        .lanes
        .iter()
        .map(|lane| lane.summary.peak_live.get())
        .collect();
    assert!(peaks[1..].iter().any(|peak| *peak < peaks[0]), "{peaks:?}");
    assert_eq!(comparison.main_lane(), Some(0));
}

#[test]
fn a_program_of_blocks_opens_as_three_lanes() {
    let comparison = run(&request(
        crate::workloads::workload("chain.json", BLOCK_PROGRAM.as_bytes()),
        &[],
    ));
    let titles: Vec<&str> = comparison
        .lanes
        .iter()
        .filter_map(|lane| lane.title.as_deref())
        .collect();
    assert_eq!(titles, ["names not reused", "level 0", "level 1"]);
    let peaks: Vec<u64> = comparison
        .lanes
        .iter()
        .map(|lane| lane.summary.peak_reserved.get())
        .collect();
    assert!(peaks[0] > peaks[1] && peaks[1] >= peaks[2], "{peaks:?}");
}

#[test]
fn name_reuse_is_a_lane_of_its_graph() {
    for workload in training_graphs().into_iter().take(4) {
        let mut request = request(workload, &[]);
        request.lanes = LaneSet::NameReuse;
        let comparison = run(&request);
        let peaks: Vec<u64> = comparison
            .lanes
            .iter()
            .map(|lane| lane.summary.peak_reserved.get())
            .collect();
        assert_eq!(peaks.len(), 3);
        assert!(
            peaks[0] >= peaks[1] && peaks[1] >= peaks[2],
            "{}: {peaks:?}",
            request.workload.name
        );
        let reuses = comparison.lanes.iter().filter_map(|lane| lane.rewrite.as_ref());
        assert_eq!(reuses.filter(|rewrite| rewrite.names.is_some()).count(), 2);
    }
}

/// Six saved activations, read again in reverse.
const DTR_LOG: &str = r#"{"INSTRUCTION":"ANNOTATE","ANNOTATION":"START"}
{"INSTRUCTION":"CONSTANT","NAME":"x"}
{"INSTRUCTION":"MEMORY","NAME":"x","MEMORY":"1048576"}
{"INSTRUCTION":"CALL","NAME":"relu","ARGS":["x"],"RESULT":["a0"],"TIME":"1000"}
{"INSTRUCTION":"MEMORY","NAME":"a0","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"a0","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"relu","ARGS":["a0"],"RESULT":["a1"],"TIME":"1100"}
{"INSTRUCTION":"MEMORY","NAME":"a1","MEMORY":"2359296"}
{"INSTRUCTION":"ALIAS","NAME":"a1","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"relu","ARGS":["a1"],"RESULT":["a2"],"TIME":"1200"}
{"INSTRUCTION":"MEMORY","NAME":"a2","MEMORY":"2621440"}
{"INSTRUCTION":"ALIAS","NAME":"a2","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"relu","ARGS":["a2"],"RESULT":["a3"],"TIME":"1300"}
{"INSTRUCTION":"MEMORY","NAME":"a3","MEMORY":"2883584"}
{"INSTRUCTION":"ALIAS","NAME":"a3","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"relu","ARGS":["a3"],"RESULT":["a4"],"TIME":"1400"}
{"INSTRUCTION":"MEMORY","NAME":"a4","MEMORY":"3145728"}
{"INSTRUCTION":"ALIAS","NAME":"a4","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"relu","ARGS":["a4"],"RESULT":["a5"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"a5","MEMORY":"3407872"}
{"INSTRUCTION":"ALIAS","NAME":"a5","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"loss","ARGS":["a5"],"RESULT":["g6"],"TIME":"500"}
{"INSTRUCTION":"MEMORY","NAME":"g6","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g6","ALIAS":"-1"}
{"INSTRUCTION":"CALL","NAME":"grad","ARGS":["g6","a5"],"RESULT":["g5"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"g5","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g5","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"g6"}
{"INSTRUCTION":"RELEASE","NAME":"a5"}
{"INSTRUCTION":"CALL","NAME":"grad","ARGS":["g5","a4"],"RESULT":["g4"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"g4","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g4","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"g5"}
{"INSTRUCTION":"RELEASE","NAME":"a4"}
{"INSTRUCTION":"CALL","NAME":"grad","ARGS":["g4","a3"],"RESULT":["g3"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"g3","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g3","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"g4"}
{"INSTRUCTION":"RELEASE","NAME":"a3"}
{"INSTRUCTION":"CALL","NAME":"grad","ARGS":["g3","a2"],"RESULT":["g2"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"g2","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g2","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"g3"}
{"INSTRUCTION":"RELEASE","NAME":"a2"}
{"INSTRUCTION":"CALL","NAME":"grad","ARGS":["g2","a1"],"RESULT":["g1"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"g1","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g1","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"g2"}
{"INSTRUCTION":"RELEASE","NAME":"a1"}
{"INSTRUCTION":"CALL","NAME":"grad","ARGS":["g1","a0"],"RESULT":["g0"],"TIME":"1500"}
{"INSTRUCTION":"MEMORY","NAME":"g0","MEMORY":"2097152"}
{"INSTRUCTION":"ALIAS","NAME":"g0","ALIAS":"-1"}
{"INSTRUCTION":"RELEASE","NAME":"g1"}
{"INSTRUCTION":"RELEASE","NAME":"a0"}
"#;

/// A chain of six layers.
const BLOCK_PROGRAM: &str = r#"{"blocks": [{"idx": 0, "parent_idx": -1, "forward_block_idx": -1, "vars": [{"name": "x", "shape": [-1, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}, {"name": "w", "shape": [64, 64], "dtype": "FP32", "persistable": true, "type": "LOD_TENSOR"}, {"name": "h0", "shape": [-1, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}, {"name": "h1", "shape": [-1, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}, {"name": "h2", "shape": [-1, 32], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}, {"name": "h3", "shape": [-1, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}, {"name": "h4", "shape": [-1, 16], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}, {"name": "h5", "shape": [-1, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}], "ops": [{"type": "fc", "inputs": {"X": ["x"], "W": ["w"]}, "outputs": {"Out": ["h0"]}, "attrs": {"op_role": 0}}, {"type": "fc", "inputs": {"X": ["h0"], "W": ["w"]}, "outputs": {"Out": ["h1"]}, "attrs": {"op_role": 0}}, {"type": "fc", "inputs": {"X": ["h1"], "W": ["w"]}, "outputs": {"Out": ["h2"]}, "attrs": {"op_role": 0}}, {"type": "fc", "inputs": {"X": ["h2"], "W": ["w"]}, "outputs": {"Out": ["h3"]}, "attrs": {"op_role": 0}}, {"type": "fc", "inputs": {"X": ["h3"], "W": ["w"]}, "outputs": {"Out": ["h4"]}, "attrs": {"op_role": 0}}, {"type": "fc", "inputs": {"X": ["h4"], "W": ["w"]}, "outputs": {"Out": ["h5"]}, "attrs": {"op_role": 0}}]}]}"#;
