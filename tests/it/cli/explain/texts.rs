//! `explain` of short texts in the manner of public reports: what was requested, the answer, and words of it.

use std::io::Write as _;

use tempfile::NamedTempFile;

use super::answer;
use crate::cli::{json, run};

const GIB: u64 = 1 << 30;

const MIB: u64 = 1 << 20;

/// A text, the requested bytes, `memory`, `device`, `served_by_setting`, words that the page has and has not.
type Row<'a> = (&'a str, Option<u64>, &'a str, Option<u64>, &'a str, &'a str, &'a str);

const TORCH: &[Row<'_>] = &[
    (
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 23.91 GiB. Of the \
         allocated memory 18.25 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but unallocated. Please use \
         `empty_cache` to release all unoccupied cached memory.",
        Some(3 * GIB),
        "device",
        Some(0),
        "unknown",
        "no text states what was free, at most 3.660 GiB could be",
        "0 B",
    ),
    (
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 7.00 GiB. GPU 1 has a total capacity of 23.91 GiB. Of the \
         allocated memory 18.25 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but unallocated.",
        Some(7 * GIB),
        "device",
        Some(1),
        "no",
        "reserved, unused and at most 3.660 GiB free are about 1.340 GiB less",
        "0 B",
    ),
    (
        "RuntimeError: XPU out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.25 GiB total capacity; 12.50 GiB already \
         allocated; 13.25 GiB reserved in total by PyTorch)",
        Some(2 * GIB),
        "device",
        Some(0),
        "unknown",
        "2.000 GiB are requested",
        "No setting",
    ),
    (
        "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 2; 23.70 GiB total capacity; 12.00 GiB already \
         allocated; 512.00 MiB free; 20.00 GiB reserved in total by PyTorch)",
        Some(3 * GIB / 2),
        "device",
        Some(2),
        "yes",
        "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (needs torch 2.1 or newer)",
        "npu",
    ),
    (
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nRuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB \
         (GPU 2; 23.70 GiB total capacity; 12.00 GiB already allocated; 512.00 MiB free; 20.00 GiB reserved in total by PyTorch)",
        Some(3 * GIB / 2),
        "device",
        Some(2),
        "unknown",
        "is on already",
        "Set PYTORCH",
    ),
    (
        "PyTorch version: 2.0.1+cu118\nRuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 2; 23.70 GiB total \
         capacity; 12.00 GiB already allocated; 512.00 MiB free; 20.00 GiB reserved in total by PyTorch)",
        Some(3 * GIB / 2),
        "device",
        Some(2),
        "yes",
        "expandable_segments comes with torch 2.1",
        "expandable_segments:True",
    ),
    (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.00 GiB. GPU 0 has a total capacity of 24.00 GiB of \
         which 1.00 GiB is free. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but \
         unallocated.",
        Some(6 * GIB),
        "device",
        Some(0),
        "no",
        "about 1.000 GiB reserved, unused and 1.000 GiB free are about 4.000 GiB less than the request",
        "PYTORCH_CUDA_ALLOC_CONF",
    ),
    (
        "RuntimeError: CUDA out of memory. Tried to allocate 96.00 GiB (GPU 0; 24.00 GiB total capacity; 4.00 GiB already \
         allocated; 18.00 GiB free; 5.00 GiB reserved in total by PyTorch)",
        Some(96 * GIB),
        "device",
        Some(0),
        "no",
        "more than the whole device, 24.00 GiB",
        "max_split_size_mb",
    ),
    (
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.00 GiB. GPU 3 has a total capacity of 63.98 GiB of which \
         256.00 MiB is free. Of the allocated memory 48.00 GiB is allocated by PyTorch, and 12.00 GiB is reserved by PyTorch but \
         unallocated.",
        Some(GIB),
        "device",
        Some(3),
        "yes",
        "Set PYTORCH_HIP_ALLOC_CONF=expandable_segments:True",
        "nvidia-smi",
    ),
    (
        "RuntimeError: NPU out of memory. Tried to allocate 20.00 MiB (NPU 4; 60.97 GiB total capacity; 0 bytes already allocated; \
         0 bytes current active; 16.00 MiB free; 0 bytes reserved in total by PyTorch)",
        Some(20 * MIB),
        "device",
        Some(4),
        "no",
        "Run npu-smi info",
        "static_memory_policy",
    ),
    (
        "RuntimeError: NPU out of memory. NPUWorkspaceAllocator tried to allocate 2.00 GiB(NPU 0; 60.97 GiB total capacity; 512.00 \
         MiB free). If you want to reduce memory usage, take a try to set the environment variable TASK_QUEUE_ENABLE=1.",
        Some(2 * GIB),
        "device",
        Some(0),
        "unknown",
        "TASK_QUEUE_ENABLE",
        "Set PYTORCH",
    ),
    (
        "RuntimeError: MPS backend out of memory (MPS allocated: 15.00 GiB, other allocations: 2.00 GiB, max allowed: 18.00 GiB). \
         Tried to allocate 4.00 GiB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit.",
        Some(4 * GIB),
        "device",
        None,
        "unknown",
        "Raise PYTORCH_MPS_HIGH_WATERMARK_RATIO",
        "expandable",
    ),
];

