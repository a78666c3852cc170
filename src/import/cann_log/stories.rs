//! Texts as users paste them, and what their processes and requests are.

use super::tests::told;
use highwater_model::workload::{LoggedFailure, LoggedProcess, MemoryPlace};

/// The requests of a text, a line each.
fn requests(text: &str) -> Vec<String> {
    let processes = told(text);
    let each = processes
        .iter()
        .flat_map(|process| process.failures.iter().map(|one| words(process, one)));
    each.collect()
}

fn words(process: &LoggedProcess, failure: &LoggedFailure) -> String {
    let mut all = vec![format!("{:?}", failure.library)];
    for (name, value) in [
        ("pid", process.pid),
        ("bytes", failure.requested),
        ("device", failure.device),
        ("free", failure.free),
        ("largest", failure.largest_free),
        ("allocated", failure.allocated),
        ("total", failure.total),
    ] {
        all.extend(value.map(|value| format!("{name} {value}")));
    }
    for (name, value) in [
        ("who", &failure.who),
        ("line", &failure.line),
        ("kernel", &failure.kernel),
    ] {
        all.extend(value.as_ref().map(|value| format!("{name} {value}")));
    }
    if failure.memory == MemoryPlace::Host {
        all.push("host".to_owned());
    }
    if failure.was_retried {
        all.push("retried".to_owned());
    }
    all.extend(failure.holders.iter().map(|one| format!("{}: {}", one.name, one.bytes)));
    all.join(", ")
}

const CUDA: &str = "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 1; 8.00 MiB total capacity; 4.00 MiB already allocated; \
                    1.00 MiB free; 5.00 MiB reserved in total by PyTorch) If reserved memory is >> allocated memory";

const CUDA_WORDS: &str =
    "TorchCuda, bytes 2097152, device 1, free 1048576, allocated 4194304, total 8388608, who torch";

/// A text in the form of a collector or a launcher says what the plain text says.
#[test]
fn texts_in_containers_are_texts() {
    let other = CUDA.replace("GPU 1", "GPU 3");
    let other_words = CUDA_WORDS.replace("device 1", "device 3");
    for text in [
        format!("RuntimeError: {CUDA}\n"),
        format!("2024-05-05T10:00:00.123456789Z stderr F RuntimeError: {CUDA}\n"),
        format!("{{\"log\":\"RuntimeError: {CUDA}\\n\",\"stream\":\"stderr\",\"time\":\"2024-05-05T10:00:00Z\"}}\n"),
        format!("> `RuntimeError: {CUDA}`\n"),
        format!("[rank0]: Error\nRuntimeError: {CUDA}\nRuntimeError: {CUDA}\n"),
        format!("# [Bug]: {}\nRuntimeError: {CUDA}\n", &CUDA[..90]),
        format!("RuntimeError: {CUDA}\nRuntimeError: CUDA out of memory.\n"),
        format!("raise RuntimeError(\"CUDA out of memory\")\nRuntimeError: {CUDA}\n"),
    ] {
        assert_eq!(requests(&text), [CUDA_WORDS], "{text}");
    }
    for text in [
        format!("[rank1]: RuntimeError: {CUDA} [rank3]: RuntimeError: {other}\n"),
        format!("RuntimeError: {CUDA}\\nRuntimeError: {other}\n"),
        format!("{{\"message\": \"RuntimeError: {CUDA}.\\nRuntimeError: {other}\"}}\n"),
    ] {
        assert_eq!(requests(&text), [CUDA_WORDS, &other_words], "{text}");
    }
    let ray = format!(
        "(W pid=11, ip=10.0.0.1) RuntimeError: {CUDA} [repeated 6x across cluster] (W pid=12, ip=10.0.0.1) RuntimeError: {other}\n"
    );
    let of = |words: &str, pid: u64| words.replace("TorchCuda,", &format!("TorchCuda, pid {pid},"));
    assert_eq!(requests(&ray), [of(CUDA_WORDS, 11), of(&other_words, 12)]);
}

