//! A second, plain implementation of the pass: sets of names, and every rename applied at once to everything after it.
//! It shares only the program with the engine.

use std::collections::{BTreeSet, VecDeque};

use highwater::rewrite::name_reuse::{NameReuseRequest, SkipKind, Version};
use highwater::workload::{BlockOp, BlockProgram, BlockVariable, Slots};

/// Renames (variable, cache, block, position there, position in the graph), log, exception.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) renames: Vec<(String, String, usize, usize, usize)>,
    pub(super) log: Vec<String>,
    pub(super) exception: Option<String>,
    pub(super) program: BlockProgram,
}

struct Line {
    at: (usize, usize),
    uses: Vec<String>,
    defs: Vec<String>,
    live_in: BTreeSet<String>,
    live_out: BTreeSet<String>,
}

/// The whole call, without the checks of its arguments.
pub(super) fn answer(program: &BlockProgram, request: &NameReuseRequest) -> Answer {
    assert!(matches!(request.skip.kind, SkipKind::Set) && request.version < Version::V4);
    let mut out = Answer {
        program: program.clone(),
        ..Answer::default()
    };
    let mut user: BTreeSet<String> = request.skip.names.iter().map(ToString::to_string).collect();
    if request.skip_grads {
        for op in program.blocks[0].ops.iter().filter(|op| op.role == Some(2)) {
            user.extend(
                op.role_variables
                    .iter()
                    .filter_map(|pair| pair.get(1))
                    .map(ToString::to_string),
            );
        }
    }
    for (blocks, skip) in graphs(program, request.version) {
        let skip = skip.union(&user).cloned().collect();
        graph(&blocks, skip, request, &mut out);
        if out.exception.is_some() {
            break;
        }
    }
    out
}

fn families(version: Version) -> &'static [&'static str] {
    if version == Version::V3 {
        &["while", "conditional_block"]
    } else {
        &["while", "parallel_do", "conditional_block"]
    }
}

fn runs_block(op: &BlockOp, version: Version) -> bool {
    families(version)
        .iter()
        .any(|family| *op.kind == **family || *op.kind == format!("{family}_grad"))
}

/// Blocks and protected names of each graph.
fn graphs(program: &BlockProgram, version: Version) -> Vec<(Vec<usize>, BTreeSet<String>)> {
    let ops = &program.blocks[0].ops;
    let names = |op: &BlockOp| [listed(&op.inputs), listed(&op.outputs)].concat();
    let all = ops
        .iter()
        .filter(|op| runs_block(op, version))
        .flat_map(names)
        .collect();
    let mut out = vec![(vec![0], all)];
    for family in families(version) {
        let gradient_kind = format!("{family}_grad");
        let mut forward: Vec<usize> = Vec::new();
        for op in ops.iter().filter(|op| *op.kind == **family) {
            forward.extend(op.sub_block.map(|block| block as usize));
        }
        let mut chosen = Vec::new();
        for op in ops.iter().filter(|op| *op.kind == *gradient_kind) {
            let gradient = op.sub_block.unwrap() as usize;
            let of = program.blocks[gradient].forward.map(|block| block as usize);
            if let Some(position) = forward.iter().position(|block| Some(*block) == of) {
                chosen.push(vec![forward.remove(position), gradient]);
            }
        }
        chosen.extend(forward.into_iter().map(|block| vec![block]));
        for blocks in chosen {
            let own = ops.iter().filter(|op| runs_block(op, version));
            let own = own.filter(|op| op.sub_block.is_some_and(|block| blocks.contains(&(block as usize))));
            let skip = own.flat_map(names).collect();
            out.push((blocks, skip));
        }
    }
    out
}

/// Names by sorted slot, each once.
fn listed(slots: &Slots) -> Vec<String> {
    let mut slots: Vec<_> = slots.iter().collect();
    slots.sort_by(|a, b| a.0.cmp(&b.0));
    once(
        slots
            .into_iter()
            .flat_map(|(_, names)| names.iter().map(ToString::to_string)),
    )
}

fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in names {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

fn find<'a>(
    program: &'a BlockProgram,
    block: usize,
    is_gradient: bool,
    name: &str,
) -> Option<(usize, &'a BlockVariable)> {
    let mut queue = VecDeque::from([block]);
    let mut seen = BTreeSet::new();
    while let Some(here) = queue.pop_front() {
        if !seen.insert(here) {
            continue;
        }
        if let Some(found) = program.blocks[here].variables.get(name) {
            return Some((here, found));
        }
        if is_gradient {
            let here = &program.blocks[here];
            queue.extend(here.forward.into_iter().chain(here.parent).map(|block| block as usize));
        }
    }
    None
}

fn elements(shape: &[i64]) -> i128 {
    shape.iter().map(|dim| i128::from(*dim)).product::<i128>().abs()
}

fn lines(program: &BlockProgram, blocks: &[usize]) -> Vec<Line> {
    let mut lines = Vec::new();
    for block in blocks {
        for (position, op) in program.blocks[*block].ops.iter().enumerate() {
            lines.push(Line {
                at: (*block, position),
                uses: listed(&op.inputs),
                defs: listed(&op.outputs),
                live_in: BTreeSet::new(),
                live_out: BTreeSet::new(),
            });
        }
    }
    loop {
        let mut is_settled = true;
        for position in (0..lines.len()).rev() {
            let out: BTreeSet<String> = lines
                .get(position + 1)
                .map_or_else(BTreeSet::new, |next| next.live_in.clone());
            let line = &mut lines[position];
            let mut alive: BTreeSet<String> = out.iter().filter(|name| !line.defs.contains(name)).cloned().collect();
            alive.extend(line.uses.iter().cloned());
            is_settled &= alive == line.live_in && out == line.live_out;
            (line.live_in, line.live_out) = (alive, out);
        }
        if is_settled {
            return lines;
        }
    }
}

