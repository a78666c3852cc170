//! Names of `MindSpore`'s ops: `Gradients/Default/Grad_ReLU/ReluGrad-op0`.

use highwater_model::graph::Phase;

/// The type of an op: the last part of its name without the number behind it.
pub(super) fn kind_of(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.rsplit_once("-op") {
        Some((kind, number)) if !kind.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
        _ => last,
    }
}

/// The scope of derivatives is `Gradients`; other scopes tell nothing.
pub(super) fn phase_of(name: &str) -> Phase {
    if name.starts_with("Gradients/") {
        Phase::Backward
    } else {
        Phase::Unknown
    }
}

/// Kernels that SOMAS runs as nothing: their result is their first operand in another shape.
pub(super) fn is_view(kind: &str) -> bool {
    matches!(
        kind,
        "Reshape" | "ExpandDims" | "Squeeze" | "Flatten" | "FlattenGrad" | "ReFormat"
    )
}
