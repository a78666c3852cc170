//! A model as the storages of one training step: from a graph of `torch_train`, or a small stack of layers.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a storage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Made by the forward pass, read by the backward pass.
    Saved,
    /// Made again within the backward pass.
    Again,
    /// Of a parameter, by its position.
    Gradient(usize),
    /// The result of the step.
    Loss,
    Scratch,
}

#[derive(Clone, Debug)]
pub(crate) struct Storage {
    pub(crate) bytes: u64,
    pub(crate) role: Role,
}

/// A call of an operator.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: String,
    pub(crate) is_backward: bool,
    /// Whether it is of the forward pass that runs again within the backward pass.
    pub(crate) is_again: bool,
    /// Storages that it makes, and those whose last reader it is.
    pub(crate) makes: Vec<usize>,
    pub(crate) ends: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) parameters: Vec<u64>,
    pub(crate) buffers: Vec<u64>,
    pub(crate) batch: Vec<u64>,
    pub(crate) storages: Vec<Storage>,
    pub(crate) nodes: Vec<Node>,
}

impl Model {
    /// Of a graph in the form of `torch_train`.
    pub(crate) fn from_graph(name: &str, graph: &Value) -> Self {
        let mut reader = Reader::default();
        name.clone_into(&mut reader.model.name);
        let inputs = graph["inputs"].as_array().expect("inputs");
        for input in inputs {
            reader.input(input);
        }
        for node in graph["nodes"].as_array().expect("nodes") {
            reader.node(node);
        }
        reader.finish()
    }

    /// Layers of a linear map, its bias, and a function that is saved; the last two layers have other sizes.
    pub(crate) fn layers(n_layers: u64, width: u64, rows: u64) -> Self {
        let mut model = Self {
            name: format!("layers_{n_layers}_{width}_{rows}"),
            buffers: vec![width * 4],
            batch: vec![rows * width * 4],
            ..Self::default()
        };
        let mut saved = Vec::new();
        for layer in 0..n_layers {
            let wide = if layer + 2 < n_layers { width } else { 3 * width };
            model.parameters.extend([width * wide * 4, wide * 4]);
            let sum = model.add(rows * wide * 4, Role::Scratch);
            let out = model.add(rows * width * 4 + 512 * layer, Role::Saved);
            saved.push(out);
            model.call("addmm", (false, false), &[sum], &[]);
            model.call("gelu", (false, false), &[out], &[sum]);
        }
        let loss = model.add(4, Role::Loss);
        model.call("nll_loss_forward", (false, false), &[loss], &[]);
        let mut last = None;
        for (layer, saved) in saved.into_iter().enumerate().rev() {
            let bytes = model.storages[saved].bytes;
            let inner = model.add(bytes, Role::Scratch);
            model.call("gelu_backward", (true, false), &[inner], &[saved]);
            let made = [2 * layer, 2 * layer + 1].map(|at| model.add(model.parameters[at], Role::Gradient(at)));
            let outer = model.add(bytes, Role::Scratch);
            let ends: Vec<usize> = last.into_iter().chain([inner]).collect();
            model.call("mm", (true, false), &[made[0], made[1], outer], &ends);
            last = Some(outer);
        }
        model.call("end", (true, false), &[], last.as_slice());
        model
    }

    fn add(&mut self, bytes: u64, role: Role) -> usize {
        self.storages.push(Storage { bytes, role });
        self.storages.len() - 1
    }

    fn call(&mut self, op: &str, (is_backward, is_again): (bool, bool), makes: &[usize], ends: &[usize]) {
        self.nodes.push(Node {
            op: op.to_owned(),
            is_backward,
            is_again,
            makes: makes.to_vec(),
            ends: ends.to_vec(),
        });
    }
}

#[derive(Default)]
struct Reader {
    model: Model,
    /// The storage of each tensor; none for inputs.
    storage_of: BTreeMap<String, Option<usize>>,
    /// Parameters by name of their tensor or of its states.
    parameter_of: BTreeMap<String, usize>,
    n_states: usize,
    /// By storage: the node that reads it last.
    last: Vec<usize>,
    is_again: bool,
    /// Storages that the forward pass makes.
    n_forward: Option<usize>,
}

