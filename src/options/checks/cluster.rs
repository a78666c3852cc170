//! Rules of training on several devices, and of its timeouts: R5, R27, R28, K5.

use serde_json::Value as Json;

use super::super::effective::{
    DEFAULT_HCCL_TIMEOUT, hccl_seconds, hccl_timeout, hccl_timeout_source, rounded_hccl_timeout,
};
use super::super::environment::{CM_WORKER_SIZE, Environment, HCCL_EXEC_TIMEOUT, RANK_SIZE, TF_CONFIG};
use super::{Check, Facts, Report, Value, error, info, keys, warning};

const SYNC: &str = keys::STREAM_SYNC_TIMEOUT;

pub(super) const ROWS: &[Check] = &[
    Check {
        id: "R5",
        outcomes: &[error(
            "only one of distribute and TF_CONFIG's cluster is set, TF_CONFIG is broken, or mix_compile_mode is off",
        )],
        options: &[keys::DISTRIBUTE, TF_CONFIG, keys::MIX_COMPILE_MODE],
        source: "TensorFlow adapter, npu_config.py",
        run: parameter_servers,
    },
    Check {
        id: "R27",
        outcomes: &[
            error("hccl_timeout is not an integer from 1 to 17340"),
            warning("HCCL_EXEC_TIMEOUT is used and is not an integer from 1 to 17340"),
            info("hccl_timeout overrides HCCL_EXEC_TIMEOUT"),
        ],
        options: &[keys::HCCL_TIMEOUT, HCCL_EXEC_TIMEOUT],
        source: "NPURunConfig option reference",
        run: communication_timeout,
    },
    Check {
        id: "R28",
        outcomes: &[
            error("stream_sync_timeout does not exceed the timeout of collective communication, in a cluster"),
            warning(
                "stream_sync_timeout does not exceed the timeout of collective communication; whether there is a \
                 cluster is unknown",
            ),
        ],
        options: &[
            SYNC,
            keys::HCCL_TIMEOUT,
            HCCL_EXEC_TIMEOUT,
            TF_CONFIG,
            RANK_SIZE,
            CM_WORKER_SIZE,
        ],
        source: "NPURunConfig option reference",
        run: stream_timeout,
    },
    Check {
        id: "K5",
        outcomes: &[error(
            "RANK_SIZE and CM_WORKER_SIZE are both set, which get_ranksize refuses",
        )],
        options: &[RANK_SIZE, CM_WORKER_SIZE],
        source: "TensorFlow adapter, get_ranksize",
        run: two_sizes,
    },
];

/// Whether `TF_CONFIG` describes a cluster; the error is a clause.
fn has_cluster(environment: &Environment) -> Result<bool, String> {
    let Some(text) = environment.get(TF_CONFIG).filter(|text| !text.is_empty()) else {
        return Ok(false);
    };
    match serde_json::from_str(text) {
        Err(error) => Err(format!(
            "TF_CONFIG is not JSON (line {}, column {}): fix or unset it",
            error.line(),
            error.column()
        )),
        Ok(Json::Object(config)) => match config.get("cluster") {
            None | Some(Json::Null) => Ok(false),
            Some(Json::Object(jobs)) => Ok(!jobs.is_empty()),
            Some(_) => {
                Err("the cluster in TF_CONFIG is not an object of jobs: expected {\"worker\": [...]}".to_owned())
            }
        },
        Ok(_) => Err("TF_CONFIG is not a JSON object: fix or unset it".to_owned()),
    }
}

fn parameter_servers(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, keys::DISTRIBUTE);
    if facts.environment.is_unread(TF_CONFIG) {
        return;
    }
    let has_cluster = match has_cluster(facts.environment) {
        Ok(has_cluster) => has_cluster,
        Err(message) => {
            report.error(&[TF_CONFIG], message).unset_variable(TF_CONFIG);
            return;
        }
    };
    // A name refers to a strategy that the script creates elsewhere.
    let has_strategy = facts.is_computed(keys::DISTRIBUTE) && facts.problem(keys::DISTRIBUTE).is_none();
    if has_cluster && !has_strategy {
        report.error(
            &[TF_CONFIG, keys::DISTRIBUTE],
            "TF_CONFIG has a cluster, but distribute is not a ParameterServerStrategy: set both or neither",
        );
    }
    if has_strategy && !has_cluster {
        report
            .error(
                &[keys::DISTRIBUTE, TF_CONFIG],
                "distribute is set, but TF_CONFIG has no cluster: set both or neither",
            )
            .set(keys::DISTRIBUTE, Value::Unset);
    }
    if has_cluster && !facts.bool(keys::MIX_COMPILE_MODE) && !facts.is_computed(keys::MIX_COMPILE_MODE) {
        report
            .error(
                &[TF_CONFIG, keys::MIX_COMPILE_MODE],
                "TF_CONFIG has a cluster, which needs mixed computing: set mix_compile_mode to True",
            )
            .set(keys::MIX_COMPILE_MODE, true);
    }
}

