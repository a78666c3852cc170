//! Messages -> [`Model`]: `GraphDef`, function library, `MetaGraphDef`, `SavedModel`.
//!
//! In: [`Fields`], binary or text; a function that reads a field enters it. Out: one [`Parsed`] for each `GraphDef` of the file. Field numbers are those of the
//! public protos in tensorflow/core/framework and tensorflow/core/protobuf; other fields are skipped. Names are linked
//! once a graph is read as a whole, because nodes may name later ones. Errors name a byte.

mod attribute;
mod link;
mod node;
mod objects;
mod signature;
mod tensor;

use indexmap::IndexMap;

pub(super) use self::objects::{Object, Objects, TensorSpec};
pub(super) use self::signature::{Signature, TRAIN_OP};
use super::fields::{Fields, Schema};
use super::model::{GraphIdx, Model, RawGraph};
use super::ops::OpTable;
use super::types;
use crate::ImportError;
use crate::budget::Budget;
use crate::names::{Interner, NameIdx};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::DType;
use highwater_model::progress::Progress;

const MAX_NAME: u64 = 64 << 10;
/// A rough price of one name besides its letters: its place in two tables.
const NAME_PRICE: u64 = 16;
/// A rough price of one value, here and in the graph.
const VALUE_PRICE: u64 = 75;
const GRAPH_PRICE: u64 = 1024;

const GRAPH_DEF: Schema = Schema {
    what: "the graph",
    fields: &[("node", 1), ("library", 2)],
};
const LIBRARY: Schema = Schema {
    what: "the function library",
    fields: &[("function", 1)],
};
const FUNCTION: Schema = Schema {
    what: "a function",
    fields: &[("signature", 1), ("node_def", 3), ("ret", 4), ("arg_attr", 7)],
};
const SIGNATURE: Schema = Schema {
    what: "a function's signature",
    fields: &[("name", 1), ("input_arg", 2), ("output_arg", 3)],
};
const ARGUMENT: Schema = Schema {
    what: "an argument of a function",
    fields: &[("name", 1), ("type", 3)],
};
const RETURN: Schema = Schema {
    what: "a result of a function",
    fields: &[("key", 1), ("value", 2)],
};
const ARGUMENT_ENTRY: Schema = Schema {
    what: "a list of attributes of an argument",
    fields: &[("key", 1), ("value", 2)],
};
const ARGUMENT_ATTRIBUTES: Schema = Schema {
    what: "a list of attributes of an argument",
    fields: &[("attr", 1)],
};
const SAVED_MODEL: Schema = Schema {
    what: "the saved model",
    fields: &[("meta_graphs", 2)],
};
const META_GRAPH: Schema = Schema {
    what: "a meta graph",
    fields: &[
        ("meta_info_def", 1),
        ("graph_def", 2),
        ("collection_def", 4),
        ("signature_def", 5),
        ("object_graph_def", 7),
    ],
};
const META_INFO: Schema = Schema {
    what: "what a meta graph says of itself",
    fields: &[("tags", 4)],
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Graph,
    MetaGraph,
    SavedModel,
}

#[derive(Debug)]
pub(super) struct Parsed {
    /// Its tags, joined by commas; empty where it has none.
    pub(super) tags: String,
    pub(super) model: Model,
    /// By name, each once.
    pub(super) signatures: Vec<Signature>,
    pub(super) objects: Objects,
}

pub(super) fn file<F: Fields>(
    fields: &mut F,
    kind: FileKind,
    len: u64,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Parsed>, ImportError> {
    let mut parser = Parser {
        names: Interner::new(),
        budget: Budget::for_file(len),
        table: OpTable::new(),
        current: NameIdx::EMPTY,
        progress,
        diagnostics,
    };
    match kind {
        FileKind::Graph => Ok(vec![Parsed {
            tags: String::new(),
            model: parser.graph_def(fields)?,
            signatures: Vec::new(),
            objects: Objects::default(),
        }]),
        FileKind::MetaGraph => Ok(parser.meta_graph(fields)?.into_iter().collect()),
        FileKind::SavedModel => {
            let mut all = Vec::new();
            while fields.next(&SAVED_MODEL)?.is_some() {
                fields.enter()?;
                all.extend(parser.meta_graph(fields)?);
            }
            Ok(all)
        }
    }
}

struct Parser<'a> {
    names: Interner,
    budget: Budget,
    table: OpTable,
    /// The node that is being read, for diagnostics.
    current: NameIdx,
    progress: &'a Progress<'a>,
    diagnostics: &'a mut Diagnostics,
}

