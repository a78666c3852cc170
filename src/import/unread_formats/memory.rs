//! Memory that tools wrote down in forms that are not read: summaries, tables and pages of recordings, configurations of
//! runs, and plans that `assets/exporters/plan_export.py` makes a placement problem of.
//!
//! In: the head of a file. Out: a sentence with the call of the same tool that writes what opens.

use super::{Test, begins_with, begins_with_word, has, is_archive_of};
use crate::Input;
use crate::json_key::{has_key, is_text};

pub(super) const EXECUTORCH: &str = "it is a program of ExecuTorch (.pte), already compiled; \
    `python assets/exporters/plan_export.py MODEL.pte -o plan.json` writes its memory plan as a placement problem, open \
    plan.json";
pub(super) const IREE_MODULE: &str = "it is a module of IREE (.vmfb), already compiled; compile the model again with the flags \
    --compile-to=stream --mlir-print-ir-before=iree-stream-layout-slices --mlir-print-ir-after=iree-stream-layout-slices, and \
    `python assets/exporters/plan_export.py SLICES.txt -o plan.json` writes its memory plan from what they print";

/// Marks inside, what the file is, and what to do.
pub(super) const CONTENTS: &[(Test, &str)] = &[
    (
        |input| has(input, b"PyTorch NPU memory summary"),
        "it is the table of torch_npu.npu.memory_summary(): totals without blocks; call \
         torch_npu.npu.memory._record_memory_history() before the step and \
         torch_npu.npu.memory._dump_snapshot(\"snapshot.pickle\") after it, and open that",
    ),
    (
        |input| has(input, b"PyTorch") && has(input, b"memory summary, device ID"),
        "it is the table of torch.cuda.memory_summary(): totals without blocks; call \
         torch.cuda.memory._record_memory_history() before the step and \
         torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") after it, and open that",
    ),
    (
        |input| has(input, b"allocated_bytes.all.peak"),
        "it holds the counters of memory_stats() of PyTorch: totals without blocks; call _record_memory_history() of the same device \
         (torch.cuda.memory, torch.xpu.memory, torch_npu.npu.memory) before the step and _dump_snapshot(\"snapshot.pickle\") after \
         it, and open that",
    ),
    (
        |input| is_page(input) && has(input, b"MemoryViz.js"),
        "it is a page of PyTorch's memory visualizer (torch/cuda/_memory_viz.py) around a snapshot; open the snapshot.pickle that \
         it was made of",
    ),
    (
        |input| is_page(input) && has(input, b"Memory Timeline"),
        "it is the picture of a memory timeline; write the numbers with export_memory_timeline(\"timeline.json\") and open \
         that, or for blocks export_chrome_trace(\"trace.json\") of a profile with profile_memory=True",
    ),
    (
        |input| begins_with(input, b"#name,input_sizes,initializers_sizes"),
        "it is the table of node statistics of onnxruntime (session.collect_node_memory_stats_to_file): bytes by node, without order \
         or live ranges; run with SessionOptions.enable_profiling = True and enable_mem_pattern = False, and open the profile \
         that end_profiling() names",
    ),
    (
        |input| input.name().starts_with("ms_output_") && !has(input, b"subgraph @"),
        "it is a graph that MindSpore writes for MindInsight; open graph_build_*.ir or *_somas_tensor_offset_*.ir of the same folder",
    ),
    (
        |input| begins_with(input, b"time_stamp,task_name,node_name,graph_name,"),
        "it is task.csv of MindSpore's memory tracker: the tasks without their memory; open memory_block.csv of the same folder, \
         which names the task of each block",
    ),
    (
        |input| is_genai_config(input.head()),
        "it is a configuration of onnxruntime-genai; open its folder: the model in it takes sizes of dimensions from the \
         configuration",
    ),
    (
        |input| is_text(input.head(), "base_code.magic", &["pir"]),
        "it is a program of Paddle 3 (PIR): operators and shapes, no program of blocks; convert it with \
         `paddle2onnx --model_dir FOLDER --model_filename NAME.json --save_file model.onnx`",
    ),
    (
        |input| has_key(input.head(), "arg_nodes") && has_key(input.head(), "heads"),
        "it is a graph of TVM's graph executor or of MXNet, which is not read; export the original model as ONNX",
    ),
    (is_executorch, EXECUTORCH),
    (
        |input| is_text(input.head(), "traceEvents[].cat", &["memory_allocation"]),
        "it is a memory trace of ExecuTorch (generate_memory_trace); \
         `python assets/exporters/plan_export.py TRACE.json -o plan.json` writes it as a placement problem, open plan.json",
    ),
    (is_iree_module, IREE_MODULE),
    (
        |input| has(input, b"stream.resource.pack"),
        "it is text of IREE's compiler with slices of memory; \
         `python assets/exporters/plan_export.py SLICES.txt -o plan.json` writes them as a placement problem, open plan.json",
    ),
    (
        |input| has(input, b"R.memory.alloc_storage"),
        "it is a Relax function of TVM with planned storages; \
         `python assets/exporters/plan_export.py FUNCTION.txt -o plan.json` writes them as a placement problem, open plan.json",
    ),
    (
        |input| is_mlir(input) && (has(input, b"torch.onnx") || has(input, b"torch.operator \"onnx.")),
        "it is MLIR of an importer of ONNX (iree-import-onnx); open the ONNX model that it was made of. For IREE's memory plan \
         compile it with the flags --compile-to=stream --mlir-print-ir-before=iree-stream-layout-slices \
         --mlir-print-ir-after=iree-stream-layout-slices, and run \
         `python assets/exporters/plan_export.py SLICES.txt -o plan.json` on what they print",
    ),
    (
        |input| is_mlir(input) && has(input, b"!torch."),
        "it is MLIR of torch-mlir; export the PyTorch model with `torch.onnx.export(model, inputs, \"model.onnx\")` or \
         assets/exporters/torch_export.py",
    ),
    (
        |input| is_mlir(input) && (has(input, b"stablehlo.") || has(input, b"mhlo.") || has(input, b"@jit_")),
        "it is MLIR; write the module as HLO instead: run with \
         XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_text\", or print `jax.jit(f).lower(x).compile().as_text()`",
    ),
    (
        is_mlir,
        "it is MLIR; open the model that it was imported from, as ONNX, TensorFlow Lite or HLO. For IREE's memory plan compile it with \
         the flags --compile-to=stream --mlir-print-ir-before=iree-stream-layout-slices \
         --mlir-print-ir-after=iree-stream-layout-slices, and run \
         `python assets/exporters/plan_export.py SLICES.txt -o plan.json` on what they print",
    ),
];

