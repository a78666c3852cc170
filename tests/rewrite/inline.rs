//! Functions in the place of their calls: random graphs, cut into random functions and put together again, are the graphs
//! that they were: who lives when, how large, in which memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use highwater_model::graph::{
    Bindings, DType, Dim, DimOp, Graph, GraphBuilder, Id as _, NewOp, NewTensor, OpId, Phase, Role, TensorId,
};
use highwater_model::liveness::{View, feature_lifetimes, lifetimes};
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Nanos;
use highwater_model::workload::{BodyMap, BodyUse, GraphEntry, Lifetimes, UseKind};
use highwater_plan::{PlacementProblem, PlanRequest, find, plan};
use highwater_rewrite::inline::{MAX_OPS, inline};
use proptest::prelude::*;

/// A tensor as it is drawn.
#[derive(Clone, Debug)]
struct Value {
    name: String,
    role: Role,
    /// Elements, over `n` where it is symbolic.
    size: u64,
    is_symbolic: bool,
    is_atomic: bool,
    stated: Option<u64>,
    storage_bytes: Option<u64>,
    alias: Option<usize>,
    is_output: bool,
}

/// An op as it is drawn; values by number.
#[derive(Clone, Debug)]
struct Step {
    name: String,
    operands: Vec<usize>,
    results: Vec<usize>,
    phase: Phase,
    flops: u64,
    time: Option<Nanos>,
}

/// A graph as it is drawn.
#[derive(Clone, Debug, Default)]
struct Drawn {
    values: Vec<Value>,
    steps: Vec<Step>,
}

/// Draws a graph from numbers, op by op.
fn drawn(seeds: &[(u32, u32, u32)]) -> Drawn {
    let mut drawn = Drawn::default();
    let value = |drawn: &mut Drawn, role: Role, seed: u32| {
        let number = drawn.values.len();
        drawn.values.push(Value {
            name: format!("v{number}"),
            role,
            size: u64::from(seed % 97) + 1,
            is_symbolic: seed.is_multiple_of(5),
            is_atomic: seed.is_multiple_of(11),
            stated: (seed.is_multiple_of(13)).then(|| u64::from(seed % 301)),
            storage_bytes: (seed.is_multiple_of(17)).then(|| u64::from(seed % 401)),
            alias: None,
            is_output: seed.is_multiple_of(7) && role == Role::Activation,
        });
        number
    };
    for seed in 0..2 {
        value(&mut drawn, Role::Input, seed * 31 + 5);
        value(&mut drawn, Role::Weight, seed * 17 + 3);
    }
    for (number, (what, reads, size)) in seeds.iter().enumerate() {
        let n = drawn.values.len();
        let pick = |turn: u32| (reads.rotate_left(turn * 7) as usize) % n;
        let operands: Vec<usize> = (0..what % 4).map(pick).collect();
        let role = match what % 9 {
            0 => Role::Constant,
            1 => Role::Workspace,
            _ => Role::Activation,
        };
        let mut results = vec![value(
            &mut drawn,
            if role == Role::Constant { role } else { Role::Activation },
            *size,
        )];
        if role == Role::Workspace {
            results.push(value(&mut drawn, Role::Workspace, size / 3));
        }
        if what % 10 == 3 {
            results.push(value(&mut drawn, Role::Activation, size / 2));
        }
        if let (Some(operand), 4 | 5) = (operands.first(), what % 7) {
            drawn.values[results[0]].alias = Some(*operand);
        }
        drawn.steps.push(Step {
            name: format!("op{number}"),
            operands: if role == Role::Constant { Vec::new() } else { operands },
            results,
            phase: [Phase::Forward, Phase::Backward, Phase::Optimizer][*what as usize % 3],
            flops: u64::from(what % 1000) + 1,
            time: Some(Nanos(u64::from(what % 77))),
        });
    }
    drawn
}

/// Part of a drawn graph as a graph, and the tensors of its values.
struct Built {
    graph: Graph,
    tensors: BTreeMap<usize, TensorId>,
}

/// A body in the making: its ops, and calls in their places.
enum Piece {
    Step(usize),
    /// The number of a body, what it takes, and what it returns.
    Call(u32, Vec<usize>, Vec<usize>),
}

