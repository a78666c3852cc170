//! Flame graphs of random recordings against sums over all prefixes of all stacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use highwater::analysis::{Comparison, Configuration, Request, compare};
use highwater::export::{FlameAnswer, SvgColors, flame_svg, flame_text, folded_stacks};
use highwater::progress::{Cancel, Progress};
use highwater::timeline::{FlameGraph, FlamePaths, FlameRequest, MOST_FLAME_FRAMES, PeakAt, StepRange, peak_step};
use highwater::units::{Bytes, Step};
use highwater::workload::{RecordedBlock, RecordedFrame, RecordedNames, Recording, Source, StackIdx, Workload};
use proptest::prelude::*;

use super::peak::compared;
use crate::svg::tags;

/// Function, file and line; the text in a flame graph, and whether it is of Python.
const FRAMES: [(&str, &str, u32, &str, bool); 7] = [
    ("main", "/a/train.py", 8, "train.py:8 main", true),
    ("step", "/a/train.py", 12, "train.py:12 step", true),
    ("f", "/a/model.py", 3, "model.py:3 f", true),
    // Equal texts of different files are different frames.
    ("f", "/b/model.py", 3, "model.py:3 f", true),
    ("<module>", "<string>", 1, "<string>:1 <module>", true),
    ("at::empty;(int)", "??", 0, "at::empty;(int)", false),
    ("THPVariable", "/x/variable.cpp", 40, "THPVariable", false),
];

#[derive(Clone, Debug)]
struct RandomBlock {
    birth: u32,
    n_steps: u32,
    bytes: u64,
    stack: Option<usize>,
}

const N_STEPS: u32 = 12;

/// Stacks, innermost frame first, as positions in [`FRAMES`]; and blocks.
#[derive(Clone, Debug)]
struct Case {
    stacks: Vec<Vec<usize>>,
    blocks: Vec<RandomBlock>,
}

fn cases() -> impl Strategy<Value = Case> {
    let stacks = prop::collection::vec(prop::collection::vec(0..FRAMES.len(), 0..6), 1..6);
    stacks.prop_flat_map(|stacks| {
        let n_stacks = stacks.len();
        let block = (
            0..N_STEPS,
            1..N_STEPS,
            0..2000_u64,
            prop::option::weighted(0.9, 0..n_stacks),
        );
        let blocks = prop::collection::vec(block, 1..20);
        (Just(stacks), blocks).prop_map(|(stacks, blocks)| Case {
            stacks,
            blocks: blocks
                .into_iter()
                .map(|(birth, n_steps, bytes, stack)| RandomBlock {
                    birth,
                    n_steps: n_steps.min(N_STEPS - birth),
                    bytes,
                    stack,
                })
                .collect(),
        })
    })
}

impl Case {
    fn recording(&self) -> Recording {
        let mut names = RecordedNames::default();
        let name = names.intern("block");
        let frames = FRAMES.map(|(function, file, line, ..)| RecordedFrame {
            function: names.intern(function),
            file: names.intern(file),
            line,
        });
        let mut blocks: Vec<RecordedBlock> = self
            .blocks
            .iter()
            .map(|block| RecordedBlock {
                stack: block.stack.and_then(|stack| StackIdx::new(stack as u32)),
                ..RecordedBlock::new(
                    name,
                    Step(block.birth),
                    Step(block.birth + block.n_steps),
                    Bytes(block.bytes),
                )
            })
            .collect();
        blocks.sort_by_key(|block| block.birth);
        let recording = Recording {
            name: "run".to_owned(),
            n_steps: N_STEPS,
            blocks,
            frames: frames.to_vec(),
            stacks: self
                .stacks
                .iter()
                .map(|stack| stack.iter().map(|frame| *frame as u32).collect())
                .collect(),
            names: names.finish(),
            ..Recording::default()
        };
        assert_eq!(recording.check(), Ok(()));
        recording
    }

    /// The path of a block in a tree, as texts with their files.
    fn path(&self, block: &RandomBlock, ask: FlameRequest) -> Vec<Name> {
        let only = |text: &str| vec![(text.to_owned(), String::new())];
        let Some(stack) = block
            .stack
            .map(|stack| &self.stacks[stack])
            .filter(|stack| !stack.is_empty())
        else {
            return only("(no call stack)");
        };
        let has_python = stack.iter().any(|frame| FRAMES[*frame].4);
        let mut path = Vec::new();
        for frame in stack {
            let (_, file, _, text, is_python) = FRAMES[*frame];
            if is_python || ask.keeps_native || !has_python {
                let file = if is_python { file } else { "" };
                path.push((text.to_owned(), file.to_owned()));
            }
        }
        if !ask.is_inverse {
            path.reverse();
        }
        if !has_python && !ask.keeps_native {
            path.splice(0..0, only("(no Python frames)"));
        }
        path
    }

