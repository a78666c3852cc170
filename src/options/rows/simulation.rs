//! highwater's own options: the simulated device.

use super::{Acts, COMMON, Choice, DefaultValue, OptionKind, OptionRow, Section, keys};
use highwater_model::workload::{Alignment, DeviceProfiles};
use highwater_plan::{DEFAULT as DEFAULT_STRATEGY, Effort, STRATEGIES};
use highwater_sim::ArenaBehaviour;

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::DEVICE,
        default: DefaultValue::Text(DeviceProfiles::DEFAULT),
        summary: "profile of the simulated device",
        details: "A profile gives the device's memory and the estimated costs of its operations. Counts are exact on \
                  any profile; times depend on the profile's estimates. If no profile fits, use the closest one and \
                  set simulation.device_memory.",
        memory_effect: "sets the capacity and the cost estimates",
        lowers_to: Some("Params::device_bytes"),
        acts: Acts::ON_DEVICE,
        ..OWN
    },
    OptionRow {
        key: keys::DEVICE_MEMORY,
        kind: OptionKind::Bytes { min: 1, max: 1 << 50 },
        unit: Some("bytes"),
        summary: "the memory of the simulated device, instead of its profile's",
        details: "Accepts bytes or a size with a unit, such as 24GiB. Unset, the memory of the device profile holds. \
                  The driver and the runtime reserve a part of a real device: set what remains for the session to be \
                  safe.",
        memory_effect: "sets the capacity",
        lowers_to: Some("Params::device_bytes"),
        acts: Acts::ON_DEVICE,
        ..OWN
    },
    OptionRow {
        key: keys::OCCUPIED_MEMORY,
        kind: OptionKind::Names(&[]),
        summary: "device memory held by other processes",
        details: "Pairs of device id and size separated by commas, such as \"0:2GiB,1:512MiB\". The entry of the \
                  session's device (session_device_id, else ASCEND_DEVICE_ID, else DEVICE_ID, else 0) is subtracted \
                  from the device's memory. Unlisted devices are free.",
        lowers_to: Some("Params::device_bytes"),
        rule: "K4",
        memory_effect: "subtracts the entry of the session's device from the capacity",
        acts: Acts::ON_DEVICE,
        ..OWN
    },
    OptionRow {
        key: keys::PLACEMENT_STRATEGY,
        kind: OptionKind::TextChoice(&STRATEGY_CHOICES),
        default: DefaultValue::Text(DEFAULT_STRATEGY),
        summary: "placement strategy of static arenas",
        details: "The planner that assigns offsets in a static arena. The window can set another for single lanes; \
                  engine.disable_reuse_memory=1 overrides both.",
        lowers_to: Some("Lowered::strategy"),
        memory_effect: "the size of static arenas, which is at least peak live",
        ..OWN
    },
    OptionRow {
        key: keys::INPUT_STAGING_BUFFERS,
        kind: OptionKind::Int { min: 0, max: 64 },
        default: DefaultValue::Int(1),
        summary: "number of staging buffers for fused inputs",
        details: "Inputs up to input_fusion_size are copied into one buffer on the device. Whether that buffer is \
                  doubled to overlap copies with computation is undocumented: 1 assumes it is not, 2 that it is, 0 \
                  that no buffer is used.",
        lowers_to: Some("Params::staging_buffers"),
        memory_effect: "multiplies the buffer that input_fusion_size adds to static graphs",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::KEPT_OPS,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(DEFAULT_KEPT_OPS),
        summary: "op types that keep their data type under mixed precision",
        details: "Op types separated by commas. A type is compared by its last name part: a leading aten. and \
                  anything behind a further dot do not count, so _softmax means aten._softmax.default. The real lists \
                  come with the operator package of each chip; this default names what is usually kept in float32: \
                  exponentials, norms, sums and losses. modify_mixlist changes it.",
        lowers_to: Some("Lowered::precision"),
        memory_effect: "under a mixed precision_mode the results of these op types keep their bytes; nothing \
                        otherwise",
        is_estimate: true,
        acts: Acts::ON_GRAPHS.with(&[keys::PRECISION_MODE, keys::PRECISION_MODE_V2]),
        ..OWN
    },
    OptionRow {
        key: keys::HOST_OPS,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(DEFAULT_HOST_OPS),
        summary: "op types that run on the host under mixed computing",
        details: "Op types separated by commas, compared as those of simulation.kept_ops. Which ops a real device \
                  refuses depends on the chip and its operator package; this default names ops that no device can \
                  run, because they call Python, print, or work on texts and files.",
        lowers_to: Some("Lowered::host_ops"),
        memory_effect: "with mix_compile_mode on, results of these op types take no feature memory and the tensors \
                        that cross the border become graph inputs and outputs; nothing otherwise",
        is_estimate: true,
        acts: Acts::ON_GRAPHS.with(&[keys::MIX_COMPILE_MODE]),
        ..OWN
    },
    OptionRow {
        key: keys::SHAPE_SAMPLES,
        kind: OptionKind::Int { min: 1, max: 1000 },
        default: DefaultValue::Int(4),
        summary: "number of samples of a shape range",
        details: "Where dynamic_inputs_shape_range binds a symbolic dimension that the schedule gives no value, this many \
                  values are taken, evenly spread on a log scale from the smallest to the largest, both included. 1 takes \
                  the largest alone. Each value is a separate run.",
        lowers_to: Some("Lowered::shape_samples"),
        memory_effect: "the number of runs that a shape range becomes; the largest shape is always among them",
        is_estimate: true,
        acts: Acts::ON_GRAPHS.with(&[keys::DYNAMIC_INPUTS_SHAPE_RANGE]),
        ..OWN
    },
    OptionRow {
        key: keys::UNLOAD_GRAPHS,
        kind: OptionKind::TextChoice(&[
            ("never", "graphs stay loaded unless memory is short"),
            (UNLOAD_AFTER_RUN, "graphs are unloaded after each run and loaded again"),
        ]),
        default: DefaultValue::Text("never"),
        summary: "time at which graphs are unloaded",
        details: "By default a session keeps its graphs loaded. If a program unloads each graph after its run, arena, \
                  weights, inputs and outputs are freed at once (as is a dynamic graph's pool, whose device blocks \
                  stay with the device's pool), and reloading takes the time of the reload bandwidth.",
        lowers_to: Some("Params::unloads_after_run"),
        memory_effect: "after each run the graph holds no memory; under policies 2 and 4 the shared arena is freed \
                        with the last graph",
        ..OWN
    },
    OptionRow {
        key: keys::SHAPES_KEEP_ALIVE,
        kind: OptionKind::TextChoice(&[
            ("yes", "they keep their input alive as any reader does"),
            (SHAPES_RELEASE, "they keep nothing alive: the runtime knows the shape"),
        ]),
        default: DefaultValue::Text("yes"),
        summary: "whether ops that read only a shape keep the tensor alive",
        details: "Shape, ShapeN, Size and Rank need no element of their input. In TensorFlow's training graphs with \
                  open dimensions the backward part holds many of them, which read results of the forward part late; \
                  counted as reads they raise the peak, sometimes to twice what the same graph with fixed shapes needs.",
        lowers_to: Some("Lowered::shapes_keep_alive"),
        memory_effect: "no: such tensors are freed after their last other reader",
        ..OWN
    },
    OptionRow {
        key: keys::TENSOR_ROUNDING,
        kind: OptionKind::Bytes { min: 1, max: 1 << 30 },
        unit: Some("bytes"),
        unset_means: Some("rule of the engine"),
        summary: "multiple to which tensors are rounded up",
        details: "Unset, the engine's rule holds: a multiple of 32 bytes with at least 32 to spare. `learn` finds the \
                  rounding of a recording. Offsets in arenas remain multiples of 512 bytes.",
        lowers_to: Some("Lowered::tensor_rounding"),
        memory_effect: "the size of every block of feature memory",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::MEASURED_ALIGNMENT,
        kind: OptionKind::TextChoice(&[
            (Alignment::Ops.name(), "by op names"),
            (
                Alignment::Phases.name(),
                "by marks of iterations and phases, else by start, peak and end",
            ),
            (Alignment::Time.name(), "by share of the total time"),
            (Alignment::Events.name(), "by event number"),
            (
                Alignment::Steps.name(),
                "runs without a graph: by the steps that annotations mark",
            ),
            (
                Alignment::Annotation.name(),
                "runs without a graph: by an annotation, simulation.measured_annotation",
            ),
            (
                Alignment::CallSite.name(),
                "runs without a graph: by the first allocation at a call site that all have",
            ),
        ]),
        default: DefaultValue::Text(Alignment::Ops.name()),
        summary: "alignment of a recording to the steps of its graph",
        details: "A measured run has events, a graph has steps. By ops, as many measured ops as both have in one order \
                  are placed at their own steps. By phases, notes such as ProfilerStep#3, forward, backward and \
                  Optimizer.step are placed where the graph's phases begin. By time, whole times are laid over each \
                  other; the time of a step is measured, stated or estimated. Without a graph, separate runs begin \
                  together, at their first step mark or else their first allocation; by time they keep their clocks, by \
                  events all begin at event 0; by steps, annotation or call site, the begins of equal steps, of equal \
                  annotations or the first equal allocation share a step of the axis, and events count from there (where a \
                  run lacks them, the answer says which alignment was used instead). Peaks are those of the run in any case.",
        lowers_to: Some("Lowered::alignment"),
        memory_effect: "moves recordings along the axis; no effect on bytes",
        acts: Acts {
            changes_bytes: false,
            ..Acts::ON_GRAPHS
        },
        ..OWN
    },
    OptionRow {
        key: keys::MEASURED_ANNOTATION,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(""),
        summary: "the annotation by which separate recordings are aligned",
        details: "Part of a name, such as ProfilerStep#3 or ## iteration 3 ##. With measured_alignment=annotation equal \
                  annotations share a step of the axis. By time each run is placed so that its first annotation of such a \
                  name is at the same step; recordings without one begin at their first step mark or allocation.",
        lowers_to: Some("Lowered::annotation"),
        memory_effect: "moves recordings along the axis; no effect on bytes",
        acts: Acts {
            changes_bytes: false,
            ..Acts::ON_GRAPHS
        },
        ..OWN
    },
    OptionRow {
        key: keys::POLICY_2_BEHAVIOUR,
        kind: OptionKind::TextChoice(&[
            (ArenaBehaviour::Engine.name(), "additional blocks (matches GE)"),
            (
                ArenaBehaviour::Documented.name(),
                "freed and reallocated at the larger size (as documented)",
            ),
        ]),
        default: DefaultValue::Text(ArenaBehaviour::Engine.name()),
        summary: "growth of the shared arena under policy 2",
        details: "As documented, the arena is freed and reallocated at the larger size. GE's code instead adds a \
                  block for what does not fit, and frees no block while a graph is loaded, so it can reserve more \
                  than the largest graph needs, even more than policy 0. Policy 4 always matches GE.",
        lowers_to: Some("Params::arena_behaviour"),
        memory_effect: "policy 2 with several static graphs: one arena of the largest size (documented), or blocks by \
                        order of loading (engine)",
        acts: Acts::ON_GRAPHS_AND_TRACES,
        ..OWN
    },
    OptionRow {
        key: keys::ENGINE_VERSION,
        kind: OptionKind::TextChoice(&[
            ("8.5", "8.5 and newer: variables on pages"),
            (BEFORE_PAGES, "before 8.5: variables in one block"),
        ]),
        default: DefaultValue::Text("8.5"),
        summary: "version of the graph engine that is simulated",
        details: "Since 8.5 variables are in one virtual range on pages of 2 MiB, under policies 3 and 4 of 8 MiB, or \
                  of 1 GiB by memory_config.variable_use_1g_huge_page. Before, they are one device block of exact bytes.",
        lowers_to: Some("Params::variable_pages"),
        memory_effect: "8.5 rounds the variables of the session up to whole pages",
        acts: Acts::ON_GRAPHS,
        ..OWN
    },
];

