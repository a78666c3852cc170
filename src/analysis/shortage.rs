//! The story of a run that is out of memory: what was asked, who held what, what would have been enough.

use std::collections::BTreeMap;

use super::Lane;
use super::explain::region_text;
use super::name_context::NameContext;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::{
    DevicePicture, DeviceSession, OutOfMemory, Params, RegionKind, StaticMemoryPolicy, Subject, picture, simulate,
};

/// Events that looking for a device that is large enough may cost, in sum over its tries.
const MOST_EVENTS: usize = 4_000_000;
/// How exactly a device that is large enough is told.
const UNIT: u64 = 1 << 20;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemoryReport {
    /// When.
    pub step: Step,
    /// Where, in words.
    pub place: String,
    /// Who asked, in words.
    pub who: String,
    /// What the request was for, exactly; 0 where that is not one tensor.
    pub asked: Bytes,
    /// The request that failed: a tensor's padded bytes, or a block that the driver refused.
    pub requested: Bytes,
    /// Device bytes in use at that moment.
    pub in_use: Bytes,
    /// Who held them, largest first.
    pub holders: Vec<(String, Bytes)>,
    /// Idle bytes within the blocks of dynamic pools, and the largest idle piece.
    pub idle: (Bytes, Bytes),
    /// Bytes of idle pages of dynamic pools.
    pub idle_pages: Bytes,
    /// A device on which the session was found to run to its end, in whole MiB. Devices between this one and that
    /// which is too small may do or not: unloading to make room does not follow size alone.
    pub enough: Option<Bytes>,
}

impl OutOfMemoryReport {
    /// The story in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut texts = vec![format!(
            "Out of memory at {}: {} asks for {}, and {} are in use.",
            self.place, self.who, self.requested, self.in_use
        )];
        let holders: Vec<String> = self
            .holders
            .iter()
            .map(|(who, bytes)| format!("{who} {bytes}"))
            .collect();
        if !holders.is_empty() {
            texts.push(format!("Held by: {}.", holders.join(", ")));
        }
        let (idle, largest) = self.idle;
        if idle > Bytes::ZERO {
            texts.push(format!(
                "Pools hold {idle} idle, the largest piece {largest}: too small, or not the kind that was asked for."
            ));
        }
        if self.idle_pages > Bytes::ZERO {
            texts.push(format!("Idle pages of pools hold {}.", self.idle_pages));
        }
        texts.push(match self.enough {
            Some(enough) => format!(
                "A device of {} MiB ({enough}) was tried and is enough for the whole session.",
                enough.get() / UNIT
            ),
            None => "Which device would have been enough was not found out.".to_owned(),
        });
        texts
    }
}

/// The story of a lane that ran out.
pub(super) fn story(
    lane: &Lane,
    session: &DeviceSession,
    params: &Params,
    names: &NameContext<'_>,
    progress: &Progress<'_>,
) -> Result<Option<OutOfMemoryReport>, Cancelled> {
    let Some(failed) = &lane.simulation.out_of_memory else {
        return Ok(None);
    };
    let then = picture(&lane.simulation, failed.step);
    let (who, asked) = who(lane, failed, names);
    Ok(Some(OutOfMemoryReport {
        step: failed.step,
        place: names.place(failed.step),
        who,
        asked,
        requested: failed.requested,
        in_use: failed.in_use,
        holders: holders(&then, names),
        idle: idle(&then),
        idle_pages: then.pools.iter().map(|pool| pool.idle_pages).sum(),
        enough: enough(lane.policy, session, params, progress)?,
    }))
}

