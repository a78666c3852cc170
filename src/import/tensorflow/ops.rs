//! The outputs of ops: their number, types and names.
//!
//! In: `ops.txt`, a table of the public op registry. Out: an op's outputs by its name. A node's own attributes fill in
//! what differs from node to node. Ops that are not in the table are unknown, and nothing is assumed of them.

use indexmap::IndexMap;

use super::types;

const TABLE: &str = include_str!("ops.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputType {
    /// Always the type of this code.
    Fixed(i64),
    /// The type in an attribute; the code where it is left out, 0 where there is no default.
    Attribute(&'static str, i64),
    /// One output for each type that an attribute lists.
    List(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// Its name; empty where the op has one alone.
    pub(super) name: &'static str,
    pub(super) ty: OutputType,
    /// The attribute with their number; empty for one.
    pub(super) count: &'static str,
}

#[derive(Debug)]
pub(super) struct OpTable {
    rows: IndexMap<&'static str, &'static str>,
}

impl OpTable {
    pub(super) fn new() -> Self {
        let mut rows = IndexMap::new();
        for (outputs, ops) in TABLE.lines().filter_map(|line| line.split_once('|')) {
            rows.extend(ops.split_whitespace().map(|op| (op, outputs)));
        }
        Self { rows }
    }

    /// The outputs of an op; `None` where the op is not in the table.
    pub(super) fn outputs(&self, op: &str) -> Option<impl Iterator<Item = Output> + use<>> {
        let outputs = *self.rows.get(op)?;
        Some(outputs.split_whitespace().map(output))
    }
}

/// `name:type?default*count`.
fn output(text: &'static str) -> Output {
    let (name, rest) = text.split_once(':').unwrap_or(("", text));
    let (ty, count) = rest.split_once('*').unwrap_or((rest, ""));
    let ty = if let Some(fixed) = ty.strip_prefix('=') {
        OutputType::Fixed(types::code_of(fixed).unwrap_or(0))
    } else if let Some(list) = ty.strip_prefix('@') {
        OutputType::List(list)
    } else {
        let (attribute, default) = ty.split_once('?').unwrap_or((ty, ""));
        OutputType::Attribute(attribute, types::code_of(default).unwrap_or(0))
    };
    Output { name, ty, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_ops_return() {
        let table = OpTable::new();
        let outputs = |op| table.outputs(op).map(Iterator::collect::<Vec<_>>);
        assert_eq!(outputs("NoOp"), Some(Vec::new()));
        assert_eq!(outputs("NoSuchOp"), None);
        let one = |ty| Output {
            name: "",
            ty,
            count: "",
        };
        assert_eq!(outputs("Shape"), Some(vec![one(OutputType::Attribute("out_type", 3))]));
        assert_eq!(outputs("Less"), Some(vec![one(OutputType::Fixed(10))]));
        assert_eq!(outputs("While"), Some(vec![one(OutputType::List("T"))]));
        let split = Output {
            count: "num_split",
            ..one(OutputType::Attribute("T", 0))
        };
        assert_eq!(outputs("Split"), Some(vec![split]));
        let normalized = outputs("FusedBatchNormV3").unwrap_or_default();
        let names: Vec<&str> = normalized.iter().map(|output| output.name).collect();
        assert_eq!(names[..2], ["y", "batch_mean"]);
        assert_eq!(names.len(), 6);
    }

    #[test]
    fn every_type_of_the_table_is_known() {
        let table = OpTable::new();
        for op in table.rows.keys() {
            for output in table.outputs(op).into_iter().flatten() {
                assert_ne!(output.ty, OutputType::Fixed(0), "{op}");
            }
        }
    }
}
