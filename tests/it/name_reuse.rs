//! Name reuse: recorded answers of the original, rules by hand, random programs against a second implementation, graphs
//! as programs, the command line.

mod cases;
mod command;
mod conformance;
mod graphs;
mod import;
mod oracle;
mod random;

use std::sync::Arc;

use highwater::progress::{Cancel, Progress};
use highwater::rewrite::name_reuse::{NameReuse, NameReuseRequest, name_reuse};
use highwater::workload::{Block, BlockOp, BlockProgram, BlockVariable, Source};

use crate::support;

/// The program of a file.
pub(crate) fn program(name: &str, bytes: &[u8]) -> Arc<BlockProgram> {
    let imported = support::read(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(imported.format, "paddle_program", "{name}");
    match imported.source {
        Source::Blocks(mut programs) => programs.remove(0),
        other => panic!("{name}: {other:?}"),
    }
}

/// The pass on a program.
pub(crate) fn reused(program: &BlockProgram, request: &NameReuseRequest) -> NameReuse {
    let cancel = Cancel::new();
    name_reuse(program, request, &Progress::silent(&cancel)).expect("no cancel")
}

/// A program of one block from lines `KIND inputs -> outputs`; every name is declared as `[4, 4]` of FP32 unless
/// `shapes` says otherwise (`name`, shape, type).
pub(crate) fn line_program(lines: &str, shapes: &[(&str, &[i64], &str)]) -> BlockProgram {
    let mut block = Block::default();
    let names = |text: &str| -> Vec<Box<str>> { text.split_whitespace().map(Box::from).collect() };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (left, right) = line.split_once("->").unwrap();
        let (kind, inputs) = left.trim().split_once(' ').unwrap_or((left.trim(), ""));
        block.ops.push(BlockOp {
            kind: kind.into(),
            inputs: vec![("X".into(), names(inputs))],
            outputs: vec![("Out".into(), names(right))],
            ..BlockOp::default()
        });
        for name in names(inputs).into_iter().chain(names(right)) {
            let stated = shapes.iter().find(|stated| *stated.0 == *name);
            let (shape, dtype) = stated.map_or((&[4, 4][..], "FP32"), |stated| (stated.1, stated.2));
            let variable = BlockVariable {
                shape: shape.to_vec(),
                dtype: dtype.into(),
                is_persistable: false,
                kind: "LOD_TENSOR".into(),
            };
            block.variables.insert(name, variable);
        }
    }
    BlockProgram {
        name: "lines".to_owned(),
        blocks: vec![block],
    }
}
