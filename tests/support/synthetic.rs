//! A synthetic training session under four policies, for tests and benches of the views: a forward ramp, a backward
//! ramp and an evaluation graph, with hand-written event logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use highwater_analysis::{
    Comparison, EstimatedWorkspaces, Lane, LaneGoal, LaneId, LowestPeak, Recommended, ScratchSource,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{
    Bindings, DType, Dim, Graph, GraphBuilder, Id as _, NewOp, NewTensor, Phase, Role, TensorId,
};
use highwater_model::liveness::{View, lifetimes};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    Axis, AxisRun, Device, DeviceFigure, DeviceProfiles, GraphEntry, GraphIdx, Lifetimes, Program, Run, Source,
    Workload,
};
use highwater_rewrite::remat::OpRates;
use highwater_sim::alloc::Address;
use highwater_sim::{
    BoundGraph, DeviceRun, DeviceSession, Event, EventKind, EventLog, LoadedGraph, POLICIES, Params, Region, RegionId,
    RegionKind, Simulation, SpanCounts, StaticMemoryPolicy, Subject, SubjectId, SubjectRow, Subjects, Variable, fold,
};

/// `n_layers` layers (about three tensors each) over `n_iterations` of train and evaluate.
pub(crate) fn comparison(n_layers: u32, n_iterations: u32) -> Comparison {
    let graphs = [
        Arc::new(graph("train", n_layers, true)),
        Arc::new(graph("evaluate", n_layers, false)),
    ];
    let bounds: Vec<Arc<BoundGraph>> = graphs.iter().map(|graph| Arc::new(bound(graph))).collect();
    let axis = axis(&graphs, n_iterations);
    let session = session(&graphs, &bounds, &axis);
    answer(&graphs, axis, session)
}

/// With other live ranges, by run, on another axis.
pub(crate) fn comparison_of(plain: &Comparison, bounds: &[Arc<BoundGraph>], axis: Axis) -> Comparison {
    let graphs = plain.workload.graphs();
    let graphs = [0, 1].map(|idx: usize| Arc::clone(&graphs[idx].graph));
    let mut session = session(&graphs, bounds, &axis);
    for (run, bound) in session.runs.iter_mut().zip(bounds) {
        run.bound = Arc::clone(bound);
    }
    answer(&graphs, axis, session)
}

fn answer(graphs: &[Arc<Graph>], axis: Axis, session: DeviceSession) -> Comparison {
    let device = DeviceProfiles::bundled()
        .and_then(|profiles| profiles.find(DeviceProfiles::DEFAULT))
        .expect("the default profile is bundled");
    let mut lanes: Vec<Lane> = POLICIES.iter().map(|row| lane(&session, &device, row.policy)).collect();
    let first = lanes[0].curves.reserved.clone();
    for lane in &mut lanes {
        let differs = |(a, b): (&Bytes, &Bytes)| a != b;
        let at = first.iter().zip(lane.curves.reserved.iter()).position(differs);
        lane.first_divergence = at.map(|step| Step(u32::try_from(step).expect("few steps")));
    }
    let workload = Workload::new("made up".to_owned(), Source::Graphs(graphs.iter().map(entry).collect()));
    Comparison {
        workload: Arc::new(workload),
        axis,
        session,
        device: device.clone(),
        active_policy: StaticMemoryPolicy::Dynamic,
        is_policy_unknown: false,
        policy_conditions: Vec::new(),
        has_policy: true,
        lowest_peak: Some(LowestPeak {
            policy: StaticMemoryPolicy::StaticExtend,
            why: "one arena serves both graphs".to_owned(),
        }),
        recommendations: LaneGoal::ALL
            .map(|goal| Recommended {
                goal,
                policy: StaticMemoryPolicy::StaticExtend,
                why: "static graphs share an arena".to_owned(),
                why_short: Vec::new(),
                equivalent: Vec::new(),
                runner_up: Some(StaticMemoryPolicy::Dynamic),
            })
            .to_vec(),
        equivalence: None,
        chosen_memory: None,
        lower_bound: false,
        scratch: ScratchSource::Stated,
        calibrations: Vec::new(),
        recordings: Vec::new(),
        run_differences: Vec::new(),
        assumed_dims: std::collections::BTreeSet::new(),
        workspaces: EstimatedWorkspaces::default(),
        requests: Vec::new(),
        params: Params::for_device(&device),
        rates: OpRates {
            flops_per_second: device.figure(DeviceFigure::FlopsPerSecond),
            bytes_per_second: device.figure(DeviceFigure::MemoryBytesPerSecond),
            launch: Nanos(0),
        },
        device_id: 0,
        occupied: Bytes::ZERO,
        estimates: Vec::new(),
        reuse_lanes: Vec::new(),
        advice: Vec::new(),
        assumption: None,
        without_effect: Vec::new(),
        diagnostics: Diagnostics::default(),
        lanes,
        pin_failures: Vec::new(),
    }
}

