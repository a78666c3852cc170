//! Residents of bodies whose ops stay: loops, branches, calls that are not inlined.
//!
//! In: a body and its residents. Out: the same tensors in the surrounding graph, without readers, each once.

use std::collections::{BTreeMap, BTreeSet};

use super::join::{Join, Kept, ResidentKey};
use super::site::name_within;
use highwater_model::graph::{Graph, GraphError, TensorId};

/// Resident storages of a graph, one tensor each. A variable without a producer is passed in, unless a body within
/// brought it.
pub(super) fn resident_roots(graph: &Graph, within: &BTreeMap<TensorId, ResidentKey>) -> Vec<TensorId> {
    let is_kept = |root: &TensorId| {
        let tensor = &graph.tensors()[*root];
        let is_handed_in = tensor.role.is_variable() && tensor.producer.is_none() && !within.contains_key(root);
        tensor.role.is_resident() && !is_handed_in
    };
    graph
        .storages()
        .iter()
        .map(|storage| storage.root)
        .filter(is_kept)
        .collect()
}

impl Join<'_> {
    /// Adds the residents of a body whose op stays, each once. Variables are identified by name with those of the
    /// graph.
    pub(super) fn keep(&mut self, kept: &Kept<'_>, variables: &BTreeSet<&str>) -> Result<(), GraphError> {
        let exprs = self.exprs_of(kept.number, kept.body);
        let mut name = String::new();
        for id in &kept.tensors {
            let key = kept.residents.get(id).copied().unwrap_or((kept.number, *id));
            let own = kept.body.tensor_name(*id);
            let tensor = &kept.body.tensors()[*id];
            let is_variable = tensor.role.is_variable();
            if self.residents.contains_key(&key) || is_variable && variables.contains(own) {
                continue;
            }
            name_within(if is_variable { "" } else { &kept.prefix }, own, &mut name);
            let new = self.tensor(kept.body, &exprs, *id, &name, tensor.role)?;
            if let Some(bytes) = kept.body.storages()[tensor.storage].stated_bytes {
                self.builder.state_storage_bytes(new, bytes);
            }
            self.residents.insert(key, new);
        }
        self.keep_exprs(kept.number, exprs);
        Ok(())
    }
}
