//! Why sizes stay unknown, of ops whose data or inputs decide them.

use super::{Infer, forms};
use crate::onnx::model::RawNode;
use crate::shape::fact::Fact;
use highwater_model::graph::Dim;

/// The most op types that are told of.
const MAX_LISTED: usize = 64;

impl Infer<'_> {
    /// Whether a size of a tensor is unknown.
    pub(super) fn is_open(&self, fact: &Fact) -> bool {
        let dims = fact.shape.map(|shape| self.sym.dims(shape));
        dims.is_none_or(|dims| dims.contains(&Dim::Unknown)) && !fact.is_container()
    }

    /// Notes an op with outputs of unknown size, if there is a reason.
    pub(super) fn explain(&mut self, node: &RawNode) {
        let (domain, kind) = (self.model.domain(node), self.model.names.text(node.kind));
        let Some(reason) = forms::ENTRIES.get(&(domain, kind)).and_then(|entry| entry.reason) else {
            return;
        };
        let title = if domain.is_empty() {
            kind.to_owned()
        } else {
            format!("{domain}.{kind}")
        };
        if let Some(known) = self.without_size.get_mut(&title) {
            known.1 += 1;
        } else if self.without_size.len() < MAX_LISTED {
            let name = self.model.title(node).to_owned();
            self.without_size.insert(title, (name, 1, reason));
        }
    }
}
