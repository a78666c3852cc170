//! The ops of a dump as written, before they become a graph.
//!
//! Both forms of the text fill the same drafts; [`DraftOp::attribute`] knows what an attribute of an op means.

use std::collections::BTreeMap;

use super::stamps::Stamps;
use crate::element_types::GE;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::DType;

/// The attribute that ties an end of a sub-graph to an input or output of the caller.
pub(super) const PARENT_INDEX: &str = "_parent_node_index";

/// The type of a name, or of a number where the writer knew no name.
pub(super) fn dtype_of(word: &str) -> DType {
    match word.parse::<i64>() {
        Ok(code) => GE.of_code(code),
        Err(_) => GE.of_name(word.strip_prefix("DT_").unwrap_or("")),
    }
}

/// A value of an attribute, as far as anything needs it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Value {
    pub(super) texts: Vec<String>,
    /// Whole numbers, flags and element types.
    pub(super) ints: Vec<i64>,
    pub(super) float: Option<f64>,
    pub(super) is_list: bool,
    /// Named values within.
    pub(super) named: Vec<(String, String)>,
    /// Whether something of it was left out: too many items, or a text that is too long.
    pub(super) is_cut: bool,
}

impl Value {
    /// Most numbers, texts or named values that are kept of one value; more are weights or kernels.
    pub(super) const LIMIT: usize = 64 << 10;

    /// Keeps a number where there is room.
    pub(super) fn push(&mut self, int: i64) {
        if self.ints.len() < Self::LIMIT {
            self.ints.push(int);
        } else {
            self.is_cut = true;
        }
    }

    /// Its text, where it is one and not a list.
    pub(super) fn text(&self) -> Option<&str> {
        self.texts.first().filter(|_| !self.is_list).map(String::as_str)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        self.ints.first().filter(|_| !self.is_list).map(|int| *int != 0)
    }

