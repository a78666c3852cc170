//! `recommend` over recordings without axes: settings of the caching allocator of PyTorch or `torch_npu`.

use std::sync::Arc;

use anyhow::bail;

use super::super::args::RecommendArgs;
use super::super::replay::torch_version;
use super::super::request::Prepared;
use super::super::text::print_answer;
use super::super::{Verdict, timed};
use highwater_analysis::{SearchError, SearchPlan, search_recordings};
use highwater_export::SettingSearchAnswer;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{Recording, Source};
use highwater_options::keys;

/// The recordings of devices with blocks, where settings are to be found for them: no axis is given and nothing else is open.
pub(super) fn recordings<'p>(args: &RecommendArgs, prepared: &'p Prepared) -> Option<Vec<&'p Recording>> {
    let Source::Recordings(recordings) = &prepared.loaded.workload.source else {
        return None;
    };
    let with_blocks = recordings
        .iter()
        .map(Arc::as_ref)
        .filter(|one| one.lists_device_blocks());
    let mut with_blocks: Vec<&Recording> = with_blocks.collect();
    if with_blocks.is_empty() {
        // The search refuses it with a reason.
        with_blocks.extend(recordings.iter().map(Arc::as_ref).find(|one| one.is_host));
    }
    (args.space.axis.is_empty() && !with_blocks.is_empty()).then_some(with_blocks)
}

/// The answer is "no" where requests fail under every setting.
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
        device,
        elapsed,
        import: &prepared.diagnostics(),
    };
    print_answer(&answer, args.space.format, false)?;
    Ok(Verdict::yes_if(search.winner.is_some()))
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