fn communication_timeout(facts: &Facts<'_>, report: &mut Report<'_>) {
    report.own_kind(facts, keys::HCCL_TIMEOUT);
    if facts.is_set(keys::HCCL_TIMEOUT) {
        report.overrides(facts, keys::HCCL_TIMEOUT, HCCL_EXEC_TIMEOUT);
        return;
    }
    if let Some(text) = facts.environment.get(HCCL_EXEC_TIMEOUT).filter(|text| !text.is_empty())
        && hccl_seconds(text).is_none()
    {
        report
            .warning(
                &[HCCL_EXEC_TIMEOUT],
                format!("HCCL_EXEC_TIMEOUT is \"{text}\": use 1 to 17340 seconds; {DEFAULT_HCCL_TIMEOUT} is assumed"),
            )
            .unset_variable(HCCL_EXEC_TIMEOUT);
    }
}

/// Whether several devices train together, as far as the variables tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cluster {
    Several,
    Alone,
    /// No variable is set.
    Unsaid,
    /// The value of a variable is computed at run time.
    Unread,
}

fn cluster(environment: &Environment) -> Cluster {
    let sizes = [RANK_SIZE, CM_WORKER_SIZE].map(|name| environment.get(name)?.trim().parse::<u64>().ok());
    if sizes.iter().flatten().any(|size| *size > 1) || has_cluster(environment) == Ok(true) {
        Cluster::Several
    } else if [RANK_SIZE, CM_WORKER_SIZE, TF_CONFIG]
        .iter()
        .any(|name| environment.is_unread(name))
    {
        Cluster::Unread
    } else if sizes.contains(&Some(1)) {
        Cluster::Alone
    } else {
        Cluster::Unsaid
    }
}

fn stream_timeout(facts: &Facts<'_>, report: &mut Report<'_>) {
    let milliseconds = facts.int(SYNC);
    let stated = hccl_timeout(facts.options, facts.environment);
    let seconds = rounded_hccl_timeout(stated);
    if !facts.is_set(SYNC) || milliseconds == -1 || milliseconds > seconds.saturating_mul(1000) {
        return;
    }
    let is_timeout_unread = !facts.is_set(keys::HCCL_TIMEOUT) && facts.environment.is_unread(HCCL_EXEC_TIMEOUT);
    if facts.is_computed(SYNC) || facts.is_computed(keys::HCCL_TIMEOUT) || is_timeout_unread {
        return;
    }
    let cluster = cluster(facts.environment);
    if matches!(cluster, Cluster::Alone | Cluster::Unread) {
        return;
    }
    let names = facts.set_of(&[SYNC, keys::HCCL_TIMEOUT, HCCL_EXEC_TIMEOUT]);
    let source = hccl_timeout_source(facts.options, facts.environment);
    let source = if stated == seconds {
        source.to_owned()
    } else {
        format!("{source} is {stated}, which acts as {seconds}")
    };
    let message = format!(
        "stream_sync_timeout is {milliseconds} ms, not above the {seconds} s of collective communication ({source})"
    );
    let mend = format!("use more than {} ms or -1 (no limit)", seconds.saturating_mul(1000));
    let finding = if cluster == Cluster::Several {
        report.error(&names, format!("{message}: {mend}"))
    } else {
        report.warning(&names, format!("{message}; in a cluster this fails: {mend}"))
    };
    finding.set(SYNC, -1);
}

fn two_sizes(facts: &Facts<'_>, report: &mut Report<'_>) {
    if facts.is_set(RANK_SIZE) && facts.is_set(CM_WORKER_SIZE) {
        report
            .error(
                &[RANK_SIZE, CM_WORKER_SIZE],
                "RANK_SIZE and CM_WORKER_SIZE are both set: keep the one of your launcher",
            )
            .unset_variable(CM_WORKER_SIZE)
            .unset_variable(RANK_SIZE);
    }
}
