//! The exporters of `assets/exporters`, run by a Python with PyTorch or TensorFlow that an environment variable
//! (`HIGHWATER_TORCH`, `HIGHWATER_TENSORFLOW`) names; skipped without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use highwater::analysis::{GraphFigures, inspect};
use highwater::graph::{Bindings, Graph, Phase};
use serde_json::Value as Json;

use crate::support::{files, name, shared};
use crate::workloads::workload;

/// A model with a convolution, batch norm, dropout, tied weights and a literal.
const TORCH_MODEL: &str = r#"
import copy, functools, torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(4, 8, 3, groups=2), nn.BatchNorm2d(8), nn.Dropout()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.second.weight = self.first.weight
    def forward(self, x):
        x = self.drop(torch.relu_(self.norm(self.conv(x)))).mean((2, 3))
        return self.second(self.first(x) * torch.tensor([2.0]))

def factory(optimizer="AdamW", batch=4):
    optimizer = functools.partial(getattr(torch.optim, optimizer), lr=0.1)
    return Net(), torch.randn(batch, 4, 8, 8), nn.CrossEntropyLoss(), optimizer, torch.zeros(batch, dtype=torch.long)

class Reads(nn.Linear):
    def forward(self, x):
        y = super().forward(x).sum()
        return y if y > 0 else -y

def reads():
    return Reads(4, 4), torch.randn(2, 4)

def copies():
    first = nn.Linear(64, 64)
    model = nn.Sequential(first, copy.deepcopy(first))
    return model, torch.randn(2, 64), nn.L1Loss(), functools.partial(torch.optim.SGD, lr=0.1), torch.zeros(2, 64)
"#;

/// Models of torchvision; exits with code 3 for an unknown name.
const TORCHVISION_MODEL: &str = r"
import functools, sys, torch

def factory(arch, images, optimizer):
    try:
        import torchvision
    except ImportError:
        sys.exit(3)
    if not hasattr(torchvision.models, arch):
        sys.exit(3)
    optimizer = functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9 if optimizer == 'sgdm' else 0.0)
    labels = torch.zeros(images[0], dtype=torch.long)
    return getattr(torchvision.models, arch)(), torch.randn(images), torch.nn.CrossEntropyLoss(), optimizer, labels

def version():
    print(torch.__version__)
    sys.exit(0)
";

const TENSORFLOW_MODEL: &str = r#"
import tensorflow as tf
layers = tf.keras.layers

