//! PyTorch on CUDA, HIP, XPU and MPS, and other programs on these devices.
//!
//! Sources: pytorch/pytorch 1.0 to 2.15 (c10/cuda/CUDACachingAllocator.cpp, c10/xpu/XPUCachingAllocator.cpp, aten/src/ATen/mps),
//! intel/intel-extension-for-pytorch 1.13 to 2.8.

use super::super::fact::ReportKind::Echo;
use super::Figure::{Allocated, Allowed, Asked, Device, Free, Holder, Kernel, Reserved, Total, Unallocated};
use super::{ALWAYS, Figure, Pattern, ROW, Reads};
use highwater_model::workload::{Library, RefusedBy};

/// All forms: 1.0 to 1.3 (`cached`), to 2.0 (`reserved in total`), 2.1 (`total capacty`), since then (`total capacity of`).
const TORCH: &[(Figure, &str)] = &[
    (Asked, "Tried to allocate {}"),
    (Device, "(GPU {}"),
    (Device, "GPU {} has a total"),
    (Device, "device {} has a total"),
    (Device, "(MLU {}"),
    (Device, "(MUSA {}"),
    (Device, "(HPU {}"),
    (Total, "{} total capacity"),
    (Total, "total capacity of {}"),
    (Total, "total capacty of {}"),
    (Allocated, "{} already allocated"),
    (Allocated, "{} is allocated by PyTorch"),
    (Free, "of which {} is free"),
    (Free, "{} free"),
    (Allowed, "{} allowed"),
    (Reserved, "{} reserved in total"),
    (Unallocated, "{} is reserved by PyTorch but unallocated"),
    (Unallocated, "{} cached"),
    (Holder("process"), "Process {} has {} memory in use"),
    (
        Holder("this process, also outside torch's pool"),
        "this process has {} memory in use",
    ),
    (
        Holder("private pools of graphs, part of the allocated memory"),
        "with {} allocated in private pools",
    ),
];

const ENDS: &[&str] = &["reserved in total by PyTorch)", "cached)", "but unallocated"];

