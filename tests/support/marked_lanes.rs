//! Sessions whose lanes together have every mark.

use highwater_analysis::{Fit, LaneMark};
use highwater_session::{Command, Session, SourceSpec, sample};

use crate::sessions::session;

/// Number of kinds of [`kind`].
pub(crate) const N_KINDS: usize = 17;

/// A new kind of mark needs a session that has it.
pub(crate) const fn kind(mark: &LaneMark<'_>) -> Option<usize> {
    Some(match mark {
        LaneMark::Active { .. } => 0,
        LaneMark::Recommended(_) => 1,
        LaneMark::Equivalent(_) => 2,
        LaneMark::Forbidden(_) => 3,
        LaneMark::DoesNotFit(Fit::OutOfMemory(_), _) => 4,
        LaneMark::DoesNotFit(Fit::StopsUnderBudget, _) => 5,
        LaneMark::DoesNotFit(Fit::Refuses(_), _) => 6,
        LaneMark::DoesNotFit(Fit::Above { .. }, _) => 7,
        LaneMark::DoesNotFit(Fit::Unknown | Fit::Yes { .. } | Fit::Forbidden(_) | Fit::Raises, _) => return None,
        LaneMark::Arena(_) => 8,
        LaneMark::Unloads => 9,
        LaneMark::PerIteration(_) => 10,
        LaneMark::ByConstruction => 11,
        LaneMark::AllEquivalent(_) => 12,
        LaneMark::LowerBound(_) => 13,
        LaneMark::EstimatedScratch(_) => 14,
        LaneMark::NotSimulated(_) => 15,
        LaneMark::Raises(_) => 16,
    })
}

/// Paddle 1.2 cannot add the names of gradients to a list.
const PROGRAM: &str = r#"{"blocks": [{"idx": 0, "parent_idx": -1, "vars": [
    {"name": "x", "shape": [8, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"},
    {"name": "y", "shape": [8, 64], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"}],
    "ops": [{"type": "fc", "inputs": {"X": ["x"]}, "outputs": {"Out": ["y"]}, "attrs": {}}]}]}"#;

/// Samples, files of `sample_traces` or a program, each with settings.
const CASES: [(&str, &[(&str, &str)]); 9] = [
    ("mixed", &[("graph_max_parallel_model_num", "2")]),
    ("mixed", &[("simulation.device_memory", "3.2GiB")]),
    ("resnet50", &[("dtr.eviction_threshold", "20MiB")]),
    ("mobilenet", &[("deterministic", "1")]),
    ("mobilenet", &[("simulation.workspace_estimate", "on")]),
    ("two_graphs.trace", &[("simulation.device_memory", "10MiB")]),
    (
        "language_model.snapshot.pickle.gz",
        &[("simulation.device_memory", "100MiB")],
    ),
    ("lenet", &[]),
    (
        PROGRAM,
        &[
            ("memory_optimize.level", "1"),
            ("memory_optimize.skip_opt_set", "['x']"),
            ("memory_optimize.skip_grads", "true"),
            ("simulation.memory_optimize_version", "1.2"),
        ],
    ),
];

/// Each session with its answer; `traces` is the folder of the files.
pub(crate) fn sessions(traces: &str) -> impl Iterator<Item = Session> {
    CASES.into_iter().map(move |(name, settings)| {
        let source = match sample(name) {
            Some(sample) => SourceSpec::Sample(sample),
            None if name == PROGRAM => SourceSpec::Bytes {
                name: "program.json".to_owned(),
                bytes: name.as_bytes().into(),
            },
            None => SourceSpec::Path(format!("{traces}/{name}").into()),
        };
        let mut session = session(vec![source]);
        for (key, text) in settings {
            session.apply(Command::set_option(key, *text));
        }
        session.settle();
        session
    })
}