/// A module of MLIR, or what passes print of one.
fn is_mlir(input: &Input<'_>) -> bool {
    const STARTS: [&[u8]; 7] = [
        b"func.func",
        b"util.func",
        b"#map",
        b"#loc",
        b"#hal",
        b"#executable",
        b"#device",
    ];
    let is_module = begins_with_word(input, b"module") || STARTS.iter().any(|start| begins_with(input, start));
    is_module && has(input, b"func") || has(input, b"// -----// IR Dump ")
}

fn is_page(input: &Input<'_>) -> bool {
    begins_with(input, b"<!doctype html") || begins_with(input, b"<html")
}

/// An archive with a module of IREE's machine, or that module alone.
fn is_iree_module(input: &Input<'_>) -> bool {
    is_archive_of(input, |name| name == b"module.fb") || input.head().get(4..8) == Some(b"IREE")
}

/// `ET` and a version at byte 4.
fn is_executorch(input: &Input<'_>) -> bool {
    matches!(input.head().get(4..8), Some([b'E', b'T', one, other]) if one.is_ascii_digit() && other.is_ascii_digit())
}

/// The model and the search of a `genai_config.json`.
pub fn is_genai_config(head: &[u8]) -> bool {
    let has = |path: &str| has_key(head, path);
    has("model.type") && (has("model.decoder") || has("model.encoder")) && has("search")
}

#[cfg(test)]
mod tests {
    use super::super::advice;
    use super::*;

