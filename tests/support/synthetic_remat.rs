//! The synthetic training session under a budget: two activations are evicted in the forward ramp and recomputed in the
//! backward one, by hand-written events.

use std::sync::Arc;

use highwater_analysis::{Comparison, LaneRewrite, RunRemat};
use highwater_model::graph::{Bindings, Id as _, OpId};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Axis, SlotOp};
use highwater_rewrite::remat::{
    Choice, GraphTape, HEURISTICS, NO_CHOICE, OpRates, RematCounts, RematEvent, RematKind, RematRun, RematShortage,
    RematStatus, graph_tape, rewritten_lifetimes, sequence,
};
use highwater_sim::BoundGraph;

use crate::synthetic;

/// The end of the run under the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    Thrash,
    OutOfMemory,
}

/// Layers whose results are evicted: the first two after the second one.
const EVICTED: [u32; 2] = [2, 3];

/// The session of [`synthetic::comparison`] with its training graph under a budget; at least 8 layers.
pub(crate) fn comparison(n_layers: u32, end: End) -> Comparison {
    let plain = synthetic::comparison(n_layers, 1);
    let graph = Arc::clone(&plain.workload.graphs()[0].graph);
    let sizes = graph.sizes(&Bindings::new());
    let rates = OpRates {
        flops_per_second: 1_000_000_000_000,
        bytes_per_second: 1_000_000_000_000,
        launch: Nanos(0),
    };
    let tape = Arc::new(graph_tape(&graph, &sizes, rates));
    let answer = run(&tape, n_layers, end);
    let sequence = sequence(&tape.tape, &answer);
    let mut axis: Axis = plain.axis.clone();
    let slots = sequence.slots.iter().filter_map(|slot| {
        let op: OpId = tape.ops[slot.op as usize]?;
        let is_recomputed = slot.is_recomputed;
        Some(SlotOp { op, is_recomputed })
    });
    axis.runs[0].slots = Some(slots.collect());
    let n_slots = u32::try_from(sequence.slots.len()).expect("few");
    let more = n_slots - axis.runs[0].n_steps;
    axis.runs[0].n_steps = n_slots;
    axis.n_steps += more;
    for run in &mut axis.runs[1..] {
        run.start.0 += more;
    }
    let bounds: Vec<Arc<BoundGraph>> = plain
        .session
        .runs
        .iter()
        .enumerate()
        .map(|(position, run)| {
            let mut bound = (*run.bound).clone();
            if position == 0 {
                let lifetimes = &bound.program.lifetimes;
                bound.program.lifetimes = rewritten_lifetimes(lifetimes, &graph, &tape, &answer, &sequence);
                let items = bound.program.lifetimes.items.iter();
                bound.engine_sizes = items.map(|item| item.bytes.align_up(512)).collect();
            }
            Arc::new(bound)
        })
        .collect();
    let rewrite = Arc::new(LaneRewrite {
        remat: vec![
            Some(Arc::new(RunRemat {
                answer,
                tape,
                steps: (0..=n_slots).collect(),
                sequence,
                thrash_limit: Some(1.0),
            })),
            None,
        ],
        ..LaneRewrite::default()
    });
    let mut comparison = synthetic::comparison_of(&plain, &bounds, axis);
    for lane in &mut comparison.lanes {
        lane.rewrite = Some(Arc::clone(&rewrite));
    }
    comparison
}

