//! Names -> positions: who reads which output of whom, and how many outputs of which types each node has.
//!
//! In: drafts, whose nodes name what they read. Out: graphs whose operands are positions. How many outputs a node has
//! is the largest of what its op returns, what `_output_shapes` lists and what is read; for ops that are in no table
//! the last two alone.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::{Draft, Link, Parser, Part, VALUE_PRICE};
use crate::ImportError;
use crate::names::NameIdx;
use crate::tensorflow::model::{Attribute, Attributes, GraphIdx, Operand, RawGraph, RawNode};
use crate::tensorflow::ops::OutputType;
use crate::tensorflow::types;
use highwater_model::graph::DType;

/// The price of a group of outputs of an op, in bytes.
const GROUP_PRICE: u64 = 24;
/// The price of the name of a function's result, in bytes.
const RESULT_PRICE: u64 = 24;
/// Inputs of a node that are linked between two checks of the cancel flag.
const LINKS_BETWEEN_CHECKS: usize = 4096;

const NONE: u32 = u32::MAX;
const MAX_OUTPUTS: usize = 1 << 20;

/// Tables of the whole file that links need.
struct Library<'a> {
    functions: &'a IndexMap<NameIdx, GraphIdx>,
    /// Names of the results of each graph.
    returns: Vec<Vec<NameIdx>>,
    /// The position of each of these names; the first of equal ones.
    positions: Vec<BTreeMap<NameIdx, usize>>,
}

/// Names of groups of outputs and where each starts.
#[derive(Debug, Default)]
enum Groups<'a> {
    #[default]
    Unknown,
    Op(Vec<(&'static str, usize)>),
    /// A function, whose calls share one index: there may be thousands of either.
    Function(&'a BTreeMap<NameIdx, usize>),
}

impl Groups<'_> {
    /// Whether a name that is not among them may mean the only group.
    fn is_one(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Op(groups) => groups.len() <= 1,
            Self::Function(positions) => positions.len() <= 1,
        }
    }
}

#[derive(Debug, Default)]
struct Outputs<'a> {
    types: Vec<DType>,
    groups: Groups<'a>,
}

