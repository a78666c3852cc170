//! highwater's own options: the simulated device.

use super::{Acts, COMMON, Choice, DefaultValue, OptionKind, OptionRow, Section, keys};
use highwater_model::workload::{Alignment, DeviceProfiles};
use highwater_plan::{DEFAULT as DEFAULT_STRATEGY, Effort, STRATEGIES};
use highwater_sim::ArenaBehaviour;

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::DEVICE,
        default: DefaultValue::Text(DeviceProfiles::DEFAULT),
        summary: "the profile of the device that is simulated",
        details: "A profile gives the device's memory and the estimated costs of its operations. The counts of a \
                  simulation are exact on any profile; its times are as good as the profile's estimates. Where no \
                  profile fits, take the nearest and set simulation.device_memory.",
        memory_effect: "sets the device's memory, above which a run is out of memory, and the cost estimates",
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
                  Part of a real device's memory is taken by the driver and the runtime: set what is left to the \
                  session to be on the safe side.",
        memory_effect: "sets the device's memory, above which a run is out of memory",
        lowers_to: Some("Params::device_bytes"),
        acts: Acts::ON_DEVICE,
        ..OWN
    },
    OptionRow {
        key: keys::OCCUPIED_MEMORY,
        kind: OptionKind::Names(&[]),
        summary: "what others hold of each device's memory",
        details: "Pairs of device id and size with commas between them, such as \"0:2GiB,1:512MiB\". The entry of \
                  the session's device (session_device_id, else ASCEND_DEVICE_ID, else DEVICE_ID, else 0) is taken \
                  off the device's memory. Ids that are not named are free.",
        lowers_to: Some("Params::device_bytes"),
        rule: "K4",
        memory_effect: "takes the entry of the session's device off the memory above which a run is out of memory",
        acts: Acts::ON_DEVICE,
        ..OWN
    },
    OptionRow {
        key: keys::PLACEMENT_STRATEGY,
        kind: OptionKind::TextChoice(&STRATEGY_CHOICES),
        default: DefaultValue::Text(DEFAULT_STRATEGY),
        summary: "how the arena of a static graph is placed",
        details: "The planner that gives each tensor of a static graph its offset. The window may choose another for \
                  single lanes; engine.disable_reuse_memory at 1 overrides both.",
        lowers_to: Some("Lowered::strategy"),
        memory_effect: "the footprint of static arenas: no strategy goes below the largest sum of tensors that live at \
                        once, most stay above it",
        ..OWN
    },
    OptionRow {
        key: keys::INPUT_STAGING_BUFFERS,
        kind: OptionKind::Int { min: 0, max: 64 },
        default: DefaultValue::Int(1),
        summary: "how many buffers a graph holds for inputs that are copied together",
        details: "Inputs up to input_fusion_size travel together and land in one buffer on the device. Nothing \
                  public says whether that buffer is doubled to overlap copying with computing: 1 assumes that it is \
                  not, 2 that it is, 0 that the inputs' own memory serves.",
        lowers_to: Some("Params::staging_buffers"),
        memory_effect: "multiplies the buffer that input_fusion_size adds to static graphs",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::KEPT_OPS,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(DEFAULT_KEPT_OPS),
        summary: "the op types whose results keep their width under mixed precision",
        details: "Op types with commas between them. A type is compared by its last name part: a leading aten. and \
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
        summary: "the op types that stay on the host under mixed computing",
        details: "Op types with commas between them, compared as those of simulation.kept_ops. Which ops a real \
                  device refuses depends on the chip and its operator package; this default names ops that no device \
                  can run, because they call Python, print, or work on texts and files.",
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
        summary: "how many shapes are drawn from a shape range",
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
            (
                "never",
                "a graph stays loaded after its first run, unless memory is short",
            ),
            (
                UNLOAD_AFTER_RUN,
                "each graph is unloaded after each of its runs, and loaded again for the next one",
            ),
        ]),
        default: DefaultValue::Text("never"),
        summary: "when graphs leave the device",
        details: "A session keeps its graphs loaded. Where a program unloads each graph after its run, its arena, weights, \
                  inputs and outputs are given back at once (a dynamic graph's pool too, whose device blocks stay with the \
                  device's pool), and loading again costs the time that the reload bandwidth says.",
        lowers_to: Some("Params::unloads_after_run"),
        memory_effect: "after each run nothing of the graph is held any more; under policies 2 and 4 the shared arena goes \
                        with the last graph",
        ..OWN
    },
    OptionRow {
        key: keys::SHAPES_KEEP_ALIVE,
        kind: OptionKind::TextChoice(&[
            ("yes", "they read their input as any op does, so it lives until then"),
            (
                SHAPES_RELEASE,
                "they keep nothing alive: the runtime answers them from what it knows of the tensor",
            ),
        ]),
        default: DefaultValue::Text("yes"),
        summary: "whether ops that read a shape alone keep the tensor alive",
        details: "Shape, ShapeN, Size and Rank need no element of their input. In TensorFlow's training graphs with \
                  open dimensions the backward part holds many of them, which read results of the forward part late; \
                  counted as reads they raise the peak, sometimes to twice what the same graph with fixed shapes needs.",
        lowers_to: Some("Lowered::shapes_keep_alive"),
        memory_effect: "with no, results whose shape alone is still read are given back after their last other reader",
        ..OWN
    },
    OptionRow {
        key: keys::TENSOR_ROUNDING,
        kind: OptionKind::Bytes { min: 1, max: 1 << 30 },
        unit: Some("bytes"),
        unset_means: Some("the engine's own rule"),
        summary: "to a multiple of what each tensor of a graph is rounded up",
        details: "Unset, the engine's rule holds: a multiple of 32 bytes with at least 32 to spare. A measured run tells how \
                  its allocator rounds: \"learn\" proposes what it finds. In an arena each tensor still begins at a multiple \
                  of 512 bytes.",
        lowers_to: Some("Lowered::tensor_rounding"),
        memory_effect: "the size of every block of feature memory",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::MEASURED_ALIGNMENT,
        kind: OptionKind::TextChoice(&[
            (
                Alignment::Ops.name(),
                "the ops that ran, each at the step of the graph's op of its name",
            ),
            (
                Alignment::Phases.name(),
                "marks of iterations and phases; where there are none, the beginning, the peak and the end",
            ),
            (Alignment::Time.name(), "the share of the whole time that has passed"),
        ]),
        default: DefaultValue::Text(Alignment::Ops.name()),
        summary: "what puts a measured run beside a graph on the graph's steps",
        details: "A measured run has events, a graph has steps. By ops, as many measured ops as both have in one order \
                  are placed at their own steps. By phases, notes such as ProfilerStep#3, forward, backward and \
                  Optimizer.step are placed where the graph's phases begin. By time, whole times are laid over each \
                  other; the time of a step is measured, stated or estimated. The lane says which was possible. Peaks are \
                  those of the run in any case.",
        lowers_to: Some("Lowered::alignment"),
        memory_effect: "moves what measured lanes draw along the axis; no bytes change",
        acts: Acts {
            changes_bytes: false,
            ..Acts::ON_GRAPHS
        },
        ..OWN
    },
    OptionRow {
        key: keys::POLICY_2_BEHAVIOUR,
        kind: OptionKind::TextChoice(&[
            (
                ArenaBehaviour::Engine.name(),
                "new blocks beside the old ones, as the engine does it",
            ),
            (
                ArenaBehaviour::Documented.name(),
                "freed and allocated again at the larger size, as the vendor's documents say",
            ),
        ]),
        default: DefaultValue::Text(ArenaBehaviour::Engine.name()),
        summary: "what policy 2 does when a graph needs more than its shared arena holds",
        details: "The documents say that the arena is freed and allocated again at the larger size. The engine's code \
                  does otherwise: what does not fit into a block of the arena becomes a new block, and no block goes \
                  while a graph is loaded. So the engine can reserve more than the largest graph needs, and even more \
                  than policy 0. Policy 4 always does as the engine.",
        lowers_to: Some("Params::arena_behaviour"),
        memory_effect: "under policy 2 with several static graphs: the largest arena (documented), or the blocks that \
                        the order of loading leaves (engine)",
        acts: Acts::ON_GRAPHS_AND_TRACES,
        ..OWN
    },
];

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
