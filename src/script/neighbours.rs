//! Names of variables: those that act, those of other memory systems, which are named with what they are, and mistyped ones.
//!
//! Sources: Paddle 1.0 to 3.3 (its flags and `BuildStrategy`); libc10 of the wheels of torch 2.0 to 2.15.

use highwater_model::diagnostics::Severity;
use highwater_options::{ENVIRONMENT, nearest_variable};

use super::mindspore::{ALLOC_CONF, of_alloc_conf};
use super::quotes::{marked, named_in_text};

/// A variable, flag or argument of another memory system.
pub(super) struct Neighbour {
    pub(super) name: &'static str,
    /// What it is, as words after the name.
    pub(super) what: &'static str,
}

pub(super) const fn neighbour(name: &'static str, what: &'static str) -> Neighbour {
    Neighbour { name, what }
}

const VARIABLES: &[Neighbour] = &[
    neighbour(
        "FLAGS_eager_delete_tensor_gb",
        "Paddle's garbage collection: tensors that died are freed once so many GiB of them have gathered; 0 frees each at \
         once, below 0 turns it off",
    ),
    neighbour(
        "FLAGS_memory_fraction_of_eager_deletion",
        "the part of the dead tensors that Paddle's garbage collection frees",
    ),
    neighbour(
        "FLAGS_fast_eager_deletion_mode",
        "how early Paddle's garbage collection frees dead tensors",
    ),
    neighbour(
        "FLAGS_allocator_strategy",
        "Paddle's allocator of device memory (auto_growth, naive_best_fit or thread_local)",
    ),
    neighbour(
        "FLAGS_fraction_of_gpu_memory_to_use",
        "the part of the device's memory that Paddle's allocator takes at once",
    ),
    neighbour(
        "FLAGS_initial_gpu_memory_in_mb",
        "what Paddle's allocator takes at the start",
    ),
    neighbour(
        "FLAGS_reallocate_gpu_memory_in_mb",
        "what Paddle's allocator takes at each further step",
    ),
    neighbour("FLAGS_gpu_memory_limit_mb", "the limit of Paddle's allocator"),
    neighbour(
        "FLAGS_use_cuda_managed_memory",
        "whether Paddle's allocator uses CUDA's managed memory",
    ),
    neighbour(
        "FLAGS_pir_apply_inplace_pass",
        "Paddle 3's pass that lets ops write over their inputs",
    ),
    neighbour(
        ALLOC_CONF,
        "the settings of MindSpore's memory pool, KEY:VALUE with commas between them",
    ),
    neighbour(
        "PYTORCH_NO_CUDA_MEMORY_CACHING",
        "the switch that turns PyTorch's caching allocator off: each tensor is a device allocation",
    ),
    neighbour(
        "PYTORCH_XPU_ALLOC_CONF",
        "read by no release of torch whose libraries were looked at (2.0 to 2.15): for every kind of device there is \
         PYTORCH_ALLOC_CONF",
    ),
];

/// Attributes of Paddle's `BuildStrategy` that act on memory.
const BUILD_STRATEGY: &[Neighbour] = &[
    neighbour(
        "memory_optimize",
        "Paddle's pass over the program of a CompiledProgram that reuses memory of dead variables; it is another pass than \
         fluid.memory_optimize, whose options are memory_optimize.*",
    ),
    neighbour(
        "enable_inplace",
        "Paddle's pass that lets ops of a CompiledProgram write over their inputs",
    ),
];

/// Whether a variable acts here.
pub(super) fn is_variable(name: &str) -> bool {
    ENVIRONMENT.iter().any(|row| row.name == name)
}

/// The name that a variable is one slip away from, unless it is a known one.
pub(super) fn mistyped(name: &str) -> Option<&'static str> {
    let is_known = is_variable(name) || VARIABLES.iter().any(|row| row.name == name);
    (!is_known).then(|| nearest_variable(name, VARIABLES.iter().map(|row| row.name)))?
}

