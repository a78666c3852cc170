//! What acts on a failed request of JAX, TensorFlow, `MindSpore` or Paddle: a setting only where the text's figures support it.

use super::super::verdict::Verdict;
use super::advice::{Advice, other_processes, reduce};
use super::arithmetic::{Finding, finding};
use super::request::FailedRequest;
use super::vendor::{Vendor, vendor};
use highwater_model::units::Bytes;
use highwater_model::workload::{Library, LoggedProcess};

/// A setting that joins free pieces of a pool: library, name, value, how.
type Joining = (Library, &'static str, &'static str, &'static str);

const JOINING: [Joining; 3] = [
    (
        Library::TensorFlow,
        "TF_GPU_ALLOCATOR",
        "cuda_malloc_async",
        "the driver's allocator maps free pages into one range",
    ),
    (
        Library::MindSpore,
        "MS_ALLOC_CONF",
        "enable_vmm:true",
        "virtual memory maps free pages into one range",
    ),
    (
        Library::Paddle,
        "FLAGS_allocator_strategy",
        "auto_growth",
        "it reuses chunks of any size instead of one block",
    ),
];

/// Names of settings by which a program limits the pool itself.
const LIMITS: [&str; 8] = [
    "max_device_memory",
    "max_size",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_CLIENT_MEM_FRACTION",
    "per_process_gpu_memory_fraction",
    "memory_limit",
    "FLAGS_fraction_of_gpu_memory_to_use",
    "FLAGS_gpu_memory_limit_mb",
];

pub(super) fn of_framework(
    process: &LoggedProcess,
    request: &FailedRequest,
    library: Library,
) -> (Verdict, Vec<Advice>) {
    let failure = &request.failure;
    let vendor = vendor(library);
    let requested = Bytes(failure.requested.unwrap_or(0));
    let cannot = || vec![reduce("no setting gives the pool more than there is")];
    match finding(failure, library) {
        Finding::Unknown => {
            let why = match failure.free {
                Some(free) => format!(
                    "{requested} are requested and {} free; no text states what {} has unused",
                    Bytes(free),
                    vendor.pool
                ),
                None => format!(
                    "no text states what {} has unused and what the device had free",
                    vendor.pool
                ),
            };
            let mut all = vec![reduce(
                "the figures that tell whether a setting helps are not in the text",
            )];
            all.extend(other_processes(vendor.tool));
            (Verdict::unknown(why), all)
        }
        Finding::Open(room) => {
            let why = format!(
                "{requested} are requested, {} are there, and no text states what was free",
                room.words()
            );
            let mut all = vec![reduce(why.clone())];
            all.extend(other_processes(vendor.tool));
            (Verdict::unknown(why), all)
        }
        Finding::Larger { total } => {
            let why = format!("{requested} are more than the whole device, {}", Bytes(total));
            (Verdict::no(why), vec![reduce("no setting makes the device larger")])
        }
        Finding::Limited { left } => limited(process, request, vendor, left),
        Finding::NothingReserved | Finding::NothingUnused => {
            let why = format!("{} has nothing unused to join", vendor.pool);
            let others = other_processes(vendor.tool);
            (Verdict::no(why), cannot().into_iter().chain(others).collect())
        }
        Finding::Pieces(room) => {
            let largest = failure.largest_free.map_or_else(String::new, |bytes| {
                format!("; the largest free piece has {}", Bytes(bytes))
            });
            let why = format!("{} suffice, but not in one piece{largest}", room.words());
            joined(process, vendor, why)
        }
        Finding::Short { room, missing, is_sure } => {
            let why = format!(
                "{} are {} less than the {requested} that are requested",
                room.words(),
                Bytes(missing)
            );
            if is_sure {
                return (Verdict::no(why), cannot());
            }
            let mut all = vec![reduce(why.clone())];
            all.extend(other_processes(vendor.tool));
            (
                Verdict::unknown(format!("{why}; no text states what {} has unused", vendor.pool)),
                all,
            )
        }
    }
}

/// A pool that may take no more. Whether the limit is the program's or the device's, only its settings tell, or the device's size.
fn limited(process: &LoggedProcess, request: &FailedRequest, vendor: &Vendor, left: u64) -> (Verdict, Vec<Advice>) {
    let failure = &request.failure;
    let allowed = Bytes(failure.allowed.unwrap_or(0));
    let why = format!("{} may take {allowed}, of which {} are left", vendor.pool, Bytes(left));
    let beyond = failure
        .total
        .and_then(|total| total.checked_sub(allowed.get()))
        .filter(|beyond| *beyond > 0);
    let set = LIMITS.iter().find(|name| process.settings.contains_key(**name));
    let raise = |name: &str, reason: String| {
        vec![
            Advice::new(format!("Raise {name}"), reason),
            reduce("else less memory is needed"),
        ]
    };
    match (beyond, set) {
        (Some(beyond), _) if beyond.saturating_add(left) < failure.requested.unwrap_or(0) => {
            let more = format!(
                "{why}; the device has {} beyond the limit, which do not suffice",
                Bytes(beyond)
            );
            (
                Verdict::no(more),
                vec![reduce("no limit that the device has room for is enough")],
            )
        }
        (Some(beyond), _) => {
            let reason = format!(
                "the device has {} beyond the limit, as far as others do not use them",
                Bytes(beyond)
            );
            (
                Verdict::unknown(format!("{why}; {reason}")),
                raise(set.copied().unwrap_or(vendor.limit), reason),
            )
        }
        (None, Some(name)) => {
            let reason = "the text sets it, and does not state what the device has beyond it".to_owned();
            (
                Verdict::unknown(format!("{why}; {name} is set in the text")),
                raise(name, reason),
            )
        }
        (None, None) => {
            let less = reduce("no setting gives the pool more than there is");
            (Verdict::no(why), vec![less])
        }
    }
}

fn joined(process: &LoggedProcess, vendor: &Vendor, why: String) -> (Verdict, Vec<Advice>) {
    let row = JOINING.iter().find(|row| row.0 == vendor.library);
    match row {
        Some((_, name, value, how)) => {
            let is_on = process
                .settings
                .get(*name)
                .is_some_and(|set| set.eq_ignore_ascii_case(value));
            if is_on {
                let on = format!("{name}={value} is on already");
                return (Verdict::unknown(format!("{why}, although {on}")), vec![reduce(on)]);
            }
            let advice = Advice::set(format!("{name}={value}"), format!("{how}: {why}"));
            (
                Verdict::yes(why),
                vec![advice, reduce("where the setting is not available")],
            )
        }
        None => (
            Verdict::unknown(format!(
                "{why}; no setting is known that joins pieces of {}",
                vendor.pool
            )),
            vec![reduce("smaller or fewer buffers fit into the pieces")],
        ),
    }
}
