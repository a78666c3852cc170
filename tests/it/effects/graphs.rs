//! Small graphs whose figures can be computed by hand.

/// A chain with one variable, one small input, scratch memory and an atomic result. Feature memory holds two of `a`,
/// `b`, `c` at a time, or `a` and `s`.
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

/// Separates a graph from a recording.
pub(super) const BESIDE: &str = "\u{1e}";

/// A graph with a large middle, and a run of another program with its peak at the start.
pub(super) const MEASURED: &str = concat!(
    r#"{"name": "measured", "nodes": [
    {"op": "Relu", "inputs": ["x"], "outputs": [{"id": "a", "shape": [1024], "dtype": "float32"}]},
    {"op": "Tile", "inputs": ["a"], "outputs": [{"id": "b", "shape": [1024, 1024], "dtype": "float32"}]},
    {"op": "ReduceSum", "inputs": ["b"], "outputs": [{"id": "c", "shape": [1024], "dtype": "float32"}]},
    {"op": "Tanh", "inputs": ["c"], "outputs": [{"id": "d", "shape": [1024], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [1024], "dtype": "float32"}], "outputs": ["d"]}"#,
    "\u{1e}",
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),",
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),",
    "Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n",
    "aten::a,9,10.0,20.0,20.0,10,10,1,2,1,1,2,1,7,NPU:0\n",
    "aten::b,3,30.0,90.0,90.0,60,60,1,2,1,1,2,1,7,NPU:0\n",
    "aten::c,2,40.0,400.0,400.0,360,360,1,2,1,1,2,1,7,NPU:0\n",
);

/// Two runs, each with an annotation at another of its events.
pub(super) const RUNS: &str = concat!(
    r#"{"traceEvents": [
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 10, "args": {"Addr": 1, "Bytes": 64}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 20, "args": {"Addr": 2, "Bytes": 64}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 30, "args": {"Addr": 2, "Bytes": -64}},
    {"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 1, "tid": 1, "ts": 29, "dur": 4, "args": {}}]}"#,
    "\u{1e}",
    r#"{"traceEvents": [
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1010, "args": {"Addr": 1, "Bytes": 32}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1025, "args": {"Addr": 2, "Bytes": 32}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1035, "args": {"Addr": 2, "Bytes": -32}},
    {"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 1, "tid": 1, "ts": 1009, "dur": 4, "args": {}}]}"#,
);

