//! The recommended settings of a caching allocator, with their figures and costs.

use indexmap::IndexSet;
use serde::Serialize;
use serde_json::json;

use super::super::answer::{Answer, Page, diagnostics_blocks, lines_blocks};
use super::super::blocks::{Block, paragraph};
use super::super::json_parts::list;
use super::super::record::{Record, Rows, Value};
use super::no_history::{WithoutHistory, sentences, without_history_rows};
use super::{PeakOfRun, against_replayed, device_text, failed_rows, own_error_text, stated, uncertainty_text};
use highwater_analysis::{
    AllocatorFit, IGNORED_ON_WINDOWS, KeyEffect, SettingSearch, TriedSetting, conf_text, python_line, shell_line,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Nanos, counted, first_of, grouped, signed_bytes};
use highwater_model::workload::Recording;
use highwater_options::allocator_findings;
use highwater_torch::Version;

/// Settings of a list that are shown as text.
const MOST_SHOWN: usize = 5;

/// A search over settings of the allocator.
#[derive(Clone, Copy, Debug)]
pub struct SettingSearchAnswer<'a> {
    /// Alike long.
    pub recordings: &'a [&'a Recording],
    pub fits: &'a [AllocatorFit],
    pub search: &'a SettingSearch,
    /// Recordings that are left out.
    pub without_history: &'a [WithoutHistory<'a>],
    /// `None` where it is unknown: nothing fails.
    pub device: Option<Bytes>,
    pub elapsed: Nanos,
    /// The importer's diagnostics, for people.
    pub import: &'a Diagnostics,
}

impl<'a> SettingSearchAnswer<'a> {
    fn tried(&self, position: Option<usize>) -> Option<&'a TriedSetting> {
        position.map(|position| &self.search.tried[position])
    }

    fn recorded(&self) -> &'a TriedSetting {
        &self.search.tried[self.search.recorded]
    }

    /// The highest recorded peak; of recordings without segments that of the replay.
    fn recorded_peak(&self) -> Bytes {
        let peaks = self.fits.iter().map(AllocatorFit::reference_peak);
        peaks.max().unwrap_or_default()
    }

    /// The highest peak of requested bytes, which every setting reserves at least.
    fn requested_peak(&self) -> Bytes {
        let peaks = self.fits.iter().map(|fit| Bytes(fit.own.stats.requested.peak));
        peaks.max().unwrap_or_default()
    }

    /// The variable of the framework.
    fn variable(&self) -> &'static str {
        self.fits.first().map_or("", |fit| fit.framework().variable())
    }

    /// The largest difference between a recorded peak and its replay, as a sentence; empty where no file states one.
    fn error_text(&self) -> String {
        let errors = self.fits.iter().filter_map(AllocatorFit::own_error_percent);
        let largest = errors.max_by(|one, other| one.abs().total_cmp(&other.abs()));
        largest.map_or_else(String::new, own_error_text)
    }

    /// Remarks on the recommended settings: severity and sentence.
    fn warnings(&self) -> Vec<(&'static str, String)> {
        let Some((winner, fit)) = self.tried(self.search.winner).zip(self.fits.first()) else {
            return Vec::new();
        };
        let findings = allocator_findings(&winner.conf, fit.settings.version);
        let caveat = fit.settings.version.caveat();
        let mut all: Vec<(&str, String)> = findings
            .into_iter()
            // The first sentence has it.
            .filter(|finding| Some(&finding.message) != caveat.as_ref())
            .map(|finding| (finding.severity.name(), finding.message))
            .collect();
        if self.is_windows() {
            all.push(("info", IGNORED_ON_WINDOWS.to_owned()));
        }
        if winner.pairs.iter().any(|pair| pair.key == "page_size") {
            let needs = "page_size: it needs CANN 8.1.RC1 and driver 25.0.RC1 or newer, else it is ignored";
            all.push(("info", needs.to_owned()));
        }
        if self.fits.iter().any(|fit| fit.lists_segments() && !fit.is_exact()) {
            let part = "some recordings replay in part; figures of settings are then estimates of that quality";
            all.push(("warning", part.to_owned()));
        }
        if self
            .recordings
            .iter()
            .any(|recording| recording.device.starts_with("CPU"))
        {
            let cpu = format!(
                "a recording is of the CPU, whose allocator does not read {}",
                self.variable()
            );
            all.push(("warning", cpu));
        }
        all
    }
}