/// The events until the end.
fn play(tape: &GraphTape, n_layers: u32, end: End) -> Making<'_> {
    let mut making = Making {
        tape,
        used: 0,
        events: Vec::new(),
    };
    let last_forward = n_layers;
    for (number, op) in (0_u32..).zip(&tape.tape.ops) {
        let Some(of_graph) = tape.ops[number as usize] else {
            continue;
        };
        if of_graph.idx() as u32 + 1 == last_forward {
            for layer in EVICTED {
                making.evict(number, &format!("layer{layer}.out"));
            }
        }
        let needs = |layer: u32| {
            let name = format!("layer{layer}.out");
            op.inputs
                .iter()
                .any(|input| *tape.tape.tensors[*input as usize].name == *name)
        };
        if of_graph.idx() as u32 >= n_layers && needs(EVICTED[1]) && making.is_away() {
            if end != End::Whole {
                break;
            }
            for (chain, layer) in (1_u32..).zip(EVICTED) {
                making.back(number, &format!("layer{layer}.out"), chain);
            }
        }
        for output in &op.outputs {
            making.event(number, RematKind::Compute, *output);
        }
    }
    making
}

fn run(tape: &GraphTape, n_layers: u32, end: End) -> RematRun {
    let making = play(tape, n_layers, end);
    let failed = making.events.last().map_or(0, |event| event.step + 1);
    let held: Vec<u32> = op_outputs(tape, &["layer1.out", "layer4.out"]);
    let status = match end {
        End::Whole => RematStatus::Ok,
        End::Thrash => RematStatus::Thrash,
        End::OutOfMemory => RematStatus::OutOfMemory(RematShortage {
            op: failed,
            requested: Bytes::mib(100),
            in_use: Bytes::mib(900),
            short: Bytes::mib(40),
            held,
        }),
    };
    let time = |layer: u32| {
        tape.tape
            .ops
            .iter()
            .find(|op| *op.name == *format!("layer{layer}"))
            .map_or(0, |op| op.time.0)
    };
    let peak = making
        .events
        .iter()
        .map(|event| event.memory_after)
        .max()
        .unwrap_or_default();
    RematRun {
        heuristic: &HEURISTICS[0],
        budget: Some(Bytes(peak.get() / 4 * 3)),
        status,
        base_compute: tape.tape.compute(),
        remat_compute: Nanos(EVICTED.iter().map(|layer| time(*layer)).sum::<u64>().max(1000)),
        peak,
        peak_step: 0,
        counts: RematCounts::default(),
        choices: vec![Choice {
            score: 0.125,
            compute: 0.001,
            memory: 4096.0,
            staleness: 12,
            bytes: Bytes(4096),
            candidates: 5,
            ties: 1,
        }],
        events: making.events,
    }
}

fn op_outputs(tape: &GraphTape, names: &[&str]) -> Vec<u32> {
    names.iter().map(|name| number_of(tape, name)).collect()
}

fn number_of(tape: &GraphTape, name: &str) -> u32 {
    let position = tape.tape.tensors.iter().position(|tensor| *tensor.name == *name);
    u32::try_from(position.expect("a known tensor")).expect("few")
}

struct Making<'a> {
    tape: &'a GraphTape,
    used: u64,
    events: Vec<RematEvent>,
}

impl Making<'_> {
    fn event(&mut self, step: u32, kind: RematKind, tensor: u32) -> &mut RematEvent {
        let bytes = self.tape.tape.tensors[tensor as usize].bytes.get();
        self.used = if kind.begins() {
            self.used + bytes
        } else {
            self.used - bytes
        };
        self.events.push(RematEvent {
            step,
            kind,
            tensor,
            copy: u32::from(kind == RematKind::Rematerialize),
            chain: 0,
            clock: 0,
            memory_after: Bytes(self.used),
            choice: if kind == RematKind::Evict { 0 } else { NO_CHOICE },
            is_sibling: false,
        });
        self.events.last_mut().expect("pushed")
    }

    fn evict(&mut self, step: u32, name: &str) {
        self.event(step, RematKind::Evict, number_of(self.tape, name));
    }

    fn back(&mut self, step: u32, name: &str, chain: u32) {
        let tensor = number_of(self.tape, name);
        self.event(step, RematKind::Rematerialize, tensor).chain = chain;
    }

    fn is_away(&self) -> bool {
        !self.events.iter().any(|event| event.kind == RematKind::Rematerialize)
    }
}