impl Reader {
    fn input(&mut self, input: &Value) {
        let bytes = input["bytes"].as_u64().expect("bytes");
        let id = input["id"].as_str().expect("a name").to_owned();
        match input["role"].as_str() {
            Some("param") => {
                self.parameter_of.insert(id.clone(), self.model.parameters.len());
                self.model.parameters.push(bytes);
            }
            // The states of a parameter follow each other.
            Some("opt_state") => {
                self.n_states += 1;
                let number: usize = id
                    .rsplit('_')
                    .next()
                    .and_then(|text| text.parse().ok())
                    .expect("a number");
                self.parameter_of.insert(id.clone(), number);
            }
            Some("batch") => self.model.batch.push(bytes),
            _ => self.model.buffers.push(bytes),
        }
        self.storage_of.insert(id, None);
    }

    fn node(&mut self, node: &Value) {
        let op = node["op"].as_str().expect("an op");
        let op = op
            .trim_start_matches("aten.")
            .split('.')
            .next()
            .unwrap_or(op)
            .to_owned();
        let phase = node["phase"].as_str().expect("a phase");
        let inputs = node["inputs"].as_array().expect("inputs");
        let inputs: Vec<&str> = inputs.iter().filter_map(Value::as_str).collect();
        if phase == "optimizer" {
            self.optimizer(node, &inputs);
            return;
        }
        let is_backward = phase == "backward";
        // Gradient checkpointing of these models: a layer starts with a normalization, its backward pass with a product.
        if is_backward && op == "native_layer_norm" {
            self.is_again = true;
        } else if op == "mm" || op.contains("backward") {
            self.is_again = false;
        }
        if is_backward {
            self.n_forward.get_or_insert(self.model.storages.len());
        }
        let at = self.model.nodes.len();
        for input in &inputs {
            self.reads(input, at, is_backward);
        }
        let mut makes = Vec::new();
        for output in node["outputs"].as_array().expect("outputs") {
            let id = output["id"].as_str().expect("a name").to_owned();
            if let Some(root) = output["alias_of"].as_str() {
                let storage = self.storage_of.get(root).copied().flatten();
                self.storage_of.insert(id.clone(), storage);
                self.reads(&id, at, is_backward);
                continue;
            }
            let bytes = output["storage_bytes"]
                .as_u64()
                .or(output["bytes"].as_u64())
                .unwrap_or(0);
            let role = match op.as_str() {
                "nll_loss_forward" if bytes <= 4 => Role::Loss,
                _ if self.is_again => Role::Again,
                _ => Role::Scratch,
            };
            let storage = self.model.add(bytes, role);
            self.last.push(at);
            makes.push(storage);
            self.storage_of.insert(id, Some(storage));
        }
        self.model.call(&op, (is_backward, self.is_again), &makes, &[]);
    }

    fn reads(&mut self, tensor: &str, at: usize, is_backward: bool) {
        let Some(storage) = self.storage_of.get(tensor).copied().flatten() else {
            return;
        };
        self.last[storage] = at;
        let made_forward = storage < self.n_forward.unwrap_or(usize::MAX);
        let of = &mut self.model.storages[storage];
        if is_backward && made_forward && of.role == Role::Scratch {
            of.role = Role::Saved;
        }
    }

    fn optimizer(&mut self, node: &Value, inputs: &[&str]) {
        let of = inputs.first().and_then(|first| {
            let outputs = node["outputs"].as_array()?;
            let root = outputs.first().and_then(|output| output["alias_of"].as_str());
            let name = root.unwrap_or(first);
            let number = *self.parameter_of.get(name)?;
            let per = (self.n_states / self.model.parameters.len()).max(1);
            Some(if name.starts_with("sv") {
                (number - 1) / per
            } else {
                number
            })
        });
        for input in inputs {
            let storage = self.storage_of.get(*input).copied().flatten();
            if let (Some(storage), Some(of)) = (storage, of) {
                self.model.storages[storage].role = Role::Gradient(of);
            }
        }
    }

    fn finish(mut self) -> Model {
        for (storage, last) in self.last.iter().enumerate() {
            let role = self.model.storages[storage].role;
            if !matches!(role, Role::Gradient(_) | Role::Loss) {
                self.model.nodes[*last].ends.push(storage);
            }
        }
        self.model
    }
}