impl Answer for SettingSearchAnswer<'_> {
    fn page(&self) -> Page {
        let search = self.search;
        let named = self.recordings.iter().zip(self.fits);
        let named = named.map(|(recording, fit)| format!("{}: {}", recording.name, fit.reproduced()));
        // Recordings of one program share them.
        let remarks: IndexSet<String> = self.fits.iter().flat_map(AllocatorFit::remarks).collect();
        let left_out = sentences(self.without_history);
        let named = named.chain(remarks).chain(left_out);
        let device = device_text(self.device, self.fits);
        let count = counted(search.tried.len() as u64, "setting");
        let goal = format!("goal: lowest-peak; {count} replayed in {}; {device}", self.elapsed);
        let failures = self.fits.iter().flat_map(AllocatorFit::failure_sentences);
        let mut blocks = lines_blocks(named.chain([goal]).chain(failures));
        blocks.extend(self.figures());
        match self.tried(search.winner) {
            None => blocks.push(paragraph(search.why_none(self.fits))),
            Some(winner) => blocks.extend(self.about(winner)),
        }
        blocks.extend(diagnostics_blocks(self.import));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        let search = self.search;
        let tried = |position: usize| self.record("", &search.tried[position]);
        let winner = self.tried(self.advised()).map(|winner| {
            self.record("", winner)
                .key("shell", shell_line(self.variable(), &winner.conf, self.is_windows()))
                .key("python", python_line(self.variable(), &winner.conf))
                .key("is_recorded", search.winner == Some(search.recorded))
        });
        let warnings = list(
            self.warnings(),
            |(severity, message)| json!({"severity": severity, "message": message}),
        );
        Record::new()
            .key("goal", "lowest-peak")
            .key("variable", self.variable())
            .key(
                "device_bytes",
                self.device.or(self.fits.iter().filter_map(|fit| fit.device).max()),
            )
            .key("requested_peak_bytes", self.requested_peak())
            .key("settings_tried", search.tried.len())
            .key("recordings", self.by_recording())
            .key("without_history", without_history_rows(self.without_history))
            .key("replayed", self.record("", self.recorded()))
            .key("recommended", winner)
            .key("runner_up", search.runner_up.map(tried))
            .key("needs_newer", search.newer.map(tried))
            .key("uncertainty_bytes", search.uncertainty)
            .key("equivalent", Rows::new(&search.equivalent, move |at| tried(*at)))
            .key("keys", key_rows(search.keys.iter().collect()))
            .key("warnings", warnings)
            .key("runs", Rows::indexed(search.tried.len(), tried))
            .key("elapsed_ns", self.elapsed)
    }
}