    pub(super) fn scalar(&self) -> Option<String> {
        let int = || self.ints.first().filter(|_| !self.is_list).map(ToString::to_string);
        let text = self.text().map(str::to_owned).or_else(int);
        text.or_else(|| self.float.map(|float| float.to_string()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DraftOutput {
    pub(super) dtype: DType,
    /// In the device layout; `None` where no shape is given.
    pub(super) dims: Option<Vec<i64>>,
    pub(super) layout: String,
    /// In the framework; `None` where it is not stated.
    pub(super) origin_dims: Option<Vec<i64>>,
    pub(super) origin_layout: String,
    /// Bytes with padding.
    pub(super) size: i64,
    /// The input whose memory it takes.
    pub(super) input: Option<i64>,
    /// The variable whose memory it takes.
    pub(super) variable: String,
    /// What torchair notes of it, in the words of Python; empty where it does not.
    pub(super) meta: String,
}

impl Default for DraftOutput {
    fn default() -> Self {
        Self {
            dtype: DType::Unknown,
            dims: None,
            layout: String::new(),
            origin_dims: None,
            origin_layout: String::new(),
            size: 0,
            input: None,
            variable: String::new(),
            meta: String::new(),
        }
    }
}

impl DraftOutput {
    /// Whether a dimension has no value before the run.
    pub(super) fn is_dynamic(&self) -> bool {
        self.dims.iter().flatten().any(|dim| *dim < 0)
    }

    /// Takes over the stated fields of the other.
    fn take_over(&mut self, other: Self) {
        if other.dtype != DType::Unknown {
            self.dtype = other.dtype;
        }
        for (text, said) in [
            (&mut self.layout, other.layout),
            (&mut self.origin_layout, other.origin_layout),
            (&mut self.variable, other.variable),
            (&mut self.meta, other.meta),
        ] {
            if !said.is_empty() {
                *text = said;
            }
        }
        self.dims = other.dims.or_else(|| self.dims.take());
        self.origin_dims = other.origin_dims.or_else(|| self.origin_dims.take());
        self.input = other.input.or(self.input);
        if other.size != 0 {
            self.size = other.size;
        }
    }

    pub(super) fn attribute(&mut self, key: &str, value: Value) {
        match key {
            "origin_shape" => self.origin_dims = Some(value.ints),
            "origin_format" => self.origin_layout = value.texts.into_iter().next().unwrap_or_default(),
            "ref_port_index" => self.input = self.input.or(value.ints.first().copied()),
            "_meta" => self.meta = value.texts.into_iter().next().unwrap_or_default(),
            "ref_var_src_var_name" => self.variable = value.texts.into_iter().next().unwrap_or_default(),
            _ => {}
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DraftMemory {
    /// Of outputs.
    pub(super) offsets: Vec<i64>,
    /// Of workspaces.
    pub(super) workspace_offsets: Vec<i64>,
    pub(super) workspace_bytes: Vec<i64>,
    /// Positions of outputs that are cleared before use, ascending.
    pub(super) atomic_outputs: Vec<i64>,
    /// For each output whether it is.
    pub(super) atomic_flags: Vec<i64>,
    /// For each workspace whether it is.
    pub(super) atomic_workspaces: Vec<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DraftOp {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) inputs: Vec<String>,
    /// With their positions, ascending once the op is whole.
    pub(super) outputs: Vec<(u32, DraftOutput)>,
    pub(super) memory: DraftMemory,
    pub(super) stream: i64,
    /// Whether its graph has unknown shapes, where that is stated.
    pub(super) is_unknown: Option<bool>,
    pub(super) graphs: Vec<String>,
    /// The number of an input of a graph.
    pub(super) index: Option<i64>,
    /// Of an input of a sub-graph the number of the caller's input.
    pub(super) parent_index: Option<i64>,
    /// By position of an input: of what a sub-graph returns the number of the caller's output.
    pub(super) end_indices: BTreeMap<i64, i64>,
    pub(super) texts: Vec<(String, String)>,
}

impl DraftOp {
    /// The output at a position, made where the last one is another; [`Self::join_outputs`] joins equal positions.
    pub(super) fn output(&mut self, position: u32) -> &mut DraftOutput {
        if self.outputs.last().is_none_or(|(last, _)| *last != position) {
            self.outputs.push((position, DraftOutput::default()));
        }
        let last = self.outputs.len() - 1;
        &mut self.outputs[last].1
    }

    /// Sorts the outputs by position, each once: later statements count.
    fn join_outputs(&mut self) {
        if self.outputs.is_sorted_by(|one, other| one.0 < other.0) {
            return;
        }
        self.outputs.sort_by_key(|(position, _)| *position);
        self.outputs.dedup_by(|(later, said), (first, output)| {
            let is_same = later == first;
            if is_same {
                output.take_over(std::mem::take(said));
            }
            is_same
        });
    }

    pub(super) fn attribute(&mut self, key: &str, value: Value) {
        match key {
            "atomic_output_index" => {
                self.memory.atomic_outputs = value.ints;
                self.memory.atomic_outputs.sort_unstable();
            }
            "tbe_op_atomic_output_index" => self.memory.atomic_flags = value.ints,
            "tbe_op_atomic_workspace_index" => self.memory.atomic_workspaces = value.ints,
            "OwnerGraphIsUnknown" | "_is_unknown_shape" | "_unknown_shape" => {
                let is_unknown = value.flag().unwrap_or(false);
                self.is_unknown = Some(self.is_unknown.unwrap_or(false) || is_unknown);
            }
            "index" => self.index = value.ints.first().copied(),
            PARENT_INDEX => self.parent_index = value.ints.first().copied(),
            key => {
                if let Some(text) = value.text()
                    && Stamps::may_be_option(key)
                {
                    self.texts.push((key.to_owned(), text.to_owned()));
                }
            }
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DraftGraph {
    pub(super) name: String,
    pub(super) ops: Vec<DraftOp>,
    pub(super) facts: Vec<(String, String)>,
}

impl DraftGraph {
    pub(super) fn push(&mut self, mut op: DraftOp, stamps: &mut Stamps) {
        stamps.op(&op.name, &std::mem::take(&mut op.texts));
        op.join_outputs();
        op.outputs.shrink_to_fit();
        op.inputs.shrink_to_fit();
        self.ops.push(op);
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct DraftModel {
    pub(super) graphs: Vec<DraftGraph>,
    pub(super) facts: Vec<(String, String)>,
    pub(super) stamps: Stamps,
}

/// Most facts that are kept of a graph or model.
const FACTS: usize = 10_000;

/// Keeps a single value of an attribute of a graph or model; reports where there are too many.
pub(super) fn keep_fact(facts: &mut Vec<(String, String)>, key: &str, value: &Value, diagnostics: &mut Diagnostics) {
    let Some(text) = value.scalar() else { return };
    if facts.len() < FACTS {
        facts.push((key.to_owned(), text));
    } else {
        let what = format!("attributes of a graph beyond the first {FACTS} are left out");
        diagnostics.warning(what, key);
    }
}
