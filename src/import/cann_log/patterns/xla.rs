//! JAX, the compilers and runtimes of XLA, and TensorFlow.
//!
//! Sources: openxla/xla and tensorflow/tensorflow 1.4 to 2.21 (`bfc_allocator.cc`, `stream_executor`), jaxlib 0.1.20 to 0.12; the reports
//! of TPU compilers in public threads of 2019 to 2026.

use super::super::fact::ReportKind::{Attempt, Sentence, Tolerated};
use super::Figure::{
    Allocated, Allowed, Asked, Device, Free, Holder, HolderName, Kernel, LargestFree, Reserved, Shape, Total, Type,
};
use super::{ALWAYS, BUFFER, Figure, Pattern, ROW, Reads};
use highwater_model::workload::{Library, RefusedBy};

const BFC: &[(Figure, &str)] = &[
    (Asked, "(rounded to {}"),
    (Asked, "trying to allocate {}"),
    (Device, "(GPU_{}_bfc"),
    (Kernel, "requested by op {}"),
];

pub(super) const ROWS: &[Pattern] = &[
    Pattern {
        name: "xla",
        marks: &["Out of memory while trying to allocate", "Out of memory allocating"],
        without: &["allocated so far"],
        fields: &[
            (Asked, "to allocate {}"),
            (Asked, "allocating {}"),
            (Device, "device ordinal {}"),
        ],
        library: Library::Jax,
        who: "XLA",
        needs_figure: true,
        ends: &["bytes", "iB"],
        source: "jaxlib 0.1.20 to 0.12, pjrt_stream_executor_client.cc",
        ..ROW
    },
    Pattern {
        name: "xla_request",
        marks: &["Failed to allocate request for"],
        fields: &[
            (Asked, "({}B) on device"),
            (Asked, "request for {}"),
            (Device, "device ordinal {}"),
        ],
        library: Library::Jax,
        who: "XLA",
        needs_figure: true,
        ends: &["device ordinal "],
        source: "jaxlib 0.1.40 to 0.4, tf_allocator_adapter.cc",
        ..ROW
    },
    Pattern {
        name: "tpu_compiler",
        marks: &["Ran out of memory in memory space"],
        fields: &[
            (Asked, "Used {} of"),
            (Total, "Used {} of {}"),
            (Allowed, "Used {} of {}"),
        ],
        library: Library::Jax,
        who: "XLA's compiler",
        refused: RefusedBy::Check,
        ends: &["capacity by"],
        source: "TPU compilers 2019 to 2026, also E1000",
        ..ROW
    },
    Pattern {
        name: "tpu",
        marks: &["Attempting to reserve", "Attempting to allocate"],
        needs: &[&["That was not possible"]],
        fields: &[
            (Asked, "Attempting to reserve {}"),
            (Asked, "Attempting to allocate {}"),
            (Free, "There are {} free"),
            (LargestFree, "region of free memory is {}"),
        ],
        has_units: true,
        library: Library::Jax,
        who: "XLA",
        ends: &["free,", "free."],
        source: "TPU runtimes 2019 to 2026",
        ..ROW
    },
    Pattern {
        name: "tpu_allocation",
        marks: &["Allocation (size="],
        needs: &[&["would exceed memory"]],
        fields: &[(Asked, "Allocation (size={})"), (Total, "exceed memory (size={})")],
        library: Library::Jax,
        who: "XLA",
        ends: &["would exceed memory (size="],
        source: "TPU runtimes 2021 to 2026",
        ..ROW
    },
    Pattern {
        name: "tpu_capacity",
        marks: &[
            "HBM capacity",
            "Currently allocated:",
            "Program requirement:",
            "Max free chunk",
        ],
        reads: Reads::Detail,
        fields: &[
            (Total, "HBM capacity {}:"),
            (Asked, "Program requirement: {}({} bytes)"),
            (Allocated, "Currently allocated: {}({} bytes)"),
            (Allocated, "Currently allocated: {}"),
            (LargestFree, "Max free chunk {}"),
        ],
        library: Library::Jax,
        source: "TPU runtimes 2019 to 2026",
        ..ROW
    },
    Pattern {
        name: "xla_stats",
        marks: &[
            "parameter allocation:",
            "constant allocation:",
            "maybe_live_out allocation:",
            "preallocated temp allocation:",
        ],
        reads: Reads::Detail,
        fields: &[
            (Holder("parameters"), "parameter allocation: {}"),
            (Holder("constants"), "constant allocation: {}"),
            (Holder("results"), "maybe_live_out allocation: {}"),
            (Holder("temporary buffers"), "preallocated temp allocation: {}"),
        ],
        library: Library::Jax,
        source: "jaxlib 0.3 to 0.12, buffer_assignment.cc",
        ..ROW
    },
    Pattern {
        name: "tpu_arguments",
        marks: &["arguments "],
        reads: Reads::Detail,
        fields: &[(Holder("arguments"), " arguments {}")],
        library: Library::Jax,
        source: "TPU compilers 2019 to 2026, total hbm usage",
        ..ROW
    },
    Pattern {
        name: "xla_buffer",
        marks: &["Size:"],
        reads: Reads::Detail,
        fields: &[(Holder(BUFFER), "Size: {}")],
        library: Library::Jax,
        source: "jaxlib 0.3 to 0.12, peak buffers; TPU compilers, largest program allocations",
        ..ROW
    },
    Pattern {
        name: "xla_buffer_name",
        marks: &["op_name=\"", "XLA Label:", "XLA label:"],
        reads: Reads::Detail,
        fields: &[
            (HolderName, "op_name=\"{}\""),
            (HolderName, "XLA Label: {}"),
            (HolderName, "XLA label: {}"),
        ],
        library: Library::Jax,
        source: "as xla_buffer",
        ..ROW
    },
    Pattern {
        name: "bfc_tolerated",
        marks: &["Allocator (", "Allocator ran out of memory"],
        needs: &[&["ran out of memory trying to allocate"], &["not a failure"]],
        reads: Reads::Request(Tolerated),
        fields: BFC,
        library: Library::TensorFlow,
        who: "TensorFlow",
        ends: &["not a failure"],
        source: "tensorflow 1.9 to 2.21, bfc_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "bfc",
        marks: &["Allocator (", "Allocator ran out of memory"],
        needs: &[&["ran out of memory trying to allocate"]],
        reads: Reads::Request(Sentence),
        fields: BFC,
        library: Library::TensorFlow,
        who: "TensorFlow",
        host: &["cpu) ran"],
        ends: &["requested by op", "summary follows", "not a failure"],
        source: "tensorflow 1.4 to 2.21, bfc_allocator.cc; intel-extension-for-tensorflow",
        ..ROW
    },
    Pattern {
        name: "tensor",
        marks: &["OOM when allocating tensor"],
        fields: &[
            (Shape, "shape [{}]"),
            (Type, " type {}"),
            (Device, "device:GPU:{}"),
            (Device, "device:XPU:{}"),
            (Device, "device:NPU:{}"),
            (Kernel, "[Op:{}]"),
        ],
        library: Library::TensorFlow,
        who: "TensorFlow",
        host: &["device:CPU:", "by allocator cpu"],
        needs_figure: true,
        ends: &["by allocator"],
        source: "tensorflow 1.0 to 2.21, op_kernel.cc",
        ..ROW
    },
    Pattern {
        name: "tensor_memory",
        marks: &[
            "ResourceExhaustedError: failed to allocate memory",
            "RESOURCE_EXHAUSTED: failed to allocate memory",
        ],
        fields: &[(Kernel, "[Op:{}]")],
        library: Library::TensorFlow,
        who: "TensorFlow",
        source: "tensorflow 2.8 to 2.21, op_kernel.cc",
        ..ROW
    },
    Pattern {
        name: "tensor_node",
        marks: &["[[node ", "[[{{node ", "[[Node:"],
        reads: Reads::Detail,
        fields: &[
            (Kernel, "[[{{node {}}}"),
            (Kernel, "[[node {}"),
            (Kernel, "[[Node: {} ="),
        ],
        library: Library::TensorFlow,
        source: "tensorflow 1.0 to 2.21, the node of an error",
        ..ROW
    },
    Pattern {
        name: "stream_executor",
        marks: &["failed to allocate"],
        needs: &[
            &["from device: "],
            &[
                "ERROR_OUT_OF_MEMORY",
                "ERROR_OutOfMemory",
                "out of memory",
                "hipError_t(1002)",
                "hipError_t(2)",
            ],
        ],
        reads: Reads::Request(Attempt),
        fields: &[(Asked, "({} bytes) from device"), (Asked, "failed to allocate {}")],
        library: Library::TensorFlow,
        who: "TensorFlow",
        needs_figure: true,
        ends: &["from device:"],
        source: "tensorflow 1.0 to 2.21 and jaxlib, cuda_driver.cc, rocm_driver.cc",
        ..ROW
    },
    Pattern {
        name: "stream_executor_host",
        marks: &["could not allocate pinned host memory of size", "failed to alloc "],
        needs: &[&["pinned host memory of size", "bytes on host"]],
        fields: &[(Asked, "of size: {}"), (Asked, "failed to alloc {} bytes on host")],
        library: Library::TensorFlow,
        who: "TensorFlow",
        host: ALWAYS,
        needs_figure: true,
        source: "tensorflow 1.0 to 2.21, gpu_host_allocator.h",
        ..ROW
    },
    Pattern {
        name: "bfc_chunk",
        marks: &["Free at"],
        reads: Reads::Detail,
        fields: &[(LargestFree, "of size {}")],
        library: Library::TensorFlow,
        source: "tensorflow 1.4 to 2.21, DumpMemoryLog",
        ..ROW
    },
    Pattern {
        name: "bfc_stats",
        marks: &["Limit:", "InUse:", "total_region_allocated_bytes_:"],
        reads: Reads::Detail,
        fields: &[
            (Allowed, " Limit: {}"),
            (Allocated, " InUse: {}"),
            (Reserved, " total_region_allocated_bytes_: {}"),
        ],
        library: Library::TensorFlow,
        source: "tensorflow 1.4 to 2.21, AllocatorStats",
        ..ROW
    },
];
