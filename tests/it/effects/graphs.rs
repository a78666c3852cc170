//! Small graphs whose figures can be worked out by hand.

/// A chain with one variable, one small input, scratch memory and an atomic result. Feature memory holds two of
/// `a`, `b`, `c` at a time, or `a` beside `s`.
pub(super) const CHAIN: &str = r#"{"name": "chain", "nodes": [
    {"name": "n0", "op": "MatMul", "inputs": ["x", "w"], "workspace_bytes": 4096,
     "outputs": [{"id": "a", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n1", "op": "Softmax", "inputs": ["a"],
     "outputs": [{"id": "b", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n2", "op": "Add", "inputs": ["b", "labels"],
     "outputs": [{"id": "c", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n3", "op": "ReduceSum", "inputs": ["c"],
     "outputs": [{"id": "s", "shape": [128, 1024], "dtype": "float32", "atomic": true}]},
    {"name": "n4", "op": "Relu", "inputs": ["s"],
     "outputs": [{"id": "z", "shape": [256, 1024], "dtype": "float32"}]}],
  "inputs": [
    {"id": "x", "shape": [256, 1024], "dtype": "float32"},
    {"id": "labels", "shape": [256], "dtype": "int64"},
    {"id": "w", "shape": [1024, 1024], "dtype": "float32", "role": "param"}],
  "outputs": ["z"]}"#;

/// Two small inputs, one large one.
pub(super) const SMALL_INPUTS: &str = r#"{"name": "small inputs", "nodes": [
    {"op": "Add", "inputs": ["x", "p", "q"], "outputs": [{"id": "a", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
  "inputs": [
    {"id": "x", "shape": [256, 1024], "dtype": "float32"},
    {"id": "p", "shape": [256], "dtype": "int64"},
    {"id": "q", "shape": [100], "dtype": "float32"}],
  "outputs": ["z"]}"#;

/// A training step: what is saved for the backward part lives on; the optimizer has a state.
pub(super) const TRAINING: &str = r#"{"name": "step", "nodes": [
    {"op": "mm", "inputs": ["x", "w"], "phase": "forward",
     "outputs": [{"id": "a", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "relu", "inputs": ["a"], "phase": "forward",
     "outputs": [{"id": "b", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "mul", "inputs": ["b"], "phase": "forward",
     "outputs": [{"id": "c", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "sum", "inputs": ["c"], "phase": "forward", "outputs": [{"id": "loss", "shape": [1], "dtype": "float32"}]},
    {"op": "mm", "inputs": ["a", "b", "c"], "phase": "backward",
     "outputs": [{"id": "g", "shape": [1024, 1024], "dtype": "float32"}]},
    {"op": "sgd", "inputs": ["g", "w", "m"], "phase": "optimizer",
     "outputs": [{"id": "w2", "shape": [1024, 1024], "dtype": "float32", "alias_of": "w"}]}],
  "inputs": [
    {"id": "x", "shape": [256, 1024], "dtype": "float32"},
    {"id": "w", "shape": [1024, 1024], "dtype": "float32", "role": "param"},
    {"id": "m", "shape": [1024, 1024], "dtype": "float32", "role": "opt_state"}],
  "outputs": ["loss"]}"#;

/// Ops of the host amid ops of the device; `hidden` is seen by the host alone, `t` goes to the host alone.
pub(super) const MIXED: &str = r#"{"name": "mixed", "nodes": [
    {"name": "conv", "op": "Conv", "inputs": ["x"],
     "outputs": [{"id": "a", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "py", "op": "PyFunc", "inputs": ["a", "t"], "workspace_bytes": 1048576, "outputs": [
     {"id": "b", "shape": [128, 1024], "dtype": "float32"},
     {"id": "hidden", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "print", "op": "Print", "inputs": ["hidden"],
     "outputs": [{"id": "nothing", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "relu", "op": "Relu", "inputs": ["b"],
     "outputs": [{"id": "c", "shape": [64, 1024], "dtype": "float32"}]},
    {"name": "mm", "op": "MatMul", "inputs": ["c"],
     "outputs": [{"id": "z", "shape": [256, 1024], "dtype": "float32"}]}],
  "inputs": [
    {"id": "x", "shape": [256, 1024], "dtype": "float32"},
    {"id": "t", "shape": [256, 1024], "dtype": "float32"}],
  "outputs": ["z"]}"#;

/// Two graphs with equal weights, larger one first.
pub(super) const TWO: &str = r#"{"graphs": [
  {"name": "one", "nodes": [
    {"op": "MatMul", "inputs": ["x", "w"], "outputs": [{"id": "a", "shape": [1024, 1024], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
   "inputs": [{"id": "x", "shape": [64], "dtype": "float32"},
    {"id": "w", "shape": [1024, 1024], "dtype": "float32", "role": "weight"}], "outputs": ["z"]},
  {"name": "two", "nodes": [
    {"op": "MatMul", "inputs": ["x", "w"], "outputs": [{"id": "a", "shape": [512, 1024], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
   "inputs": [{"id": "x", "shape": [64], "dtype": "float32"},
    {"id": "w", "shape": [1024, 1024], "dtype": "float32", "role": "weight"}], "outputs": ["z"]}]}"#;

/// Three graphs, the second one the largest.
pub(super) const GROWING: &str = r#"{"graphs": [
  {"name": "one", "nodes": [
    {"op": "Add", "inputs": ["x"], "outputs": [{"id": "a", "shape": [10, 262144], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
   "inputs": [{"id": "x", "shape": [64], "dtype": "float32"}], "outputs": ["z"]},
  {"name": "two", "nodes": [
    {"op": "Add", "inputs": ["x"], "outputs": [{"id": "a", "shape": [30, 262144], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
   "inputs": [{"id": "x", "shape": [64], "dtype": "float32"}], "outputs": ["z"]},
  {"name": "three", "nodes": [
    {"op": "Add", "inputs": ["x"], "outputs": [{"id": "a", "shape": [20, 262144], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
   "inputs": [{"id": "x", "shape": [64], "dtype": "float32"}], "outputs": ["z"]}]}"#;