    /// Total, own weight and number of blocks by prefix.
    fn sums(&self, ask: FlameRequest, steps: std::ops::Range<u32>) -> BTreeMap<Vec<Name>, (u128, u128, u64)> {
        let mut sums = BTreeMap::new();
        for block in &self.blocks {
            let n_live = steps
                .clone()
                .filter(|step| (block.birth..block.birth + block.n_steps).contains(step))
                .count();
            if n_live == 0 {
                continue;
            }
            let weight = u128::from(block.bytes) * n_live as u128;
            let path = self.path(block, ask);
            for n_frames in 0..=path.len() {
                let sum: &mut (u128, u128, u64) = sums.entry(path[..n_frames].to_vec()).or_default();
                sum.0 += weight;
                sum.1 += if n_frames == path.len() { weight } else { 0 };
                sum.2 += 1;
            }
        }
        sums
    }
}

/// Text and file of a frame.
type Name = (String, String);

pub(super) fn comparison_of(recordings: Vec<Recording>) -> Comparison {
    let source = Source::Recordings(recordings.into_iter().map(Arc::new).collect());
    let request = Request::new(Workload::new("run".to_owned(), source), Configuration::default());
    compare(&request, &Progress::silent(&Cancel::new())).unwrap()
}

fn names(graph: &FlameGraph, node: u32) -> Vec<Name> {
    let name = |node: u32| {
        let frame = graph.frame(node);
        (frame.text.to_string(), frame.file.to_string())
    };
    graph.path(node).into_iter().map(name).collect()
}

/// Invariants of every graph.
fn check_sums(graph: &FlameGraph) {
    for (position, node) in (0_u32..).zip(graph.nodes()) {
        let children: Vec<_> = graph.children(position).map(|child| graph.node(child)).collect();
        let below: u128 = children.iter().map(|child| child.total).sum();
        assert_eq!(node.total, node.own + below);
        assert!(children.is_sorted_by(|one, other| one.total >= other.total));
        assert!(
            children
                .iter()
                .all(|child| child.parent == position && child.depth == node.depth + 1)
        );
        let frames: Vec<_> = graph
            .path(position)
            .iter()
            .map(|node| graph.frame(*node).clone())
            .collect();
        assert_eq!(graph.find(&frames), position);
    }
}

/// Boxes lie within that of their parent, do not overlap, and are as wide as their weight.
fn check_boxes(graph: &FlameGraph) {
    for zoomed in (0..).take(graph.nodes().len()) {
        let boxes = graph.boxes(zoomed, 0.0);
        let of = |node: u32| boxes.iter().find(|one| one.node == node).copied();
        let whole = graph.node(zoomed).total as f64;
        let is_below = |node: u32| graph.path(node).contains(&zoomed) || zoomed == FlameGraph::ROOT;
        for one in &boxes {
            let width = one.ends.1 - one.ends.0;
            if one.is_caller || one.node == zoomed {
                assert_eq!(one.ends, (0.0, 1.0));
            } else {
                assert!(is_below(one.node));
                let parent = of(graph.node(one.node).parent).unwrap();
                assert!(parent.ends.0 - 1e-9 <= one.ends.0 && one.ends.1 <= parent.ends.1 + 1e-9);
                let expected = graph.node(one.node).total as f64 / whole.max(1.0);
                assert!((width - expected).abs() < 1e-9);
            }
        }
        let n_below = (0..).take(graph.nodes().len()).filter(|node| is_below(*node)).count();
        assert_eq!(boxes.iter().filter(|one| !one.is_caller).count(), n_below);
        assert_eq!(boxes.len() - n_below, graph.node(zoomed).depth as usize);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_node_is_the_sum_over_the_blocks_with_its_prefix(case in cases(), a in 0..N_STEPS, b in 0..N_STEPS) {
        let comparison = comparison_of(vec![case.recording()]);
        let range = StepRange::between(Step(a), Step(b), N_STEPS).unwrap();
        let live = &comparison.lanes[0].curves.live;
        for (at, steps) in [(PeakAt::Step(Step(a)), a..a + 1), (PeakAt::Range(range), range.start.0..range.end.0)] {
            for (is_inverse, keeps_native) in [(false, false), (false, true), (true, false), (true, true)] {
                let ask = FlameRequest { lane: 0, at, is_inverse, keeps_native };
                let graph = FlameGraph::new(&comparison, ask).unwrap();
                check_sums(&graph);
                check_boxes(&graph);
                let expected = case.sums(ask, steps.clone());
                let nodes = (0_u32..).zip(graph.nodes());
                let found: BTreeMap<Vec<Name>, (u128, u128, u64)> = nodes
                    .filter(|(_, node)| node.count > 0)
                    .map(|(position, node)| (names(&graph, position), (node.total, node.own, node.count)))
                    .collect();
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(graph.nodes().len(), expected.len().max(1));
                let curve: u128 = steps.clone().map(|step| u128::from(live[step as usize].get())).sum();
                prop_assert_eq!(graph.total(), curve);
                let folded = folded_stacks(&graph);
                let weights = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u128>().unwrap());
                prop_assert_eq!(weights.sum::<u128>(), curve);
                prop_assert!(folded.lines().is_sorted());
                let answer = FlameAnswer { comparison: &comparison, graph: &graph, most: None };
                tags(&flame_svg(&answer, &SvgColors::print()));
            }
        }
    }
}

