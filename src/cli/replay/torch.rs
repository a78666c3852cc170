//! `replay --allocator torch`: a trace of requests, or a recording, through the caching allocator of PyTorch or `torch_npu`.

use std::io::{BufWriter, Write as _};
use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::super::args::{Format, ReplayArgs};
use super::super::text::print_answer;
use super::super::{Verdict, print, timed, warn};
use super::recorded_events::write_recorded_events;
use super::{NO_POLICY, device_bytes};
use highwater_analysis::{AllocatorFit, AllocatorSetting, PinnedSegments, missing_history};
use highwater_export::{FitAnswer, NoHistoryAnswer, TraceAnswer, TraceRun, WithoutHistory};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, counted};
use highwater_model::visible::visible_json;
use highwater_model::workload::{Recording, Source};
use highwater_session::{TextOrImported, read_text_or_source};
use highwater_torch::{DeviceSpec, Replay, Settings, Trace, Version, summary};

const COMMANDS_BETWEEN_REPORTS: usize = 1 << 12;

/// Characters of a first line that decide whether a text is a trace.
const HEAD: usize = 4096;

pub(super) fn run(args: &ReplayArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    if args.policy.is_some() || args.legacy || args.documented {
        bail!("--policy, --legacy and --documented are for GE's allocators; leave them out with --allocator torch");
    }
    let version = version(args.torch.as_deref())?;
    let device = device_bytes(args.device_memory.as_deref())?;
    let source = args.opening.source(&args.trace)?;
    match read_text_or_source(&source, is_trace, progress)? {
        TextOrImported::Text(text) => {
            refuse_verify(args)?;
            let mut trace = Trace::parse(&text).with_context(|| source.title())?;
            if let Some(device) = device {
                trace.device = DeviceSpec {
                    total: device.get(),
                    ..trace.device
                };
            }
            replay_trace(args, &trace, version.unwrap_or(Version::NEWEST), progress)
        }
        TextOrImported::Imported(imported) => {
            let format = imported.format;
            let is_of_engine = matches!(imported.source, Source::Traces(_));
            if is_of_engine && args.allocator.is_none() {
                bail!("{}: {NO_POLICY}", source.title());
            }
            refuse_verify(args)?;
            let Source::Recordings(recordings) = imported.source else {
                bail!(
                    "{}: this is {format}; expected a memory snapshot, or a trace whose first line is \"device total=BYTES \
                     other=BYTES order=up\"",
                    source.title()
                );
            };
            replay_recordings(args, (&recordings, &imported.diagnostics), (version, device), progress)
        }
    }
}

fn refuse_verify(args: &ReplayArgs) -> anyhow::Result<()> {
    if args.verifying.verify {
        bail!(
            "--verify is for GE's allocators; `highwater compare SNAPSHOT --conf SETTINGS --verify` verifies torch's"
        );
    }
    Ok(())
}

/// # Errors
/// The name is no version.
pub(crate) fn version(text: Option<&str>) -> anyhow::Result<Option<Version>> {
    let Some(text) = text else { return Ok(None) };
    let Some(version) = Version::named(text) else {
        let names: Vec<&str> = Version::all().map(Version::name).collect();
        bail!("--torch {text}: unknown version; known are {}", names.join(", "));
    };
    Ok(Some(version))
}

/// Whether a head is that of a trace: the first line that is no comment says what device.
fn is_trace(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&head[..head.len().min(HEAD)]);
    let mut lines = head.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("device total="))
}

/// The text of one setting; `-` is none.
fn conf_of(text: &str) -> &str {
    match text.trim() {
        "-" => "",
        _ => text,
    }
}

/// A setting of `--conf`.
///
/// # Errors
/// The version refuses it.
pub(crate) fn allocator_setting(text: &str, version: Option<Version>) -> anyhow::Result<AllocatorSetting> {
    let conf = conf_of(text);
    let accepts = |version: Version| Settings::parse(conf, version);
    match version {
        Some(version) => accepts(version).map(drop),
        None => accepts(Version::NEWEST)
            .or_else(|error| accepts(Version::Npu).or(Err(error)))
            .map(drop),
    }
    .with_context(|| format!("--conf \"{conf}\""))?;
    Ok(AllocatorSetting {
        conf: conf.to_owned(),
        version,
    })
}