const OTHERS: &[Row<'_>] = &[
    (
        "E19999: Inner Error!\nE19999: [PID: 811] 2025-02-03-20:31:08.123.456 Call rtMalloc fail, purpose:feature map,used for op \
         input and output., size:8589934592, device_id:3[FUNC:MallocMemory][FILE:memory_manager.cc][LINE:70]\n",
        Some(8 * GIB),
        "device",
        Some(3),
        "unknown",
        "no line tells the policy, the graphs that were loaded, or what the device had free",
        "no policy and no option",
    ),
    (
        "RuntimeError: Device(id:1) memory isn't enough and alloc failed, kernel name: Default/MatMul-op512, alloc size: 2147483648B.",
        Some(2 * GIB),
        "device",
        Some(1),
        "unknown",
        "by Default/MatMul-op512",
        "static_memory_policy",
    ),
    (
        "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 3.500000GB memory on GPU 0, 20.750000GB memory has \
         been allocated and available memory is only 2.750000GB.",
        Some(7 * GIB / 2),
        "device",
        Some(0),
        "unknown",
        "about 2.750 GiB free are 768.0 MiB less than the 3.500 GiB that are requested",
        "No setting",
    ),
    (
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1073741824 bytes.",
        Some(GIB),
        "device",
        None,
        "unknown",
        "XLA did not get 1.000 GiB",
        "npu",
    ),
    (
        "W tensorflow/core/common_runtime/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 256.00MiB \
         (rounded to 268435456)requested by op MatMul",
        Some(256 * MIB),
        "device",
        Some(0),
        "unknown",
        "by MatMul",
        "PYTORCH",
    ),
    (
        "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 4,294,967,296 bytes (allocated so far: 1,073,741,824 bytes).",
        Some(4 * GIB),
        "device",
        None,
        "unknown",
        "CuPy did not get 4.000 GiB",
        "npu",
    ),
    (
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5120.00 MiB on device 1: cudaMalloc failed: out of memory",
        Some(5 * GIB),
        "device",
        Some(1),
        "unknown",
        "llama.cpp did not get 5.000 GiB",
        "PYTORCH",
    ),
];

