#!/usr/bin/env bash
# onnxruntime's profile states less memory in the first run of a session than in the second, of the same model and inputs.
#
# onnx 1.23.2 and onnxruntime 1.32.0, CPU. With `enable_mem_pattern` (the default) the first run allocates each tensor when it
# is needed; the second takes one block for the whole plan, without the outputs, which come on top. So `mem_bytes_in_use` of
# a node and `mem_in_use_peak` rise above the live bytes although nothing else changed, and a tool that compares a plan with
# the profile of a warmed-up session finds a difference that is none of the plan's. With `enable_mem_pattern = False` both
# runs state the live bytes.
#
# Seen: "peak of run 1 and 2: 8192 12288 with patterns, 8192 8192 without; live 8192".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q "onnx==1.23.2" "onnxruntime==1.32.0"
cat > "$folder/runs.py" <<'PY'
import json, os, sys
import numpy as np, onnx, onnxruntime as ort
from onnx import helper

os.chdir(sys.argv[1])
nodes, before = [], "x"
for at in range(4):
    operands = [before, "w"] if at % 2 else [before]
    nodes.append(helper.make_node("Add" if at % 2 else "Relu", operands, [f"t{at}"], name=f"n{at}"))
    before = f"t{at}"
nodes.append(helper.make_node("Exp", [before], ["y"], name="last"))
value = lambda name: helper.make_tensor_value_info(name, 1, [1, 1024])
weight = onnx.numpy_helper.from_array(np.ones((1, 1024), np.float32), "w")
graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], [weight])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), "model.onnx")

def peaks(pattern):
    options = ort.SessionOptions()
    options.enable_profiling, options.enable_mem_pattern = True, pattern
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    for _ in range(2):
        session.run(None, {"x": np.ones((1, 1024), np.float32)})
    events = json.load(open(session.end_profiling()))
    used = [int(event["args"]["mem_bytes_in_use"]) for event in events if event["cat"] == "Node"]
    half = len(used) // 2
    return max(used[:half]), max(used[half:])

live = 2 * 4096
with_patterns, without = peaks(True), peaks(False)
print(f"peak of run 1 and 2: {with_patterns[0]} {with_patterns[1]} with patterns, {without[0]} {without[1]} without; live {live}")
assert without == (live, live) and with_patterns[0] == live, "without patterns the profile states the live bytes"
assert with_patterns[1] > live, "with patterns the second run states more"
PY
"$folder/venv/bin/python" "$folder/runs.py" "$folder"