#[test]
fn blocks_below_a_code_add_sizes_and_devices() {
    for (text, expected) in [
        (
            "EL0004: Failed to allocate memory.\n        TraceBack (most recent call last):\n        [driver interface] halMemAlloc \
             failed: size=64, deviceId=6, type=2, env_type=3, drvRetCode=6![FUNC:A]\n        Device malloc failed, size=64, \
             type=2.[FUNC:A]\n        rtMalloc execute failed, reason=[driver error:out of memory][FUNC:A]\n",
            "Cann, bytes 64, device 6",
        ),
        (
            "EL0004: [PID: 12] 2025-01-02-03:04:05.100.100 Failed to allocate memory.\n        TraceBack (most recent call last):\n        \
             Call driver api halMemAlloc failed, drvRetCode=6, size=64(bytes), type=2, moduleId=33, drvFlag=1, drvDevId=3, x[FUNC:A]\n",
            "Cann, pid 12, bytes 64, device 3, who APP",
        ),
        (
            "[ERROR] DRV(7,p):2024-06-29-16:19:28.436.386 [drv]<errno:12, 6> Mem create failed. (ret=6; size=64; side=1; devid=0)\n\
             [ERROR] RUNTIME(7,p):2024-06-29-16:19:28.436.390 [a.cc:1]7 F:[drv api]halMemCreate failed. drvRetCode=6.\n\
             [ERROR] RUNTIME(7,p):2024-06-29-16:19:28.436.395 [a.cc:1]7 F:ErrCode=207001, desc=[driver error:out of memory]\n",
            "Cann, pid 7, bytes 64, device 0",
        ),
        (
            "[ERROR] ASCENDCL(5,p):2025-09-17-04:55:13.065.712 [m.cpp:98]9 aclrtMalloc: alloc device memory failed, runtime result = \
             207001\n",
            "Cann, pid 5",
        ),
        (
            "[rank7]:[E928 x.ts:429] operator():x.ts:128 NPU function error: call aclnnMoe failed, error code is 207001\n\
             [ERROR] 2025-09-28-07:22:30 (PID:31, Device:7, RankID:-1) ERR00100 PTA call acl api failed\n[Error]: Failed to apply for \
             memory.\nEL0004: [PID: 31] 2025-09-28-07:22:29.827.496 Failed to allocate memory.\n        TraceBack (most recent call \
             last):\n        Failed to allocate resource[DeviceMemory] with info [size:2048]. Reason: x\n",
            "TorchNpu, pid 31, bytes 2048, device 7, who torch, kernel aclnnMoe",
        ),
        (
            "E19999: Inner Error!\n        Call rtMalloc fail, purpose: page caching, type = 2, size:64, device_id:2[FUNC:A]\n\
             EL0004: Failed to allocate memory.\n        Call rtMalloc fail, purpose: page caching, type = 2, size:64, device_id:2[FUNC:A]\n",
            "Cann, bytes 64, device 2, who GE",
        ),
    ] {
        assert_eq!(requests(text), [expected], "{text}");
    }
}

#[test]
fn memory_of_the_host_is_of_no_device() {
    for (text, expected) in [
        (
            "torch.OutOfMemoryError: allocate_host_memory_slowpath:x.ts:262 NPU function error: aclrtMallocHostWithCfg, error code is \
             207001\n[ERROR] 2026-09-28-11:20:01 (PID:4321, Device:4, RankID:-1) ERR00100 PTA call acl api failed\n[Error]: Failed to \
             apply for memory.\n[PID: 4321] 2026-09-28-11:20:01.100.200 X(EL0018): Failed to allocate 64 bytes host memory requested by \
             the RUNTIME module.\n        rtsMallocHost execution failed, reason=driver error:out of memory[FUNC:A]\n",
            "TorchNpu, pid 4321, bytes 64, who torch, host",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    return x.pin_memory()\nRuntimeError: CUDA error: \
             out of memory\n",
            "TorchCuda, who torch, line a.py:3, host",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    return x.cuda()\nRuntimeError: CUDA error: out of \
             memory\nCUDA kernel errors might be asynchronously reported\n",
            "TorchCuda, who torch, line a.py:3",
        ),
        (
            "[1.2] Out of memory: Killed process 25 (python3) total-vm:5kB, anon-rss:3kB, file-rss:0kB\n",
            "System, pid 25, host, the killed process: 3072",
        ),
    ] {
        assert_eq!(requests(text), [expected], "{text}");
    }
}

