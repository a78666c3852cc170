//! MindSpore's settings of memory: named, with what they do; MindSpore's allocator is not simulated.
//!
//! Sources: MindSpore 2.10: `include/runtime/memory/mem_pool/mem_env.h` with its uses, the guide of environment variables,
//! `mindspore.set_context`, `mindspore.runtime.set_memory`.

use highwater_model::diagnostics::Severity;
use highwater_options::nearest_of;

use super::neighbours::{Neighbour, neighbour};

/// The variable with settings of the memory pool, `key:value` with commas between them.
pub(super) const ALLOC_CONF: &str = "MS_ALLOC_CONF";

/// The keys of [`ALLOC_CONF`].
const ALLOC_KEYS: &[Neighbour] = &[
    neighbour(
        "acl_allocator",
        "whether kernels of ACL take their workspaces from MindSpore's pool (true unless set)",
    ),
    neighbour(
        "somas_whole_block",
        "whether the arena of a SOMAS plan is taken as one block (false unless set)",
    ),
    neighbour(
        "enable_vmm",
        "whether the pool maps device memory piece by piece into a range of virtual addresses, which keeps it from fragmenting \
         (true unless set, where the device can)",
    ),
    neighbour(
        "vmm_align_size",
        "the size in MB to which virtual memory is aligned (2 unless set)",
    ),
    neighbour(
        "memory_recycle",
        "whether GE's graphs take their memory from the pool and give it back after a run (true unless set)",
    ),
    neighbour(
        "memory_tracker",
        "whether memory_block.csv and task.csv record each block (false unless set); highwater reads them",
    ),
    neighbour(
        "simple_tracker",
        "whether the tracker records blocks alone, without what uses them",
    ),
    neighbour(
        "memory_tracker_path",
        "the folder of the tracker's files; a folder alone switches the tracker on",
    ),
    neighbour(
        "defrag_memory_step_freq",
        "after how many steps the pool is defragmented (100 unless set)",
    ),
    neighbour("older_pool", "whether the memory pool of earlier releases is used"),
    neighbour(
        "enable_small_pool",
        "whether requests of up to 1 MB have a pool apart (false unless set)",
    ),
    neighbour(
        "enable_mem_huge_1g",
        "whether device memory is taken in pages of 1 GB (false unless set)",
    ),
];

/// Arguments of `set_context`.
const CONTEXT: &[Neighbour] = &[
    neighbour(
        "max_device_memory",
        "the limit of MindSpore's memory pool; of the limit and the free memory of the device the smaller one holds",
    ),
    neighbour(
        "memory_optimize_level",
        "whether SOMAS plans the memory of graphs that MindSpore's own runtime runs (O1) or not (O0, the default)",
    ),
    neighbour(
        "mempool_block_size",
        "by how much MindSpore's memory pool grows at once (1 GB unless set; with virtual memory it has no effect)",
    ),
    neighbour(
        "variable_memory_max_size",
        "an older name of max_device_memory, which MindSpore is going to remove",
    ),
    neighbour(
        "memory_offload",
        "whether MindSpore moves tensors to the host where the device's memory does not suffice",
    ),
];

/// Arguments of `runtime.set_memory`, in its order.
const SET_MEMORY: &[Neighbour] = &[
    neighbour(
        "init_size",
        "what MindSpore's memory pool takes at the start (2 GB unless set)",
    ),
    neighbour(
        "increase_size",
        "by how much MindSpore's memory pool grows at once (2 GB unless set)",
    ),
    neighbour(
        "max_size",
        "the limit of MindSpore's memory pool; of the limit and the free memory of the device the smaller one holds",
    ),
    neighbour(
        "optimize_level",
        "whether SOMAS plans the memory of graphs that MindSpore's own runtime runs (O1) or not (O0, the default)",
    ),
    neighbour(
        "huge_page_reserve_size",
        "the memory of huge pages that is reserved; with virtual memory it has no effect",
    ),
];

/// What an argument of `set_context` is.
pub(super) fn of_context(argument: &str) -> Option<String> {
    said(CONTEXT, argument, &format!("set_context({argument}=...)"))
}

/// The name of an argument of `runtime.set_memory` by its position.
pub(super) fn memory_argument(position: usize) -> Option<&'static str> {
    SET_MEMORY.get(position).map(|row| row.name)
}

/// What an argument of `runtime.set_memory` is.
pub(super) fn of_set_memory(argument: &str) -> Option<String> {
    said(SET_MEMORY, argument, &format!("set_memory({argument}=...)"))
}

fn said(rows: &[Neighbour], name: &str, title: &str) -> Option<String> {
    let row = rows.iter().find(|row| row.name == name)?;
    Some(format!("{title} of MindSpore is not simulated; it is {}", row.what))
}

/// What each key of [`ALLOC_CONF`] does; unknown keys are warnings.
pub(super) fn of_alloc_conf(text: &str) -> Vec<(Severity, String)> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let one = |pair: &str| {
        let (key, value) = pair.split_once(':').unwrap_or((pair, ""));
        let (key, value) = (key.trim(), value.trim());
        match ALLOC_KEYS.iter().find(|row| row.name == key) {
            _ if let Some((key, value)) = pair.split_once('=')
                && ALLOC_KEYS.iter().any(|row| row.name == key.trim()) =>
            {
                let (key, value) = (key.trim(), value.trim());
                let message = format!("{ALLOC_CONF} takes a colon between a key and its value: write {key}:{value}");
                (Severity::Warning, message)
            }
            Some(_) if value.is_empty() => {
                let message = format!("{ALLOC_CONF} has no value for {key}: write {key}:value");
                (Severity::Warning, message)
            }
            Some(row) => (
                Severity::Info,
                format!("{ALLOC_CONF} sets {key} to {value}: {}", row.what),
            ),
            None => {
                let near = nearest_of(key, ALLOC_KEYS.iter().map(|row| row.name));
                let meant = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
                let message = format!(
                    "{ALLOC_CONF} has the key \"{key}\", which MindSpore 2.10 does not know: it prints the key and goes on{meant}"
                );
                (Severity::Warning, message)
            }
        }
    };
    pairs.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_one_by_one() {
        assert_eq!(ALLOC_KEYS.len(), 12);
        let said = of_alloc_conf("enable_vmm:true, vmm_align_size:20 ,enable_vm:false,memory_tracker");
        let severities: Vec<Severity> = said.iter().map(|(severity, _)| *severity).collect();
        assert_eq!(
            severities,
            [Severity::Info, Severity::Info, Severity::Warning, Severity::Warning]
        );
        assert!(said[1].1.contains("vmm_align_size to 20"), "{said:?}");
        assert!(said[2].1.ends_with("did you mean \"enable_vmm\"?"), "{said:?}");
        assert!(of_alloc_conf("").is_empty());
        let slip = of_alloc_conf("enable_vmm=true");
        assert!(
            slip.len() == 1 && slip[0].1.ends_with("write enable_vmm:true"),
            "{slip:?}"
        );
        assert!(of_context("max_device_memory").is_some() && of_context("mode").is_none());
        assert_eq!(memory_argument(4), Some("huge_page_reserve_size"));
        assert!(of_set_memory("optimize_level").is_some());
    }
}
