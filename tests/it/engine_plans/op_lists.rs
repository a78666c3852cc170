//! Op lists: parsing, errors with positions, results of the command line; random ones.

use highwater::plan::{
    Assigner, EnginePlan, Limits, PlacementProblem, PlanRequest, SEGMENT_LIMIT, STRATEGIES, SegmentRule, engine_plan,
    find, plan, verify,
};
use highwater::progress::{Cancel, Progress};
use highwater::units::{Bytes, Step};
use highwater::workload::{AllocationOrder, IoBlock};
use proptest::prelude::*;

use super::{listed, planned};
use crate::support;

const SMALL: &str = "# a comment
op x Data out=1000

op a Conv in=x:0 out=600,40 ws=70
op b Conv in=a:0,a:1 out=600
op end NetOutput in=b:0
";

#[test]
fn an_op_list_is_a_problem_of_its_arena() {
    let entry = listed(SMALL);
    let ids: Vec<&str> = (0..entry.ids.len()).map(|position| entry.ids.get(position)).collect();
    assert_eq!(ids, ["a:0", "a:1", "a:ws0"]);
    let rows: Vec<(u32, u32, u64, u64)> = entry
        .problem
        .buffers
        .iter()
        .map(|buffer| (buffer.lower.0, buffer.upper.0, buffer.size.get(), buffer.alignment))
        .collect();
    assert_eq!(rows, [(1, 3, 1024, 512), (1, 3, 512, 512), (1, 2, 512, 512)]);
    let order = entry.order.unwrap();
    assert_eq!(order.io.len(), 2);
    assert!(order.streams.is_empty());
    assert_eq!(
        order.io[1],
        IoBlock {
            before: 3,
            bytes: Bytes(600),
            is_input: false
        }
    );
}

#[test]
fn bytes_after_the_arena_are_reported() {
    let imported = support::read("a.txt", SMALL.as_bytes()).unwrap();
    let told = format!("{:?}", imported.diagnostics);
    assert!(told.contains("2 graph inputs and outputs"), "{told}");
}

#[test]
fn left_out_points_are_counted() {
    let text = "op a A out=10,20 ref=-1,0 attr=x:1\nop b B in=a:0 ref=-1";
    let imported = support::read("a.ops", text.as_bytes()).unwrap();
    let told = format!("{:?}", imported.diagnostics);
    assert!(
        told.contains("refers to an input") && told.contains("field \\\"attr\\\""),
        "{told}"
    );
    assert!(told.contains("line 1") && !told.contains("line 2"), "{told}");
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let error = support::read("a.ops", text.as_bytes()).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "lacks \"{part}\": {error}");
    }
}

