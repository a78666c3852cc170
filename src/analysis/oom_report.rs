//! The report of a run that is out of memory: the request, the contributors, a device that is large enough.

use std::collections::BTreeMap;

use super::name_context::NameContext;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::{
    DevicePicture, DeviceSession, OutOfMemory, Params, PoolPicture, RegionKind, Simulation, StaticMemoryPolicy,
    Subject, picture, simulate,
};

/// Events that the search for a sufficient device may simulate, in sum over its attempts.
const MAX_EVENTS: usize = 4_000_000;
/// Resolution of that search.
const UNIT: u64 = 1 << 20;
/// Contributors that are listed by name.
const MAX_CONTRIBUTORS: usize = 6;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemoryReport {
    pub step: Step,
    /// The step in words.
    pub place: String,
    /// The tensor, graph or pool that the request was for, in words.
    pub requester: String,
    /// Exact bytes of the tensor; 0 where the request is not for one tensor.
    pub tensor_bytes: Bytes,
    /// The request that failed: a tensor's padded bytes, or a block that the driver refused.
    pub requested: Bytes,
    /// Device bytes in use at that moment.
    pub in_use: Bytes,
    /// Regions by kind and graph with their bytes, largest first.
    pub contributors: Vec<(String, Bytes)>,
    /// Idle bytes within the blocks of dynamic pools, and the largest idle piece.
    pub idle: (Bytes, Bytes),
    /// Bytes of idle pages of dynamic pools.
    pub idle_pages: Bytes,
    /// A device on which the session ran to its end, in whole MiB. Smaller devices may suffice or not: unloading to make
    /// room does not follow size alone.
    pub sufficient_device: Option<Bytes>,
}

impl OutOfMemoryReport {
    pub fn sentences(&self) -> Vec<String> {
        let mut texts = vec![format!(
            "Out of memory at {}: {} requests {} while {} are reserved.",
            self.place, self.requester, self.requested, self.in_use
        )];
        let contributors = self.contributors.iter();
        let contributors: Vec<String> = contributors.map(|(name, bytes)| format!("{name} {bytes}")).collect();
        if !contributors.is_empty() {
            texts.push(format!("Reserved: {}.", contributors.join(", ")));
        }
        let (idle, largest) = self.idle;
        if idle > Bytes::ZERO {
            texts.push(format!(
                "Reserved, unused in pools: {idle}, the largest piece {largest}: too small or of another kind."
            ));
        }
        if self.idle_pages > Bytes::ZERO {
            texts.push(format!("Unused pages of pools: {}.", self.idle_pages));
        }
        texts.push(match self.sufficient_device {
            Some(bytes) => format!(
                "A device of {} MiB ({bytes}) is sufficient for the whole session (simulated).",
                bytes.get() / UNIT
            ),
            None => "No sufficient device size was found.".to_owned(),
        });
        texts
    }
}

/// The report of a simulation; `None` where it did not run out of memory.
pub(super) fn oom_report(
    simulation: &Simulation,
    session: &DeviceSession,
    params: &Params,
    names: &NameContext<'_>,
    progress: &Progress<'_>,
) -> Result<Option<OutOfMemoryReport>, Cancelled> {
    let Some(failed) = &simulation.out_of_memory else {
        return Ok(None);
    };
    let device = picture(simulation, failed.step);
    let pools = device.pools.iter();
    let (requester, tensor_bytes) = requester(simulation, failed, names);
    Ok(Some(OutOfMemoryReport {
        step: failed.step,
        place: names.place(failed.step),
        requester,
        tensor_bytes,
        requested: failed.requested,
        in_use: failed.in_use,
        contributors: contributors(&device, names),
        idle: (
            pools.clone().map(PoolPicture::idle).sum(),
            pools.clone().map(PoolPicture::largest_idle).max().unwrap_or_default(),
        ),
        idle_pages: pools.map(|pool| pool.idle_pages).sum(),
        sufficient_device: sufficient_device(simulation.policy, session, params, progress)?,
    }))
}

