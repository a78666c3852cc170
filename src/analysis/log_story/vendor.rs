//! What each library calls its pool, which tool lists the device's processes, and which variable has settings of its
//! allocator.

use highwater_model::workload::{Library, LoggedFailure, LoggedProcess};
use highwater_torch::{COMMON_VARIABLE, Framework, VARIABLES, Version};

/// A row per library.
#[derive(Debug)]
pub(super) struct Vendor {
    pub(super) library: Library,
    /// `torch's pool`.
    pub(super) pool: &'static str,
    /// Prints which processes have memory of the device; `None` where there is none, or the library has several devices.
    pub(super) tool: Option<&'static str>,
    /// What else of the process has device memory.
    pub(super) others: &'static str,
    /// What raises the limit that the program sets for itself.
    pub(super) limit: &'static str,
}

const fn row(library: Library, texts: [&'static str; 3], tool: Option<&'static str>) -> Vendor {
    let [pool, others, limit] = texts;
    Vendor {
        library,
        pool,
        tool,
        others,
        limit,
    }
}

const TORCH: &str = "torch's pool";
const CANN: &str = "GE, HCCL and operators";
const FRACTION: &str = "per_process_memory_fraction";

const VENDORS: [Vendor; 12] = [
    row(Library::Cann, [TORCH, CANN, FRACTION], Some("npu-smi info")),
    row(Library::TorchNpu, [TORCH, CANN, FRACTION], Some("npu-smi info")),
    row(
        Library::TorchCuda,
        [TORCH, "the CUDA context, NCCL and other libraries", FRACTION],
        Some("nvidia-smi"),
    ),
    row(
        Library::TorchHip,
        [TORCH, "the HIP context, RCCL and other libraries", FRACTION],
        Some("rocm-smi --showpids"),
    ),
    row(
        Library::TorchXpu,
        [TORCH, "the SYCL runtime and other libraries", FRACTION],
        Some("xpu-smi ps"),
    ),
    row(
        Library::TorchMps,
        [TORCH, "Metal and other libraries", "PYTORCH_MPS_HIGH_WATERMARK_RATIO"],
        None,
    ),
    row(
        Library::Jax,
        ["XLA's pool", "other libraries", "XLA_PYTHON_CLIENT_MEM_FRACTION"],
        None,
    ),
    row(
        Library::TensorFlow,
        [
            "TensorFlow's pool",
            "other libraries",
            "per_process_gpu_memory_fraction",
        ],
        None,
    ),
    row(
        Library::MindSpore,
        ["MindSpore's pool", "GE, HCCL and operators", "max_device_memory"],
        Some("npu-smi info (nvidia-smi on a GPU)"),
    ),
    row(
        Library::Paddle,
        [
            "Paddle's pool",
            "other libraries",
            "FLAGS_fraction_of_gpu_memory_to_use",
        ],
        None,
    ),
    row(
        Library::System,
        ["the host", "other programs", "the limit of the host"],
        None,
    ),
    row(
        Library::Other,
        ["the library's pool", "other libraries", "the limit of its pool"],
        None,
    ),
];

pub(super) fn vendor(library: Library) -> &'static Vendor {
    let found = VENDORS.iter().find(|row| row.library == library);
    found.unwrap_or(&VENDORS[0])
}

/// Whose pool refused: `torch` without a library is `torch_npu`, as CANN's logs know no other.
pub(super) fn library(failure: &LoggedFailure) -> Library {
    match (failure.library, failure.who.as_deref()) {
        (Library::Cann, Some("torch")) => Library::TorchNpu,
        (library, _) => library,
    }
}

/// Whether a process ran on an Ascend device, as far as its text tells.
pub(super) fn is_of_ascend(process: &LoggedProcess) -> bool {
    let libraries = process.failures.iter().map(library);
    let mut of_ascend = libraries.map(|one| one.is_of_ascend() || one == Library::MindSpore);
    let has_variable = process.settings.contains_key(Framework::Npu.variable());
    of_ascend.any(|is| is) || has_variable
}

/// The variable that holds the allocator's settings for a process: one that its text sets, else the library's.
pub(super) fn variable(process: &LoggedProcess, library: Library, version: Option<Version>) -> Option<&'static str> {
    const HIP: &str = VARIABLES[1];
    let own: &[&'static str] = match library {
        Library::TorchNpu => &[VARIABLES[3], COMMON_VARIABLE],
        Library::TorchCuda => &[VARIABLES[0], COMMON_VARIABLE],
        Library::TorchHip => &[VARIABLES[0], HIP, COMMON_VARIABLE],
        _ => return None,
    };
    let set = own.iter().find(|name| process.settings.contains_key(**name));
    let reads_hip = version.is_none_or(|version| version.rules().variables.names().contains(&HIP));
    let usual = match library {
        Library::TorchHip if reads_hip => HIP,
        _ => own[0],
    };
    Some(set.copied().unwrap_or(usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_its_row() {
        for (position, row) in VENDORS.iter().enumerate() {
            assert_eq!(vendor(row.library).library, row.library);
            assert!(VENDORS[..position].iter().all(|other| other.library != row.library));
        }
    }

    #[test]
    fn the_variable_is_the_librarys_or_one_that_the_text_sets() {
        let bare = LoggedProcess::default();
        let of = |library, version| variable(&bare, library, version);
        assert_eq!(of(Library::TorchCuda, None), Some("PYTORCH_CUDA_ALLOC_CONF"));
        assert_eq!(of(Library::TorchNpu, None), Some("PYTORCH_NPU_ALLOC_CONF"));
        assert_eq!(of(Library::TorchHip, None), Some("PYTORCH_HIP_ALLOC_CONF"));
        assert_eq!(
            of(Library::TorchHip, Some(Version::Torch2_4)),
            Some("PYTORCH_CUDA_ALLOC_CONF")
        );
        assert_eq!(of(Library::Paddle, None), None);
        let mut common = LoggedProcess::default();
        common.settings.insert(COMMON_VARIABLE.to_owned(), String::new());
        assert_eq!(variable(&common, Library::TorchCuda, None), Some(COMMON_VARIABLE));
    }
}
