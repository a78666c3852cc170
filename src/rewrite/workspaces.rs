//! Scratch memory by op type, for ops whose source states none.
//!
//! ```text
//! Conv*=25%,LayerNorm=2MiB          rules = rule (',' rule)*
//!                                   rule  = type '*'? '=' (percent '%' | size)
//! ```
//!
//! In: a graph, its sizes and live ranges, a [`WorkspaceTable`]. Out: the live ranges with one more for each op that a
//! rule matches and that states no workspace: on the op's step only, under a tensor id behind the graph's own
//! ([`estimated_workspace`]). An estimate: a kernel's need depends on the chip and its operator package. Types are
//! compared as in the other lists ([`plain_type`]); the first matching rule applies.

use highwater_model::graph::{Graph, Id as _, OpId, Role, Sizes, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Lifetime, Lifetimes};

use super::op_types::{OpTypes, plain_type};

/// A hundred times an op's results.
pub const MAX_PERCENT: u32 = 10_000;

/// The largest size of a rule: above every device.
const MAX_BYTES: Bytes = Bytes(1 << 50);

/// Scratch memory of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scratch {
    /// A share of the bytes of its results, in percent.
    Percent(u32),
    /// A constant size.
    Fixed(Bytes),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// An op type, or its prefix.
    name: String,
    /// Whether `name` is a prefix.
    is_beginning: bool,
    scratch: Scratch,
}

/// Scratch memory by op type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceTable {
    rules: Vec<Rule>,
}

impl WorkspaceTable {
    /// Reads rules separated by commas; an empty text has none. Blanks around names and amounts are ignored.
    ///
    /// # Errors
    /// The error, as the end of a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let rule = Rule::parse(part)?;
            let is_known = |other: &Rule| (&other.name, other.is_beginning) == (&rule.name, rule.is_beginning);
            if table.rules.iter().any(is_known) {
                return Err(format!(
                    "\"{part}\" is about a type that has a rule already: give each one rule"
                ));
            }
            table.rules.push(rule);
        }
        Ok(table)
    }

    /// Zero where no rule matches. O(rules).
    pub fn scratch(&self, kind: &str, result_bytes: Bytes) -> Bytes {
        let kind = plain_type(kind);
        let fits = |rule: &&Rule| {
            let rest = kind.strip_prefix(rule.name.as_str());
            rest.is_some_and(|rest| rule.is_beginning || rest.is_empty())
        };
        match self.rules.iter().find(fits).map(|rule| rule.scratch) {
            None => Bytes::ZERO,
            Some(Scratch::Fixed(bytes)) => bytes,
            Some(Scratch::Percent(percent)) => {
                let bytes = (u128::from(result_bytes.get()) * u128::from(percent)).div_ceil(100);
                Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
        }
    }
}

impl Rule {
    fn parse(part: &str) -> Result<Self, String> {
        let (name, amount) = part
            .split_once('=')
            .ok_or_else(|| format!("\"{part}\" is not TYPE=AMOUNT, such as Conv*=25% or LayerNorm=2MiB"))?;
        let name = plain_type(name.trim());
        let (name, is_beginning) = match name.strip_suffix('*') {
            Some(name) => (name, true),
            None => (name, false),
        };
        if name.contains('*') {
            return Err(format!("\"{part}\" has a * that is not the last letter of its type"));
        }
        if name.is_empty() && !is_beginning {
            return Err(format!("\"{part}\" names no op type: write * for all"));
        }
        Ok(Self {
            name: name.to_owned(),
            is_beginning,
            scratch: amount_of(amount.trim())?,
        })
    }
}

fn amount_of(text: &str) -> Result<Scratch, String> {
    if let Some(digits) = text.strip_suffix('%') {
        let percent = digits.trim_end().parse().ok().filter(|percent| *percent <= MAX_PERCENT);
        return percent
            .map(Scratch::Percent)
            .ok_or_else(|| format!("\"{text}\" is no share: use whole percents from 0% to {MAX_PERCENT}%"));
    }
    let bytes = Bytes::parse(text).ok().filter(|bytes| *bytes <= MAX_BYTES);
    bytes.map(Scratch::Fixed).ok_or_else(|| {
        format!("\"{text}\" is no amount: use percents of the op's results (25%) or a size (2MiB, at most 1024TiB)")
    })
}

/// The tensor id of an op's estimated scratch memory: behind the graph's own, by step. `None` where ids run out.
pub fn estimated_workspace(graph: &Graph, op: OpId) -> Option<TensorId> {
    let n_tensors = u32::try_from(graph.tensors().len()).ok()?;
    n_tensors.checked_add(op.0).map(TensorId)
}