/// A large result of which only the shape is read at the end.
pub(super) const SHAPE_READ: &str = r#"{"name": "shapes", "nodes": [
    {"op": "Relu", "inputs": ["x"], "outputs": [{"id": "a", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "ReduceSum", "inputs": ["a"], "outputs": [{"id": "s", "shape": [4], "dtype": "float32"}]},
    {"op": "Tile", "inputs": ["s"], "outputs": [{"id": "b", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "Tanh", "inputs": ["b"], "outputs": [{"id": "c", "shape": [256, 1024], "dtype": "float32"}]},
    {"op": "Shape", "inputs": ["a"], "outputs": [{"id": "n", "shape": [2], "dtype": "int64"}]},
    {"op": "Reshape", "inputs": ["c", "n"], "outputs": [{"id": "z", "shape": [4], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [4], "dtype": "float32"}],
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

/// A training step: saved activations live on; the optimizer has a state.
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

/// Ops of the host between ops of the device; only the host reads `hidden` and `t`.
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

/// Six saved activations of 2 to 4 MiB, read again in reverse: input for runs under a budget.
pub(crate) const SAVED: &str = r#"{"name": "saved", "nodes": [
    {"name": "f0", "op": "mm", "inputs": ["x"], "phase": "forward", "flops": 40000000000,
     "outputs": [{"id": "a0", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "f1", "op": "mm", "inputs": ["a0"], "phase": "forward", "flops": 120000000000,
     "outputs": [{"id": "a1", "shape": [768, 1024], "dtype": "float32"}]},
    {"name": "f2", "op": "mm", "inputs": ["a1"], "phase": "forward", "flops": 200000000000,
     "outputs": [{"id": "a2", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "f3", "op": "mm", "inputs": ["a2"], "phase": "forward", "flops": 80000000000,
     "outputs": [{"id": "a3", "shape": [1024, 1024], "dtype": "float32"}]},
    {"name": "f4", "op": "mm", "inputs": ["a3"], "phase": "forward", "flops": 160000000000,
     "outputs": [{"id": "a4", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "f5", "op": "mm", "inputs": ["a4"], "phase": "forward", "flops": 40000000000,
     "outputs": [{"id": "a5", "shape": [640, 1024], "dtype": "float32"}]},
    {"name": "loss", "op": "sum", "inputs": ["a5"], "phase": "forward",
     "outputs": [{"id": "g5", "shape": [640, 1024], "dtype": "float32"}]},
    {"name": "b5", "op": "mm", "inputs": ["g5", "a5", "a4"], "phase": "backward",
     "outputs": [{"id": "g4", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "b4", "op": "mm", "inputs": ["g4", "a4", "a3"], "phase": "backward",
     "outputs": [{"id": "g3", "shape": [1024, 1024], "dtype": "float32"}]},
    {"name": "b3", "op": "mm", "inputs": ["g3", "a3", "a2"], "phase": "backward",
     "outputs": [{"id": "g2", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "b2", "op": "mm", "inputs": ["g2", "a2", "a1"], "phase": "backward",
     "outputs": [{"id": "g1", "shape": [768, 1024], "dtype": "float32"}]},
    {"name": "b1", "op": "mm", "inputs": ["g1", "a1", "a0"], "phase": "backward",
     "outputs": [{"id": "g0", "shape": [512, 1024], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [512, 1024], "dtype": "float32"}],
  "outputs": ["g0"]}"#;

/// Variables of one shape that die one after another, and a gradient that an optimizer reads: input for name reuse.
pub(super) const NAMES: &str = r#"{"name": "names", "nodes": [
    {"name": "n0", "op": "mm", "inputs": ["x", "w"], "phase": "forward",
     "outputs": [{"id": "a", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n1", "op": "relu", "inputs": ["a"], "phase": "forward",
     "outputs": [{"id": "b", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n2", "op": "mul", "inputs": ["b"], "phase": "forward",
     "outputs": [{"id": "c", "shape": [128, 1024], "dtype": "float32"}]},
    {"name": "n3", "op": "mm", "inputs": ["c"], "phase": "backward",
     "outputs": [{"id": "d", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n4", "op": "mm", "inputs": ["d"], "phase": "backward",
     "outputs": [{"id": "g", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n5", "op": "sgd", "inputs": ["w", "g"], "phase": "optimizer",
     "outputs": [{"id": "w2", "shape": [256, 1024], "dtype": "float32", "alias_of": "w"}]}],
  "inputs": [
    {"id": "x", "shape": [256, 1024], "dtype": "float32"},
    {"id": "w", "shape": [256, 1024], "dtype": "float32", "role": "param"}],
  "outputs": []}"#;

/// Branches that continue late: placement strategies give different gaps.
pub(super) const PARTED: &str = r#"{"name": "parted", "nodes": [
    {"name": "n0", "op": "mm", "inputs": ["x"], "outputs": [{"id": "t0", "shape": [384, 1024], "dtype": "float32"}]},
    {"name": "n1", "op": "mm", "inputs": ["x"], "outputs": [{"id": "t1", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n2", "op": "mm", "inputs": ["x", "t0"], "outputs": [{"id": "t2", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "n3", "op": "mm", "inputs": ["t2", "t1"], "outputs": [{"id": "t3", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "n4", "op": "mm", "inputs": ["t3", "t2"], "outputs": [{"id": "t4", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "n5", "op": "mm", "inputs": ["t4", "x"], "outputs": [{"id": "t5", "shape": [384, 1024], "dtype": "float32"}]},
    {"name": "n6", "op": "mm", "inputs": ["t4"], "outputs": [{"id": "t6", "shape": [384, 1024], "dtype": "float32"}]},
    {"name": "n7", "op": "mm", "inputs": ["t2"], "outputs": [{"id": "t7", "shape": [384, 1024], "dtype": "float32"}]},
    {"name": "n8", "op": "mm", "inputs": ["t0", "t7"], "outputs": [{"id": "t8", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "m8", "op": "mm", "inputs": ["t8", "t8"], "outputs": [{"id": "s8", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "m5", "op": "mm", "inputs": ["s8", "t5"], "outputs": [{"id": "s5", "shape": [256, 1024], "dtype": "float32"}]},
    {"name": "m2", "op": "mm", "inputs": ["s5", "t2"], "outputs": [{"id": "s2", "shape": [256, 1024], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [256, 1024], "dtype": "float32"}],
  "outputs": ["s2"]}"#;