fn example() -> Case {
    let block = |birth: u32, n_steps: u32, bytes: u64, stack: Option<usize>| RandomBlock {
        birth,
        n_steps,
        bytes,
        stack,
    };
    Case {
        stacks: vec![vec![5, 2, 1, 0], vec![5, 6, 3, 1, 0], vec![5, 6], vec![1, 0]],
        blocks: vec![
            block(0, 12, 4 << 20, Some(0)),
            block(1, 10, 2 << 20, Some(1)),
            block(2, 6, 1 << 20, Some(2)),
            block(3, 5, 512, Some(3)),
            block(3, 2, 1 << 20, None),
            block(9, 1, 3 << 20, Some(0)),
        ],
    }
}

const AT_PEAK: FlameRequest = FlameRequest {
    lane: 0,
    at: PeakAt::Peak,
    is_inverse: false,
    keeps_native: false,
};

#[test]
fn trees_are_written_as_text_and_folded_stacks() {
    let comparison = comparison_of(vec![example().recording()]);
    let graph = |ask: FlameRequest| FlameGraph::new(&comparison, ask).unwrap();
    let text = |ask: FlameRequest, most: Option<usize>| {
        let graph = graph(ask);
        let answer = FlameAnswer {
            comparison: &comparison,
            graph: &graph,
            most,
        };
        flame_text(&answer).replace('\u{a0}', " ")
    };
    expect![[r#"
        run, lane 1: run: live bytes by call stack, peak at event 9

             live        exact        own    share  blocks  call stack
        9.000 MiB  9 437 184 B        0 B  100.0 %       3  all
        9.000 MiB  9 437 184 B        0 B  100.0 %       3    train.py:8 main
        9.000 MiB  9 437 184 B        0 B  100.0 %       3      train.py:12 step
        7.000 MiB  7 340 032 B  7.000 MiB   77.8 %       2        model.py:3 f
        2.000 MiB  2 097 152 B  2.000 MiB   22.2 %       1        model.py:3 f
    "#]]
    .assert_eq(&text(AT_PEAK, None));
    let range = PeakAt::Range(StepRange::between(Step(2), Step(5), N_STEPS).unwrap());
    let inverse = FlameRequest {
        at: range,
        is_inverse: true,
        ..AT_PEAK
    };
    expect![[r#"
        run, lane 1: run: mean live bytes by call stack, innermost frame first, events 2 to 5

             live                 exact        own    share  blocks  call stack
        7.500 MiB  31 458 816 B × steps        0 B  100.0 %       5  all
        4.000 MiB  16 777 216 B × steps        0 B   53.3 %       1    model.py:3 f
        4.000 MiB  16 777 216 B × steps        0 B   53.3 %       1      train.py:12 step
        4.000 MiB  16 777 216 B × steps  4.000 MiB   53.3 %       1        train.py:8 main
        2.000 MiB   8 388 608 B × steps        0 B   26.7 %       1    model.py:3 f
        2.000 MiB   8 388 608 B × steps        0 B   26.7 %       1      train.py:12 step
        2.000 MiB   8 388 608 B × steps  2.000 MiB   26.7 %       1        train.py:8 main
        1.500 MiB   6 292 992 B × steps              20.0 %            3 more
    "#]]
    .assert_eq(&text(inverse, Some(2)));
    let with_native = FlameRequest {
        keeps_native: true,
        ..AT_PEAK
    };
    expect![[r#"
        train.py:8 main;train.py:12 step;model.py:3 f;THPVariable;at::empty:(int) 2097152
        train.py:8 main;train.py:12 step;model.py:3 f;at::empty:(int) 7340032
    "#]]
    .assert_eq(&folded_stacks(&graph(with_native)));
    let peak = graph(AT_PEAK);
    assert_eq!(Some(Step(9)), peak_step(&comparison, 0), "{}", peak.title(&comparison));
    assert!(peak.has_native && peak.paths == FlamePaths::Stacks);
    assert_eq!(
        peak.hint(1),
        "train.py:8 main\n9\u{a0}437\u{a0}184\u{a0}B, 100.0 %, 3 blocks"
    );
}

#[test]
fn steps_and_lanes_that_do_not_exist_have_no_graph() {
    let comparison = comparison_of(vec![example().recording()]);
    let of = |lane: usize, at: PeakAt| FlameGraph::new(&comparison, FlameRequest { lane, at, ..AT_PEAK });
    assert_eq!(of(1, PeakAt::Peak), None);
    assert_eq!(of(0, PeakAt::Step(Step(N_STEPS))), None);
    let behind = StepRange {
        start: Step(N_STEPS + 3),
        end: Step(N_STEPS + 9),
    };
    let last = of(0, PeakAt::Range(behind)).unwrap();
    assert_eq!(last.n_steps(), 1);
    assert_eq!(last.find(&[]), FlameGraph::ROOT);
    assert!(last.path(9999).is_empty());
}

#[test]
fn deep_stacks_are_cut_and_counted() {
    let deep = MOST_FLAME_FRAMES + 40;
    let case = Case {
        // Recursion: the innermost frame is another one.
        stacks: vec![
            std::iter::once(2).chain(std::iter::repeat_n(0, deep - 1)).collect(),
            vec![0],
        ],
        blocks: vec![
            RandomBlock {
                birth: 0,
                n_steps: 2,
                bytes: 100,
                stack: Some(0),
            },
            RandomBlock {
                birth: 0,
                n_steps: 2,
                bytes: 10,
                stack: Some(1),
            },
        ],
    };
    let comparison = comparison_of(vec![case.recording()]);
    for is_inverse in [false, true] {
        let graph = FlameGraph::new(&comparison, FlameRequest { is_inverse, ..AT_PEAK }).unwrap();
        check_sums(&graph);
        assert_eq!((graph.total(), graph.cut.count, graph.cut.weight), (110, 1, 100));
        assert_eq!(graph.cut.n_frames, 40);
        let deepest = graph.nodes().iter().map(|node| node.depth).max();
        assert_eq!(deepest, Some(MOST_FLAME_FRAMES as u32));
        let answer = FlameAnswer {
            comparison: &comparison,
            graph: &graph,
            most: None,
        };
        let text = flame_text(&answer);
        assert!(
            text.contains("1 block with more than 256 frames; up to 40 frames are left out."),
            "{text}"
        );
        assert!(flame_svg(&answer, &SvgColors::print()).contains("1 block are cut") || !is_inverse);
    }
}

#[test]
fn tensors_of_graphs_have_their_scopes() {
    let node = |name: &str, from: &str| {
        format!(
            r#"{{"name": "{name}", "op": "K", "inputs": ["{from}"],
                "outputs": [{{"id": "{name}/out", "shape": [64], "dtype": "float32"}}]}}"#
        )
    };
    let nodes = [
        node("encoder/layer_0", "x"),
        node("encoder/layer_1", "encoder/layer_0/out"),
        node("head", "encoder/layer_1/out"),
        node("loss", "head/out"),
    ];
    let text = format!(
        r#"{{"highwater_graph": 1, "name": "net", "nodes": [{}],
            "inputs": [{{"id": "x", "shape": [64], "dtype": "float32"}}], "outputs": ["loss/out"]}}"#,
        nodes.join(", ")
    );
    let comparison = compared(&text, &[], &[]);
    let graph = FlameGraph::new(
        &comparison,
        FlameRequest {
            at: PeakAt::Range(StepRange::between(Step(0), Step(3), 4).unwrap()),
            ..AT_PEAK
        },
    )
    .unwrap();
    check_sums(&graph);
    assert_eq!(graph.paths, FlamePaths::Scopes);
    expect![[r#"
        encoder;layer_0 512
        encoder;layer_1 512
        head 512
    "#]]
    .assert_eq(&folded_stacks(&graph));
}