impl Parser<'_> {
    pub(super) fn link(
        &mut self,
        mut drafts: Vec<Draft>,
        functions: &IndexMap<NameIdx, GraphIdx>,
        at: u64,
    ) -> Result<Vec<RawGraph>, ImportError> {
        let returns: Vec<Vec<NameIdx>> = drafts
            .iter_mut()
            .map(|draft| std::mem::take(&mut draft.returns))
            .collect();
        let n_results: usize = returns.iter().map(Vec::len).sum();
        self.budget.charge(n_results as u64 * RESULT_PRICE, at)?;
        let library = Library {
            functions,
            positions: returns.iter().map(|names| positions_of(names)).collect(),
            returns,
        };
        let mut positions = vec![NONE; self.names.len()];
        let n_drafts = drafts.len() as u64;
        let mut graphs = Vec::with_capacity(drafts.len());
        for (number, draft) in drafts.into_iter().enumerate() {
            self.progress.set("linking", number as u64, n_drafts)?;
            for (node, number) in draft.graph.nodes.iter().zip(0_u32..) {
                let slot = &mut positions[node.name.0 as usize];
                if *slot != NONE {
                    let name = self.names.text(node.name);
                    return Err(ImportError::at_byte(
                        format!("two nodes are called \"{name}\""),
                        node.at,
                    ));
                }
                *slot = number;
            }
            let nodes: Vec<NameIdx> = draft.graph.nodes.iter().map(|node| node.name).collect();
            graphs.push(self.link_graph(draft, &positions, &library, GraphIdx(number), at)?);
            for name in nodes {
                positions[name.0 as usize] = NONE;
            }
        }
        Ok(graphs)
    }

    fn link_graph(
        &mut self,
        draft: Draft,
        positions: &[u32],
        library: &Library<'_>,
        idx: GraphIdx,
        at: u64,
    ) -> Result<RawGraph, ImportError> {
        let mut graph = draft.graph;
        let mut outputs = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let found = self.outputs(&graph, node, library)?;
            let groups = match &found.groups {
                Groups::Op(groups) => groups.len() as u64 * GROUP_PRICE,
                _ => 0,
            };
            self.budget
                .charge(found.types.len() as u64 * VALUE_PRICE + groups, node.at)?;
            outputs.push(found);
        }
        for number in 0..graph.nodes.len() {
            self.progress.check()?;
            let node = &graph.nodes[number];
            let links = &draft.links[node.operands as usize..node.operands_end as usize];
            let (reader, at) = (node.name, node.at);
            let (start, controls) = (graph.operands.len(), graph.controls.len());
            for (turn, link) in links.iter().enumerate() {
                if turn % LINKS_BETWEEN_CHECKS == LINKS_BETWEEN_CHECKS - 1 {
                    self.progress.check()?;
                }
                let node = positions[link.name.0 as usize];
                if node == NONE {
                    self.missing(*link, reader);
                }
                match link.part {
                    Part::Done if node == NONE => {}
                    Part::Done => graph.controls.push(node),
                    _ => {
                        let operand = self.operand(*link, node, &mut outputs, at)?;
                        graph.operands.push(operand);
                    }
                }
            }
            let ends = (graph.operands.len(), graph.controls.len());
            let node = &mut graph.nodes[number];
            (node.operands, node.operands_end) = (position(start, at)?, position(ends.0, at)?);
            (node.controls, node.controls_end) = (position(controls, at)?, position(ends.1, at)?);
        }
        for name in &library.returns[idx.0] {
            let source = draft.sources.get(name).copied();
            let node = source.map_or(NONE, |link| positions[link.name.0 as usize]);
            let operand = match source {
                Some(link) => self.operand(link, node, &mut outputs, at)?,
                None => Operand::MISSING,
            };
            graph.results.push(operand);
        }
        for (node, found) in graph.nodes.iter_mut().zip(outputs) {
            node.first_value = position(graph.dtypes.len(), node.at)?;
            node.n_outputs = position(found.types.len(), node.at)?;
            graph.dtypes.extend(found.types);
        }
        position(graph.dtypes.len(), at)?;
        Ok(graph)
    }

    fn missing(&mut self, link: Link, reader: NameIdx) {
        let place = format!(
            "\"{}\", read by \"{}\"",
            self.names.text(link.name),
            self.names.text(reader)
        );
        self.diagnostics.warning(
            "an input names a node that the file does not have; it is left out",
            &place,
        );
    }

    /// An output that is read. It exists, because it is read.
    fn operand(&mut self, link: Link, node: u32, outputs: &mut [Outputs<'_>], at: u64) -> Result<Operand, ImportError> {
        let Some(found) = outputs.get_mut(node as usize) else {
            return Ok(Operand::MISSING);
        };
        let port = match link.part {
            Part::Done => 0,
            Part::Port(port) => port as usize,
            Part::Named(name, number) => {
                let start = match &found.groups {
                    Groups::Unknown => None,
                    Groups::Function(positions) => positions.get(&name).copied(),
                    Groups::Op(groups) => {
                        let text = self.names.text(name);
                        groups.iter().find(|group| group.0 == text).map(|group| group.1)
                    }
                };
                if start.is_none() && !found.groups.is_one() {
                    self.diagnostics.warning(
                        "an output is read by a name that its op is not known to have; its number alone counts",
                        self.names.text(link.name),
                    );
                }
                start.unwrap_or(0).saturating_add(number as usize)
            }
        };
        if port >= MAX_OUTPUTS {
            let name = self.names.text(link.name);
            return Err(ImportError::at_byte(
                format!("output {port} of \"{name}\" is read, more than any op has"),
                at,
            ));
        }
        let more = (port + 1).saturating_sub(found.types.len());
        self.budget.charge(more as u64 * VALUE_PRICE, at)?;
        found.types.extend(std::iter::repeat_n(DType::Unknown, more));
        Ok(Operand {
            node,
            port: position(port, at)?,
        })
    }

    fn outputs<'l>(
        &self,
        graph: &RawGraph,
        node: &RawNode,
        library: &'l Library<'_>,
    ) -> Result<Outputs<'l>, ImportError> {
        let attributes = Attributes {
            names: &self.names,
            all: graph.attributes_of(node),
        };
        let mut found = Outputs::default();
        if let Some(function) = library.functions.get(&node.kind) {
            found.types = vec![DType::Unknown; library.returns[function.0].len()];
            found.groups = Groups::Function(&library.positions[function.0]);
        } else if let Some(rows) = self.table.outputs(self.names.text(node.kind)) {
            let mut groups = Vec::new();
            for row in rows {
                groups.push((row.name, found.types.len()));
                if let OutputType::List(key) = row.ty {
                    if let Some(Attribute::Types(types)) = attributes.get(key) {
                        found.types.extend_from_slice(types);
                    }
                    continue;
                }
                let dtype = match row.ty {
                    OutputType::Fixed(code) => types::from_code(code),
                    OutputType::Attribute(key, code) => attributes.dtype(key).unwrap_or_else(|| types::from_code(code)),
                    OutputType::List(_) => DType::Unknown,
                };
                let count = match row.count {
                    "" => 1,
                    key => attributes
                        .int(key)
                        .map_or(0, |count| usize::try_from(count).unwrap_or(0)),
                };
                if count > MAX_OUTPUTS {
                    return Err(ImportError::at_byte(format!("a node has {count} outputs"), node.at));
                }
                found.types.extend(std::iter::repeat_n(dtype, count));
            }
            found.groups = Groups::Op(groups);
        }
        if let Some(shapes) = attributes.shapes("_output_shapes") {
            let more = shapes.len().saturating_sub(found.types.len());
            found.types.extend(std::iter::repeat_n(DType::Unknown, more));
        }
        Ok(found)
    }
}

/// The position of each name; the first of equal ones.
fn positions_of(names: &[NameIdx]) -> BTreeMap<NameIdx, usize> {
    let mut positions = BTreeMap::new();
    for (position, name) in names.iter().enumerate() {
        positions.entry(*name).or_insert(position);
    }
    positions
}

pub(super) fn position(count: usize, at: u64) -> Result<u32, ImportError> {
    u32::try_from(count)
        .ok()
        .filter(|count| *count < NONE)
        .ok_or_else(|| ImportError::at_byte("a graph has more than 2^32 names", at))
}
