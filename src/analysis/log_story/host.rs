//! A failed request for memory of the host: RAM and locked pages, on which no setting of a device's allocator acts.

use super::advice::Advice;
use super::verdict::Verdict;
use highwater_model::units::Bytes;
use highwater_model::workload::{Library, LoggedFailure};

/// What to check, with the reason.
const CHECKS: [(&str, &str); 4] = [
    (
        "Check ulimit -l",
        "it limits locked (pinned) pages; the runtime of a container sets another one (docker: --ulimit memlock=-1)",
    ),
    (
        "Check the free RAM (free -h)",
        "other processes of the machine and the limit of a container (memory.max) count too",
    ),
    (
        "Reduce pinned buffers",
        "pin_memory and prefetching of data loaders, offloaded states and buffers of checkpoints are locked pages of every rank",
    ),
    (
        "Check the size of /dev/shm",
        "workers of data loaders pass tensors through it, and it counts as RAM (docker: --shm-size)",
    ),
];

pub(super) fn of_host(failure: &LoggedFailure) -> (Verdict, Vec<Advice>) {
    let size = failure
        .requested
        .map_or_else(String::new, |bytes| format!("{} are ", Bytes(bytes)));
    let verdict = Verdict::unknown(format!(
        "{size}memory of the host, on which settings of the device's allocator do not act; no text states the host's limits"
    ));
    let mut checks = CHECKS;
    // What a system library did not get is rarely locked.
    if failure.library == Library::System {
        checks.swap(0, 1);
    }
    let advice = checks.into_iter().map(|(action, reason)| Advice::new(action, reason));
    (verdict, advice.collect())
}