#[test]
fn lines_below_a_sentence_add_holders_and_free_blocks() {
    let jax = "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 64 bytes.\nBufferAssignment OOM \
               Debugging.\nBufferAssignment stats:\n             parameter allocation:     6.00KiB\n              constant \
               allocation:         0B\nPeak buffers:\n\tBuffer 1:\n\t\tSize: 6.00KiB\n\t\tOperator: op_name=\"jit(f)/add\" \
               source_file=\"m.py\" source_line=12\n\t\tXLA Label: fusion\n\n\tBuffer 2:\n\t\tSize: 2.00KiB\n\t\tXLA Label: copy\n";
    let tpu = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 2.00K of 1.00K hbm. \
               Exceeded hbm capacity by 1.00K.\n\nTotal hbm usage >= 3.00K:\n    reserved          1.00K\n    arguments         \
               512B\n\n  Largest program allocations in hbm:\n\n  1. Size: 1.00K\n     Operator: op_name=\"jit(g)/dot\"\n     \
               Unpadded size: 1.00K\n     XLA label: fusion.7\n";
    let bfc = "W bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.0KiB (rounded to 1024)requested by \
               op MatMul\nI bfc_allocator.cc:1095] InUse at 7f94a0000000 of size 67108864 next 1\nI bfc_allocator.cc:1095] Free at \
               7f94a4000000 of size 512 next 2\nI bfc_allocator.cc:1095] Free at 7f94a40f4000 of size 256 next 4\nStats: \n\
               Limit:                      4096\nInUse:                      2048\nMaxInUse:                   4095\n\
               tensorflow.ResourceExhaustedError: OOM when allocating tensor with shape[10,25] and type float on \
               /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:MatMul]\n";
    for (text, expected) in [
        (
            jax,
            "Jax, bytes 64, who XLA, parameters: 6144, jit(f)/add: 6144, copy: 2048",
        ),
        (
            tpu,
            "Jax, bytes 2048, total 1024, who XLA's compiler, arguments: 512, jit(g)/dot: 1024",
        ),
        (
            bfc,
            "TensorFlow, bytes 1024, device 0, largest 512, allocated 2048, who TensorFlow, kernel MatMul",
        ),
    ] {
        assert_eq!(requests(text), [expected], "{text}");
    }
}

#[test]
fn a_record_and_the_error_after_it_are_one_request() {
    let text = "[ERROR] DEVICE(281732,ffff8a7fc1e0,python):2024-07-10-15:21:43.112.482 [a.cc:392] F] TotalUsedMemStatistics : 60 plus \
                TotalUsedByEventMemStatistics : 0 and plus alloc size : 18 is more than total mem size : 61.\nTraceback (most recent \
                call last):\n  File \"run.py\", line 88, in <module>\n    main()\nRuntimeError: \n----\n- Memory not enough:\n----\n\
                Device(id:0) memory isn't enough and alloc failed, kernel name: Default/MatMul-op512, alloc size: 18B.\n";
    let words = "MindSpore, pid 281732, bytes 18, device 0, allocated 60, total 61, who MindSpore, line run.py:88, kernel \
                 Default/MatMul-op512";
    assert_eq!(requests(text), [words]);
    assert_eq!(told(text)[0].name.as_deref(), Some("python"));
}

#[test]
fn statements_settings_and_releases_are_kept() {
    let text = "PyTorch version: 2.9.1+cu128\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n(Worker pid=4) INFO env: \
                HCCL_BUFFSIZE='200'\nINFO 05-20 10:01:02 [m.py:2048] Loading model weights took 27.5376 GB\nINFO 05-20 10:01:30 \
                [k.py:720] Available KV cache memory: -0.87 GiB\n";
    let processes = told(text);
    let unnamed = processes
        .iter()
        .find(|one| one.pid.is_none())
        .expect("statements without a process");
    let statements: Vec<&str> = unnamed.statements.iter().map(|one| &*one.text).collect();
    assert_eq!(
        statements,
        ["the weights take 27.5376 GiB", "-0.87 GiB are left for the KV cache"]
    );
    assert_eq!(unnamed.settings["PYTORCH_CUDA_ALLOC_CONF"], "expandable_segments:True");
    assert_eq!(unnamed.settings["HCCL_BUFFSIZE"], "200");
    assert_eq!(unnamed.versions["torch"], "2.9.1+cu128");
}
