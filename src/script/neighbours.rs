//! Settings of memory in scripts that nothing here simulates: they are named, with what they are.
//!
//! Sources: Paddle 1.0 to 3.3 (its flags and `BuildStrategy`); libc10 of the wheels of torch 2.0 to 2.15.

/// A variable or flag of another memory system.
struct Neighbour {
    name: &'static str,
    /// What it is, as words after the name.
    what: &'static str,
}

const fn neighbour(name: &'static str, what: &'static str) -> Neighbour {
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
    }
}
