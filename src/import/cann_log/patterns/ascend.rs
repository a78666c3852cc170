//! CANN: the driver, the engine, error codes of the terminal; `torch_npu`.
//!
//! Sources: hicann/driver, hicann/runtime, hicann/ge (tags of 2020 to 9.1), Ascend/pytorch 1.11 to 2.14, mindspore-ai/graphengine.

use super::super::fact::ReportKind::{Check, Code, Driver, DriverPage, Echo, Malloc, Page, Retry};
use super::Figure::{
    Allocated, Allowed, Asked, Device, Free, Graph, Kernel, Module, Part, Purpose, Reserved, Total, Unallocated, Who,
};
use super::{ALWAYS, Figure, Pattern, ROW, Reads};
use highwater_model::workload::{Library, RefusedBy};

/// The driver's code for being out of memory.
const OUT_OF_MEMORY: u64 = 6;

/// `ACL_ERROR_RT_MEMORY_ALLOCATION`.
const ALLOCATION: u64 = 207_001;

const DRIVER: &[(Figure, &str)] = &[
    (Asked, " size={}"),
    (Module, "moduleId={}"),
    (Module, "module_id={}"),
    (Device, "device_id{}"),
    (Device, "drvDevId={}"),
    (Device, "deviceId={}"),
    (Device, "devid={}"),
];

const ENGINE: &[(Figure, &str)] = &[
    (Asked, " size{}"),
    (Device, "device_id{}"),
    (Graph, "graph_id{}"),
    (Graph, "graph id{}"),
];

const CODE: &[(Figure, &str)] = &[
    (Asked, "size:{}"),
    (Asked, "allocate {}"),
    (Who, "requested by the {}"),
    (Who, "requested by {}"),
    (Device, "device_id{}"),
    (Graph, "graph id{}"),
    (Graph, "graph_id{}"),
    (Purpose, "purpose{}"),
];

/// `(NPU 0; 60.97 GiB total capacity; 57.42 GiB already allocated; ...)`.
const TORCH_NPU: &[(Figure, &str)] = &[
    (Asked, "ried to allocate {}"),
    (Asked, "Requested size: {}"),
    (Device, "(NPU {}"),
    (Device, "NPU {} has a total"),
    (Device, "device id: {}"),
    (Device, "device_id: {}"),
    (Total, "{} total capacity"),
    (Total, "total capacity of {}"),
    (Allocated, "{} already allocated"),
    (Allocated, "{} is allocated by PyTorch"),
    (Free, "{} free"),
    (Free, "of which {} is free"),
    (Allowed, "{} allowed"),
    (Reserved, "{} reserved in total"),
    (Unallocated, "{} is reserved by PyTorch but unallocated"),
    (Kernel, "operator name is {}"),
];