/// The version whose variables are on no pages.
pub(crate) const BEFORE_PAGES: &str = "8.0";

/// The choice that enables something.
pub(crate) const ON: &str = "on";

/// The strategies as choices, without `as_dumped`: graphs have no plan of their source.
const STRATEGY_CHOICES: [Choice<&'static str>; n_choices()] = {
    let mut choices = [("", ""); n_choices()];
    let (mut row, mut choice) = (0, 0);
    while row < STRATEGIES.len() {
        if !matches!(STRATEGIES[row].effort, Effort::Recorded) {
            choices[choice] = (STRATEGIES[row].name, STRATEGIES[row].summary);
            choice += 1;
        }
        row += 1;
    }
    choices
};

const fn n_choices() -> usize {
    let (mut row, mut n) = (0, 0);
    while row < STRATEGIES.len() {
        if !matches!(STRATEGIES[row].effort, Effort::Recorded) {
            n += 1;
        }
        row += 1;
    }
    n
}

/// The choice of `simulation.shapes_keep_alive` that frees memory early.
pub(crate) const SHAPES_RELEASE: &str = "no";

/// The choice of `simulation.unload_graphs` that unloads.
pub(crate) const UNLOAD_AFTER_RUN: &str = "after_run";

/// Op types that mixed precision leaves unchanged by default. The lists of the real compiler come with its operator
/// package and differ by chip.
const DEFAULT_KEPT_OPS: &str = "Softmax,LogSoftmax,SoftmaxCrossEntropyWithLogits,SparseSoftmaxCrossEntropyWithLogits,\
SoftmaxCrossEntropyLoss,NegativeLogLikelihoodLoss,LayerNormalization,BatchNormalization,InstanceNormalization,\
GroupNormalization,FusedBatchNorm,FusedBatchNormV3,Exp,Log,Pow,Sum,Mean,Cumsum,CumSum,ReduceSum,ReduceMean,\
_softmax,_log_softmax,nll_loss_forward,native_layer_norm,native_group_norm,native_batch_norm,\
_native_batch_norm_legit,exp,log,pow,sum,mean,cumsum";

/// Op types that run on the host by default.
const DEFAULT_HOST_OPS: &str = "PyFunc,PyFuncStateless,EagerPyFunc,Print,PrintV2,Assert,ReadFile,WriteFile,DecodeJpeg,\
ParseExampleV2,StringFormat,StringJoin,StringSplitV2,StringNormalizer";

pub(super) const OWN: OptionRow = OptionRow {
    section: Section::Simulation,
    since: Some("0.1.0"),
    source: "highwater's own",
    ..COMMON
};