pub(super) const ROWS: &[Pattern] = &[
    Pattern {
        name: "torch_huge",
        marks: &["CUDA out of memory. Tried to allocate more than 1EB memory"],
        library: Library::TorchCuda,
        who: "torch",
        refused: RefusedBy::Check,
        source: "torch 1.7 to 2.15, CUDACachingAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_nameless",
        marks: &["Error: . Tried to allocate"],
        fields: TORCH,
        library: Library::TorchCuda,
        who: "torch",
        needs_figure: true,
        has_units: true,
        ends: ENDS,
        source: "torch 1.13 to 2.0, whose message lost its first words",
        ..ROW
    },
    Pattern {
        name: "torch_cuda",
        marks: &["CUDA out of memory"],
        fields: TORCH,
        library: Library::TorchCuda,
        who: "torch",
        needs_figure: true,
        ends: ENDS,
        has_units: true,
        source: "torch 1.0 to 2.15, CUDACachingAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_hip",
        marks: &["HIP out of memory"],
        fields: TORCH,
        library: Library::TorchHip,
        who: "torch",
        needs_figure: true,
        ends: ENDS,
        has_units: true,
        source: "torch 1.5 to 2.15, the same source for ROCm",
        ..ROW
    },
    Pattern {
        name: "torch_xpu",
        marks: &["XPU out of memory", "Current platform can NOT allocate memory block"],
        fields: TORCH,
        library: Library::TorchXpu,
        who: "torch",
        needs_figure: true,
        ends: ENDS,
        has_units: true,
        source: "torch 2.4 to 2.15, XPUCachingAllocator.cpp; intel-extension-for-pytorch 1.13 to 2.8",
        ..ROW
    },
    Pattern {
        name: "torch_other",
        marks: &[
            "MLU out of memory",
            "MUSA out of memory",
            "HPU out of memory",
            "GCU out of memory",
            "SDAA out of memory",
        ],
        fields: TORCH,
        library: Library::Other,
        who: "torch",
        needs_figure: true,
        ends: ENDS,
        has_units: true,
        source: "backends of torch outside its repository, which have its sentence",
        ..ROW
    },
    Pattern {
        name: "torch_mps",
        marks: &["MPS backend out of memory"],
        fields: &[
            (Asked, "Tried to allocate {}"),
            (Allocated, "MPS allocated: {}"),
            (Allowed, "max allowed: {}"),
            (Holder("other allocations"), "other allocations: {}"),
        ],
        library: Library::TorchMps,
        who: "torch",
        refused: RefusedBy::Fraction,
        needs_figure: true,
        ends: &["private pool", "shared pool"],
        has_units: true,
        source: "torch 1.13 to 2.15, MPSAllocator.mm",
        ..ROW
    },
    Pattern {
        name: "torch_mps_buffer",
        marks: &["Invalid buffer size:"],
        fields: &[(Asked, "buffer size: {}")],
        library: Library::TorchMps,
        who: "torch",
        refused: RefusedBy::Check,
        needs_figure: true,
        source: "torch 1.13 to 2.15, MPSAllocator.mm",
        ..ROW
    },
    Pattern {
        name: "torch_async",
        marks: &["Allocation on device"],
        needs: &[&["would exceed allowed memory"], &["Requested"]],
        fields: &[
            (Asked, "Requested : {}"),
            (Device, "Allocation on device {}"),
            (Allocated, "Currently allocated : {}"),
            (Total, "Device limit : {}"),
            (Free, "Free (according to CUDA): {}"),
            (Allowed, "memory fraction) : {}"),
        ],
        library: Library::TorchCuda,
        who: "torch",
        ends: &["memory fraction)"],
        has_units: true,
        source: "torch 1.12 to 2.15, CUDAMallocAsyncAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_async_bare",
        marks: &["OutOfMemoryError: Allocation on device"],
        without: &["Requested"],
        fields: &[(Device, "Allocation on device {}")],
        library: Library::TorchCuda,
        who: "torch",
        source: "torch 2.5 to 2.15, CUDAMallocAsyncAllocator.cpp, as programs cut it",
        ..ROW
    },
    Pattern {
        name: "cuda_host",
        marks: &[
            "cudaHostAlloc",
            "cudaMallocHost",
            "THCCachingHostAllocator",
            "hipHostMalloc",
            "hipHostAlloc",
            "hipMallocHost",
        ],
        needs: &[&[
            "out of memory",
            "failed",
            "cudaErrorMemoryAllocation",
            "hipErrorOutOfMemory",
        ]],
        fields: &[
            (Asked, " size={}"),
            (Asked, "to allocate {} bytes"),
            (Asked, "(requested {}"),
        ],
        library: Library::System,
        host: ALWAYS,
        source: "torch 0.4 to 2.15, CachingHostAllocator; mindspore 1.5, arena.cc",
        ..ROW
    },
    Pattern {
        name: "cuda",
        marks: &[
            "CUDA error: out of memory",
            "cuda runtime error (2) : out of memory",
            "CUDA driver error: out of memory",
        ],
        library: Library::TorchCuda,
        who: "torch",
        host: &["HostAlloc", "pin_memory", "CachingHostAllocator"],
        source: "torch 0.4 to 2.15, CUDAException.cpp",
        ..ROW
    },
    Pattern {
        name: "cuda_library",
        marks: &[
            "CUBLAS_STATUS_ALLOC_FAILED",
            "CUDNN_STATUS_ALLOC_FAILED",
            "CUSOLVER_STATUS_ALLOC_FAILED",
        ],
        fields: &[(Kernel, "when calling `{}`")],
        library: Library::TorchCuda,
        who: "cuBLAS, cuDNN or cuSOLVER",
        source: "torch 1.0 to 2.15, CUDABlas.cpp",
        ..ROW
    },
    Pattern {
        name: "nccl",
        marks: &["Failed to CUDA calloc", "Failed to CUDA host alloc"],
        fields: &[(Asked, "alloc {} bytes")],
        library: Library::Other,
        who: "NCCL",
        host: &["host alloc"],
        needs_figure: true,
        source: "nccl 2.7 to 2.26, alloc.h",
        ..ROW
    },
    Pattern {
        name: "nccl_call",
        marks: &["NCCL WARN Cuda failure"],
        needs: &[&["'out of memory'"]],
        reads: Reads::Request(Echo),
        library: Library::Other,
        who: "NCCL",
        source: "nccl 2.7 to 2.26, checks.h",
        ..ROW
    },
    Pattern {
        name: "cuda_call",
        marks: &[
            "CUDA_ERROR_OUT_OF_MEMORY",
            "cudaErrorMemoryAllocation",
            "Cuda failure 'out of memory'",
            "Cuda failure 2 'out of memory'",
            "CUDA Error: out of memory",
        ],
        reads: Reads::Request(Echo),
        library: Library::Other,
        host: &["HostAlloc", "MallocHost"],
        source: "CUDA driver and runtime 8 to 13, NCCL, numba",
        ..ROW
    },
    Pattern {
        name: "hip",
        marks: &["HIP error: out of memory", "hipErrorOutOfMemory"],
        library: Library::TorchHip,
        who: "torch",
        source: "torch 1.5 to 2.15",
        ..ROW
    },
    Pattern {
        name: "xpu",
        marks: &[
            "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
            "UR_RESULT_ERROR_OUT_OF_RESOURCES",
            "PI_ERROR_OUT_OF_RESOURCES",
            "PI_ERROR_OUT_OF_DEVICE_MEMORY",
        ],
        library: Library::TorchXpu,
        who: "torch",
        source: "oneAPI unified runtime 2023 to 2026",
        ..ROW
    },
    Pattern {
        name: "cupy",
        marks: &["Out of memory allocating"],
        needs: &[&["allocated so far"]],
        fields: &[
            (Asked, "Out of memory allocating {}"),
            (Allocated, "allocated so far: {}"),
            (Allowed, "limit set to: {}"),
        ],
        library: Library::Other,
        who: "CuPy",
        ends: &["allocated so far"],
        source: "cupy 6 to 13, memory.pyx",
        ..ROW
    },
    Pattern {
        name: "llama_cpp",
        marks: &["alloc_buffer: allocating"],
        needs: &[&["failed"]],
        fields: &[(Asked, "allocating {}"), (Device, "on device {}")],
        library: Library::Other,
        who: "llama.cpp",
        ends: &["failed"],
        source: "llama.cpp 2024 to 2026, ggml-cuda.cu, ggml-cann.cpp",
        ..ROW
    },
    Pattern {
        name: "onnxruntime",
        marks: &[
            "Failed to allocate memory for requested buffer of size",
            "Available memory of",
        ],
        needs: &[&["requested buffer of size", "smaller than requested bytes"]],
        fields: &[
            (Asked, "buffer of size {}"),
            (Asked, "requested bytes of {}"),
            (Free, "Available memory of {}"),
        ],
        library: Library::Other,
        who: "ONNX Runtime",
        source: "onnxruntime 1.4 to 1.32, bfc_arena.cc",
        ..ROW
    },
    Pattern {
        name: "tensorrt",
        marks: &["Requested amount of GPU memory"],
        needs: &[&["could not be allocated"]],
        fields: &[(Asked, "GPU memory ({}"), (Free, "free GPU memory ({}")],
        library: Library::Other,
        who: "TensorRT",
        ends: &["could not be allocated"],
        source: "TensorRT 8 to 10",
        ..ROW
    },
    Pattern {
        name: "torch_unsupported",
        marks: &["expandable_segments not supported on this platform"],
        reads: Reads::Statement(&[(
            "expandable_segments not supported",
            "expandable_segments is not supported on this platform",
        )]),
        source: "torch 2.0 to 2.15, a warning of CUDAAllocatorConfig",
        ..ROW
    },
];