#[expect(clippy::too_many_lines, reason = "the pass in one piece, as the facts tell it")]
fn graph(blocks: &[usize], mut skip: BTreeSet<String>, request: &NameReuseRequest, out: &mut Answer) {
    let version = request.version;
    let declared = out.program.clone();
    let mut lines = lines(&out.program, blocks);
    let n_forward = out.program.blocks[blocks[0]].ops.len();
    for line in &lines {
        let op = &declared.blocks[line.at.0].ops[line.at.1];
        if op.is_forced_to_cpu && (version > Version::V1 || &*op.kind == "fill_constant") {
            skip.extend(line.defs.iter().cloned());
        }
    }
    let valid = |name: &str, line: usize, at: (usize, usize)| {
        find(&declared, at.0, line >= n_forward, name)
            .map(|(_, variable)| variable)
            .filter(|variable| {
                name != "@EMPTY@"
                    && !skip.contains(name)
                    && !variable.is_persistable
                    && &*variable.kind == "LOD_TENSOR"
                    && !variable.shape.is_empty()
            })
    };
    let mut pool: Vec<(String, Vec<i64>)> = Vec::new();
    let mut n_hits = 0;
    for i in 0..lines.len() {
        let at = lines[i].at;
        if runs_block(&declared.blocks[at.0].ops[at.1], version) {
            continue;
        }
        if !pool.is_empty() {
            let results: Vec<String> = lines[i]
                .defs
                .iter()
                .filter(|name| valid(name, i, at).is_some())
                .cloned()
                .collect();
            for x in results {
                if lines[i].uses.contains(&x) {
                    continue;
                }
                let (owner, variable) = find(&declared, at.0, i >= n_forward, &x).unwrap();
                let mut hit = None;
                for (idx, (cache, shape)) in pool.iter().enumerate() {
                    let Some((_, other)) = find(&declared, at.0, i >= n_forward, cache) else {
                        out.log.push(format!("cache {cache} not exists!"));
                        continue;
                    };
                    if *cache == x {
                        out.log.push(format!("x :  {x}  cache :  {cache}  is same var!"));
                        break;
                    }
                    let differs = variable.dtype != other.dtype;
                    match version {
                        Version::V3 if differs => {
                            out.log.push("x_dtype and cache_dtype are different".to_owned());
                            continue;
                        }
                        Version::V1 if differs && request.level == 0 => continue,
                        _ => {}
                    }
                    let fits = if request.level == 0 {
                        variable.shape == *shape
                    } else {
                        (variable.shape[0] == -1) == (shape[0] == -1) && elements(&variable.shape) <= elements(shape)
                    };
                    if fits {
                        hit = Some(idx);
                        break;
                    }
                }
                let Some(idx) = hit else { continue };
                let size = pool.len();
                let (cache, shape) = pool.remove(idx);
                out.log.push(if version == Version::V1 {
                    format!(
                        "Hit Cache !!!! cache pool index is {idx}, var name is {x}, cached var name is {cache}, var shape is {:?}",
                        variable.shape
                    )
                } else {
                    format!(
                        "!!! {n_hits},  {x}{:?} => {cache}{shape:?}, cache idx {idx}, pool size {size}",
                        variable.shape
                    )
                });
                n_hits += 1;
                rename(&x, &cache, &mut lines[i..], &mut out.program);
                out.renames.push((x.clone(), cache, at.0, at.1, i));
                if owner != at.0 {
                    out.exception = Some(format!("ValueError: var {x} not in this block"));
                    return;
                }
            }
        }
        let dying: Vec<String> = lines[i].live_in.difference(&lines[i].live_out).cloned().collect();
        for name in dying {
            let Some(variable) = valid(&name, i, at) else { continue };
            let is_produced = lines.iter().any(|line| line.defs.contains(&name));
            let entry = (name, variable.shape.clone());
            if pool.contains(&entry) || (version > Version::V1 && !is_produced) {
                continue;
            }
            let key = |shape: &[i64]| (shape[0] != -1, elements(shape));
            let place = if version == Version::V1 {
                pool.len()
            } else {
                pool.iter()
                    .position(|other| key(&entry.1) < key(&other.1))
                    .unwrap_or(pool.len())
            };
            pool.insert(place, entry);
        }
    }
}

fn rename(x: &str, cache: &str, lines: &mut [Line], program: &mut BlockProgram) {
    for line in lines {
        for names in [&mut line.uses, &mut line.defs] {
            // The new name is appended, unless the list has it.
            if let Some(at) = names.iter().position(|name| name == x) {
                names.remove(at);
                if !names.iter().any(|name| name == cache) {
                    names.push(cache.to_owned());
                }
            }
        }
        for names in [&mut line.live_in, &mut line.live_out] {
            if names.remove(x) {
                names.insert(cache.to_owned());
            }
        }
        let op = &mut program.blocks[line.at.0].ops[line.at.1];
        let slots = op.inputs.iter_mut().chain(&mut op.outputs).flat_map(|(_, names)| names);
        for name in slots.chain(op.role_variables.iter_mut().flatten()) {
            if **name == *x {
                *name = cache.into();
            }
        }
    }
}