impl<'a> SettingSearchAnswer<'a> {
    /// A setting, for people behind a word.
    fn record(&self, word: &'a str, tried: &'a TriedSetting) -> Record<'a> {
        let difference = i128::from(tried.peak().get()) - i128::from(self.recorded_peak().get());
        let run = |tried: &TriedSetting| PeakOfRun {
            peak: tried.peak(),
            lost: tried.lost(),
        };
        let replayed = self.recorded().peak();
        let difference_from_replayed = i128::from(tried.peak().get()) - i128::from(replayed.get());
        let against = against_replayed(run(tried), run(self.recorded()));
        Record::new()
            .shown(" ", word)
            .key("conf", &tried.conf)
            .shown("settings", conf_text(&tried.conf))
            .field("peak_reserved_bytes", ">peak reserved", tried.peak())
            .key("difference_bytes", difference)
            .key("difference_from_replayed_bytes", difference_from_replayed)
            .shown(">against replayed", against)
            .field("num_alloc_retries", ">retries", tried.retries())
            .field("ooms", ">failed", tried.failed())
            .field("device_calls", ">device calls", tried.device_calls())
            .key("changes", tried.changes)
            .key("needs_torch", tried.needs.map(Version::name))
    }

    fn by_recording(&self) -> Rows<'a> {
        let (answer, winner) = (*self, self.tried(self.search.winner));
        Rows::indexed(self.fits.len(), move |at| {
            let fit = &answer.fits[at];
            let winner = winner.map(|winner| Bytes(winner.figures[at].stats.reserved.peak));
            Record::new()
                .field("recording", "recording", &answer.recordings[at].name)
                .key("events", fit.check.events)
                .key("identical", fit.check.identical)
                .key(
                    "torch_versions",
                    Value::Texts(fit.versions().iter().map(|version| version.name()).collect()),
                )
                .key("failed_requests", failed_rows(fit))
                .key("recorded_conf", &fit.conf)
                .key("recorded_conf_stated", fit.is_stated)
                .key("recorded_peak_reserved_bytes", stated(fit.recorded_peak))
                .shown(">recorded", fit.recorded_peak)
                .field(
                    "replayed_peak_reserved_bytes",
                    ">replayed",
                    Bytes(fit.own.stats.reserved.peak),
                )
                .key("replayed_error_percent", fit.own_error_percent())
                .field("recommended_peak_reserved_bytes", ">recommended", winner)
        })
    }

    /// The recorded settings are no advice where requests fail under them.
    fn advised(&self) -> Option<usize> {
        let is_advice = |at: &usize| *at != self.search.recorded || self.search.tried[*at].failed() == 0;
        self.search.winner.filter(is_advice)
    }

    /// The recorded, the recommended and the next settings, and the recordings where there are several.
    fn figures(&self) -> Vec<Block> {
        let words = [
            ("replayed", Some(self.search.recorded)),
            ("recommended", self.advised()),
            ("runner-up", self.search.runner_up),
        ];
        let shown: Vec<(&str, usize)> = words.into_iter().filter_map(|(word, at)| Some((word, at?))).collect();
        let rows = Rows::new(&shown, |(word, at)| self.record(word, &self.search.tried[*at]));
        let mut table = rows.table(usize::MAX);
        if self.fits.iter().any(AllocatorFit::lists_segments) {
            let recorded = Record::new().shown(" ", "recorded").shown("settings", "");
            table.insert_base(recorded.shown(">peak reserved", self.recorded_peak()).cells());
        }
        let mut blocks = vec![table.into()];
        if self.search.winner.is_some() && self.fits.len() > 1 {
            blocks.extend(self.by_recording().blocks(usize::MAX));
        }
        blocks
    }

    fn is_windows(&self) -> bool {
        self.fits.iter().any(|fit| fit.is_windows)
    }

    fn about(&self, winner: &TriedSetting) -> Vec<Block> {
        let (search, variable) = (self.search, self.variable());
        let mut lines = if search.winner == Some(search.recorded) {
            vec![format!(
                "keep the recorded settings: no other lowers the peak by more than {}{}",
                search.least_saving(),
                if search.uncertainty > search.tolerance() {
                    ", which is how uncertain the replay is"
                } else {
                    ""
                }
            )]
        } else {
            vec![
                format!("to apply it: {}", shell_line(variable, &winner.conf, self.is_windows())),
                format!(
                    "in Python, before torch is imported: {}",
                    python_line(variable, &winner.conf)
                ),
            ]
        };
        lines.extend(search.newer_sentence(self.fits));
        let warnings = self.warnings().into_iter();
        lines.extend(warnings.map(|(severity, message)| format!("{severity}: {message}")));
        let live = self.requested_peak();
        lines.push(format!("live at the peak: {live}; no setting reserves less"));
        if !search.equivalent.is_empty() {
            let names = search.equivalent.iter().map(|at| conf_text(&search.tried[*at].conf));
            lines.push(format!(
                "equivalent (within {}, with more changes or keys, or a higher peak): {}",
                search.tolerance(),
                first_of(names, MOST_SHOWN, "; ")
            ));
        }
        let mut blocks = lines_blocks(lines);
        let (neutral, acting): (Vec<&KeyEffect>, Vec<&KeyEffect>) = search.keys.iter().partition(|key| key.is_neutral);
        blocks.extend(key_rows(acting).blocks(usize::MAX));
        let neutral = neutral.iter();
        let neutral: Vec<String> = neutral
            .map(|key| format!("{} ({})", key.key, grouped(key.compared as u64)))
            .collect();
        blocks.extend((!neutral.is_empty()).then(|| paragraph(format!("no change by {}", neutral.join(", ")))));
        blocks.push(paragraph(format!(
            "An estimate: the recorded requests in their order. {}{}Speed is not predicted.",
            self.error_text(),
            uncertainty_text(search.uncertainty, self.fits)
        )));
        blocks
    }
}

/// What each key changes.
fn key_rows(keys: Vec<&KeyEffect>) -> Rows<'_> {
    Rows::indexed(keys.len(), move |at| {
        let key = keys[at];
        let (lowest, highest) = (i128::from(key.change.0), i128::from(key.change.1));
        Record::new()
            .field("key", "key", key.key)
            .field("compared", ">settings", key.compared)
            .key("lowest_change_bytes", lowest)
            .shown(">lowest change", signed_bytes(lowest))
            .key("highest_change_bytes", highest)
            .shown(">highest change", signed_bytes(highest))
            .key("is_neutral", key.is_neutral)
    })
}