/// A graph in the making.
struct Making<'a> {
    drawn: &'a Drawn,
    builder: GraphBuilder,
    tensors: BTreeMap<usize, TensorId>,
}

impl Making<'_> {
    fn add(&mut self, number: usize, is_input: bool) {
        if self.tensors.contains_key(&number) {
            return;
        }
        let value = &self.drawn.values[number];
        let n = self.builder.exprs.symbol("n");
        let dim = if value.is_symbolic {
            let size = self.builder.exprs.constant(i64::try_from(value.size).expect("small"));
            let product = self.builder.exprs.binary(DimOp::Mul, n, size);
            self.builder.exprs.dim(product)
        } else {
            Dim::Known(value.size)
        };
        let shape = self.builder.shape(&[dim]);
        let tensor = self.builder.tensor(NewTensor {
            name: &value.name,
            dtype: DType::Uint8,
            shape: if value.stated.is_some() { None } else { Some(shape) },
            role: if is_input { Role::Input } else { value.role },
        });
        let tensor = tensor.expect("a tensor");
        if let Some(bytes) = value.stated {
            self.builder.state_tensor_bytes(tensor, bytes);
        }
        if value.is_atomic && !is_input {
            self.builder.set_atomic(tensor);
        }
        self.tensors.insert(number, tensor);
    }

    fn ids(&self, numbers: &[usize]) -> Vec<TensorId> {
        numbers.iter().map(|number| self.tensors[number]).collect()
    }

    fn piece(&mut self, piece: &Piece) {
        let drawn = self.drawn;
        let result = match piece {
            Piece::Step(step) => {
                let step = &drawn.steps[*step];
                let (operands, results) = (self.ids(&step.operands), self.ids(&step.results));
                self.builder.op(NewOp {
                    name: &step.name,
                    kind: "Op",
                    operands: &operands,
                    results: &results,
                    phase: step.phase,
                    flops: step.flops,
                    time: step.time,
                })
            }
            Piece::Call(body, given, returned) => {
                let (operands, results) = (self.ids(given), self.ids(returned));
                self.builder.op(NewOp {
                    name: &format!("call{body}"),
                    kind: "Call",
                    operands: &operands,
                    results: &results,
                    ..NewOp::default()
                })
            }
        };
        result.expect("an op");
    }

    fn memory(&mut self, inputs: &[usize]) {
        for (number, tensor) in self.tensors.iter().filter(|(number, _)| !inputs.contains(number)) {
            let value = &self.drawn.values[*number];
            if value.alias.is_some() {
                self.builder.alias(*tensor, self.tensors[&root(self.drawn, *number)]);
            } else if let Some(bytes) = value.storage_bytes {
                self.builder.state_storage_bytes(*tensor, bytes);
            }
        }
    }
}

/// Builds a graph of pieces; `inputs` are handed in, `outputs` handed out.
fn built(drawn: &Drawn, pieces: &[Piece], inputs: &[usize], outputs: Option<&[usize]>) -> Built {
    let mut making = Making {
        drawn,
        builder: GraphBuilder::new(if outputs.is_some() { "body" } else { "main" }),
        tensors: BTreeMap::new(),
    };
    // A symbol bound to a number in a function is bound to it in its caller too.
    making.builder.exprs.symbol("n");
    for number in inputs {
        making.add(*number, true);
    }
    for piece in pieces {
        let all: Vec<usize> = match piece {
            Piece::Step(step) => {
                let step = &drawn.steps[*step];
                step.operands.iter().chain(&step.results).copied().collect()
            }
            Piece::Call(_, given, returned) => given.iter().chain(returned).copied().collect(),
        };
        for number in all {
            // Memory of the root is known wherever a view is.
            making.add(root(drawn, number), false);
            making.add(number, false);
        }
    }
    for piece in pieces {
        making.piece(piece);
    }
    making.memory(inputs);
    let values = drawn.values.iter().enumerate();
    let of_main: Vec<usize> = values
        .filter(|(_, value)| value.is_output)
        .map(|(number, _)| number)
        .collect();
    for number in outputs.unwrap_or(&of_main) {
        if let Some(tensor) = making.tensors.get(number) {
            making.builder.output(*tensor);
        }
    }
    Built {
        graph: making.builder.finish().expect("a graph"),
        tensors: making.tensors,
    }
}

