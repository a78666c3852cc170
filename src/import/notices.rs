//! Notices that importers of graphs share: what was sorted, what has no size, what is taken to share memory.

use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{Bindings, DType, Graph, Role, TensorId};

/// All of them, of a graph with inferred shapes. `is_told` picks inputs that the importer has reported already.
pub(super) fn all(graph: &Graph, is_told: impl Fn(&str) -> bool, diagnostics: &mut Diagnostics) {
    sorted(graph, diagnostics);
    texts(graph, diagnostics);
    unsized_inputs(graph, is_told, diagnostics);
    views(graph, diagnostics);
}

/// Reports whether the ops were sorted, how many, and from which op of the file on.
pub(super) fn sorted(graph: &Graph, diagnostics: &mut Diagnostics) {
    let Some(op) = graph.first_reordered_op() else { return };
    let name = match graph.op_name(op) {
        "" => graph.op_kind(op),
        name => name,
    };
    diagnostics.sorted(name, u64::from(graph.reordered_ops()));
}

/// Reports the number of tensors of texts, which count no bytes.
pub(super) fn texts(graph: &Graph, diagnostics: &mut Diagnostics) {
    let texts = |id: &TensorId| graph.tensors()[*id].dtype == DType::Text;
    tell(
        graph,
        diagnostics,
        graph.tensors().ids().filter(texts),
        Severity::Info,
        "a tensor holds strings, which are on the host: it counts 0 bytes",
    );
}

/// Reports that views are an estimate, where the file does not state them.
pub(super) fn views(graph: &Graph, diagnostics: &mut Diagnostics) {
    let is_view = |id: &TensorId| {
        let tensor = &graph.tensors()[*id];
        tensor.role == Role::Activation && graph.storages()[tensor.storage].root != *id
    };
    tell(
        graph,
        diagnostics,
        graph.tensors().ids().filter(is_view),
        Severity::Info,
        "a tensor is taken to share its input's memory, by the kind of its op; the file does not say so: the figures of \
         shared memory are an estimate",
    );
}

/// Reports inputs and weights without a size.
fn unsized_inputs(graph: &Graph, is_told: impl Fn(&str) -> bool, diagnostics: &mut Diagnostics) {
    // The user binds a symbol to a size.
    let bindings: Bindings = graph.symbols().into_iter().map(|symbol| (symbol, 1)).collect();
    let sizes = graph.sizes(&bindings);
    let is_unsized = |id: &TensorId| {
        let role = graph.tensors()[*id].role;
        let is_outer = role == Role::Input || role.is_resident();
        is_outer && sizes.tensor(*id).is_none() && !is_told(graph.tensor_name(*id))
    };
    tell(
        graph,
        diagnostics,
        graph.tensors().ids().filter(is_unsized),
        Severity::Warning,
        "the shape or type of an input or a weight stays unknown: it counts 0 bytes, the figures are lower bounds",
    );
}

fn tell(
    graph: &Graph,
    diagnostics: &mut Diagnostics,
    mut found: impl Iterator<Item = TensorId>,
    severity: Severity,
    message: &str,
) {
    if let Some(first) = found.next() {
        let count = 1 + found.count() as u64;
        diagnostics.counted(severity, message, graph.tensor_name(first), count);
    }
}
