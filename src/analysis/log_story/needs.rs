//! What the graph engine needs under each policy, as far as the log's own figures tell.

use super::graphs::{State, Wanted};
use highwater_model::units::{Bytes, first_of};
use highwater_model::workload::{LogLevel, LoggedProcess};

/// Pages of variables and arenas under policies 3 and 4, in bytes.
const LARGE_PAGE: u64 = 8 << 20;

const POLICIES: [u64; 4] = [0, 2, 3, 4];

/// Memory of the graph engine under a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyNeed {
    pub policy: u64,
    pub is_active: bool,
    /// `None` where the log cannot tell.
    pub bytes: Option<u64>,
    pub basis: NeedBasis,
    /// How the figure is made, or why there is none.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedBasis {
    /// The engine's reserved bytes at their highest, as logged.
    Logged,
    /// A sum of logged figures.
    Sum,
    /// A sum that leaves out what the log does not tell.
    AtLeast,
    /// Documented behaviour with logged figures.
    Estimate,
    Unknown,
}

impl NeedBasis {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Logged => "logged",
            Self::Sum => "sum",
            Self::AtLeast => "at_least",
            Self::Estimate => "estimate",
            Self::Unknown => "unknown",
        }
    }
}

/// Empty where the log tells of no graph's memory.
pub(super) fn of(process: &LoggedProcess, state: &State) -> Vec<PolicyNeed> {
    let wanted = &state.wanted;
    let is_dynamic = !process.pools.is_empty();
    if wanted.graphs.is_empty() && !is_dynamic {
        return Vec::new();
    }
    let active = process.policy.map(|(policy, _)| policy);
    let logged = process
        .reserved_peak
        .filter(|_| process.failures.iter().all(|failure| failure.was_retried));
    let need = |policy: u64| {
        let is_active = active == Some(policy);
        let (bytes, basis, why) = match logged.filter(|_| is_active) {
            Some(bytes) => (
                Some(bytes),
                NeedBasis::Logged,
                "reserved by GE at the highest point of the log".to_owned(),
            ),
            None if is_dynamic => (
                None,
                NeedBasis::Unknown,
                "the log does not tell what a pool of dynamic graphs takes under another policy".to_owned(),
            ),
            None => of_static(policy, wanted, variables(process, policy), lacks_variables(process)),
        };
        PolicyNeed {
            policy,
            is_active,
            bytes,
            basis,
            why,
        }
    };
    POLICIES.into_iter().map(need).collect()
}

/// Pages of variables under a policy.
fn variables(process: &LoggedProcess, policy: u64) -> u64 {
    let pages = process.variables.and_then(|variables| variables.pages);
    let bytes = pages.map_or(0, |(count, page)| count.saturating_mul(page));
    if has_large_pages(policy) {
        round_up(bytes)
    } else {
        bytes
    }
}

/// Whether the log does not tell the pages of variables, which are records of the level info.
fn lacks_variables(process: &LoggedProcess) -> bool {
    match process.variables {
        Some(variables) => variables.pages.is_none(),
        None => process.level != LogLevel::Info,
    }
}

const fn has_large_pages(policy: u64) -> bool {
    matches!(policy, 3 | 4)
}

const fn round_up(bytes: u64) -> u64 {
    bytes.div_ceil(LARGE_PAGE).saturating_mul(LARGE_PAGE)
}

fn of_static(policy: u64, wanted: &Wanted, variables: u64, lacks_variables: bool) -> (Option<u64>, NeedBasis, String) {
    let is_shared = matches!(policy, 2 | 4);
    let features = match policy {
        2 => wanted.largest,
        4 => round_up(wanted.largest),
        _ => wanted.sum_of_features,
    };
    let bytes = features.saturating_add(wanted.weights).saturating_add(variables);
    let paged = |is_paged: bool| if is_paged { " in pages of 8 MiB" } else { "" };
    let mut parts = vec![if is_shared {
        format!("the largest feature map {}{}", Bytes(features), paged(policy == 4))
    } else {
        format!("feature maps {}", Bytes(features))
    }];
    if wanted.weights > 0 {
        parts.push(format!("weights {}", Bytes(wanted.weights)));
    }
    if variables > 0 {
        parts.push(format!(
            "variables {}{}",
            Bytes(variables),
            paged(has_large_pages(policy))
        ));
    }
    let mut why = parts.join(" + ");
    if is_shared {
        why.push_str("; as documented, GE's blocks can take more");
    }
    let weights = (!wanted.lacks_weights.is_empty()).then(|| format!("weights of {}", named(&wanted.lacks_weights)));
    let left_out: Vec<String> = lacks_variables
        .then(|| "variables".to_owned())
        .into_iter()
        .chain(weights)
        .collect();
    if !left_out.is_empty() {
        why.push_str(&format!("; without {}", left_out.join(" and ")));
    }
    let basis = match (is_shared, left_out.is_empty()) {
        (true, _) => NeedBasis::Estimate,
        (false, false) => NeedBasis::AtLeast,
        (false, true) => NeedBasis::Sum,
    };
    (Some(bytes), basis, why)
}

/// `graph 11`, or `graphs 11, 21`, or `graphs 11, 21, 31, 41 and 5 more`.
pub(super) fn named(graphs: &[u64]) -> String {
    const MOST: usize = 4;
    let plural = if graphs.len() == 1 { "" } else { "s" };
    format!("graph{plural} {}", first_of(graphs.iter(), MOST, ", "))
}