fn entry(graph: &Arc<Graph>) -> GraphEntry {
    GraphEntry::new(graph.name().to_owned(), Arc::clone(graph))
}

/// Channels grow and pictures shrink, as in a convolutional network.
fn dims(layer: u32, n_layers: u32) -> [u64; 4] {
    let stage = (layer * 4 / n_layers.max(1)).min(3);
    let (channels, side) = (64_u64 << stage, 112_u64 >> stage);
    [32, channels + u64::from(layer % 3) * 32, side, side]
}

fn graph(name: &str, n_layers: u32, is_training: bool) -> Graph {
    let mut builder = GraphBuilder::new(name);
    let add = |builder: &mut GraphBuilder, name: String, dims: &[u64], role: Role| {
        let dims: Vec<Dim> = dims.iter().map(|dim| Dim::Known(*dim)).collect();
        let shape = Some(builder.shape(&dims));
        let new = NewTensor {
            name: &name,
            dtype: DType::Float32,
            shape,
            role,
        };
        builder.tensor(new).expect("few tensors")
    };
    let op = |builder: &mut GraphBuilder, kind: &str, phase: Phase, operands: &[TensorId], results: &[TensorId]| {
        let new = NewOp {
            kind,
            operands,
            results,
            phase,
            ..NewOp::default()
        };
        builder.op(new).expect("one producer each");
    };
    let kinds = ["convolution", "native_batch_norm", "relu"];
    let mut acts = vec![add(&mut builder, "input".to_owned(), &[32, 3, 224, 224], Role::Input)];
    for layer in 0..n_layers {
        let act = add(
            &mut builder,
            format!("layer{layer}.out"),
            &dims(layer, n_layers),
            Role::Activation,
        );
        let operand = acts[acts.len() - 1];
        op(
            &mut builder,
            kinds[layer as usize % 3],
            Phase::Forward,
            &[operand],
            &[act],
        );
        acts.push(act);
    }
    if is_training {
        let kinds = [
            "convolution_backward",
            "native_batch_norm_backward",
            "threshold_backward",
        ];
        let mut grad = acts[acts.len() - 1];
        let mut grads = Vec::new();
        for layer in (0..n_layers).rev() {
            let of_input = add(
                &mut builder,
                format!("layer{layer}.grad"),
                &dims(layer, n_layers),
                Role::Activation,
            );
            let [_, channels, ..] = dims(layer, n_layers);
            let of_weight = add(
                &mut builder,
                format!("layer{layer}.weight.grad"),
                &[channels, channels, 3, 3],
                Role::Activation,
            );
            let operands = [grad, acts[layer as usize], acts[layer as usize + 1]];
            op(
                &mut builder,
                kinds[layer as usize % 3],
                Phase::Backward,
                &operands,
                &[of_input, of_weight],
            );
            grad = of_input;
            grads.push(of_weight);
        }
        for grads in grads.chunks(8) {
            op(&mut builder, "_fused_adam", Phase::Optimizer, grads, &[]);
        }
    }
    builder.finish().expect("no circles")
}

fn bound(graph: &Graph) -> BoundGraph {
    let lifetimes = lifetimes(graph, &graph.sizes(&Bindings::new()), View::Aliased);
    BoundGraph {
        engine_sizes: lifetimes.items.iter().map(|item| item.bytes.align_up(512)).collect(),
        program: Program {
            lifetimes,
            separate: Vec::new(),
        },
        plan: None,
        segments: Vec::new(),
        io: Vec::new(),
        clears: Vec::new(),
        recorded: None,
    }
}

