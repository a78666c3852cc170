//! Hazards for callers of `memory_optimize`, each as a sentence.
//!
//! In: the call, the program before and the answer. Out: hazards by severity. Not here: renames that corrupt values
//! ([`verify`](super::verify)) and similar names of unknown ones (added by callers).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::figures::declaration;
use super::flow::{all_names, flow_plans};
use super::lookup::is_tensor;
use super::request::{NameReuseRequest, SkipKind, optimizer_gradients};
use super::versions::{DEPRECATION, TypeRule, Version};
use super::{NameReuse, Rename};
use highwater_model::units::Bytes;
use highwater_model::workload::{BlockOp, BlockProgram};

/// The type of ops that return a variable to the caller.
const FETCH: &str = "fetch";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HazardKind {
    /// A fetched variable is overwritten before the end.
    FetchedOverwritten,
    /// A fetched variable has another name.
    FetchedRenamed,
    /// A slot is smaller than its variable.
    SlotTooSmall,
    /// A text where a set is expected.
    TextAsSet,
    /// A skipped name that no variable has.
    UnknownSkipName,
    LargerSlots,
    /// `skip_grads` protects less than the guide states.
    SkipGrads,
    /// Blocks that the pass does not analyse.
    DeeperBlocks,
    /// Why no variable took another's memory.
    NoHits,
    /// Behaviour of the version.
    Version,
    Deprecated,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    pub kind: HazardKind,
    /// The variable concerned, if any.
    pub variable: Option<Box<str>>,
    /// A sentence without a final period.
    pub message: String,
}

/// `fetched` are variables that the caller fetches besides those of fetch ops; `batch` replaces -1. O(names log names).
pub fn hazards(
    before: &BlockProgram,
    request: &NameReuseRequest,
    reuse: &NameReuse,
    fetched: &[Box<str>],
    batch: u64,
) -> Vec<Hazard> {
    let mut found = Vec::new();
    fetch_hazards(before, reuse, fetched, &mut found);
    slot_hazards(before, request, &reuse.renames, batch, &mut found);
    skip_hazards(before, request, &mut found);
    if request.skip_grads && reuse.exception.is_none() && request.version != Version::V4 {
        let gradients: BTreeSet<Box<str>> = optimizer_gradients(before).unwrap_or_default().into_iter().collect();
        found.push(Hazard {
            kind: HazardKind::SkipGrads,
            variable: None,
            message: format!(
                "skip_grads leaves alone the {} gradients that optimizer ops name (op_role_var[1] where op_role is 2), not \
                 the whole backward part",
                gradients.len()
            ),
        });
    }
    no_hits(before, request, reuse, &mut found);
    deeper_blocks(before, request, &mut found);
    version_hazards(request, &mut found);
    found.sort_by_key(|hazard| hazard.kind);
    found
}

fn fetch_hazards(before: &BlockProgram, reuse: &NameReuse, fetched: &[Box<str>], found: &mut Vec<Hazard>) {
    let (Some(old), Some(new)) = (before.blocks.first(), reuse.program.blocks.first()) else {
        return;
    };
    let of_ops = old
        .ops
        .iter()
        .filter(|op| &*op.kind == FETCH)
        .flat_map(|op| all_names(&op.inputs));
    let by_op: BTreeSet<&str> = of_ops.collect();
    let mut seen = BTreeSet::new();
    let wanted = fetched.iter().map(|name| &**name);
    let wanted: Vec<&str> = wanted
        .filter(|name| !by_op.contains(name) && seen.insert(*name))
        .collect();
    if wanted.is_empty() {
        return;
    }
    let (last_before, last_after) = (last_writes(&old.ops, &new.ops), last_writes(&new.ops, &new.ops));
    for name in wanted {
        let Some((written, now)) = last_before.get(name).copied() else {
            continue;
        };
        if now != name {
            found.push(Hazard {
                kind: HazardKind::FetchedRenamed,
                variable: Some(name.into()),
                message: format!(
                    "\"{name}\" is fetched, but op {written} ({}) now writes it to \"{now}\": put it into skip_opt_set",
                    old.ops[written].kind
                ),
            });
        }
        let last = last_after.get(now).map(|(last, _)| *last);
        if let Some(last) = last.filter(|last| *last > written) {
            found.push(Hazard {
                kind: HazardKind::FetchedOverwritten,
                variable: Some(name.into()),
                message: format!(
                    "\"{name}\" is fetched, but after its last reader op {last} ({}) writes to its memory: put it into \
                     skip_opt_set",
                    new.ops[last].kind
                ),
            });
        }
    }
}

/// By name: the last op that writes it, and the new name of that output.
fn last_writes<'a>(before: &'a [BlockOp], after: &'a [BlockOp]) -> BTreeMap<&'a str, (usize, &'a str)> {
    let mut last: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (at, (old, new)) in before.iter().zip(after).enumerate() {
        for (name, now) in all_names(&old.outputs).zip(all_names(&new.outputs)) {
            let known = last.entry(name).or_insert((at, now));
            if known.0 != at {
                *known = (at, now);
            }
        }
    }
    last
}

