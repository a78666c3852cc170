//! Recordings aligned to simulated lanes: they are not simulated, their peaks are exact, and they are never taken for a
//! policy.

use std::sync::Arc;

use highwater::analysis::{Comparison, LaneId, LaneKind, Request, compare};
use highwater::graph::Id as _;
use highwater::progress::{Cancel, Progress};
use highwater::session::{Document, Session, SourceSpec, Worker, config_from_document};
use highwater::timeline::{Timeline, lane_facts};
use highwater::units::{Bytes, Nanos, Step};
use highwater::workload::{DeviceProfiles, MarkKind, RecordedBlock, RecordedMark, RecordedNames, Recording, TotalKind};

use crate::workloads::{configuration, workload};

const GRAPH: &str = r#"{"highwater_graph": 1,
    "nodes": [{"name": "a", "op": "relu", "inputs": ["x"], "outputs": [{"id": "y", "shape": [1024], "dtype": "float32"}]},
              {"name": "b", "op": "relu", "inputs": ["y"], "outputs": [{"id": "z", "shape": [1024], "dtype": "float32"}]},
              {"name": "c", "op": "relu", "inputs": ["z"], "outputs": [{"id": "w", "shape": [1024], "dtype": "float32"}]}],
    "inputs": [{"id": "x", "shape": [1024], "dtype": "float32"}], "outputs": ["w"]}"#;

/// Far more events than the graph has steps: short blocks, of which at most two are live at once.
fn short_blocks() -> String {
    let mut text = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),\
                    Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),\
                    Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),\
                    Release Total Active(MB),Stream Ptr,Device Type\n"
        .to_owned();
    for row in 0..50 {
        let (start, end) = (row * 10, row * 10 + 15);
        let size = 1 + row % 7;
        text += &format!("aten::op{row},{size},{start}.0,{end}.0,{end}.0,15,15,1,2,1,1,2,1,7,NPU:0\n");
    }
    text
}

fn bytes(name: &str, text: &str) -> SourceSpec {
    SourceSpec::Bytes {
        name: name.to_owned(),
        bytes: Arc::from(text.as_bytes()),
    }
}

fn opened(sources: Vec<SourceSpec>) -> Session {
    let worker = Worker::start(|| {}).unwrap();
    let mut session = Session::new(Document::new(sources), DeviceProfiles::bundled().unwrap(), worker);
    session.settle();
    session
}

#[track_caller]
fn check(comparison: &Comparison, timeline: &Timeline) {
    let n_graphs = comparison.workload.graphs().len();
    let recordings = comparison.workload.recordings();
    assert!(n_graphs > 0 && !recordings.is_empty() && comparison.lane_kind() != LaneKind::Recordings);
    let measured = comparison.lanes.len() - comparison.simulated_lanes().count();
    assert_eq!(measured, recordings.iter().filter(|one| one.has_content()).count());
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let Some(recording) = comparison.recording(lane.id) else {
            assert!(!comparison.is_measured_lane(position));
            continue;
        };
        // With any number of events on a step, peaks are neither lost nor invented.
        let peaks = recording.peaks();
        let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
        let live = if recording.blocks.is_empty() {
            stated.unwrap_or_default()
        } else {
            peaks.live.0
        };
        assert_eq!(lane.summary.peak_live, live, "{}", recording.name);
        if recording.states_reserved() {
            assert_eq!(lane.summary.peak_reserved, peaks.reserved.0, "{}", recording.name);
        }
        assert_eq!(lane.curves.live.len(), comparison.axis.n_steps as usize);
        assert_eq!(lane.curves.live.iter().max().copied(), Some(live));
        let view = &timeline.lanes[position];
        assert_eq!(view.blocks.len(), recording.blocks.len());
        let is_squeezed = recording.n_steps > comparison.axis.n_steps;
        assert!(lane.shares_steps || !is_squeezed);
        if lane.shares_steps {
            assert!(view.gaps.is_empty() && !view.knows_gaps(), "{}", recording.name);
            assert_eq!((view.reuse.n_edges(), view.arrows_at_peak().n_total), (0, 0));
        }
        for block in 0..u32::try_from(view.blocks.len()).unwrap() {
            let (start, end) = (view.blocks.start[block as usize], view.blocks.end[block as usize]);
            assert!(start < end && end <= comparison.axis.n_steps, "{start}..{end}");
            let selected = view.tensor(block).unwrap();
            if lane.shares_steps {
                assert!(view.unknown_neighbours(block).is_some());
                assert_eq!(view.arrows(selected).n_total, 0);
            }
            assert_eq!(comparison.measured_lane(selected.graph), Some(lane.id));
            let recorded = &recording.blocks[selected.tensor.idx()];
            let facts = lane_facts(comparison, 0, selected);
            assert_eq!(facts.name, recording.text(recorded.name));
            assert_eq!(facts.bytes, Some(recorded.bytes));
        }
    }
    // Simulated lanes do not depend on recordings.
    let best = comparison.lowest_peak.as_ref().unwrap();
    assert!(comparison.lane(best.policy).is_some());
    assert_eq!(
        comparison.main_lane().map(|lane| comparison.lanes[lane].id),
        Some(LaneId::Policy(comparison.active_policy))
    );
}