def factory(batch=4):
    model = tf.keras.Sequential([
        tf.keras.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(),
        layers.Dense(300, kernel_regularizer="l2"), layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return model, tf.TensorSpec((batch, 8, 8, 3)), loss, tf.keras.optimizers.Adam(), tf.TensorSpec((batch,), tf.int32)

def function():
    table, variable = tf.ones((100, 100)), tf.Variable(tf.zeros((100,)), name="counter")
    inner = tf.function(lambda x: tf.matmul(x, table))
    @tf.function
    def step(x, n):
        y = inner(x) + variable
        variable.assign_add(tf.reduce_sum(y, 0))
        for _ in tf.range(n):
            y = inner(y)
        return y
    return step, (tf.TensorSpec((3, 100)), tf.TensorSpec((), tf.int32))
"#;

/// Counts nodes that a `GraphDef` must not contain any more, with TensorFlow itself.
const TENSORFLOW_CHECK: &str = r#"
import json, sys
import tensorflow as tf
graph = tf.compat.v1.GraphDef.FromString(open(sys.argv[1], "rb").read())
nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
shapes = [shape for node in graph.node for shape in node.attr["_output_shapes"].list.shape]
with tf.Graph().as_default():
    tf.import_graph_def(graph, name="")
print(json.dumps({
    "nodes": len(graph.node),
    "calls": sum("PartitionedCall" == node.op[-15:] for node in graph.node),
    "loops": sum("While" in node.op for node in graph.node),
    "variables": sorted(node.name for node in graph.node if node.op == "VarHandleOp"),
    "unknown": sum(shape.unknown_rank or any(dim.size < 0 for dim in shape.dim) for shape in shapes),
    "largest": max(node.attr["value"].tensor.ByteSize() for node in nodes if node.op == "Const"),
}))
"#;

/// A folder with a module, and the Python that an environment variable names.
struct Bench {
    python: PathBuf,
    script: PathBuf,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(variable: &str, script: &str, text: &str) -> Option<Self> {
        let Some(python) = std::env::var_os(variable) else {
            eprintln!("skipped: {variable} names no Python");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.py"), text).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("assets/exporters")
            .join(script);
        Some(Self {
            python: python.into(),
            script,
            folder,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn python(&self, arguments: &[&str]) -> Output {
        Command::new(&self.python)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("the Python that the environment variable names runs")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let script = self.script.to_string_lossy();
        self.python(&[&[&*script], arguments].concat())
    }

    /// The exporter's output.
    fn export(&self, factory: &str, output: &str, arguments: &[&str]) -> Vec<u8> {
        let answer = self.run(&[&[factory, "-o", output], arguments].concat());
        assert!(answer.status.success(), "{factory}: {}", text(&answer.stderr));
        std::fs::read(self.path(output)).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The single graph of an exported file, with its figures.
fn read(file: &str, bytes: &[u8]) -> (std::sync::Arc<Graph>, GraphFigures) {
    let workload = workload(file, bytes);
    let figures = inspect(&workload, &Bindings::new()).graphs[0].clone();
    (workload.graphs()[0].graph.clone(), figures)
}

fn n_of_phase(graph: &Graph, phase: Phase) -> usize {
    graph.ops().iter().filter(|op| op.phase == phase).count()
}

fn peak(figures: Option<(highwater::units::Bytes, Option<highwater::units::Step>)>) -> u64 {
    figures.expect("the graph has no open sizes").0.get()
}

#[test]
fn a_training_step_of_pytorch_is_exported() {
    let Some(bench) = Bench::new("HIGHWATER_TORCH", "torch_export.py", TORCH_MODEL) else {
        return;
    };
    let bytes = bench.export("model:factory", "step.json.gz", &[]);
    assert_eq!(
        bytes,
        bench.export("model.py:factory", "again.json.gz", &[]),
        "the same step twice"
    );
    let (graph, figures) = read("step.json.gz", &bytes);
    assert_eq!((graph.name(), figures.unknown_shapes), ("Net", 0));
    assert_eq!(graph.reordered_ops(), 0);
    for phase in [Phase::Forward, Phase::Backward, Phase::Optimizer] {
        assert!(n_of_phase(&graph, phase) > 0, "{phase:?}");
    }
    assert_eq!(n_of_phase(&graph, Phase::Unknown), 0);
    // Convolution 152, norm 16, two linear layers that share their weight 64 + 16; statistics 16 and a counter, a literal.
    let parameters = 4 * (152 + 16 + 64 + 16);
    assert_eq!(figures.weights.get(), parameters + 4 * 16 + 8 + 4);
    assert_eq!(figures.state.get(), 2 * parameters);
    assert_eq!(
        figures.inputs.map(highwater::units::Bytes::get),
        Some(4 * 4 * 4 * 64 + 4 * 8)
    );
    assert!(peak(figures.aliased_peak) <= peak(figures.naive_peak));
    // 2 per multiply-add: 4 x 6 x 6 positions, 8 channels, filters of 2 x 3 x 3; backward has no gradient of the images.
    let n_flops = |kind: &str| -> u64 {
        let ops = graph.ops().iter_ids();
        ops.filter(|(op, _)| graph.op_kind(*op).starts_with(kind))
            .map(|(_, op)| op.flops)
            .sum()
    };
    assert_eq!(n_flops("aten.convolution.default"), 2 * 4 * 36 * 8 * 18);
    assert_eq!(n_flops("aten.convolution_backward"), 2 * 4 * 36 * 8 * 18);
}

#[test]
fn parts_of_a_pytorch_step_can_be_left_out() {
    let Some(bench) = Bench::new("HIGHWATER_TORCH", "torch_export.py", TORCH_MODEL) else {
        return;
    };
    let forward = read("f.json", &bench.export("model:factory", "f.json", &["--no-backward"])).0;
    assert_eq!(n_of_phase(&forward, Phase::Forward), forward.ops().len());
    let (graph, kept) = read("g.json", &bench.export("model:factory", "g.json", &["--no-optimizer"]));
    assert_eq!(n_of_phase(&graph, Phase::Optimizer), 0);
    assert_eq!(kept.state.get(), 0);
    let sgd = ["--arg", "optimizer=SGD", "--arg", "batch=8"];
    let (_, figures) = read("s.json", &bench.export("model:factory", "s.json", &sgd));
    assert_eq!(
        figures.inputs.map(highwater::units::Bytes::get),
        Some(2 * (4 * 4 * 4 * 64 + 4 * 8))
    );
}

#[test]
fn views_of_deep_copied_parameters_take_no_memory() {
    let Some(bench) = Bench::new("HIGHWATER_TORCH", "torch_export.py", TORCH_MODEL) else {
        return;
    };
    let fake: Json = serde_json::from_slice(&bench.export("model:copies", "f.json", &[])).unwrap();
    let real: Json = serde_json::from_slice(&bench.export("model:copies", "r.json", &["--real"])).unwrap();
    same_nodes("copies", &fake, &real);
    let nodes = fake["nodes"].as_array().unwrap().iter();
    let transposed: Vec<&Json> = nodes.filter(|node| node["op"] == "aten.t.default").collect();
    assert!(transposed.len() >= 2);
    for node in transposed {
        assert!(!node["outputs"][0]["alias_of"].is_null(), "{node}");
    }
}

#[test]
fn steps_that_read_values_are_refused_with_advice() {
    let Some(bench) = Bench::new("HIGHWATER_TORCH", "torch_export.py", TORCH_MODEL) else {
        return;
    };
    let answer = bench.run(&["model:reads", "-o", "r.json"]);
    let message = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(2), "{message}");
    for part in ["forward phase", "model.py:", "if y > 0", "--real"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!bench.path("r.json").exists());
    let (graph, _) = read("r.json", &bench.export("model:reads", "r.json", &["--real"]));
    assert!(n_of_phase(&graph, Phase::Backward) > 0);
    for wrong in ["model", "model:nothing", "nowhere:factory", "nowhere.py:factory"] {
        let answer = bench.run(&[wrong, "-o", "r.json"]);
        assert_eq!(answer.status.code(), Some(2), "{wrong}");
        assert_eq!(text(&answer.stderr).lines().count(), 1, "{wrong}");
    }
}

#[test]
fn torchvision_models_equal_the_corpus() {
    let Some(bench) = Bench::new("HIGHWATER_TORCH", "torch_export.py", TORCHVISION_MODEL) else {
        return;
    };
    let Some(folder) = shared("corpus/made/torch_train") else {
        return;
    };
    let version = text(&bench.run(&["model:version"]).stdout);
    for file in files(&folder, ".json") {
        let corpus: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let Some(images) = corpus["inputs"].as_array().and_then(|inputs| {
            let found = inputs.iter().find(|input| input["name"] == "images")?;
            Some(found["shape"].to_string())
        }) else {
            continue;
        };
        let file = name(&file);
        let made_with = corpus["meta"]["torch"].as_str().unwrap_or_default();
        if made_with.split('+').next() != version.trim().split('+').next() {
            eprintln!("skipped: {file} was made with PyTorch {made_with}, this is {version}");
            continue;
        }
        let arguments = [
            ("arch", file.split('_').next().unwrap()),
            ("images", &images),
            ("optimizer", corpus["meta"]["optimizer"].as_str().unwrap()),
        ]
        .map(|(name, value)| format!("{name}={value}"));
        let answer = bench.run(
            &[
                &["model:factory", "-o", "out.json"],
                &arguments.each_ref().map(|text| ["--arg", text]).concat()[..],
            ]
            .concat(),
        );
        if answer.status.code() == Some(3) {
            eprintln!("skipped: {file} is no model of this Python's torchvision");
            continue;
        }
        assert!(answer.status.success(), "{file}: {}", text(&answer.stderr));
        let exported: Json = serde_json::from_slice(&std::fs::read(bench.path("out.json")).unwrap()).unwrap();
        same_nodes(&file, &exported, &corpus);
        let ours = read(&file, exported.to_string().as_bytes()).1;
        let theirs = read(&file, corpus.to_string().as_bytes()).1;
        assert_eq!(
            GraphFigures {
                name: theirs.name.clone(),
                ..ours
            },
            theirs,
            "{file}"
        );
    }
}

/// Node for node: operator, phase, FLOPs, and shape, type and bytes of every result.
fn same_nodes(file: &str, ours: &Json, theirs: &Json) {
    let nodes = |graph: &Json| graph["nodes"].as_array().unwrap().clone();
    assert_eq!(nodes(ours).len(), nodes(theirs).len(), "{file}");
    for (our, their) in nodes(ours).iter().zip(&nodes(theirs)) {
        for key in ["name", "op", "phase", "flops"] {
            assert_eq!(our[key], their[key], "{file}: {their}");
        }
        let (made, expected) = (our["outputs"].as_array().unwrap(), their["outputs"].as_array().unwrap());
        assert_eq!(made.len(), expected.len(), "{file}: {their}");
        for (output, other) in made.iter().zip(expected) {
            for key in ["id", "shape", "dtype", "bytes", "storage_bytes"] {
                assert_eq!(output[key], other[key], "{file}: {their}");
            }
            assert_eq!(
                output["alias_of"].is_null(),
                other["alias_of"].is_null(),
                "{file}: {their}"
            );
        }
    }
}

#[test]
fn a_training_step_of_tensorflow_is_exported() {
    let Some(bench) = Bench::new("HIGHWATER_TENSORFLOW", "tf_export.py", TENSORFLOW_MODEL) else {
        return;
    };
    let bytes = bench.export("model:factory", "step.pb", &[]);
    let found = check(&bench, "step.pb");
    assert_eq!((&found["calls"], &found["unknown"]), (&Json::from(0), &Json::from(0)));
    assert!(found["largest"].as_u64().unwrap() <= 1024);
    let variables = found["variables"].as_array().unwrap();
    let n_named = |part: &str| variables.iter().filter(|name| name.to_string().contains(part)).count();
    assert!(n_named("kernel") >= 3 * 3, "{variables:?}"); // each with two moments
    if highwater::import::IMPORTERS
        .iter()
        .any(|importer| importer.name == "tensorflow")
    {
        let (graph, figures) = read("step.pb", &bytes);
        assert_eq!(figures.unknown_shapes, 0);
        assert!(peak(figures.aliased_peak) <= peak(figures.naive_peak));
        for phase in [Phase::Forward, Phase::Backward, Phase::Optimizer] {
            assert!(n_of_phase(&graph, phase) > 0, "{phase:?}");
        }
    }
}

#[test]
fn calls_of_tensorflow_functions_are_inlined_and_loops_stay() {
    let Some(bench) = Bench::new("HIGHWATER_TENSORFLOW", "tf_export.py", TENSORFLOW_MODEL) else {
        return;
    };
    bench.export("model:function", "function.pb", &[]);
    let found = check(&bench, "function.pb");
    assert_eq!((&found["calls"], &found["loops"]), (&Json::from(0), &Json::from(1)));
    assert_eq!(found["variables"], Json::from(vec!["counter"]));
    assert!(found["largest"].as_u64().unwrap() <= 1024);
}

/// TensorFlow's figures of an exported graph.
fn check(bench: &Bench, file: &str) -> Json {
    let answer = bench.python(&["-c", TENSORFLOW_CHECK, file]);
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("{}", text(&answer.stderr)))
}