/// Whose memory a value lives in.
fn root(drawn: &Drawn, number: usize) -> usize {
    let mut at = number;
    while let Some(next) = drawn.values[at].alias {
        at = next;
    }
    at
}

/// Cuts a range of ops into a function, within which a smaller range may be another.
fn cut(drawn: &Drawn, ranges: &[(usize, usize)]) -> GraphEntry {
    // The innermost first; each is a call within the next.
    let mut entry_bodies: Vec<Built> = Vec::new();
    let mut uses: Vec<(u32, usize, u32)> = Vec::new();
    let mut maps: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let mut inner: Option<(usize, usize)> = None;
    for range in ranges.iter().rev() {
        let pieces = pieces(range.0..range.1, inner.zip(maps.last()), entry_bodies.len());
        let (given, returned) = ends(drawn, *range);
        entry_bodies.push(built(drawn, &pieces, &given, Some(&returned)));
        if let Some(inner) = inner {
            let number = u32::try_from(entry_bodies.len()).expect("few");
            uses.push((number, inner.0 - range.0, number - 1));
        }
        maps.push((given, returned));
        inner = Some(*range);
    }
    let all = pieces(0..drawn.steps.len(), inner.zip(maps.last()), entry_bodies.len());
    let main = built(drawn, &all, &[], None);
    if let Some(inner) = inner {
        uses.push((0, inner.0, u32::try_from(entry_bodies.len()).expect("few")));
    }
    let numbered = |number: u32| {
        if number == 0 {
            &main
        } else {
            &entry_bodies[number as usize - 1]
        }
    };
    let uses = uses.iter().map(|(graph, op, body)| {
        let (given, returned) = &maps[*body as usize - 1];
        let (outer, within) = (&numbered(*graph).tensors, &numbered(*body).tensors);
        BodyUse {
            graph: *graph,
            op: OpId::from_idx(*op),
            body: *body,
            kind: UseKind::Call,
            map: Some(BodyMap {
                inputs: given.iter().map(|value| (within[value], outer[value])).collect(),
                results: returned.iter().map(|value| (outer[value], within[value])).collect(),
            }),
        }
    });
    let uses = uses.collect();
    let mut entry = GraphEntry::new("main".to_owned(), Arc::new(main.graph));
    entry.bodies = entry_bodies.into_iter().map(|body| Arc::new(body.graph)).collect();
    entry.uses = uses;
    entry
}

type Inner<'a> = ((usize, usize), &'a (Vec<usize>, Vec<usize>));

fn pieces(range: std::ops::Range<usize>, inner: Option<Inner<'_>>, body: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for step in range {
        match inner {
            Some(((from, to), (given, returned))) if (from..to).contains(&step) => {
                if step == from {
                    let body = u32::try_from(body).expect("few");
                    pieces.push(Piece::Call(body, given.clone(), returned.clone()));
                }
            }
            _ => pieces.push(Piece::Step(step)),
        }
    }
    pieces
}

/// What a range of ops takes from outside, and what of it is needed outside.
fn ends(drawn: &Drawn, (from, to): (usize, usize)) -> (Vec<usize>, Vec<usize>) {
    let inside: Vec<usize> = drawn.steps[from..to]
        .iter()
        .flat_map(|step| step.results.clone())
        .collect();
    let (mut given, mut returned) = (Vec::new(), Vec::new());
    let add = |list: &mut Vec<usize>, value: usize| {
        if !list.contains(&value) {
            list.push(value);
        }
    };
    for step in &drawn.steps[from..to] {
        for value in step.operands.iter().chain(&step.results) {
            let root = root(drawn, *value);
            for value in [*value, root] {
                if !inside.contains(&value) {
                    add(&mut given, value);
                }
            }
        }
    }
    for step in drawn.steps[..from].iter().chain(&drawn.steps[to..]) {
        for value in step.operands.iter().chain(&step.results) {
            let root = root(drawn, *value);
            for value in [*value, root] {
                if inside.contains(&value) {
                    add(&mut returned, value);
                }
            }
        }
    }
    for value in inside.iter().filter(|value| drawn.values[**value].is_output) {
        add(&mut returned, *value);
        let root = root(drawn, *value);
        if inside.contains(&root) {
            add(&mut returned, root);
        }
    }
    // Constants are the body's own unless somebody outside reads them; what a workspace is stays with its op.
    returned.retain(|value| drawn.values[*value].role != Role::Workspace);
    (given, returned)
}