#[test]
fn a_traced_step_is_aligned_to_its_graph() {
    let sample = |name: &str| SourceSpec::Path(format!("{}/sample_traces/{name}", env!("CARGO_MANIFEST_DIR")).into());
    let session = opened(vec![
        sample("lenet_training.pb"),
        sample("lenet_training.runmeta.pb.gz"),
    ]);
    let (comparison, timeline) = session.answer().unwrap();
    check(comparison, timeline);
    let lane = comparison.lanes.last().unwrap();
    let told: Vec<&str> = lane.explanation.iter().map(|remark| remark.text.as_str()).collect();
    assert!(told.iter().any(|text| text.contains("measured ops")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("than measured")), "{told:?}");
    let config = config_from_document(session.document(), Some(comparison));
    let alone = opened(vec![sample("lenet_training.pb")]);
    let expected = config_from_document(alone.document(), Some(alone.answer().unwrap().0));
    assert_eq!(config.predicted.len(), 4);
    assert_eq!(
        config.predicted.keys().collect::<Vec<_>>(),
        expected.predicted.keys().collect::<Vec<_>>()
    );
}

#[test]
fn many_events_share_the_few_steps_of_a_graph() {
    let session = opened(vec![
        bytes("graph.json", GRAPH),
        bytes("operator_memory.csv", &short_blocks()),
    ]);
    let (comparison, timeline) = session.answer().unwrap_or_else(|| panic!("{:?}", session.problem()));
    check(comparison, timeline);
    let lane = comparison.lanes.last().unwrap();
    assert!(
        lane.explanation
            .iter()
            .any(|remark| remark.text.contains("aligned by order only"))
    );
}

#[test]
fn blocks_without_an_address_pass_nothing_on_and_leave_no_holes() {
    let session = opened(vec![bytes("operator_memory.csv", &short_blocks())]);
    let (comparison, timeline) = session.answer().unwrap_or_else(|| panic!("{:?}", session.problem()));
    let (lane, view) = (&comparison.lanes[0], &timeline.lanes[0]);
    assert!(comparison.lane_kind() == LaneKind::Recordings && !lane.shares_steps && !view.blocks.is_empty());
    assert!(view.gaps.is_empty() && !view.knows_gaps());
    assert_eq!(view.reuse.n_edges(), 0);
    for block in 0..u32::try_from(view.blocks.len()).unwrap() {
        assert!(
            view.unknown_neighbours(block)
                .unwrap()
                .contains("stacked for drawing only")
        );
    }
}

#[test]
fn a_spike_between_two_steps_of_the_graph_is_not_lost() {
    let mut text = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n".to_owned();
    for row in 0..200 {
        // Only one row is high: the steps around it hold dozens of rows.
        let (allocated, reserved) = if row == 77 { (900, 1000) } else { (row % 3, 8) };
        text += &format!("PTA,{row}.5,{allocated}.0,{reserved}.0,NPU:0\n");
    }
    let session = opened(vec![bytes("graph.json", GRAPH), bytes("memory_record.csv", &text)]);
    let (comparison, timeline) = session.answer().unwrap_or_else(|| panic!("{:?}", session.problem()));
    check(comparison, timeline);
    let lane = comparison.lanes.last().unwrap();
    assert_eq!(lane.summary.peak_reserved.get(), 1000 << 20);
    assert_eq!(
        lane.curves.reserved.last().unwrap().get(),
        8 << 20,
        "the last value holds on"
    );
}