#[test]
fn bad_lists_are_refused_with_their_lines() {
    refused("op a A out=1\nap b B", &["line 2", "no op with a name"]);
    refused("op a A out=1\n\nop b", &["line 3", "no op with a name"]);
    refused("op a out=1", &["line 1", "out=1"]);
    refused("op a A out=1\nop a B", &["line 2", "occurs twice", "line 1"]);
    refused("op a A in=b:0 out=1\nop b B out=1", &["line 1", "no op above"]);
    refused("op a A in=a:0 out=1", &["line 1", "no op above"]);
    refused("op a A out=1\nop b B in=a:1", &["line 2", "output 1", "has 1"]);
    refused("op a A out=1\nop b B in=a", &["line 2", "which output"]);
    refused("op a A out=1\nop b B in=a:x", &["line 2", "which output"]);
    refused("op a A out=1,", &["line 1", "\"\"", "bytes"]);
    refused("op a A out=-1", &["line 1", "-1"]);
    refused("op a A out=1k", &["line 1", "1k"]);
    refused("op a A out=99999999999999999999", &["line 1"]);
    refused("op a A out=2305843009213693952", &["line 1", "2^61"]);
    refused("op a A out=1 out=2", &["line 1", "\"out\" occurs twice"]);
    refused("op a A out=1 ws", &["line 1", "\"ws\""]);
    refused("op a A stream=x out=1", &["line 1", "stream"]);
    refused("op a A out=1\nop e NetOutput in=a:0\nop b B", &["line 3", "NetOutput"]);
    refused("op a A out=1\nop e NetOutput in=a:0 out=4", &["line 2", "NetOutput"]);
    refused("op x Data out=1\nop e NetOutput in=x:0\n", &["line 2", "arena"]);
    refused("op a A out=0", &["line 1", "arena"]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let error = support::read("a.ops", b"op a A out=1\nop b\xff B")
        .unwrap_err()
        .to_string();
    assert!(error.contains("UTF-8") && error.contains("byte 17"), "{error}");
}

fn small_file() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.ops");
    std::fs::write(&path, SMALL).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn the_command_line_inspects_and_places_op_lists() {
    let (_folder, path) = small_file();
    let inspected = crate::cli::json(&["inspect", &path, "--format", "json"], 0);
    assert_eq!(inspected["format"], "op_list");
    assert_eq!(inspected["lifetimes"][0]["count"], 3);
    assert_eq!(inspected["lifetimes"][0]["peak_live_bytes"], 2048);
    for row in STRATEGIES.iter().filter(|row| row.suits(None)) {
        let answer = crate::cli::json(&["plan", &path, "--strategy", row.name, "--format", "json"], 0);
        assert_eq!(answer["verified"], true, "{}", row.name);
    }
}

#[test]
fn the_engines_account_is_one_line() {
    let (_folder, path) = small_file();
    let output = crate::cli::run(&["plan", &path, "--strategy", "ge_default", "--events"]);
    let own = String::from_utf8(output.stdout).unwrap();
    assert_eq!(own.lines().count(), 1);
    let expected = r#"{"variant":"default","winner":"binary-block","arena":2048,"zero_copy":2048,"total":4096,"#;
    assert!(own.starts_with(expected), "{own}");
    for (arguments, part) in [
        (&["plan", &path, "--events"][..], "ge_default"),
        (&["plan", &path, "--stable"][..], "--events"),
    ] {
        let output = crate::cli::run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(error.contains(part), "{error}");
    }
}

/// Ops that read any earlier outputs; few size classes, so that much memory is reused.
fn any_list() -> impl Strategy<Value = String> {
    let sizes = prop_oneof![Just(0_u64), 1_u64..3000, Just(32), Just(4096), 1_u64..40_000];
    let outputs = prop::collection::vec(sizes.clone(), 1..3);
    let op = (
        outputs,
        prop::collection::vec(sizes, 0..3),
        prop::collection::vec((0_usize..12, 0_usize..3), 0..4),
        0_u32..8,
    );
    (prop::collection::vec(op, 1..60), 0_u32..10).prop_map(|(ops, kind)| {
        let mut text = String::new();
        let mut n_outputs: Vec<usize> = Vec::new();
        let input = |position: usize, (back, output): &(usize, usize), n_outputs: &[usize]| {
            let op = position.checked_sub(back + 1)?;
            Some(format!("n{op}:{}", output % n_outputs[op]))
        };
        for (position, (outputs, workspaces, inputs, stream)) in ops.iter().enumerate() {
            let joined = |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            let inputs: Vec<String> = inputs
                .iter()
                .filter_map(|read| input(position, read, &n_outputs))
                .collect();
            let kind = if position < 2 && kind % 2 == 0 { "Data" } else { "Op" };
            let stream = u32::from(*stream == 0);
            text.push_str(&format!(
                "op n{position} {kind} in={} out={} ws={} stream={stream}\n",
                inputs.join(","),
                joined(outputs),
                joined(workspaces)
            ));
            n_outputs.push(outputs.len());
        }
        let gathered: Vec<String> = (0..3)
            .filter_map(|back| input(ops.len(), &(back, back), &n_outputs))
            .collect();
        // The arena is never empty.
        text.push_str(&format!(
            "op last Op ws=100\nop end NetOutput in={}\n",
            gathered.join(",")
        ));
        text
    })
}

fn engine(problem: &PlacementProblem, order: Option<&AllocationOrder>, assigner: Assigner) -> EnginePlan {
    let cancel = Cancel::new();
    engine_plan(problem, order, assigner, &Progress::silent(&cancel)).unwrap()
}

/// Invariants of every plan of the engine.
fn assert_consistent(problem: &PlacementProblem, order: Option<&AllocationOrder>) {
    let [both, binary, max, none] = [Assigner::Default, Assigner::Binary, Assigner::Max, Assigner::NoReuse]
        .map(|assigner| engine(problem, order, assigner));
    assert_eq!(both.total(), binary.total().min(max.total()));
    assert_eq!(none.total(), none.sum);
    for plan in [&both, &binary, &max, &none] {
        let placed = highwater::plan::Plan::new(problem, plan.offsets.clone());
        assert_eq!(verify(problem, &placed), Ok(()));
        assert!(plan.theory_min <= plan.total() && plan.no_reuse <= plan.theory_min && plan.theory_min <= plan.sum);
        for limit in [SEGMENT_LIMIT, Bytes(9000)] {
            let segments = plan.segments(limit);
            assert!(
                segments
                    .windows(2)
                    .all(|pair| pair[0].base + pair[0].size == pair[1].base)
            );
            let last = segments.last().unwrap();
            assert_eq!((last.base, last.size), (plan.arena.get(), plan.io.get()));
            // No buffer crosses a border.
            for (buffer, offset) in problem.buffers.iter().zip(&plan.offsets) {
                let end = offset + buffer.size.get();
                assert!(
                    !segments
                        .iter()
                        .any(|segment| *offset < segment.base && segment.base < end)
                );
            }
        }
    }
}

fn any_problem() -> impl Strategy<Value = (PlacementProblem, AllocationOrder)> {
    let row = (0_u32..30, 1_u32..12, 1_u64..9, any::<bool>());
    let orders = (
        prop::collection::vec(0_u32..50, 0..60),
        prop::collection::vec(0_u32..50, 0..60),
    );
    (prop::collection::vec(row, 0..50), orders).prop_map(|(rows, (births, deaths))| {
        let mut order = AllocationOrder {
            births,
            deaths,
            ..AllocationOrder::default()
        };
        let mut problem = PlacementProblem::default();
        for (position, (lower, steps, units, is_odd)) in (0_u32..).zip(rows) {
            if is_odd && position % 9 == 8 {
                order.separate.push(position);
            }
            if is_odd && position % 7 == 6 {
                let before = position;
                order.io.push(IoBlock {
                    before,
                    bytes: Bytes(units * 300),
                    is_input: units % 2 == 0,
                });
            }
            problem.buffers.push(highwater::plan::Buffer {
                lower: Step(lower),
                upper: Step(lower + steps),
                size: Bytes(units * 512),
                alignment: 512,
                offset: None,
            });
        }
        (problem, order)
    })
}

proptest! {
    #[test]
    fn random_lists_are_planned_validly(text in any_list()) {
        let entry = listed(&text);
        assert_consistent(&entry.problem, entry.order.as_ref());
        let plan = planned(&entry, Assigner::Default);
        // The strategy of the table is the same planner.
        let cancel = Cancel::new();
        let request = PlanRequest { order: entry.order.as_ref(), ..PlanRequest::new(&entry.problem) };
        let row = highwater::plan::plan(find("ge_default").unwrap(), &request, &Progress::silent(&cancel)).unwrap();
        prop_assert_eq!(&row.plan.offsets, &plan.offsets);
        let rule = SegmentRule { limit: SEGMENT_LIMIT, io: plan.io };
        let (own, of_row) = (plan.segments(SEGMENT_LIMIT), row.segments(&entry.problem, rule));
        prop_assert_eq!(own, of_row);
    }

    #[test]
    fn random_problems_are_planned_validly((problem, order) in any_problem()) {
        assert_consistent(&problem, Some(&order));
        assert_consistent(&problem, None);
        let cancel = Cancel::new();
        let mut request = PlanRequest::new(&problem);
        request.limits = Limits { nodes: 100, ..Limits::default() };
        for row in STRATEGIES.iter().filter(|row| row.name.starts_with("ge_")) {
            let planned = plan(row, &request, &Progress::silent(&cancel)).unwrap();
            prop_assert_eq!(verify(&problem, &planned.plan), Ok(()));
        }
    }

    #[test]
    fn broken_lists_are_errors_and_no_panics(text in any_list(), at in 0.0_f64..1.0, with in "[a-z0-9:=, \n#-]{0,6}") {
        let mut bytes = text.into_bytes();
        let position = (at * bytes.len() as f64) as usize;
        let end = (position + 5).min(bytes.len());
        bytes.splice(position..end, with.into_bytes());
        let read = support::read("a.ops", &bytes).ok().filter(|imported| imported.format == "op_list");
        if let Some(imported) = read {
            planned(&super::first(imported), Assigner::Default);
        }
    }
}