fn replay_trace(
    args: &ReplayArgs,
    trace: &Trace,
    version: Version,
    progress: &Progress<'_>,
) -> anyhow::Result<Verdict> {
    if args.events {
        let settings = parsed(single_conf(args)?.map_or("", conf_of), version)?;
        return write_events(trace, settings, progress);
    }
    let mut runs = Vec::new();
    let confs = if args.conf.is_empty() {
        &["-".to_owned()][..]
    } else {
        &args.conf
    };
    for conf in confs {
        let settings = parsed(conf_of(conf), version)?;
        let (summary, elapsed) = timed(|| summary(trace, settings, version.rules()));
        runs.push(TraceRun {
            conf: conf_of(conf).to_owned(),
            version,
            summary,
            elapsed,
        });
    }
    print_answer(&TraceAnswer(&runs), args.format, false)?;
    Ok(Verdict::Done)
}

/// The settings of `--events`.
///
/// # Errors
/// There are several.
fn single_conf(args: &ReplayArgs) -> anyhow::Result<Option<&str>> {
    match &args.conf[..] {
        [] => Ok(None),
        [conf] => Ok(Some(conf)),
        _ => bail!("--events takes one --conf"),
    }
}

fn parsed(conf: &str, version: Version) -> anyhow::Result<Settings> {
    Settings::parse(conf, version).with_context(|| format!("--conf \"{conf}\""))
}

fn write_events(trace: &Trace, settings: Settings, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let rules = settings.version.rules();
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut replay = Replay::new(trace, settings, rules);
    let total = trace.commands.len();
    let mut line = String::new();
    for (position, answer) in replay.by_ref().enumerate() {
        if position.is_multiple_of(COMMANDS_BETWEEN_REPORTS) {
            progress.set("replaying", position as u64, total as u64)?;
        }
        line.clear();
        answer.write_json(&mut line);
        writeln!(out, "{}", visible_json(&line))?;
    }
    line.clear();
    replay.closing().write_json(&mut line);
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(Verdict::Done)
}

/// The recording with the highest live peak of those with a history; the first of equal ones.
fn highest(recordings: &[Arc<Recording>]) -> Option<&Recording> {
    let with_history = recordings.iter().filter(|one| missing_history(one).is_none());
    let peak = |one: &&Arc<Recording>| one.peaks().live.0;
    with_history.rev().max_by_key(peak).map(|one| &**one)
}

fn replay_recordings(
    args: &ReplayArgs,
    (recordings, import): (&[Arc<Recording>], &Diagnostics),
    (version, device): (Option<Version>, Option<Bytes>),
    progress: &Progress<'_>,
) -> anyhow::Result<Verdict> {
    let Some(recording) = highest(recordings) else {
        let all = recordings
            .iter()
            .map(|one| (&**one, missing_history(one).unwrap_or_default()));
        let answer = NoHistoryAnswer {
            recordings: &all.collect::<Vec<WithoutHistory<'_>>>(),
            import,
        };
        print_answer(&answer, args.format, false)?;
        return Ok(Verdict::No);
    };
    if recordings.len() > 1 && args.format == Format::Text && !args.events {
        let count = counted(recordings.len() as u64, "recording");
        let without = recordings.iter().filter(|one| missing_history(one).is_some()).count();
        let of_those = match without {
            0 => String::new(),
            without => format!(" of those with a history ({without} without)"),
        };
        print(&format!(
            "{count}; this is {}, which has the highest peak{of_those}\n\n",
            recording.name
        ))?;
    }
    if let Some(range) = recording.range {
        let sentence = range.sentence();
        match args.format {
            Format::Text if !args.events => print(&format!("{sentence}\n\n"))?,
            _ => warn(Severity::Info, &format!("{}: {sentence}", recording.name)),
        }
    }
    let fit = AllocatorFit::new(recording, version, device, progress);
    progress.check()?;
    let fit = fit.map_err(|why| anyhow::anyhow!("{}: {why}", recording.name))?;
    if args.events {
        let setting = match single_conf(args)? {
            Some(conf) => allocator_setting(conf, version)?,
            None => AllocatorSetting {
                conf: fit.conf.clone(),
                version: Some(fit.check.version),
            },
        };
        write_recorded_events(&fit, &setting, device, progress)?;
        return Ok(Verdict::Done);
    }
    let mut runs = Vec::new();
    let mut pinned = Vec::new();
    for conf in &args.conf {
        let setting = allocator_setting(conf, version)?;
        let run = fit.run(&setting, device, progress);
        progress.check()?;
        runs.push(run.map_err(|why| anyhow::anyhow!("--conf {why}"))?);
        let simulated = fit.simulated(recording, &setting, device, progress);
        progress.check()?;
        let simulated = simulated.map_err(anyhow::Error::new)?;
        pinned.extend(PinnedSegments::at_peak(&simulated.recording));
    }
    let answer = FitAnswer {
        recording,
        fit: &fit,
        runs: &runs,
        pinned: if pinned.len() == runs.len() { &pinned } else { &[] },
        device,
    };
    print_answer(&answer, args.format, false)?;
    Ok(Verdict::Done)
}