/// A graph whose nodes still name what they read.
#[derive(Debug, Default)]
struct Draft {
    graph: RawGraph,
    /// Inputs of nodes with control inputs, in the order of the file; nodes' ranges in `operands` count these.
    links: Vec<Link>,
    /// Results of a function: names of the signature, in order.
    returns: Vec<NameIdx>,
    sources: IndexMap<NameIdx, Link>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    name: NameIdx,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// `^name`: that it has run.
    Done,
    /// `name` or `name:1`: an output by number.
    Port(u32),
    /// `name:out:1`: in functions, one of the outputs with a name.
    Named(NameIdx, u32),
}

impl Parser<'_> {
    /// The meta graph that was entered.
    fn meta_graph(&mut self, fields: &mut impl Fields) -> Result<Option<Parsed>, ImportError> {
        let (mut tags, mut model): (Vec<String>, _) = (Vec::new(), None);
        let (mut signatures, mut objects) = (Vec::new(), Objects::default());
        while let Some(number) = fields.next(&META_GRAPH)? {
            fields.enter()?;
            match number {
                2 => {
                    self.names = Interner::new();
                    self.current = NameIdx::EMPTY;
                    model = Some(self.graph_def(fields)?);
                }
                4 => signatures.extend(self.collection_entry(fields)?),
                5 => signatures.extend(self.signature_entry(fields)?),
                7 => objects = self.object_graph(fields)?,
                _ => {
                    while fields.next(&META_INFO)?.is_some() {
                        let tag = fields.text(MAX_NAME)?;
                        self.budget.charge(64, fields.at())?;
                        tags.extend(tag);
                    }
                }
            }
        }
        // Files have them in any order.
        signatures.sort_by(|a: &Signature, b| a.key.cmp(&b.key));
        signatures.dedup_by(|a, b| a.key == b.key);
        Ok(model.map(|model: Model| Parsed {
            tags: tags.join(","),
            model,
            signatures,
            objects,
        }))
    }

    /// The graph that was entered, with its functions.
    fn graph_def(&mut self, fields: &mut impl Fields) -> Result<Model, ImportError> {
        self.budget.charge(GRAPH_PRICE, fields.at())?;
        let mut drafts = vec![Draft::default()];
        while let Some(number) = fields.next(&GRAPH_DEF)? {
            if number == 1 {
                self.node(fields, &mut drafts[0])?;
                continue;
            }
            fields.enter()?;
            while fields.next(&LIBRARY)?.is_some() {
                drafts.push(self.function(fields)?);
            }
        }
        let mut functions = IndexMap::new();
        for (position, draft) in drafts.iter().enumerate().skip(1) {
            functions.entry(draft.graph.name).or_insert(GraphIdx(position));
        }
        let graphs = self.link(drafts, &functions, fields.at())?;
        Ok(Model {
            names: std::mem::replace(&mut self.names, Interner::new()),
            graphs,
            n_runnable: 1,
            functions,
        })
    }

    fn function(&mut self, fields: &mut impl Fields) -> Result<Draft, ImportError> {
        fields.enter()?;
        self.budget.charge(GRAPH_PRICE, fields.at())?;
        let mut draft = Draft::default();
        let mut has_signature = false;
        while let Some(number) = fields.next(&FUNCTION)? {
            match number {
                1 if !has_signature => {
                    has_signature = true;
                    self.signature(fields, &mut draft)?;
                }
                1 => return Err(ImportError::at_byte("a function has two signatures", fields.at())),
                3 => self.node(fields, &mut draft)?,
                4 => {
                    let (mut name, mut link) = (NameIdx::EMPTY, None);
                    fields.enter()?;
                    while let Some(number) = fields.next(&RETURN)? {
                        if number == 1 {
                            name = self.name(fields)?;
                        } else {
                            link = Some(self.input(fields, true)?);
                        }
                    }
                    self.budget.charge(64, fields.at())?;
                    draft.sources.extend(link.map(|link| (name, link)));
                }
                _ => self.argument_entry(fields, &mut draft)?,
            }
        }
        Ok(draft)
    }

    /// Arguments become nodes, in front of all others: the signature has to come first, as it always does.
    fn signature(&mut self, fields: &mut impl Fields, draft: &mut Draft) -> Result<(), ImportError> {
        fields.enter()?;
        if !draft.graph.nodes.is_empty() {
            return Err(ImportError::at_byte(
                "a function's signature comes after its nodes",
                fields.at(),
            ));
        }
        while let Some(number) = fields.next(&SIGNATURE)? {
            if number == 1 {
                draft.graph.name = self.name(fields)?;
                continue;
            }
            let (mut name, mut code) = (NameIdx::EMPTY, 0);
            fields.enter()?;
            while let Some(number) = fields.next(&ARGUMENT)? {
                if number == 1 {
                    name = self.name(fields)?;
                } else {
                    code = fields.dtype()?;
                }
            }
            if number == 3 {
                self.budget.charge(8, fields.at())?;
                draft.returns.push(name);
            } else {
                self.argument(draft, name, code, fields.at())?;
            }
        }
        Ok(())
    }

    /// `arg_attr { key: 0 value { attr { ... } } }`, for the argument at a position.
    fn argument_entry(&mut self, fields: &mut impl Fields, draft: &mut Draft) -> Result<(), ImportError> {
        let mut position = 0;
        let mut attributes = Vec::new();
        fields.enter()?;
        while let Some(number) = fields.next(&ARGUMENT_ENTRY)? {
            if number == 1 {
                position = fields.int()?;
                continue;
            }
            fields.enter()?;
            while fields.next(&ARGUMENT_ATTRIBUTES)?.is_some() {
                self.budget.charge(64, fields.at())?;
                attributes.push(self.attribute(fields)?);
            }
        }
        let n_args = draft.graph.n_args as usize;
        if let Some(position) = usize::try_from(position).ok().filter(|position| *position < n_args) {
            let start = link::position(draft.graph.attributes.len(), fields.at())?;
            // The type, which the argument was made with, stays.
            let own = draft.graph.nodes[position].attributes as usize;
            let own = draft.graph.attributes.get(own).cloned();
            draft.graph.attributes.extend(own);
            draft.graph.attributes.extend(attributes);
            let node = &mut draft.graph.nodes[position];
            node.attributes = start;
            node.attributes_end = link::position(draft.graph.attributes.len(), fields.at())?;
        }
        Ok(())
    }

    fn name(&mut self, fields: &mut impl Fields) -> Result<NameIdx, ImportError> {
        let at = fields.at();
        match fields.text(MAX_NAME)? {
            Some(text) => self.intern(&text, at),
            None => Err(ImportError::at_byte(
                format!("a name is longer than the {MAX_NAME} bytes that are read"),
                at,
            )),
        }
    }

    /// The element type of a code; reports codes of later versions.
    fn element_type(&mut self, code: i64) -> DType {
        let dtype = types::from_code(code);
        if dtype == DType::Unknown && code != 0 {
            let which = match code {
                types::UNNAMED => "an element type has a name that is".to_owned(),
                code => format!("element type {code} is"),
            };
            self.diagnostics.warning(
                format!("{which} not known here; tensors of it have no size, and count 0 bytes"),
                self.names.text(self.current),
            );
        }
        dtype
    }

    fn intern(&mut self, text: &str, at: u64) -> Result<NameIdx, ImportError> {
        let known = self.names.len();
        let name = self.names.intern(text);
        if self.names.len() > known {
            self.budget.charge(text.len() as u64 * 2 + NAME_PRICE, at)?;
        }
        Ok(name)
    }
}