    /// Names and contents, and words of their advice.
    const NAMED: &[(&str, &str, &str)] = &[
        (
            "a.txt",
            "|====|\n|     PyTorch CUDA memory summary, device ID 0      |",
            "torch.cuda.memory._dump_snapshot",
        ),
        (
            "a.txt",
            "|====|\n|     PyTorch NPU memory summary, device ID 0       |",
            "torch_npu.npu.memory._dump_snapshot",
        ),
        (
            "a.json",
            "{\"active.all.peak\": 1, \"allocated_bytes.all.peak\": 2}",
            "memory_stats()",
        ),
        (
            "a.html",
            "\n<!DOCTYPE html>\n<script>import {x} from \"https://a/MemoryViz.js\"",
            "snapshot.pickle",
        ),
        (
            "a.html",
            "<html>\n<head><title>GPU Memory Timeline HTML</title>",
            "export_memory_timeline",
        ),
        (
            "a.csv",
            "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n",
            "enable_profiling",
        ),
        ("ms_output_vm_build_0.pb", "\u{1}\u{2}", "MindInsight"),
        (
            "task.csv",
            "time_stamp,task_name,node_name,graph_name,file_name,line_num,python_stack,\n",
            "MindSpore",
        ),
        (
            "genai_config.json",
            "{\"model\": {\"type\": \"llama\", \"decoder\": {}}, \"search\": {}}",
            "onnxruntime-genai",
        ),
        (
            "a.json",
            "{\"base_code\": {\"magic\": \"pir\", \"version\": 4}, \"program\": {}}",
            "Paddle 3",
        ),
        (
            "a.json",
            "{\"nodes\": [], \"arg_nodes\": [], \"heads\": []}",
            "graph executor",
        ),
        ("a.pte", "\u{1}\0\0\0ET12", "plan_export.py MODEL.pte"),
        ("a.bin", "\u{1}\0\0\0ET13", "ExecuTorch"),
        (
            "a.json",
            "{\"traceEvents\": [{\"cat\": \"memory_allocation\"}]}",
            "generate_memory_trace",
        ),
        ("a.vmfb", "\u{1}\u{2}", "iree-stream-layout-slices"),
        ("a.bin", "\0\0\0\0IREE", "iree-stream-layout-slices"),
        (
            "a.txt",
            "  %1:2 = stream.resource.pack on(#x) slices({\n",
            "plan_export.py SLICES.txt",
        ),
        (
            "a.txt",
            "    storage: R.Any = R.memory.alloc_storage(R.shape([8]))",
            "Relax",
        ),
        (
            "a.mlir",
            "module {\n  func.func @f() attributes {torch.onnx_meta.ir_version = 8 : si64}",
            "the ONNX model that it was made of",
        ),
        (
            "a.mlir",
            "module {\n  func.func @f(%a: !torch.vtensor<[1],f32>)",
            "torch_export.py",
        ),
        (
            "a.mlir",
            "#map = affine_map<(d0) -> (d0)>\nfunc.func @f() {\n linalg.fill",
            "plan_export.py SLICES.txt",
        ),
        (
            "a.mlir",
            "module @jit_f {\n  func.func public @main() { stablehlo.add",
            "xla_dump_to",
        ),
        ("a.engine", "ftrt\0\0", "TensorRT"),
        ("a.plan", "\u{1}\u{2}", "TensorRT"),
        ("a.param", "7767517\n3 3\n", "ncnn"),
        ("a.mnn", "\u{1}\u{2}", "MNNConvert"),
        ("a.rknn", "RKNN\0\0", "RKNN"),
    ];

    #[test]
    fn memory_in_other_forms_is_named_with_the_call_of_the_same_tool() {
        for (name, text, expected) in NAMED.iter().copied() {
            let input = Input::from_bytes(name, text).expect("memory can be read");
            let said = advice(&input).unwrap_or_else(|| panic!("{name} is known"));
            assert!(said.contains(expected), "{name}: {said}");
            assert_eq!(highwater_model::visible::one_line(said), said, "nothing of it is cut");
            if !expected.contains("xla") {
                assert!(!said.contains("XLA_FLAGS"), "{said}");
            }
        }
    }
}
