//! Calls of library functions, each set of facts with which one is called making a version of it.

use super::Infer;
use crate::shape::fact::Fact;
use crate::shape::sym::Sym;
use crate::shape::versions::{self, Inference, Signature, Site, Versions};
use crate::tensorflow::calls;
use crate::tensorflow::model::{GraphIdx, MAIN, Model, RawGraph};
use highwater_model::progress::Cancelled;

pub(super) fn versions<'m>(model: &Model) -> Versions<'m> {
    let is_function = (0..model.graphs.len()).map(|position| GraphIdx(position) != MAIN);
    Versions::new(is_function.collect(), model.graphs.iter().map(price).collect())
}

fn price(graph: &RawGraph) -> u64 {
    graph.nodes.len() as u64 + graph.dtypes.len() as u64 + 8
}

/// The functions that nodes of a graph run, with the positions of the nodes.
pub(super) fn callees(model: &Model, idx: GraphIdx) -> Vec<(u32, GraphIdx)> {
    let graph = &model.graphs[idx.0];
    let of_node = |(position, node)| {
        let callees = calls::callees(model, graph, node).graphs.into_iter();
        callees
            .filter(|callee| *callee != MAIN)
            .map(move |callee| (position, callee))
    };
    (0_u32..).zip(&graph.nodes).flat_map(of_node).collect()
}

impl Infer<'_> {
    /// The facts of a function's results; none where calls are too deep or the budget is used up.
    pub(super) fn body(
        &mut self,
        node: u32,
        callee: GraphIdx,
        inputs: Vec<Fact>,
    ) -> Result<Option<Vec<Fact>>, Cancelled> {
        let site = Site {
            caller: self.frames.last().copied().unwrap_or(MAIN),
            node,
            callee,
        };
        let signature = Signature {
            inputs: inputs.into_iter().map(Some).collect(),
            attributes: Vec::new(),
        };
        versions::call(self, site, signature)
    }
}

impl<'m> Inference<'m> for Infer<'m> {
    fn versions(&mut self) -> &mut Versions<'m> {
        &mut self.versions
    }

    fn open(&self) -> &[GraphIdx] {
        &self.frames
    }

    fn pay(&mut self, function: GraphIdx) -> bool {
        let price = price(&self.model.graphs[function.0]);
        let has_steps = self.steps_left >= price;
        if has_steps {
            self.steps_left -= price;
        }
        has_steps
    }

    fn infer(&mut self, number: GraphIdx, signature: &Signature<'m>) -> Result<Vec<Fact>, Cancelled> {
        let inputs = signature.inputs.iter().cloned();
        self.graph(number, inputs.map(|input| input.unwrap_or(Fact::UNKNOWN)).collect())
    }

    fn facts(&mut self, number: GraphIdx) -> &mut Vec<Fact> {
        if self.tables.len() <= number.0 {
            self.tables.resize_with(number.0 + 1, Vec::new);
        }
        &mut self.tables[number.0]
    }

    fn unknown(&self, function: GraphIdx) -> Vec<Fact> {
        let dtypes = self.model.graphs[function.0].dtypes.iter();
        dtypes.map(|dtype| Fact::of_type(*dtype)).collect()
    }

    fn sym(&mut self) -> &mut Sym {
        &mut self.sym
    }
}