/// The op of an estimated scratch memory; `None` for the graph's own tensors.
pub fn op_of_workspace(graph: &Graph, tensor: TensorId) -> Option<OpId> {
    let position = tensor.idx().checked_sub(graph.tensors().len())?;
    (position < graph.ops().len()).then(|| OpId::from_idx(position))
}

/// Adds estimated scratch memory to live ranges. Host ops need none on the device, and ops whose results are all known
/// before the run are not executed. O(ops and results by rules), plus a sort.
pub fn with_workspaces(
    graph: &Graph,
    sizes: &Sizes,
    mut lifetimes: Lifetimes,
    table: &WorkspaceTable,
    host_ops: Option<&OpTypes>,
) -> Lifetimes {
    let is_of_host = |kind: &str| host_ops.is_some_and(|types| types.contains(kind));
    for op in graph.ops().ids().filter(|op| !is_of_host(graph.op_kind(*op))) {
        let role = |tensor: &TensorId| graph.tensors()[*tensor].role;
        let results = graph.results(op);
        if results.iter().any(|tensor| role(tensor) == Role::Workspace) {
            continue;
        }
        let bytes = computed_bytes(graph, sizes, op);
        let scratch = table.scratch(graph.op_kind(op), bytes.unwrap_or(Bytes::ZERO));
        if let Some(tensor) = estimated_workspace(graph, op)
            && bytes.is_some()
            && scratch > Bytes::ZERO
        {
            lifetimes.items.push(Lifetime {
                birth: Step(op.0),
                end: Step(op.0 + 1),
                bytes: scratch,
                tensor,
            });
        }
    }
    lifetimes.items.sort_unstable_by_key(|item| (item.birth, item.tensor));
    lifetimes
}

/// Bytes that an op computes in a run, the base of percentages in a [`WorkspaceTable`]; `None` where it computes
/// nothing.
pub fn computed_bytes(graph: &Graph, sizes: &Sizes, op: OpId) -> Option<Bytes> {
    let computed = graph
        .results(op)
        .iter()
        .filter(|tensor| graph.tensors()[**tensor].role == Role::Activation);
    let mut bytes = computed.map(|tensor| result_bytes(graph, sizes, *tensor)).peekable();
    bytes.peek().is_some().then(|| bytes.sum())
}

/// Bytes of a result with separate memory, or of the view.
fn result_bytes(graph: &Graph, sizes: &Sizes, id: TensorId) -> Bytes {
    let storage = graph.tensors()[id].storage;
    Bytes(if graph.storages()[storage].root == id {
        sizes.storage(storage)
    } else {
        sizes.tensor(id).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_holds() {
        let table = WorkspaceTable::parse(" Conv2DBackprop*=50%, Conv*=25%,aten.mm.default=10%,LayerNorm=2MiB,, a*=3 ");
        let table = table.expect("right rules");
        for (kind, results, scratch) in [
            ("Conv", 1000, 250),
            ("Conv2DBackpropInput", 1000, 500),
            ("Convert", 10, 3),
            ("conv2d", 1000, 0),
            ("aten.mm.default", 1000, 100),
            ("mm", 1, 1),
            ("mmm", 1000, 0),
            ("LayerNorm", 1, 2 << 20),
            ("LayerNormalization", 1, 0),
            ("aten.add.Tensor", 7, 3),
            ("Conv", u64::MAX, u64::MAX / 4 + 1),
            ("Conv2DBackpropFilter", 0, 0),
        ] {
            assert_eq!(table.scratch(kind, Bytes(results)), Bytes(scratch), "{kind} {results}");
        }
        let all = WorkspaceTable::parse("*=200%").expect("a right rule");
        assert_eq!(all.scratch("x", Bytes(u64::MAX)), Bytes(u64::MAX));
        assert_eq!(WorkspaceTable::parse(" , "), Ok(WorkspaceTable::default()));
    }

    #[test]
    fn wrong_rules_are_told() {
        for (text, part) in [
            ("Conv", "TYPE=AMOUNT"),
            ("=5%", "names no op type"),
            ("C*v=5%", "not the last letter"),
            ("**=5%", "not the last letter"),
            ("Conv=", "no amount"),
            ("Conv=much", "no amount"),
            ("Conv=-1", "no amount"),
            ("Conv=2000TiB", "no amount"),
            ("Conv=5.5%", "no share"),
            ("Conv=-5%", "no share"),
            ("Conv=10001%", "no share"),
            ("Conv=99999999999%", "no share"),
            ("Conv=1%,aten.Conv.x=2%", "has a rule already"),
        ] {
            let error = WorkspaceTable::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
