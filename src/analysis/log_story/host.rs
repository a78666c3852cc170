//! A failed request for memory of the host: RAM and locked pages, on which no setting of a device's allocator acts.

use super::super::verdict::Verdict;
use super::advice::Advice;
use super::vendor::library;
use highwater_model::units::Bytes;
use highwater_model::workload::{Library, LoggedFailure};

/// What limits a request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// RAM of a program: numpy, torch's CPU allocator, C++, the kernel that killed a process.
    Ram,
    /// Locked pages, which devices read and write directly.
    Locked,
    /// Memory that processes share.
    Shared,
    /// RAM, or shared memory of a call that states no size: the text does not tell.
    RamOrShared,
    /// The text does not tell which of them.
    Unknown,
}

type Check = (&'static str, &'static str);

const RAM: Check = (
    "Check the free RAM (free -h)",
    "other processes of the machine use it, too",
);

const CONTAINER: Check = (
    "Check the limit of the container or job",
    "memory.max of the cgroup, docker --memory, Kubernetes' limits.memory and Slurm's --mem count all processes in it",
);

const PROCESSES: Check = (
    "Reduce the processes or what each loads",
    "workers of data loaders, ranks of one machine and copies of a checkpoint each have their own memory",
);

const LOCKED: Check = (
    "Check ulimit -l",
    "it limits locked (pinned) pages; the runtime of a container sets another one (docker: --ulimit memlock=-1)",
);

const PINNED: Check = (
    "Reduce pinned buffers",
    "pin_memory and prefetching of data loaders, offloaded states and buffers of checkpoints are locked pages of every rank",
);

const SHARED: Check = (
    "Check the size of /dev/shm",
    "workers of data loaders pass tensors through it, and it counts as RAM (docker: --shm-size)",
);

const MAYBE_SHARED: Check = (
    "Check the size of /dev/shm if the text names shared memory",
    "workers of data loaders pass tensors through it, and it counts as RAM (docker: --shm-size)",
);

const MAYBE_LOCKED: Check = (
    "Check ulimit -l if the text names pinned memory",
    "it limits locked pages (cudaHostAlloc, cudaMallocHost, hipHostMalloc)",
);

/// A call's name, and what it requests.
const CALLS: [(&str, Cause); 8] = [
    ("HostAlloc", Cause::Locked),
    ("MallocHost", Cause::Locked),
    ("HostMalloc", Cause::Locked),
    ("HostRegister", Cause::Locked),
    ("pinned", Cause::Locked),
    ("locked", Cause::Locked),
    ("shared memory", Cause::Shared),
    ("shm", Cause::Shared),
];

fn cause(failure: &LoggedFailure) -> Cause {
    let texts = [&failure.kernel, &failure.purpose];
    let mut texts = texts.into_iter().flatten();
    let named = texts.find_map(|text| CALLS.iter().find(|(name, _)| text.contains(name)));
    if let Some((_, cause)) = named {
        return *cause;
    }
    match library(failure) {
        // Their devices read and write locked pages, and request no others.
        Library::Cann | Library::TorchNpu | Library::TorchCuda | Library::TorchHip | Library::TorchXpu => Cause::Locked,
        // A size without a name is of a call of a device's library or of shared memory; exceptions state none.
        Library::System if failure.who.is_none() && failure.holders.is_empty() => match failure.requested {
            Some(_) => Cause::Unknown,
            None => Cause::RamOrShared,
        },
        _ => Cause::Ram,
    }
}

const fn checks(cause: Cause) -> &'static [Check] {
    match cause {
        Cause::Ram => &[RAM, CONTAINER, PROCESSES],
        Cause::RamOrShared => &[RAM, CONTAINER, PROCESSES, MAYBE_SHARED],
        Cause::Locked => &[LOCKED, RAM, PINNED],
        Cause::Shared => &[SHARED, RAM, CONTAINER],
        Cause::Unknown => &[RAM, CONTAINER, MAYBE_SHARED, MAYBE_LOCKED],
    }
}

pub(super) fn of_host(failure: &LoggedFailure) -> (Verdict, Vec<Advice>) {
    let size = failure
        .requested
        .map_or_else(String::new, |bytes| format!("{} are ", Bytes(bytes)));
    let verdict = Verdict::unknown(format!(
        "{size}memory of the host, on which settings of the device's allocator do not act; no text states the host's limits"
    ));
    let advice = checks(cause(failure)).iter();
    let advice = advice.map(|(action, reason)| Advice::new(*action, *reason));
    (verdict, advice.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::Holder;

    #[test]
    fn advice_depends_on_the_call() {
        use Library::{Cann, MindSpore, Paddle, System, TensorFlow, TorchNpu};
        let rows = [
            (System, Some("torch"), None, true, Cause::Ram),
            (System, Some("numpy"), None, true, Cause::Ram),
            (System, None, None, false, Cause::RamOrShared),
            (System, None, None, true, Cause::Unknown),
            (System, None, Some("cudaHostAlloc"), true, Cause::Locked),
            (System, None, Some("hipHostMalloc"), false, Cause::Locked),
            (System, None, Some("shared memory (shm)"), false, Cause::Shared),
            (Cann, Some("HCCL"), None, true, Cause::Locked),
            (TorchNpu, Some("torch"), None, false, Cause::Locked),
            (TensorFlow, Some("TensorFlow"), None, true, Cause::Ram),
            (MindSpore, Some("MindSpore"), Some("Default/Add-op1"), true, Cause::Ram),
            (Paddle, Some("Paddle"), None, true, Cause::Ram),
        ];
        for (library, who, kernel, is_sized, wanted) in rows {
            let failure = LoggedFailure {
                library,
                who: who.map(str::to_owned),
                kernel: kernel.map(str::to_owned),
                requested: is_sized.then_some(1 << 30),
                ..LoggedFailure::default()
            };
            assert_eq!(cause(&failure), wanted, "{failure:?}");
            let told = format!("{:?}", of_host(&failure).1);
            let is_locked = matches!(wanted, Cause::Locked | Cause::Unknown);
            let is_shared = matches!(wanted, Cause::Shared | Cause::RamOrShared | Cause::Unknown);
            assert_eq!(
                (told.contains("ulimit"), told.contains("/dev/shm")),
                (is_locked, is_shared),
                "{told}"
            );
        }
        let killed = LoggedFailure {
            library: System,
            holders: vec![Holder {
                name: "the killed process".to_owned(),
                bytes: 1,
            }],
            ..LoggedFailure::default()
        };
        assert_eq!(cause(&killed), Cause::Ram);
    }
}