fn slot_hazards(
    before: &BlockProgram,
    request: &NameReuseRequest,
    renames: &[Rename],
    batch: u64,
    found: &mut Vec<Hazard>,
) {
    let bytes = |block: u32, name: &str| -> Option<Bytes> {
        let (block, _) = declaration(before, block, name)?;
        before.blocks.get(block as usize)?.variables.get(name)?.bytes(batch)
    };
    let (mut n_larger, mut widest): (usize, Option<(Bytes, &Rename)>) = (0, None);
    for rename in renames {
        let sizes = bytes(rename.block, &rename.variable).zip(bytes(rename.block, &rename.cache));
        let Some((own, slot)) = sizes else { continue };
        if own > slot {
            found.push(Hazard {
                kind: HazardKind::SlotTooSmall,
                variable: Some(rename.variable.clone()),
                message: format!(
                    "\"{}\" has {} bytes and takes the place of \"{}\", which has {}: data types are not compared",
                    rename.variable,
                    own.get(),
                    rename.cache,
                    slot.get()
                ),
            });
        } else if own < slot {
            n_larger += 1;
            if widest.is_none_or(|(difference, _)| difference < slot - own) {
                widest = Some((slot - own, rename));
            }
        }
    }
    if let Some((difference, rename)) = widest.filter(|_| request.version.rules().types != TypeRule::Any) {
        found.push(Hazard {
            kind: HazardKind::LargerSlots,
            variable: Some(rename.variable.clone()),
            message: format!(
                "{n_larger} variables live in larger ones, with the declaration of the larger; the widest: \"{}\" in \"{}\", \
                 {} bytes more",
                rename.variable,
                rename.cache,
                difference.get()
            ),
        });
    }
}

fn skip_hazards(before: &BlockProgram, request: &NameReuseRequest, found: &mut Vec<Hazard>) {
    let is_text = request.skip.kind == SkipKind::Text;
    if is_text && request.version != Version::V4 {
        let text: String = request.skip.names.concat();
        let does = if request.version.rules().traits.checks_skip {
            "it is refused"
        } else {
            "it protects the variables that its letters name"
        };
        found.push(Hazard {
            kind: HazardKind::TextAsSet,
            variable: None,
            message: format!(
                "skip_opt_set=(\"{text}\"), as the guide writes it, is a text: {does}; write {{\"{text}\"}}"
            ),
        });
    }
    if is_text || request.skip.names.is_empty() {
        return;
    }
    // By name: its position in the file.
    let mut variables: BTreeMap<&str, usize> = BTreeMap::new();
    let names = before.blocks.iter().flat_map(|block| block.variables.keys());
    for (position, name) in names.enumerate() {
        variables.entry(name).or_insert(position);
    }
    let mut seen = BTreeSet::new();
    for name in &request.skip.names {
        if variables.contains_key(&**name) || !seen.insert(name) {
            continue;
        }
        let range = (Bound::Included(&**name), Bound::Unbounded);
        let longer = variables.range::<str, _>(range);
        let longer = longer.take_while(|(longer, _)| longer.starts_with(&**name));
        let longer = longer.min_by_key(|(_, position)| **position).map(|(longer, _)| longer);
        let but = longer.map_or_else(String::new, |longer| {
            format!("; names match exactly, so \"{longer}\" is not protected by it")
        });
        found.push(Hazard {
            kind: HazardKind::UnknownSkipName,
            variable: Some(name.clone()),
            message: format!("skip_opt_set names \"{name}\", and no variable is called so{but}"),
        });
    }
}

/// Explains an answer without a hit: the guide's own example has none, because its variables are fed.
fn no_hits(before: &BlockProgram, request: &NameReuseRequest, reuse: &NameReuse, found: &mut Vec<Hazard>) {
    let rules = request.version.rules();
    let is_run = reuse.exception.is_none() && request.version != Version::V4 && rules.traits.wants_producer;
    let Some(block) = before.blocks.first().filter(|_| is_run && reuse.renames.is_empty()) else {
        return;
    };
    let written: BTreeSet<&str> = block.ops.iter().flat_map(|op| all_names(&op.outputs)).collect();
    let read = block.ops.iter().flat_map(|op| all_names(&op.inputs));
    let is_temporary = |name: &&str| block.variables.get(*name).is_some_and(is_tensor);
    if let Some(fed) = read.filter(|name| !written.contains(name)).find(is_temporary) {
        found.push(Hazard {
            kind: HazardKind::NoHits,
            variable: Some(fed.into()),
            message: format!(
                "0 hits: fed data never enters the pool: \"{fed}\" is read and no op of the program writes it, so that nothing may \
                 take its memory"
            ),
        });
    }
}

fn deeper_blocks(before: &BlockProgram, request: &NameReuseRequest, found: &mut Vec<Hazard>) {
    let plans = flow_plans(before, request.version.rules());
    let seen: BTreeSet<u32> = plans
        .iter()
        .flat_map(|plan| std::iter::once(plan.forward).chain(plan.gradient))
        .collect();
    let deeper: Vec<String> = (0_u32..)
        .zip(&before.blocks)
        .filter(|(number, block)| !seen.contains(number) && !block.ops.is_empty())
        .map(|(number, _)| number.to_string())
        .collect();
    if !deeper.is_empty() && request.version != Version::V4 {
        found.push(Hazard {
            kind: HazardKind::DeeperBlocks,
            variable: None,
            message: format!(
                "block {} is not looked into: only the global block and those that its ops run are",
                deeper.join(", ")
            ),
        });
    }
}

fn version_hazards(request: &NameReuseRequest, found: &mut Vec<Hazard>) {
    if request.version != Version::V3 {
        found.push(Hazard {
            kind: HazardKind::Version,
            variable: None,
            message: request.version.rules().summary.to_owned(),
        });
    }
    if request.version == Version::V1 {
        found.push(Hazard {
            kind: HazardKind::Version,
            variable: None,
            message: "the original also prints op types and its pool, whether asked or not; those lines are left out"
                .to_owned(),
        });
    }
    if matches!(request.version, Version::V3 | Version::V4) {
        found.push(Hazard {
            kind: HazardKind::Deprecated,
            variable: None,
            message: DEPRECATION.trim_end().to_owned(),
        });
    }
}