fn who(lane: &Lane, failed: &OutOfMemory, names: &NameContext<'_>) -> (String, Bytes) {
    match failed.subject {
        Subject::Tensor { run, tensor, .. } => {
            let graph = names
                .session
                .runs
                .get(run as usize)
                .map_or(GraphIdx(0), |run| run.graph);
            let name = names.tensor(graph, tensor);
            let rows = lane.simulation.subjects.iter().rev();
            let asked = rows.clone().find(|row| row.subject == failed.subject);
            let text = if name.is_empty() {
                format!("a tensor of {}", names.graph(graph))
            } else {
                format!("tensor {name} of {}", names.graph(graph))
            };
            (text, asked.map_or(Bytes::ZERO, |row| row.requested))
        }
        Subject::Graph(graph) | Subject::InputOutput(graph) => {
            (format!("the load of {}", names.graph(graph)), Bytes::ZERO)
        }
        Subject::Page(_) | Subject::Pool(_) => ("a pool".to_owned(), Bytes::ZERO),
        Subject::Session => ("the session's variables".to_owned(), Bytes::ZERO),
    }
}

/// Regions by kind and graph, largest first.
fn holders(then: &DevicePicture, names: &NameContext<'_>) -> Vec<(String, Bytes)> {
    const SHOWN: usize = 6;
    let mut sums: BTreeMap<(RegionKind, Option<GraphIdx>), Bytes> = BTreeMap::new();
    for region in &then.regions {
        *sums.entry((region.kind, region.graph)).or_default() += region.held;
    }
    let mut list: Vec<_> = sums.into_iter().filter(|(_, bytes)| *bytes > Bytes::ZERO).collect();
    list.sort_by_key(|(who, bytes)| (std::cmp::Reverse(*bytes), *who));
    let rest: Bytes = list.iter().skip(SHOWN).map(|(_, bytes)| *bytes).sum();
    let mut shown: Vec<(String, Bytes)> = list
        .iter()
        .take(SHOWN)
        .map(|(who, bytes)| (region_text(*who, names), *bytes))
        .collect();
    if rest > Bytes::ZERO {
        shown.push((format!("{} others", list.len() - SHOWN), rest));
    }
    shown
}

fn idle(then: &DevicePicture) -> (Bytes, Bytes) {
    let pools = || then.pools.iter();
    let sum = pools().map(highwater_sim::PoolPicture::idle).sum();
    (
        sum,
        pools()
            .map(highwater_sim::PoolPicture::largest_idle)
            .max()
            .unwrap_or_default(),
    )
}

/// The smallest device, in whole MiB, that was found to be enough: a search by halves from the peak on a device
/// without limit. `None` where the session is too long to be tried so often.
fn enough(
    policy: StaticMemoryPolicy,
    session: &DeviceSession,
    params: &Params,
    progress: &Progress<'_>,
) -> Result<Option<Bytes>, Cancelled> {
    let mut budget = MOST_EVENTS;
    let mut attempt = |bytes: u64| -> Result<Option<u64>, Cancelled> {
        if budget == 0 {
            return Ok(None);
        }
        let larger = Params {
            device_bytes: Bytes(bytes),
            ..params.clone()
        };
        let tried = simulate(session, policy, &larger, progress)?;
        budget = budget.saturating_sub(tried.events.len());
        let curves = highwater_sim::fold::curves(&tried);
        let peak = curves.reserved.first_maximum().0.get();
        Ok(tried.out_of_memory.is_none().then_some(peak))
    };
    let mut low = params.device_bytes.get() / UNIT;
    let Some(peak) = attempt(1 << 50)? else {
        return Ok(None);
    };
    // One 32nd is kept back, and pools begin to recycle at 95 %; what that changes may ask for more.
    let first = (peak / UNIT + 1).saturating_mul(20) / 19 + 1;
    let mut high = first.max(low + 1);
    while attempt(high * UNIT)?.is_none() {
        high += high / 4;
        if high > first.saturating_mul(4) {
            return Ok(None);
        }
    }
    while high - low > 1 {
        // Without budget an attempt says nothing, and the search ends near the last one that did.
        let middle = low + (high - low) / 2;
        match attempt(middle * UNIT)? {
            Some(_) => high = middle,
            None => low = middle,
        }
    }
    Ok(Some(Bytes(high * UNIT)))
}
