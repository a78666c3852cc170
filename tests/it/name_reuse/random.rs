//! Random programs: the engine equals the oracle, and where each name is written once, live variables never share
//! memory.

use std::collections::BTreeMap;

use highwater::rewrite::name_reuse::{NameReuseRequest, SkipOptSet, Version};
use highwater::workload::{Block, BlockOp, BlockProgram, BlockVariable};
use indexmap::IndexMap;
use proptest::prelude::*;

use super::{oracle, reused};

/// A small generator, so that a program is determined by one number.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn pick<'a>(&mut self, names: &'a [String]) -> &'a str {
        &names[self.below(names.len())]
    }
}

fn variable(draw: &mut Draw) -> BlockVariable {
    let shapes: [&[i64]; 9] = [
        &[4, 4],
        &[2, 8],
        &[8],
        &[32],
        &[-1, 4],
        &[-1, 8],
        &[2, -1],
        &[0, 3],
        &[1],
    ];
    let dtypes = ["FP32", "FP32", "FP32", "FP16", "INT64"];
    BlockVariable {
        shape: if draw.one_in(25) {
            Vec::new()
        } else {
            shapes[draw.below(9)].to_vec()
        },
        dtype: dtypes[draw.below(5)].into(),
        is_persistable: draw.one_in(15),
        kind: if draw.one_in(20) {
            "STEP_SCOPES".into()
        } else {
            "LOD_TENSOR".into()
        },
    }
}

fn op(draw: &mut Draw, inputs: Vec<Box<str>>, outputs: Vec<Box<str>>) -> BlockOp {
    let split = |draw: &mut Draw, names: Vec<Box<str>>| {
        let mut names = names;
        let rest = names.split_off(draw.below(names.len() + 1));
        vec![("Y".into(), names), ("B".into(), rest)]
    };
    let role = [0, 1, 2, 257][draw.below(4)];
    let pair: Vec<Box<str>> = inputs.iter().chain(&outputs).take(2).cloned().collect();
    let has_pair = role == 2 && pair.len() == 2;
    BlockOp {
        kind: if draw.one_in(10) {
            "fill_constant".into()
        } else {
            "x".into()
        },
        inputs: split(draw, inputs),
        outputs: split(draw, outputs),
        role: Some(if has_pair || role != 2 { role } else { 0 }),
        role_variables: has_pair.then_some(pair),
        sub_block: None,
        is_forced_to_cpu: draw.one_in(20),
    }
}

/// A program that writes names repeatedly.
fn program(seed: u64) -> BlockProgram {
    let mut draw = Draw::new(seed);
    let shapes = [
        (None, None),
        (Some(0), None),
        (Some(0), Some(1)),
        (Some(0), None),
        (Some(1), None),
    ];
    let n_blocks = [1, 2, 3, 4, 5][draw.below(5)];
    let mut names: Vec<String> = vec!["@EMPTY@".to_owned(), "nowhere".to_owned()];
    let mut blocks = Vec::new();
    for (number, (parent, forward)) in shapes.iter().take(n_blocks).enumerate() {
        let mut variables = IndexMap::new();
        for position in 0..3 + draw.below(12) {
            // Some names are declared in several blocks.
            let name = if draw.one_in(8) {
                format!("shared{}", draw.below(3))
            } else {
                format!("b{number}v{position}")
            };
            names.push(name.clone());
            variables.insert(name.into_boxed_str(), variable(&mut draw));
        }
        blocks.push(Block {
            parent: *parent,
            forward: *forward,
            variables,
            ops: Vec::new(),
        });
    }
    for block in &mut blocks {
        for _ in 0..draw.below(40) {
            let inputs = (0..draw.below(4)).map(|_| draw.pick(&names).into()).collect();
            let outputs = (0..draw.below(4)).map(|_| draw.pick(&names).into()).collect();
            let op = op(&mut draw, inputs, outputs);
            block.ops.push(op);
        }
    }
    let owners = [
        (1, "while"),
        (2, "while_grad"),
        (3, "conditional_block"),
        (3, "parallel_do"),
    ];
    for (sub_block, kind) in owners
        .into_iter()
        .filter(|(sub_block, _)| (*sub_block as usize) < n_blocks)
    {
        // The block of the gradient belongs to the first; two families never share one.
        if sub_block == 3 && (kind == "parallel_do") != seed.is_multiple_of(2) {
            continue;
        }
        let inputs = vec![draw.pick(&names).into(), draw.pick(&names).into()];
        let outputs = vec![draw.pick(&names).into()];
        let mut owner = op(&mut draw, inputs, outputs);
        (owner.kind, owner.sub_block) = (kind.into(), Some(sub_block));
        let at = draw.below(blocks[0].ops.len() + 1);
        blocks[0].ops.insert(at, owner);
    }
    if n_blocks == 5 {
        let mut nested = op(&mut draw, vec!["b1v0".into()], vec!["b1v1".into()]);
        (nested.kind, nested.sub_block) = ("while".into(), Some(4));
        blocks[1].ops.push(nested);
    }
    BlockProgram {
        name: "random".to_owned(),
        blocks,
    }
}

