//! The baseline and the limits of `compare`.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::args::{Common, CompareArgs};
use crate::request::Prepared;
use crate::settings::Settings;
use crate::warn;
use highwater_analysis::{Comparison, Configuration, Limit, compare};
use highwater_export::{Baseline, BaselineComparison, LaneBaseline};
use highwater_model::diagnostics::Severity;
use highwater_model::progress::Progress;
use highwater_session::{ReadFiles, SourceSpec, read_bytes};

/// A baseline, and the files that it was read from.
pub(crate) struct ReadBaseline {
    pub(crate) baseline: Baseline,
    pub(crate) files: ReadFiles,
}

/// An earlier answer of `compare`; or any file that opens, compared under the same settings.
///
/// # Errors
/// The file is neither.
pub(crate) fn read_baseline(path: &Path, common: &Common, progress: &Progress<'_>) -> anyhow::Result<ReadBaseline> {
    // A pipe is read once, so it is an answer; a regular file is looked at before it is opened.
    let is_regular = path.metadata().is_ok_and(|about| about.is_file());
    if path.is_dir() || is_regular && !is_like_json(path) {
        return opened(path, common, progress);
    }
    let error = match Baseline::read(&read_bytes(path, progress)?) {
        Ok(baseline) => {
            return Ok(ReadBaseline {
                baseline,
                files: ReadFiles {
                    sources: vec![SourceSpec::Path(path.to_owned())],
                    ..ReadFiles::default()
                },
            });
        }
        Err(error) => error,
    };
    // JSON without a graph or recording is meant as an answer.
    let other = is_regular.then(|| opened(path, common, progress).ok()).flatten();
    other.ok_or(error).with_context(|| path.display().to_string())
}

/// Whether the file begins as JSON or is empty.
fn is_like_json(path: &Path) -> bool {
    let mut head = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head));
    read.is_ok_and(|length| {
        let first = head[..length].iter().find(|byte| !byte.is_ascii_whitespace());
        first.is_none_or(|first| matches!(first, b'{' | b'['))
    })
}

/// The main lane of a file.
fn opened(path: &Path, common: &Common, progress: &Progress<'_>) -> anyhow::Result<ReadBaseline> {
    let settings = Settings::read(&[path.to_owned()], common, progress)?;
    let files = settings.read_files();
    let prepared = Prepared::new(settings, None, progress)?;
    let comparison = compare(&prepared.request, progress).with_context(|| path.display().to_string())?;
    for recording in &comparison.recordings {
        if recording.is_one_moment && recording.older_blocks > 0 {
            let what = "no history: its figures are of one moment and no peaks";
            warn(
                Severity::Warning,
                &format!("{}: {}: {what}", path.display(), recording.name),
            );
        }
    }
    let lane = comparison.main_lane();
    let lane = lane.with_context(|| format!("{}: there is no lane to compare with", path.display()))?;
    Ok(ReadBaseline {
        baseline: Baseline::of_lane(&comparison, lane),
        files,
    })
}

/// The baseline and the limits of the arguments, read before the comparison runs.
pub(super) struct BaselineArgs {
    /// An earlier answer with the name of its file.
    file: Option<(String, Baseline)>,
    /// The files that it was read from.
    pub(super) files: ReadFiles,
    /// The name of a lane of the same answer.
    lane: Option<String>,
    limits: Vec<Limit>,
}

impl BaselineArgs {
    pub(super) fn new(args: &CompareArgs, progress: &Progress<'_>) -> anyhow::Result<Self> {
        let mut limits = Vec::new();
        for text in &args.fail_if {
            let limit = Limit::parse(text).map_err(|error| anyhow::anyhow!("--fail-if {error}"))?;
            if limit.needs_before() && args.baseline.is_none() && args.baseline_lane.is_none() {
                bail!("--fail-if {text}: a growth limit needs a baseline; add --baseline FILE or --baseline-lane NAME");
            }
            limits.push(limit);
        }
        let mut files = ReadFiles::default();
        let read = |path: &Path| -> anyhow::Result<(String, Baseline)> {
            let read = read_baseline(path, &args.common, progress)?;
            files = read.files;
            Ok((path.display().to_string(), read.baseline))
        };
        Ok(Self {
            file: args.baseline.as_deref().map(read).transpose()?,
            files,
            lane: args.baseline_lane.clone(),
            limits,
        })
    }

    pub(super) fn lane_baseline(&self, comparison: &Comparison) -> anyhow::Result<Option<LaneBaseline>> {
        let Some(name) = &self.lane else { return Ok(None) };
        match comparison.lane_named(name) {
            Ok(lane) => Ok(Some(LaneBaseline::new(comparison, lane))),
            Err(known) => bail!("--baseline-lane {name}: no such lane; lanes are {known}"),
        }
    }

    /// The active lane compared with its baseline; `None` without a baseline file and limits.
    pub(super) fn comparison<'a>(
        &'a self,
        comparison: &'a Comparison,
        options: &Configuration,
        lane_baseline: Option<&'a LaneBaseline>,
    ) -> anyhow::Result<Option<BaselineComparison<'a>>> {
        if self.file.is_none() && self.limits.is_empty() {
            return Ok(None);
        }
        let baseline = self.file.as_ref().map(|(name, baseline)| (name.as_str(), baseline));
        let baseline = baseline.or_else(|| Some(("", &lane_baseline?.baseline)));
        let compared = BaselineComparison::new(comparison, options, baseline, &self.limits);
        let number = comparison.active_policy.number();
        let why = || format!("policy {number} is active but missing in --policies; --baseline and --fail-if need it");
        Ok(Some(compared.with_context(why)?))
    }
}