pub(super) const ROWS: &[Pattern] = &[
    Pattern {
        name: "retry",
        marks: &["error log can be ignored"],
        reads: Reads::Request(Retry),
        source: "GE 8.5 to 9.1, device_allocator.cc; torch_npu 2.1 to 2.14, NPUCachingAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "driver",
        marks: &["halMemAlloc failed"],
        codes: &[("drvRetCode={}", OUT_OF_MEMORY)],
        reads: Reads::Request(Driver),
        fields: DRIVER,
        host: &[" type=1,"],
        source: "runtime 2021 to 2026, npu_driver.cc",
        ..ROW
    },
    Pattern {
        name: "driver_page",
        marks: &["halMemCreate failed"],
        codes: &[("drvRetCode={}", OUT_OF_MEMORY)],
        reads: Reads::Request(DriverPage),
        fields: DRIVER,
        source: "runtime 2023 to 2026, npu_driver.cc",
        ..ROW
    },
    Pattern {
        name: "driver_create",
        marks: &["Mem create failed"],
        codes: &[("ret={}", OUT_OF_MEMORY)],
        reads: Reads::Request(DriverPage),
        fields: DRIVER,
        host: &["side=0"],
        source: "driver 2023 to 2025, devmm",
        ..ROW
    },
    Pattern {
        name: "engine",
        marks: &["[Malloc][Memory] failed"],
        reads: Reads::Request(Malloc),
        fields: ENGINE,
        who: "GE",
        needs_figure: true,
        source: "GE 2021 to 9.1, caching_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "engine_page",
        marks: &["call rtMallocPhysical failed"],
        reads: Reads::Request(Page),
        fields: ENGINE,
        who: "GE",
        needs_figure: true,
        source: "GE 8.5 to 9.1, expandable_active_memory_allocator.cc",
        ..ROW
    },
    Pattern {
        name: "check",
        marks: &["[Check] sum of total_mem_offset:"],
        reads: Reads::Request(Check),
        fields: &[
            (Part, "total_mem_offset:{}"),
            (Part, "var_mem_size:{}"),
            (Graph, "graph_id:{}"),
            (Allowed, "malloc max size{}"),
        ],
        who: "GE",
        refused: RefusedBy::Check,
        needs_figure: true,
        source: "GE 2020 to 9.1, graph_mem_assigner.cc",
        ..ROW
    },
    Pattern {
        name: "torch_npu_huge",
        marks: &["NPU out of memory. Tried to allocate more than 1EB memory"],
        library: Library::TorchNpu,
        who: "torch",
        refused: RefusedBy::Check,
        source: "torch_npu 1.8 to 2.14, NPUCachingAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_npu_workspace",
        marks: &["NPUWorkspaceAllocator tried to allocate"],
        fields: TORCH_NPU,
        library: Library::TorchNpu,
        who: "torch",
        refused: RefusedBy::Workspace,
        ends: &["free)"],
        has_units: true,
        source: "torch_npu 2.1 to 2.14, NPUWorkspaceAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_npu_fraction",
        marks: &["NPU out of memory"],
        needs: &[&["exceed per_process_memory_fraction"]],
        fields: TORCH_NPU,
        library: Library::TorchNpu,
        who: "torch",
        refused: RefusedBy::Fraction,
        ends: &["Requested size: "],
        has_units: true,
        source: "torch_npu 2.6 to 2.14, NPUCachingAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_npu",
        marks: &["NPU out of memory"],
        without: &["NPUWorkspaceAllocator tried"],
        fields: TORCH_NPU,
        library: Library::TorchNpu,
        who: "torch",
        needs_figure: true,
        ends: &["reserved in total by PyTorch)", "device id: ", "but unallocated"],
        has_units: true,
        source: "torch_npu 1.8 to 2.14, NPUCachingAllocator.cpp",
        ..ROW
    },
    Pattern {
        name: "torch_npu_call",
        marks: &["NPU function error:", "NPU error, error code is"],
        codes: &[("error code is {}", ALLOCATION)],
        reads: Reads::Request(Echo),
        fields: &[(Kernel, "call {} failed")],
        library: Library::TorchNpu,
        who: "torch",
        host: &["MallocHost"],
        source: "torch_npu 2.1 to 2.14, NPUException.h",
        ..ROW
    },
    Pattern {
        name: "torch_npu_memory",
        marks: &["Failed to apply for memory"],
        without: &["We will try to free"],
        reads: Reads::Request(Echo),
        library: Library::TorchNpu,
        who: "torch",
        source: "torch_npu 2.1 to 2.14, the text below ERR00100",
        ..ROW
    },
    Pattern {
        name: "code_device",
        marks: &["EL0004 :", "EL0004) :", "EL0019 :", "EL0019) :"],
        reads: Reads::Request(Code),
        fields: CODE,
        source: "CANN 6.0 to 9.1, error codes EL",
        ..ROW
    },
    Pattern {
        name: "code_host",
        marks: &["EL0018 :", "EL0018) :", "EE1013 :", "EE1013) :"],
        reads: Reads::Request(Code),
        fields: CODE,
        host: ALWAYS,
        source: "CANN 7.0 to 9.1, Insufficient_Host_Memory",
        ..ROW
    },
    Pattern {
        name: "code_hccl",
        marks: &["EI0007 :", "EI0007) :", "EI0011 :", "EI0011) :"],
        needs: &[&["emory"]],
        reads: Reads::Request(Code),
        fields: CODE,
        who: "HCCL",
        host: &["HostMemory", "host memory"],
        source: "CANN 7.0 to 9.1, error codes EI",
        ..ROW
    },
    Pattern {
        name: "code_engine",
        marks: &["E19999 :", "E19999) :"],
        needs: &[&["Call aclrtMalloc fail", "Call rtMalloc fail"]],
        reads: Reads::Request(Code),
        fields: CODE,
        source: "GE 2021 to 9.1, E19999",
        ..ROW
    },
    Pattern {
        name: "runtime",
        marks: &[
            "alloc device memory failed",
            "ErrCode=207001",
            "rtMalloc execut",
            "rtMalloc fail",
            "aclrtMalloc fail",
        ],
        needs: &[&["207001", "out of memory"]],
        reads: Reads::Request(Echo),
        fields: &[(Asked, " size ={}")],
        host: &["MallocHost"],
        source: "runtime and ascendcl 2021 to 2026, ACL_ERROR_RT_MEMORY_ALLOCATION",
        ..ROW
    },
    Pattern {
        name: "runtime_size",
        marks: &["Device malloc failed"],
        reads: Reads::Request(Echo),
        fields: DRIVER,
        source: "runtime 2021 to 2023, logger.cc",
        ..ROW
    },
    Pattern {
        name: "runtime_host",
        marks: &["rtsMallocHost", "rtMallocHost", "aclrtMallocHost"],
        needs: &[&["fail", "207001", "out of memory"]],
        reads: Reads::Request(Echo),
        fields: &[(Asked, " size ={}")],
        host: ALWAYS,
        source: "runtime 2021 to 2026, api_impl.cc",
        ..ROW
    },
    Pattern {
        name: "feature_map",
        marks: &["[Alloc][Memory] for feature map failed"],
        reads: Reads::InBlock,
        fields: ENGINE_BLOCK,
        purpose: "feature map",
        source: "GE 2021 to 9.1, davinci_model.cc",
        ..ROW
    },
    Pattern {
        name: "resource",
        marks: &["Failed to allocate resource[DeviceMemory]"],
        reads: Reads::InBlock,
        fields: &[(Asked, "info [size:{}")],
        source: "CANN 8.0 to 9.1, a line of HCCL below EL0004",
        ..ROW
    },
    Pattern {
        name: "block",
        marks: &["fail"],
        reads: Reads::InBlock,
        fields: ENGINE_BLOCK,
        source: "GE 2021 to 9.1, lines below an error code",
        ..ROW
    },
];

/// What lines below an error code add.
const ENGINE_BLOCK: &[(Figure, &str)] = &[
    (Asked, "alloc fail{}size{}"),
    (Device, "device_id{}"),
    (Device, "open device {} failed"),
    (Graph, "graph id{}"),
    (Graph, "graph_id{}"),
    (Purpose, "alloc fail{}purpose{}"),
];