fn axis(graphs: &[Arc<Graph>], n_iterations: u32) -> Axis {
    let mut axis = Axis::default();
    for iteration in 0..n_iterations {
        for (idx, graph) in graphs.iter().enumerate() {
            let n_steps = u32::try_from(graph.ops().len()).expect("few ops");
            let run = Run {
                graph: GraphIdx::from_idx(idx),
                iteration,
                bindings: BTreeMap::new(),
            };
            axis.runs.push(AxisRun {
                slots: None,
                start: Step(axis.n_steps),
                n_steps,
                run,
            });
            axis.n_steps += n_steps;
        }
    }
    axis
}

fn session(graphs: &[Arc<Graph>], bounds: &[Arc<BoundGraph>], axis: &Axis) -> DeviceSession {
    DeviceSession {
        graphs: graphs
            .iter()
            .map(|graph| LoadedGraph {
                name: graph.name().to_owned(),
                is_static: true,
                has_collectives: false,
                weights: Vec::new(),
            })
            .collect(),
        runs: axis
            .runs
            .iter()
            .map(|run| DeviceRun {
                graph: run.run.graph,
                bound: Arc::clone(&bounds[run.run.graph.idx()]),
                start: run.start,
                n_steps: run.n_steps,
            })
            .collect(),
        variables: vec![Variable {
            name: "weights".into(),
            bytes: Bytes::mib(300),
        }],
        n_steps: axis.n_steps,
        ..DeviceSession::default()
    }
}

fn lane(session: &DeviceSession, device: &Device, policy: StaticMemoryPolicy) -> Lane {
    let simulation = simulate(session, device, policy);
    let curves = fold::curves(&simulation);
    let mut summary = fold::summary(&simulation, &curves, &Params::for_device(device));
    summary.estimated_overhead = Nanos(summary.device_mallocs * device.figure(DeviceFigure::MallocNs));
    Lane {
        id: LaneId::Policy(policy),
        policy,
        strategy: highwater_plan::default_strategy(),
        chosen: false,
        plans: Vec::new(),
        simulation,
        curves,
        shares_steps: false,
        summary,
        first_divergence: None,
        title: None,
        session: None,
        rewrite: None,
        explanation: Vec::new(),
        out_of_memory_report: None,
        refusals: None,
        forbidden: Vec::new(),
        documented: None,
        recorded: None,
        pinned: None,
    }
}

/// Offsets by first fit in order of birth, and the footprint.
fn place(lifetimes: &Lifetimes) -> (Vec<u64>, u64) {
    let mut held: Vec<(u64, u64, Step)> = Vec::new();
    let (mut offsets, mut footprint) = (Vec::new(), 0);
    for item in &lifetimes.items {
        held.retain(|(_, _, end)| *end > item.birth);
        let size = item.bytes.align_up(512).get();
        let (mut base, mut position) = (0, held.len());
        for (idx, (low, high, _)) in held.iter().enumerate() {
            if base + size <= *low {
                position = idx;
                break;
            }
            base = base.max(*high);
        }
        held.insert(position, (base, base + size, item.end));
        offsets.push(base);
        footprint = footprint.max(base + size);
    }
    (offsets, footprint)
}

/// A log that is written step by step.
struct Log {
    simulation: Simulation,
    /// The next free byte of the device and of its virtual space.
    next: [u64; 2],
}

impl Log {
    fn at(&mut self, kind: RegionKind, bytes: u64) -> Address {
        let is_range = matches!(kind, RegionKind::PagedRange | RegionKind::Stitched);
        let next = &mut self.next[usize::from(is_range)];
        let at = std::mem::replace(next, *next + bytes);
        if is_range {
            Address::virtual_space(at)
        } else {
            Address::device(at)
        }
    }

    fn new(session: &DeviceSession, device: &Device, policy: StaticMemoryPolicy) -> Self {
        Self {
            simulation: Simulation {
                policy,
                n_steps: session.n_steps,
                device_bytes: device.memory(),
                events: EventLog::default(),
                regions: Vec::new(),
                subjects: Subjects::default(),
                pools: Vec::new(),
                spans: SpanCounts::default(),
                out_of_memory: None,
            },
            next: [0; 2],
        }
    }

    fn region(&mut self, kind: RegionKind, graph: Option<GraphIdx>, bytes: u64) -> RegionId {
        let at = self.at(kind, bytes);
        self.simulation.regions.push(Region {
            kind,
            graph,
            bytes: Bytes(bytes),
            io: Bytes::ZERO,
            at: at.into(),
        });
        RegionId::from_idx(self.simulation.regions.len() - 1)
    }

