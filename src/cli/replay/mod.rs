//! `highwater replay`: an allocation trace through the engine's allocators, or that of torch.

mod recorded_events;
mod torch;

pub(super) use torch::{allocator_setting, version as torch_version};

use std::io::{BufWriter, Write as _};
use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::{AllocatorChoice, Format, ReplayArgs};
use super::request::chosen_policy;
use super::text::print_answer;
use super::verified::say_verified;
use super::{Verdict, say, timed};
use highwater_analysis::Verified;
use highwater_export::{ReplayAnswer, replay_final, replay_header, replay_line};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::visible::visible_json;
use highwater_model::workload::AllocationTrace;
use highwater_session::{OnFailure, load};
use highwater_sim::fold::curves;
use highwater_sim::replay::{LARGEST_DEVICE, Replay, ReplayRules};
use highwater_sim::{MAX_TRACE_EVENTS, StaticMemoryPolicy, TraceSession, TraceStop, simulate_trace, verify_log};

const NO_POLICY: &str = "a trace of the engine needs a policy: add --policy 0, 2, 3 or 4";

const COMMANDS_BETWEEN_REPORTS: u32 = 1 << 12;

pub(super) fn run(args: &ReplayArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    // Only the engine's allocators have a policy.
    let has_policy = args.policy.is_some() || args.legacy || args.documented;
    if args
        .allocator
        .map_or(!has_policy, |allocator| allocator == AllocatorChoice::Torch)
    {
        return torch::run(args, progress);
    }
    if !args.conf.is_empty() || args.torch.is_some() {
        bail!("--conf and --torch are for torch's allocator; add --allocator torch");
    }
    let policy = args.policy.as_deref().context(NO_POLICY)?;
    let policy = chosen_policy(policy)?;
    if args.documented && policy != StaticMemoryPolicy::StaticExtend {
        bail!("--documented applies to policy 2 only; add --policy 2");
    }
    let device_bytes = device_bytes(args.device_memory.as_deref())?;
    let source = args.opening.source(&args.trace)?;
    let loaded = load(std::slice::from_ref(&source), false, OnFailure::Stop, progress).map_err(anyhow::Error::msg)?;
    let [trace] = loaded.whole.traces() else {
        bail!(
            "{}: this is {}, not an allocation trace; docs/text-formats.md describes traces",
            source.title(),
            loaded.reports[0].format
        );
    };
    let rules = ReplayRules {
        is_legacy: args.legacy,
        is_documented: args.documented,
        ..ReplayRules::new(trace, policy, device_bytes)
    };
    if args.verifying.verify && !holds(trace, &rules, progress)? {
        return Ok(Verdict::No);
    }
    if args.events {
        return write_events(trace, rules, progress);
    }
    let mut replay = Replay::new(trace, rules);
    let (summary, elapsed) = timed(|| replay.run(progress));
    let summary = summary?;
    let answer = ReplayAnswer {
        trace,
        rules: &rules,
        summary: &summary,
        elapsed,
        diagnostics: &loaded.diagnostics,
    };
    print_answer(&answer, args.format, false)?;
    Ok(Verdict::Done)
}

/// Whether the replay, as an event log, holds; and its peak equals that of the allocators' own count.
fn holds(trace: &AllocationTrace, rules: &ReplayRules, progress: &Progress<'_>) -> anyhow::Result<bool> {
    let session = TraceSession::new(trace);
    let (simulation, _) = simulate_trace(trace, &session, rules, progress).map_err(|stop| match stop {
        TraceStop::Cancelled => anyhow::Error::from(Cancelled),
        TraceStop::TooManyEvents => {
            anyhow::anyhow!(
                "--verify: the trace causes more than {MAX_TRACE_EVENTS} events, the limit; verify a part of it"
            )
        }
    })?;
    let counted = Replay::new(trace, *rules).run(progress)?.peak_reserved;
    let logged = curves(&simulation).reserved.iter().max().copied().unwrap_or_default();
    let defect = match verify_log(&simulation) {
        Err(defect) => defect.to_string(),
        Ok(()) if counted != logged => format!("the peak is {counted} by the allocators and {logged} by the log"),
        Ok(()) => {
            say_verified(Verified {
                simulations: 1,
                plans: 0,
            });
            return Ok(true);
        }
    };
    say(&format!(
        "--verify: {}: {defect}; this is a fault in highwater, please report it",
        trace.name
    ));
    Ok(false)
}

fn device_bytes(text: Option<&str>) -> anyhow::Result<Option<Bytes>> {
    let Some(text) = text else { return Ok(None) };
    let bytes = Bytes::parse(text).context("--device-memory")?;
    if bytes == Bytes::ZERO || bytes > LARGEST_DEVICE {
        bail!("--device-memory {text}: expected 1 byte to {LARGEST_DEVICE}");
    }
    Ok(Some(bytes))
}

/// A JSON line per command, written during the replay.
fn write_events(trace: &Arc<AllocationTrace>, rules: ReplayRules, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut replay = Replay::new(trace, rules);
    let total = trace.commands.len() as u64;
    writeln!(out, "{}", visible_json(&replay_header(&rules)))?;
    while let Some(answer) = replay.step() {
        if answer.index.is_multiple_of(COMMANDS_BETWEEN_REPORTS) {
            progress.set("replaying", u64::from(answer.index), total)?;
        }
        writeln!(out, "{}", visible_json(&replay_line(trace, &rules, &answer)))?;
    }
    writeln!(out, "{}", replay_final(&replay.finish()))?;
    out.flush()?;
    Ok(Verdict::Done)
}