/// What is said of a variable and its text, wherever it is set.
pub(super) fn remarks(name: &str, text: Option<&str>) -> Vec<(Severity, String)> {
    let mut remarks = Vec::new();
    if let Some(near) = mistyped(name) {
        let message = format!("no variable \"{name}\" has an effect here; did you mean \"{near}\"?");
        remarks.push((Severity::Warning, message));
    }
    remarks.extend(of_variable(name).map(|said| (Severity::Info, said)));
    if name == ALLOC_CONF {
        remarks.extend(of_alloc_conf(text.unwrap_or_default()));
    }
    let is_told = is_variable(name) || !remarks.is_empty();
    if let Some((mark, inner)) = text.and_then(marked).filter(|_| is_told) {
        remarks.push((Severity::Warning, named_in_text(mark, inner, name)));
    }
    remarks
}

/// The same in a file of highwater, which has such marks where they were in the text that it writes.
pub(super) fn remarks_on_written(name: &str, text: &str) -> Vec<(Severity, String)> {
    remarks(name, Some(text).filter(|text| marked(text).is_none()))
}

/// What a variable or flag is, as a sentence; `None` where it is none of these.
pub(super) fn of_variable(name: &str) -> Option<String> {
    sentence(VARIABLES, name, name)
}

/// What an attribute of a `BuildStrategy` is, as a sentence.
pub(super) fn of_build_strategy(attribute: &str) -> Option<String> {
    sentence(BUILD_STRATEGY, attribute, &format!("BuildStrategy.{attribute}"))
}

fn sentence(rows: &[Neighbour], name: &str, title: &str) -> Option<String> {
    let row = rows.iter().find(|row| row.name == name)?;
    Some(format!("{title} is not simulated; it is {}", row.what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_neighbour_is_named_once() {
        for rows in [VARIABLES, BUILD_STRATEGY] {
            for (position, row) in rows.iter().enumerate() {
                assert!(
                    rows[..position].iter().all(|other| other.name != row.name),
                    "{}",
                    row.name
                );
                let known = highwater_options::ENVIRONMENT
                    .iter()
                    .any(|known| known.name == row.name);
                assert!(!known, "{} is simulated", row.name);
            }
        }
        let said = of_variable("FLAGS_eager_delete_tensor_gb").expect("known");
        assert!(
            said.starts_with("FLAGS_eager_delete_tensor_gb is not simulated; it is Paddle's"),
            "{said}"
        );
        assert_eq!(of_variable("FLAGS_unknown"), None);
        assert_eq!(
            mistyped("FLAGS_eager_delete_tensor_gbs"),
            Some("FLAGS_eager_delete_tensor_gb")
        );
        assert_eq!((mistyped("DEVICE_ID"), mistyped(ALLOC_CONF)), (None, None));
    }

    #[test]
    fn remarks_on_a_variable_are_the_same_wherever_it_is_set() {
        let said = |name, text| {
            remarks(name, Some(text))
                .into_iter()
                .map(|(_, said)| said)
                .collect::<Vec<_>>()
        };
        assert!(said("GE_USE_STATIC_MEMORY", "2").is_empty());
        assert!(said("ANYTHING", "\u{201c}2\u{201d}").is_empty());
        let quoted = said("GE_USE_STATIC_MEMORY", "\u{201c}2\u{201d}");
        assert!(quoted.len() == 1 && quoted[0].contains("U+201C"), "{quoted:?}");
        assert!(quoted[0].contains("write 2 without such marks"), "{quoted:?}");
        assert!(said("GE_USE_STATIC_MEMORY", "\u{b4}").is_empty());
        assert!(said("DUMP_GRAPH_PATH", "/a/l\u{2019}essai").is_empty());
        assert_eq!(said(ALLOC_CONF, "enable_vmm:true,x:1").len(), 3);
        assert_eq!(said("DEVICES_ID", "0").len(), 1);
    }
}