fn requester(simulation: &Simulation, failed: &OutOfMemory, names: &NameContext<'_>) -> (String, Bytes) {
    match failed.subject {
        Subject::Tensor { run, tensor, .. } => {
            let run = names.session.runs.get(run as usize);
            let graph = run.map_or(GraphIdx(0), |run| run.graph);
            let name = names.tensor(graph, tensor);
            let mut rows = simulation.subjects.iter().rev();
            let row = rows.find(|row| row.subject == failed.subject);
            let text = if name.is_empty() {
                format!("a tensor of {}", names.graph(graph))
            } else {
                format!("tensor {name} of {}", names.graph(graph))
            };
            (text, row.map_or(Bytes::ZERO, |row| row.requested))
        }
        Subject::Graph(graph) | Subject::InputOutput(graph) => {
            (format!("the load of {}", names.graph(graph)), Bytes::ZERO)
        }
        Subject::Page(_) | Subject::Pool(_) => ("a pool".to_owned(), Bytes::ZERO),
        Subject::Session => ("the session's variables".to_owned(), Bytes::ZERO),
    }
}

fn contributors(device: &DevicePicture, names: &NameContext<'_>) -> Vec<(String, Bytes)> {
    let mut sums: BTreeMap<(RegionKind, Option<GraphIdx>), Bytes> = BTreeMap::new();
    for region in &device.regions {
        *sums.entry((region.kind, region.graph)).or_default() += region.held;
    }
    let mut list: Vec<_> = sums.into_iter().filter(|(_, bytes)| *bytes > Bytes::ZERO).collect();
    list.sort_by_key(|(key, bytes)| (std::cmp::Reverse(*bytes), *key));
    let rest: Bytes = list.iter().skip(MAX_CONTRIBUTORS).map(|(_, bytes)| *bytes).sum();
    let listed = list.iter().take(MAX_CONTRIBUTORS);
    let mut listed: Vec<(String, Bytes)> = listed
        .map(|((kind, graph), bytes)| (names.region(*kind, *graph), *bytes))
        .collect();
    if rest > Bytes::ZERO {
        listed.push((format!("{} others", list.len() - MAX_CONTRIBUTORS), rest));
    }
    listed
}

/// The smallest device, in whole MiB, on which an attempt runs to its end: a bisection that starts at the peak on an
/// unlimited device. `None` where the session is too long for the attempts.
fn sufficient_device(
    policy: StaticMemoryPolicy,
    session: &DeviceSession,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Option<Bytes>, Cancelled> {
    let mut events_left = MAX_EVENTS;
    let mut attempt = |bytes: u64| -> Result<Option<u64>, Cancelled> {
        if events_left == 0 {
            return Ok(None);
        }
        let larger = Params {
            device_bytes: Bytes(bytes),
            ..params.clone()
        };
        let tried = simulate(session, policy, &larger, progress)?;
        events_left = events_left.saturating_sub(tried.events.len());
        let curves = highwater_sim::fold::curves(&tried);
        let peak = curves.reserved.first_maximum().0.get();
        Ok(tried.out_of_memory.is_none().then_some(peak))
    };
    let mut low = params.device_bytes.get() / UNIT;
    let Some(peak) = attempt(1 << 50)? else {
        return Ok(None);
    };
    // The device reserves one 32nd, and pools begin to recycle at 95 %, which may ask for more.
    let first = (peak / UNIT + 1).saturating_mul(20) / 19 + 1;
    let mut high = first.max(low + 1);
    while attempt(high * UNIT)?.is_none() {
        high += high / 4;
        if high > first.saturating_mul(4) {
            return Ok(None);
        }
    }
    while high - low > 1 {
        // Once no events are left every attempt fails, so the bisection ends near the last that succeeded.
        let middle = low + (high - low) / 2;
        match attempt(middle * UNIT)? {
            Some(_) => high = middle,
            None => low = middle,
        }
    }
    Ok(Some(Bytes(high * UNIT)))
}
