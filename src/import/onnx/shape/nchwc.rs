//! Channels in blocks (com.microsoft.nchwc). How many channels fill a block is a property of the processor on which
//! onnxruntime wrote the model, which the file does not state; the weights of the convolution that reads a value do.

use std::collections::BTreeMap;

use super::Infer;
use crate::names::NameIdx;
use crate::onnx::model::{GraphIdx, RawGraph};
use crate::shape::fact::Fact;
use highwater_model::graph::Dim;

impl Infer<'_> {
    /// The channels of values that blocked convolutions of a graph read. The facts of its initializers are known.
    pub(super) fn blocked_channels(&self, graph: &RawGraph, facts: &[Fact]) -> BTreeMap<NameIdx, Dim> {
        let is_conv = |domain, kind| (domain, kind) == ("com.microsoft.nchwc", "Conv");
        let text = |name| self.model.names.text(name);
        let mut channels = BTreeMap::new();
        for node in graph
            .nodes
            .iter()
            .filter(|node| is_conv(text(node.domain), text(node.kind)))
        {
            let [data, weights, ..] = graph.inputs_of(node) else {
                continue;
            };
            let fact = graph.locals.get(*weights).and_then(|number| facts.get(number));
            let Some(dims) = fact.and_then(|fact| fact.shape).map(|shape| self.sym.dims(shape)) else {
                continue;
            };
            // A convolution of each channel alone has one filter per channel.
            let is_grouped = self
                .model
                .attributes(graph, node)
                .int("group")
                .is_some_and(|group| group != 1);
            if let Some(dim @ Dim::Known(_)) = dims.get(usize::from(!is_grouped)) {
                channels.insert(*data, *dim);
            }
        }
        channels
    }

    /// A fact whose channels are open, with those that its reader's weights state.
    pub(super) fn blocked(&mut self, graph: GraphIdx, name: NameIdx, fact: Fact) -> Fact {
        let channels = self.tables[graph.0].blocked.get(&name).copied();
        let (Some(channels), Some(shape)) = (channels, fact.shape) else {
            return fact;
        };
        let mut dims = self.sym.dims(shape).to_vec();
        match dims.get_mut(1) {
            Some(dim) if *dim == Dim::Unknown => *dim = channels,
            _ => return fact,
        }
        let shape = self.sym.shape(&dims);
        Fact { shape, ..fact }
    }
}
