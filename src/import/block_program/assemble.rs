//! From wire types to a program: references are looked into, with the place of the first that is wrong.

use indexmap::IndexMap;

use super::wire::{Document, WireBlock, WireOp};
use crate::ImportError;
use highwater_model::progress::Progress;
use highwater_model::workload::{Block, BlockOp, BlockProgram, BlockVariable};

const ADVICE: &str = "export the program again; docs/text-formats.md describes the format";

/// The type of a variable without a stated type.
const TENSOR: &str = "LOD_TENSOR";

pub(super) fn program(
    document: Document,
    fallback_name: String,
    progress: &Progress<'_>,
) -> Result<BlockProgram, ImportError> {
    let (name, blocks) = match (document.blocks, document.program) {
        (Some(blocks), None) => (document.name, blocks),
        (None, Some(program)) => (program.name.or(document.name), program.blocks),
        (Some(_), Some(_)) => {
            return Err(ImportError::at(
                "there are \"blocks\" and a \"program\"",
                "the object",
                ADVICE,
            ));
        }
        (None, None) => {
            return Err(ImportError::at(
                "there are no \"blocks\" and no \"program\"",
                "the end of the file",
                ADVICE,
            ));
        }
    };
    if blocks.is_empty() {
        return Err(ImportError::at(
            "there is no block, not even the global one",
            "\"blocks\"",
            ADVICE,
        ));
    }
    let n_blocks = blocks.len();
    let mut out = Vec::with_capacity(n_blocks);
    for (idx, wire) in blocks.into_iter().enumerate() {
        progress.check()?;
        out.push(block(wire, idx, n_blocks)?);
    }
    check_parents(&out)?;
    let name = name.filter(|name| !name.is_empty()).unwrap_or(fallback_name);
    Ok(BlockProgram { name, blocks: out })
}

fn block(wire: WireBlock, idx: usize, n_blocks: usize) -> Result<Block, ImportError> {
    let place = format!("block {idx}");
    if wire.idx.is_some_and(|stated| usize::try_from(stated) != Ok(idx)) {
        let stated = wire.idx.unwrap_or_default();
        return Err(ImportError::at(
            format!("the block says that it is number {stated}, but is at position {idx}"),
            place,
            ADVICE,
        ));
    }
    let parent = reference(wire.parent_idx, n_blocks, "parent_idx", &place)?;
    let forward = reference(wire.forward_block_idx, n_blocks, "forward_block_idx", &place)?;
    let mut variables = IndexMap::with_capacity(wire.vars.len());
    for wire in wire.vars {
        let variable = BlockVariable {
            shape: wire.shape.unwrap_or_default(),
            dtype: wire.dtype.unwrap_or_default(),
            is_persistable: wire.persistable,
            kind: wire.kind.unwrap_or_else(|| TENSOR.into()),
        };
        let name = wire.name.clone();
        if variables.insert(wire.name, variable).is_some() {
            return Err(ImportError::at(
                format!("variable \"{name}\" is declared twice"),
                place,
                ADVICE,
            ));
        }
    }
    let mut ops = Vec::with_capacity(wire.ops.len());
    for (position, wire) in wire.ops.into_iter().enumerate() {
        ops.push(op(wire, (idx, position), n_blocks)?);
    }
    Ok(Block {
        parent,
        forward,
        variables,
        ops,
    })
}

fn op(wire: WireOp, at: (usize, usize), n_blocks: usize) -> Result<BlockOp, ImportError> {
    let attributes = wire.attrs.unwrap_or_default();
    let place = format!("block {} op {} (\"{}\")", at.0, at.1, wire.kind);
    let sub_block = reference(attributes.sub_block, n_blocks, "sub_block", &place)?;
    if attributes.sub_block.is_some() && sub_block.is_none_or(|sub_block| sub_block as usize == at.0) {
        return Err(ImportError::at(
            "the op names no block but its own to run",
            place,
            ADVICE,
        ));
    }
    Ok(BlockOp {
        kind: wire.kind,
        inputs: wire.inputs.0,
        outputs: wire.outputs.0,
        role: attributes.op_role,
        role_variables: attributes.op_role_var,
        sub_block,
        is_forced_to_cpu: attributes.force_cpu.unwrap_or(false),
    })
}

/// The position of a block; -1 is none.
fn reference(number: Option<i64>, n_blocks: usize, what: &str, place: &str) -> Result<Option<u32>, ImportError> {
    let number = match number {
        None | Some(-1) => return Ok(None),
        Some(number) => number,
    };
    let found = u32::try_from(number).ok().filter(|found| (*found as usize) < n_blocks);
    found.map(Some).ok_or_else(|| {
        ImportError::at(
            format!("\"{what}\" is {number}, but there are {n_blocks} blocks"),
            place,
            ADVICE,
        )
    })
}

/// Parents lead to a block without one. O(blocks).
fn check_parents(blocks: &[Block]) -> Result<(), ImportError> {
    let mut leads_out = vec![false; blocks.len()];
    for start in 0..blocks.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(here) = at.filter(|here| !leads_out[*here]) {
            if path.len() > blocks.len() {
                return Err(ImportError::at(
                    "the parents of the block lead back to it",
                    format!("block {start}"),
                    ADVICE,
                ));
            }
            path.push(here);
            at = blocks[here].parent.map(|parent| parent as usize);
        }
        for here in path {
            leads_out[here] = true;
        }
    }
    Ok(())
}