const HOST: &[Row<'_>] = &[
    (
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 74.5 GiB for an array with shape (200000, 50000) and data type \
         float64",
        Some(79_993_765_888),
        "host",
        None,
        "unknown",
        "Check the limit of the container or job",
        "ulimit",
    ),
    (
        "RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to allocate \
         68719476736 bytes.",
        Some(64 * GIB),
        "host",
        None,
        "unknown",
        "Check the free RAM (free -h)",
        "/dev/shm",
    ),
    (
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
        None,
        "host",
        None,
        "unknown",
        "Check the free RAM (free -h)",
        "pinned",
    ),
    (
        "[ 812.5] Memory cgroup out of memory: Killed process 4411 (python) total-vm:30000000kB, anon-rss:8388608kB, file-rss:0kB",
        None,
        "host",
        None,
        "unknown",
        "Held then by the killed process: 8.000 GiB",
        "ulimit",
    ),
    (
        "EL0018: [PID: 815] 2026-09-28-11:20:01.100.200 Failed to allocate 2147483648 bytes host memory requested by the HCCL module.",
        Some(2 * GIB),
        "host",
        None,
        "unknown",
        "Check ulimit -l",
        "/dev/shm",
    ),
    (
        "RuntimeError: allocate_host_memory_slowpath:build/CachingHostAllocator.cpp:262 NPU function error: aclrtMallocHostWithCfg, \
         error code is 207001",
        None,
        "host",
        None,
        "unknown",
        "Reduce pinned buffers",
        "/dev/shm",
    ),
];

#[test]
fn texts_of_reports_are_answered() {
    for (text, asked, memory, device, served, wanted, unwanted) in TORCH.iter().chain(OTHERS).chain(HOST) {
        let file = file_of(text);
        let path = file.path().to_str().expect("text");
        let told = json(&["explain", path, "--format", "json"], 0);
        let requests = told["requests"].as_array().expect("a list");
        assert_eq!(requests.len(), 1, "{text}: {requests:?}");
        let request = &requests[0];
        let got = [&request["asked_bytes"], &request["device"]].map(serde_json::Value::as_u64);
        assert_eq!(got, [*asked, *device], "{text}");
        assert_eq!(request["memory"], *memory, "{text}");
        assert_eq!(request["served_by_setting"], *served, "{text}: {}", request["why"]);
        let page = answer(&[path]);
        assert!(page.contains(wanted), "{wanted}: {page}");
        assert!(!page.contains(unwanted), "{unwanted}: {page}");
        assert!(!page.to_lowercase().contains("unknown process"), "{page}");
        // The note that sends readers to this answer is not in it.
        assert_eq!(told["diagnostics"], serde_json::json!([]), "{text}");
        let output = run(&["explain", path]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{text}");
    }
}

/// Requests are listed up to a limit, and the others are counted.
#[test]
fn many_requests_are_listed() {
    let line = |second: usize| {
        let clock = format!("{:02}:{:02}", second / 60, second % 60);
        format!(
            "2025-01-01 10:{clock},000 ERROR CUDA out of memory. Tried to allocate {second}.00 MiB (GPU 0; 24.00 GiB total capacity; \
             22.00 GiB already allocated; 1.00 MiB free; 22.50 GiB reserved in total by PyTorch)\n"
        )
    };
    let text: String = (600..900).map(line).collect();
    let file = file_of(&text);
    let path = file.path().to_str().expect("text");
    let told = json(&["explain", path, "--format", "json"], 0);
    let listed = told["requests"].as_array().map(Vec::len);
    assert_eq!((listed, told["more_requests"].as_u64()), (Some(300), Some(0)));
    let process = &told["processes"][0];
    let shown = process["requests"].as_array().map(Vec::len);
    assert_eq!((shown, process["more_requests"].as_u64()), (Some(16), Some(284)));
    assert!(answer(&[path]).contains("284 more requests failed after these."));
}

/// A fact that two lines state is told once.
#[test]
fn statements_are_told_once() {
    let file = file_of(
        "INFO Available KV cache memory: 5.26 GiB\nValueError: To serve at least one request with the models's max seq len (131072), \
         (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (5.26 GiB). Based on the available memory, \
         the estimated maximum model length is 43040.\n",
    );
    let path = file.path().to_str().expect("text");
    let told = json(&["explain", path, "--format", "json"], 0);
    let statements = told["statements"].to_string();
    assert_eq!(
        statements.matches("are left for the KV cache").count(),
        1,
        "{statements}"
    );
    assert!(answer(&[path]).contains("The text has no failed request for memory."));
}

fn file_of(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}
