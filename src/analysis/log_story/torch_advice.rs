//! Settings of `torch_npu`'s allocator that act on a failed request, by the figures of its sentence.
//!
//! ```text
//! refused by the limit of the program               the limit
//! workspace                                         TASK_QUEUE_ENABLE: pool settings do not act
//! more memory outside the pool than in it           other processes, or other parts of this one
//! reserved, unused + room to grow >= the request    fragmentation: expandable_segments, max_split_size_mb
//! else                                              less memory: pool settings cannot help
//! ```

use super::advice::{Advice, other_processes};
use super::request::{FailedRequest, difference};
use highwater_model::units::Bytes;
use highwater_model::workload::{LoggedFailure, RefusedBy};
use highwater_options::PYTORCH_NPU_ALLOC_CONF;

pub(super) fn of_torch(request: &FailedRequest) -> Vec<Advice> {
    let failure = &request.failure;
    match failure.refused {
        RefusedBy::Fraction => {
            return vec![Advice::new(
                "Raise per_process_memory_fraction",
                "the program limits its own memory; the request did not reach the device",
            )];
        }
        RefusedBy::Workspace => {
            return vec![Advice::set(
                "TASK_QUEUE_ENABLE=1",
                "torch_npu suggests it for workspaces; they are outside the pool, so expandable_segments, max_split_size_mb and \
                 garbage_collection_threshold do not act on them",
            )];
        }
        RefusedBy::Device | RefusedBy::Check => {}
    }
    let unused = difference(failure.reserved, failure.allocated);
    let Some((requested, unused)) = failure.requested.zip(unused) else {
        return vec![
            Advice::new(
                "Add torch_npu's whole sentence",
                "the lines state no allocated and reserved bytes, which tell whether allocator settings help",
            ),
            other_processes(),
        ];
    };
    let room = room(failure);
    let usable = unused.saturating_add(room);
    let mut all = Vec::new();
    let outside = request.outside_pool.filter(|bytes| Some(*bytes) > failure.reserved);
    if let Some(outside) = outside.filter(|_| failure.free < Some(requested)) {
        all.push(Advice::new(
            "Run npu-smi info",
            format!(
                "about {} of the device are outside torch's pool, more than in it: of other processes, or of GE, HCCL and \
                 operators in this one",
                Bytes(outside)
            ),
        ));
    }
    if usable >= requested {
        all.extend(against_fragmentation(
            requested,
            unused,
            room,
            failure.allowed.is_some(),
        ));
    }
    if let Some(left) = difference(failure.allowed, failure.reserved).filter(|left| *left < requested) {
        let reason = format!("the limit leaves about {} to torch's pool", Bytes(left));
        all.push(Advice::new("Raise per_process_memory_fraction", reason));
    }
    if all.is_empty() {
        let missing = requested.saturating_sub(usable);
        let verdict = if missing > ROUNDING {
            "allocator settings cannot help"
        } else {
            "allocator settings may not suffice"
        };
        let reason = format!(
            "{verdict}: about {} reserved, unused and {} free are about {} less than the request",
            Bytes(unused),
            Bytes(room),
            Bytes(missing)
        );
        all.push(Advice::new("Reduce the batch, or recompute activations", reason));
    }
    all
}

/// What the figures of a sentence may be off together: four of two decimals in GiB.
const ROUNDING: u64 = 21 << 20;

/// Bytes by which the pool may grow: free ones, as far as a limit allows.
fn room(failure: &LoggedFailure) -> u64 {
    let free = failure.free.unwrap_or(0);
    difference(failure.allowed, failure.reserved).map_or(free, |left| free.min(left))
}

fn against_fragmentation(requested: u64, unused: u64, room: u64, has_limit: bool) -> Vec<Advice> {
    let setting = |pair: &str| format!("{PYTORCH_NPU_ALLOC_CONF}={pair}");
    let reason = if unused >= requested {
        format!(
            "fragmentation: about {} of the pool are reserved, unused, more than the request; expandable segments can use them",
            Bytes(unused)
        )
    } else {
        format!(
            "about {} reserved, unused and {} free together suffice; expandable segments can join them",
            Bytes(unused),
            Bytes(room)
        )
    };
    let mut all = vec![
        Advice::set(setting("expandable_segments:True"), reason),
        Advice::set(
            setting("max_split_size_mb:128"),
            "where expandable segments are not available: larger blocks stay whole; try several sizes",
        ),
    ];
    if has_limit {
        all.push(Advice::set(
            setting("garbage_collection_threshold:0.8"),
            "the program has a limit, near which the pool then releases unused blocks",
        ));
    }
    all
}
