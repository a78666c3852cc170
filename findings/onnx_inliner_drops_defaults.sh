#!/usr/bin/env bash
# onnx.inliner drops the defaults of a function's attributes; onnxruntime and onnx.shape_inference apply them.
#
# onnx 1.23.2, onnxruntime 1.32.0. A local function declares an attribute with a default (`attribute_proto`), its body refers
# to it (`ref_attr_name`), and a call leaves it out. The public proto says that the default is used. inline_local_functions
# removes the attribute from the body's node instead, which then has the default of its own op: the inlined model gives
# another shape than the model, without an error. So an inlined model is no oracle for a model whose calls leave out
# attributes; fill in the defaults first.
#
# Seen: "onnxruntime (1, 6), shape inference [1, 6], onnxruntime on the inlined model (2, 3)".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q "onnx==1.23.2" "onnxruntime==1.32.0"
"$folder/venv/bin/python" - <<'PY'
import numpy, onnx, onnxruntime
from onnx import AttributeProto, TensorProto, helper, inliner

flatten = helper.make_node("Flatten", ["x"], ["y"])
axis = AttributeProto(name="axis", ref_attr_name="p", type=AttributeProto.INT)
flatten.attribute.append(axis)
sets = [helper.make_opsetid("", 21), helper.make_opsetid("loc", 1)]
function = helper.make_function("loc", "F", ["x"], ["y"], [flatten], sets, [], [helper.make_attribute("p", 0)])
value = helper.make_tensor_value_info
graph = helper.make_graph(
    [helper.make_node("F", ["a"], ["b"], domain="loc")],
    "g",
    [value("a", TensorProto.FLOAT, [2, 3])],
    [value("b", TensorProto.FLOAT, None)],
)
model = helper.make_model(graph, opset_imports=sets, functions=[function], ir_version=10)

def run(model):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"a": numpy.zeros((2, 3), numpy.float32)})[0].shape

inferred = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type.shape.dim
right, inlined = run(model), run(inliner.inline_local_functions(model))
print(
    f"onnxruntime {right}, shape inference {[dim.dim_value for dim in inferred]}, "
    f"onnxruntime on the inlined model {inlined}"
)
assert right == (1, 6) and inlined == (2, 3)
PY