    fn subject(&mut self, subject: Subject, requested: Bytes) -> SubjectId {
        self.simulation.subjects.push(SubjectRow { subject, requested });
        SubjectId::from_idx(self.simulation.subjects.len() - 1)
    }

    fn event(&mut self, step: Step, kind: EventKind, region: RegionId, extent: (SubjectId, u64, u64)) {
        let (subject, offset, bytes) = extent;
        self.simulation.events.push(Event {
            step,
            kind,
            region,
            subject,
            offset,
            bytes: Bytes(bytes),
        });
    }
}

/// The static policies hold one block per graph or one for all; the paged ones hold pages while a graph runs.
fn simulate(session: &DeviceSession, device: &Device, policy: StaticMemoryPolicy) -> Simulation {
    let mut log = Log::new(session, device, policy);
    let everyone = log.subject(Subject::Session, Bytes::ZERO);
    let variables = session.variables[0].bytes.get();
    let region = log.region(RegionKind::Variables, None, variables);
    log.event(Step(0), EventKind::DeviceMalloc, region, (everyone, 0, variables));
    let placed: Vec<(Vec<u64>, u64)> = session
        .runs
        .iter()
        .map(|run| place(&run.bound.program.lifetimes))
        .collect();
    let largest = placed.iter().map(|(_, footprint)| *footprint).max().unwrap_or(0);
    let row = policy.row();
    let page = if row.expands_pools {
        Bytes::mib(8)
    } else {
        Bytes::mib(2)
    };
    let round = |bytes: u64| Bytes(bytes).align_up(page.get()).get();
    let mut arenas: BTreeMap<u32, RegionId> = BTreeMap::new();
    for (idx, run) in (0_u32..).zip(&session.runs) {
        let (offsets, footprint) = &placed[idx as usize];
        let is_paged = policy == StaticMemoryPolicy::FullExtend;
        let owner = if row.shares_static_arena && !is_paged {
            u32::MAX
        } else {
            run.graph.0
        };
        let bytes = round(if owner == u32::MAX { largest } else { *footprint });
        let kind = if is_paged {
            RegionKind::PagedRange
        } else {
            RegionKind::Arena
        };
        let arena = *arenas.entry(owner).or_insert_with(|| {
            let region = log.region(kind, (owner != u32::MAX).then_some(run.graph), bytes);
            if is_paged {
                log.event(run.start, EventKind::Reserve, region, (everyone, 0, bytes));
            } else {
                log.event(run.start, EventKind::DeviceMalloc, region, (everyone, 0, bytes));
            }
            region
        });
        let pages: Vec<(SubjectId, u64, u64)> = (0..bytes / page.get() * u64::from(is_paged))
            .map(|number| {
                let handle = u32::try_from(number).expect("few pages");
                let subject = log.subject(Subject::Page(handle), page);
                (subject, number * page.get(), page.get())
            })
            .collect();
        for extent in &pages {
            log.event(run.start, EventKind::PageAlloc, arena, *extent);
            log.event(run.start, EventKind::Map, arena, *extent);
        }
        blocks(&mut log, idx, run, arena, offsets);
        let end = Step(run.start.0 + run.n_steps);
        for extent in &pages {
            log.event(end, EventKind::Unmap, arena, *extent);
            log.event(end, EventKind::PageFree, arena, *extent);
        }
    }
    log.simulation
}

fn blocks(log: &mut Log, idx: u32, run: &DeviceRun, arena: RegionId, offsets: &[u64]) {
    let items = &run.bound.program.lifetimes.items;
    let mut moves = Vec::new();
    for (item, offset) in items.iter().zip(offsets) {
        let subject = Subject::Tensor {
            run: idx,
            tensor: item.tensor,
            copy: 0,
        };
        let subject = log.subject(subject, item.bytes);
        let extent = (subject, *offset, item.bytes.align_up(512).get());
        moves.push((Step(run.start.0 + item.birth.0), true, extent));
        moves.push((Step(run.start.0 + item.end.0), false, extent));
    }
    moves.sort_unstable();
    for (step, is_alloc, extent) in moves {
        let kind = if is_alloc { EventKind::Alloc } else { EventKind::Free };
        log.event(step, kind, arena, extent);
    }
}