/// A pool that reserves its maximum from the first event on, while little of it is live.
#[test]
fn the_idle_share_of_a_recording_does_not_depend_on_a_graph() {
    let table = short_blocks().replace(",1,2,1,1,2,1,7,", ",1,8,1,1,8,1,7,");
    let alone = opened(vec![bytes("operator_memory.csv", &table)]);
    let beside = opened(vec![bytes("g.json", GRAPH), bytes("operator_memory.csv", &table)]);
    let share = |session: &Session| {
        let (comparison, _) = session.answer().unwrap();
        let lane = comparison
            .lanes
            .iter()
            .find(|lane| matches!(lane.id, LaneId::Measured(_)));
        lane.unwrap().summary.fragmentation
    };
    assert_eq!((share(&alone), share(&beside)), (0.875, 0.875));
}

/// A run of the graph in time and with marks: eight events, of which the last start a second iteration.
fn marked_run(notes: &[(u32, &str)]) -> Recording {
    let mut names = RecordedNames::default();
    let block = names.intern("block");
    let marks = notes.iter().map(|(step, text)| RecordedMark {
        step: Step(*step),
        kind: MarkKind::Note,
        text: names.intern(text),
        bytes: Bytes::ZERO,
        failed: None,
    });
    let marks = marks.collect();
    Recording {
        name: "run".to_owned(),
        n_steps: 8,
        times: [0, 10, 20, 120, 130, 140, 600, 1000].map(Nanos).into_iter().collect(),
        blocks: vec![RecordedBlock {
            is_freed: true,
            ..RecordedBlock::new(block, Step(3), Step(6), Bytes(4096))
        }],
        marks,
        names: names.finish(),
        ..Recording::default()
    }
}

/// Three ops of three phases that take 10, 20 and 70 microseconds, twice.
const PHASED: &str = r#"{"highwater_graph": 1,
    "nodes": [{"name": "f", "op": "relu", "phase": "forward", "flops": 10000, "inputs": ["x"],
               "outputs": [{"id": "y", "shape": [1024], "dtype": "float32"}]},
              {"name": "b", "op": "relu", "phase": "backward", "flops": 20000, "inputs": ["y"],
               "outputs": [{"id": "z", "shape": [1024], "dtype": "float32"}]},
              {"name": "o", "op": "relu", "phase": "optimizer", "flops": 70000, "inputs": ["z"],
               "outputs": [{"id": "w", "shape": [1024], "dtype": "float32"}]}],
    "inputs": [{"id": "x", "shape": [1024], "dtype": "float32"}], "outputs": ["w"]}"#;

/// The steps on which the block of a marked run starts and ends, and the note on the alignment.
#[track_caller]
fn aligned(alignment: &str, notes: &[(u32, &str)]) -> (u32, u32, String) {
    let mut whole = workload("graph.json", PHASED.as_bytes());
    whole.measured = vec![Arc::new(marked_run(notes))];
    let mut configuration = configuration(
        &[
            ("simulation.measured_alignment", alignment),
            ("simulation.flops_per_second", "1000000000"),
            ("simulation.op_bytes_per_second", "1TB"),
        ],
        &[],
    );
    configuration.plan.iterations = 2;
    let request = Request::new(whole, configuration);
    let comparison = compare(&request, &Progress::silent(&Cancel::new())).unwrap();
    let lane = comparison.lanes.last().unwrap();
    let live: Vec<u32> = (0..)
        .zip(lane.curves.live.iter())
        .filter(|(_, bytes)| **bytes > Bytes::ZERO)
        .map(|(step, _)| step)
        .collect();
    (live[0], live[live.len() - 1], lane.explanation[1].text.clone())
}

#[test]
fn a_run_is_aligned_by_its_marks() {
    let notes = [
        (0, "ProfilerStep#1 begins"),
        (3, "backward"),
        (5, "Optimizer.step"),
        (6, "ProfilerStep#2"),
    ];
    let (birth, last, told) = aligned("phases", &notes);
    assert_eq!((birth, last), (1, 2), "{told}");
    assert!(told.starts_with("4 of 4 marks"), "{told}");
    assert!(told.contains("(iteration, backward, optimizer)"), "{told}");
}

#[test]
fn without_marks_peaks_are_aligned() {
    let (birth, _, told) = aligned("phases", &[(2, "loading data")]);
    // Two results of the graph are live in its second op.
    assert_eq!(birth, 1, "{told}");
    assert!(told.contains("No phase of the recording"), "{told}");
}

#[test]
fn a_run_is_aligned_by_time() {
    // 1000 ns over 200 us: the block lives from 120 ns, 24 us, in the second op, to 600 ns, 120 us, in the fifth.
    let (birth, last, told) = aligned("time", &[]);
    assert_eq!((birth, last), (1, 3), "{told}");
    assert!(told.contains("200.0"), "{told}");
}