fn request(seed: u64, program: &BlockProgram) -> NameReuseRequest {
    let mut draw = Draw::new(seed ^ 0x5eed);
    let names: Vec<String> = program.blocks[0].variables.keys().map(ToString::to_string).collect();
    let skipped = (0..draw.below(4)).map(|_| draw.pick(&names).into()).collect();
    NameReuseRequest {
        level: [0, 1, 1][draw.below(3)],
        skip: SkipOptSet {
            names: skipped,
            ..SkipOptSet::default()
        },
        skip_grads: draw.one_in(3),
        print_log: true,
        most_log_lines: usize::MAX,
        version: [Version::V3, Version::V3, Version::V2, Version::V1][draw.below(4)],
    }
}

/// A program in which each name is written once, one op per name.
pub(super) fn written_once(seed: u64, n_ops: usize) -> BlockProgram {
    let mut draw = Draw::new(seed);
    let mut variables = IndexMap::new();
    let mut ops = Vec::new();
    let mut names = vec!["data".to_owned()];
    variables.insert("data".into(), variable(&mut draw));
    for number in 0..n_ops {
        let n_near = names.len().min(12);
        let near = names[names.len() - n_near..].to_vec();
        let inputs = (0..=draw.below(3)).map(|_| draw.pick(&near).into()).collect();
        let mut outputs: Vec<Box<str>> = Vec::new();
        for result in 0..=draw.below(2) {
            let name = format!("t{number}_{result}");
            variables.insert(name.as_str().into(), variable(&mut draw));
            outputs.push(name.as_str().into());
            names.push(name);
        }
        ops.push(op(&mut draw, inputs, outputs));
    }
    let block = Block {
        variables,
        ops,
        ..Block::default()
    };
    BlockProgram {
        name: "once".to_owned(),
        blocks: vec![block],
    }
}

/// First and last op that use each name; an unread result lives at its op.
fn ranges(program: &BlockProgram) -> BTreeMap<&str, (usize, usize)> {
    let mut ranges: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (position, op) in program.blocks[0].ops.iter().enumerate() {
        let names = op.inputs.iter().chain(&op.outputs).flat_map(|(_, names)| names);
        for name in names {
            ranges.entry(&**name).or_insert((position, position)).1 = position;
        }
    }
    ranges
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_answer_is_the_oracles(seed in any::<u64>()) {
        let program = program(seed);
        let request = request(seed, &program);
        let expected = oracle::answer(&program, &request);
        let answer = reused(&program, &request);
        let renames: Vec<_> = answer.renames.iter().map(|rename| {
            (rename.variable.to_string(), rename.cache.to_string(), rename.block as usize, rename.op_index as usize,
             rename.cfg_op_index as usize)
        }).collect();
        let log: Vec<String> = answer.log.iter().map(|line| line.text.to_string()).collect();
        prop_assert_eq!(&log, &expected.log);
        prop_assert_eq!(renames, expected.renames);
        prop_assert_eq!(&answer.exception, &expected.exception);
        prop_assert_eq!(&answer.program, &expected.program);
        let quiet = reused(&program, &NameReuseRequest { print_log: false, ..request });
        prop_assert_eq!(quiet.renames, answer.renames);
        prop_assert_eq!(quiet.program, answer.program);
    }

    #[test]
    fn live_storages_share_no_memory(seed in any::<u64>(), level in 0..=1_i64) {
        let program = written_once(seed, 60);
        let request = NameReuseRequest { level, ..NameReuseRequest::default() };
        let answer = reused(&program, &request);
        let slots: BTreeMap<&str, &str> =
            answer.renames.iter().map(|rename| (&*rename.variable, &*rename.cache)).collect();
        let ranges: Vec<(&str, (usize, usize))> = ranges(&program).into_iter().collect();
        let slot = |name| slots.get(name).copied().unwrap_or(name);
        let mut users: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for (name, range) in ranges {
            users.entry(slot(name)).or_default().push(range);
        }
        for (slot, mut ranges) in users {
            ranges.sort_unstable();
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].1 < pair[1].0, "{slot}: {pair:?}");
            }
        }
    }
}
