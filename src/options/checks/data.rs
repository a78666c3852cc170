//! Rules of shared preprocessing, small channels and engines that run at a time: R33, R34, R41.

use super::super::effective::is_training;
use super::super::lower::resolve_device;
use super::dynamic::is_dims;
use super::{Check, Facts, Report, error, info, keys, warning};

const RANK: &str = keys::LOCAL_RANK_ID;
const DEVICES: &str = keys::LOCAL_DEVICE_LIST;
const CHANNEL: &str = keys::ENABLE_SMALL_CHANNEL;
const STREAMS: &str = keys::STREAM_MAX_PARALLEL_NUM;

/// The engine of AI Core ops.
const AI_CORES: &str = "AIcoreEngine";

/// The engines that GE registers.
const ENGINES: [&str; 11] = [
    AI_CORES,
    "VectorEngine",
    "DNN_VM_AICPU",
    "DNN_VM_AICPU_ASCEND",
    "DNN_VM_GE_LOCAL",
    "DNN_VM_HOST_CPU",
    "DNN_VM_RTS",
    "DNN_VM_RTS_FFTS_PLUS",
    "DNN_VM_DVPP",
    "DNN_HCCL",
    "DSAEngine",
];

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R33",
        outcomes: &[
            error("local_rank_id is not 0 to 7, or local_device_list is not a list of device numbers"),
            warning("one of local_rank_id and local_device_list is set without the other"),
        ],
        options: &[RANK, DEVICES],
        source: "TensorFlow adapter, npu_attrs.cc; NPURunConfig option reference",
        run: shared_preprocessing,
    },
    Check {
        id: "R34",
        outcomes: &[warning(
            "enable_small_channel is 0 in online inference, which uses 1, or is 1 in training",
        )],
        options: &[CHANNEL, keys::GRAPH_RUN_MODE],
        source: "NPURunConfig option reference; TensorFlow adapter, npu_attrs.cc",
        run: small_channel,
    },
    Check {
        id: "R41",
        outcomes: &[
            error("stream_max_parallel_num is malformed, or the number of the AI Core engine exceeds the AI cores"),
            warning(
                "stream_max_parallel_num names an engine that GE does not have, or another engine exceeds the AI cores",
            ),
            info("stream_max_parallel_num is not compared with the number of AI cores, which is unknown"),
        ],
        options: &[STREAMS, keys::AICORE_NUM, keys::DEVICE],
        source: "NPURunConfig option reference; engines of GE",
        run: parallel_streams,
    },
];

fn shared_preprocessing(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, RANK);
    report.own_kind(facts, DEVICES);
    if let Some(value) = facts.options.get(DEVICES)
        && value.as_text().is_some_and(|text| !is_dims(text))
    {
        report.error(
            &[DEVICES],
            format!(
                "local_device_list is {}: expected comma-separated numbers, e.g. 0,1,2",
                value.quoted()
            ),
        );
    }
    if let [only] = facts.set_of(&[RANK, DEVICES])[..] {
        let other = if only == RANK { DEVICES } else { RANK };
        report.warning(&[only], format!("{only} is set without {other}: set both or neither"));
    }
}

fn small_channel(facts: &Facts<'_>, report: &mut Report<'_>) {
    let is_judged = facts.is_set(CHANNEL) && facts.problem(CHANNEL).is_none();
    if !is_judged || facts.is_computed(CHANNEL) || facts.is_computed(keys::GRAPH_RUN_MODE) {
        return;
    }
    let names = facts.set_of(&[CHANNEL, keys::GRAPH_RUN_MODE]);
    match (facts.int(CHANNEL), is_training(facts.options)) {
        (0, false) => report
            .warning(
                &names,
                "enable_small_channel=0 has no effect in online inference (graph_run_mode=0), which uses 1: remove it",
            )
            .remove(&[CHANNEL]),
        (1, true) => report
            .warning(
                &names,
                "enable_small_channel=1 is not recommended in training (graph_run_mode=1): set it to 0",
            )
            .set(CHANNEL, 0),
        _ => return,
    };
}

fn parallel_streams(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, STREAMS);
    let Some(text) = facts.options.get(STREAMS).and_then(|value| value.as_text()) else {
        return;
    };
    let bound = most_parallel(facts);
    let mut is_right = true;
    for part in text.split(',') {
        is_right &= engine_tasks(part, bound.as_ref(), report);
    }
    if bound.is_none() && is_right {
        report.info(
            &[STREAMS],
            "stream_max_parallel_num must not exceed the number of AI cores, which is unknown for this device: set \
             simulation.device to your product to have it checked",
        );
    }
}

/// `DNN_VM_AICPU:10`; whether it is well formed.
fn engine_tasks(part: &str, bound: Option<&Bound>, report: &mut Report<'_>) -> bool {
    let entry = part.trim().split_once(':').map(|(name, number)| (name.trim(), number));
    let entry = entry.filter(|(name, _)| !name.is_empty());
    let number = entry.and_then(|(_, number)| number.trim().parse::<u64>().ok());
    let (Some((engine, _)), Some(number @ 1..)) = (entry, number) else {
        report.error(
            &[STREAMS],
            format!(
                "stream_max_parallel_num has \"{part}\": expected ENGINE:NUMBER, comma-separated, e.g. \
                 DNN_VM_AICPU:10,AIcoreEngine:1"
            ),
        );
        return false;
    };
    if !ENGINES.contains(&engine) {
        let near = ENGINES.iter().find(|name| name.eq_ignore_ascii_case(engine));
        let mend = near.map_or_else(
            || "the documentation names DNN_VM_AICPU and AIcoreEngine".to_owned(),
            |name| format!("write {name}"),
        );
        report.warning(
            &[STREAMS],
            format!("stream_max_parallel_num has \"{part}\", but GE has no engine \"{engine}\": {mend}"),
        );
    }
    let Some(Bound { cores, names, says }) = bound.filter(|bound| number > bound.cores) else {
        return true;
    };
    let message = format!("stream_max_parallel_num has \"{part}\", but {says}: use 1 to {cores}");
    if engine == AI_CORES {
        report.error(names, message);
    } else {
        let unsure = "the documentation states this limit without an engine, so it may not be that of this one";
        report.warning(names, format!("{message}; {unsure}"));
    }
    true
}

/// The largest number of tasks that an engine may run at a time.
struct Bound {
    cores: u64,
    /// The options behind it.
    names: &'static [&'static str],
    /// Its source, as a clause.
    says: String,
}

/// The smaller one of `aicore_num` and the AI cores of the device; `None` where neither is known.
fn most_parallel(facts: &Facts<'_>) -> Option<Bound> {
    // `8|16` sets AI cores and vector cores.
    let text = facts.text(keys::AICORE_NUM);
    let option = text.split('|').next().and_then(|cores| cores.trim().parse().ok());
    let option = option.map(|cores| Bound {
        cores,
        names: &[STREAMS, keys::AICORE_NUM],
        says: format!("aicore_num allows {cores}"),
    });
    let device = resolve_device(facts.options).ok();
    let device = device.and_then(|device| {
        let cores = device.ai_cores?.count;
        Some(Bound {
            cores,
            names: &[STREAMS, keys::DEVICE],
            says: format!("{} has {cores} AI cores", device.name),
        })
    });
    option.into_iter().chain(device).min_by_key(|bound| bound.cores)
}
