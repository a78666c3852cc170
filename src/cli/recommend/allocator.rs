//! `recommend` over recordings without axes: settings of the caching allocator of PyTorch or `torch_npu`.

use std::sync::Arc;

use anyhow::bail;

use super::super::args::RecommendArgs;
use super::super::replay::torch_version;
use super::super::request::Prepared;
use super::super::text::print_answer;
use super::super::{Verdict, timed};
use highwater_analysis::{SearchError, SearchPlan, missing_history, search_recordings};
use highwater_export::{NoHistoryAnswer, SettingSearchAnswer};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{Recording, Source};
use highwater_options::keys;

/// The recordings of allocators, where settings are to be found for them: no axis is given and nothing else is open.
pub(super) fn recordings<'p>(args: &RecommendArgs, prepared: &'p Prepared) -> Option<Vec<&'p Recording>> {
    let Source::Recordings(recordings) = &prepared.loaded.workload.source else {
        return None;
    };
    let of_allocator = |one: &&Recording| !one.blocks.is_empty() || one.recorder.starts_with("PyTorch memory");
    let mut all: Vec<&Recording> = recordings.iter().map(Arc::as_ref).filter(of_allocator).collect();
    // Pinned memory of the host has an answer only where it is alone.
    if all.iter().any(|one| !one.is_host) {
        all.retain(|one| !one.is_host);
    }
    (args.space.axis.is_empty() && !all.is_empty()).then_some(all)
}

/// The answer is "no" where requests fail under every setting, where too much is live for one that failed, and where nothing can be replayed.
pub(super) fn run(
    args: &RecommendArgs,
    prepared: &Prepared,
    recordings: &[&Recording],
    progress: &Progress<'_>,
) -> anyhow::Result<Verdict> {
    if let Some(goal) = args.goal.as_deref().filter(|goal| *goal != "lowest-peak") {
        bail!("--goal {goal}: settings of an allocator are chosen by their peak; expected --goal lowest-peak");
    }
    if args.space.verifying.verify {
        bail!("--verify: `highwater compare SNAPSHOT --conf SETTINGS --verify` verifies the settings of a snapshot");
    }
    let version = torch_version(args.torch.as_deref())?;
    let import = prepared.diagnostics();
    let mut without_history = Vec::new();
    let mut replayed = Vec::new();
    for recording in recordings {
        match missing_history(recording) {
            Some(why) => without_history.push((*recording, why)),
            None => replayed.push(*recording),
        }
    }
    if replayed.is_empty() {
        let answer = NoHistoryAnswer {
            recordings: &without_history,
            import: &import,
        };
        print_answer(&answer, args.space.format, false)?;
        return Ok(Verdict::No);
    }
    let recordings = &replayed[..];
    let device = device(args, prepared)?;
    let plan = SearchPlan { device, version };
    let (found, elapsed) = timed(|| search_recordings(recordings, plan, progress));
    let (fits, search) = found.map_err(|why| match why {
        SearchError::Cancelled(cancelled) => anyhow::Error::new(cancelled),
        why @ SearchError::NoHistory(_) => anyhow::Error::new(why),
    })?;
    let answer = SettingSearchAnswer {
        recordings,
        fits: &fits,
        search: &search,
        without_history: &without_history,
        device,
        elapsed,
        import: &import,
    };
    print_answer(&answer, args.space.format, false)?;
    let winner = search.winner.map(|winner| &search.tried[winner]);
    Ok(Verdict::yes_if(winner.is_some_and(|winner| winner.failed() == 0)))
}

/// The stated size of the device; the default one would be a guess.
fn device(args: &RecommendArgs, prepared: &Prepared) -> anyhow::Result<Option<Bytes>> {
    if let Some(capacity) = &args.space.capacity {
        return match Bytes::parse(capacity)? {
            Bytes::ZERO => bail!("--capacity must be more than 0"),
            bytes => Ok(Some(bytes)),
        };
    }
    let request = &prepared.request;
    let is_stated = request.options.is_set(keys::DEVICE_MEMORY);
    Ok(is_stated.then_some(request.device.memory()))
}