/// Everything in a graph that figures and plans depend on, in a canonical order.
fn figures(graph: &Graph) -> impl PartialEq + std::fmt::Debug + use<> {
    let sizes = graph.sizes(&Bindings::from([("n".to_owned(), 3)]));
    let sorted = |lifetimes: &Lifetimes| {
        let items = lifetimes.items.iter();
        let mut items: Vec<(u32, u32, u64, bool)> = items
            .map(|item| {
                let is_atomic = graph.tensors()[item.tensor].is_atomic;
                (item.birth.0, item.end.0, item.bytes.get(), is_atomic)
            })
            .collect();
        items.sort_unstable();
        items
    };
    let live: Vec<_> = [
        lifetimes(graph, &sizes, View::Naive),
        lifetimes(graph, &sizes, View::Aliased),
        feature_lifetimes(graph, &sizes),
    ]
    .iter()
    .map(|lifetimes| (sorted(lifetimes), lifetimes.live_curve(), lifetimes.peak()))
    .collect();
    let mut residents: Vec<(Role, u64)> = graph
        .storages()
        .iter_ids()
        .map(|(id, storage)| (graph.tensors()[storage.root].role, sizes.storage(id)))
        .filter(|(role, _)| role.is_resident())
        .collect();
    residents.sort_unstable();
    let ops: Vec<_> = graph
        .ops()
        .iter_ids()
        .map(|(id, op)| {
            let name = graph.op_name(id);
            let name = name.rsplit_once('/').map_or(name, |(_, name)| name).to_owned();
            (name, op.phase, op.flops, op.time)
        })
        .collect();
    (live, residents, ops, placed(&sorted(&feature_lifetimes(graph, &sizes))))
}

/// The arena of buffers in a fixed order.
fn placed(items: &[(u32, u32, u64, bool)]) -> u64 {
    let problem = PlacementProblem::of(items.iter().map(|(birth, end, bytes, _)| highwater_plan::Buffer {
        lower: highwater_model::units::Step(*birth),
        upper: highwater_model::units::Step(*end),
        size: highwater_model::units::Bytes(*bytes),
        alignment: 1,
        offset: None,
    }));
    let cancel = Cancel::new();
    let request = PlanRequest {
        problem: &problem,
        recorded: None,
        order: None,
        limits: highwater_plan::Limits::default(),
    };
    let planned = plan(
        find("greedy_by_size").expect("a strategy"),
        &request,
        &Progress::silent(&cancel),
    );
    planned.expect("a plan").plan.footprint.get()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn functions_in_place_are_the_uncut_graph(
        seeds in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 3..14),
        cuts in (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>()),
    ) {
        let drawn = drawn(&seeds);
        let n_ops = drawn.steps.len();
        let from = usize::from(cuts.0) % n_ops;
        let to = from + 1 + usize::from(cuts.1) % (n_ops - from);
        let inner_from = from + usize::from(cuts.2) % (to - from);
        let inner_to = inner_from + 1 + usize::from(cuts.3) % (to - inner_from);
        let uncut = cut(&drawn, &[]);
        for ranges in [&[(from, to)][..], &[(from, to), (inner_from, inner_to)]] {
            let mut entry = cut(&drawn, ranges);
            let cancel = Cancel::new();
            let inlined = inline(&mut entry, MAX_OPS, &Progress::silent(&cancel)).expect("not cancelled");
            prop_assert_eq!(inlined.calls, 1);
            prop_assert!(entry.uses.is_empty());
            prop_assert_eq!(figures(&entry.graph), figures(&uncut.graph), "{:?} {:?}", ranges, drawn);
        }
    }
}
