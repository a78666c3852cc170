//! A comparison of a workload under every policy, as far as robustness needs it.

use highwater::analysis::{Configuration, Request};
use highwater::workload::{SchedulePlan, Workload};

/// Search nodes: a comparison here is about robustness, not about good plans.
const SEARCH_NODES: u64 = 200;

pub(super) fn request(workload: Workload, plan: SchedulePlan) -> Request {
    let configuration = Configuration {
        plan,
        ..Configuration::default()
    };
    Request {
        search: SEARCH_NODES.into(),
        ..Request::new(workload, configuration)
    }
}
