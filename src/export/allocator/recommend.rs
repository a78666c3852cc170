//! The recommended settings of a caching allocator, with their figures and costs.

use serde_json::{Value as Json, json};

use super::super::blocks::Table;
use super::{INCOMPLETE, conf_text, own_error_text};
use highwater_analysis::{AllocatorFit, KeyEffect, SettingSearch, TriedSetting, setting_tolerance};
use highwater_model::units::{Bytes, Nanos, counted, grouped, signed_bytes, signed_percent_text};
use highwater_model::workload::Recording;
use highwater_options::allocator_findings;

/// Settings of a list that are shown as text.
const MOST_SHOWN: usize = 5;

/// A search over settings of the allocator.
#[derive(Clone, Copy, Debug)]
pub struct SettingSearchAnswer<'a> {
    /// Alike long.
    pub recordings: &'a [&'a Recording],
    pub fits: &'a [AllocatorFit],
    pub search: &'a SettingSearch,
    /// `None` where it is unknown: nothing fails.
    pub device: Option<Bytes>,
    pub elapsed: Nanos,
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

    /// The peak against the recorded one; a run whose requests failed has no comparable peak.
    fn against_recorded(&self, tried: &TriedSetting) -> String {
        match tried.failed() {
            0 => signed_percent_text(tried.peak().percent_above(self.recorded_peak())),
            _ => INCOMPLETE.to_owned(),
        }
    }

    /// Remarks on the recommended settings: severity and sentence.
    fn warnings(&self) -> Vec<(&'static str, String)> {
        let Some((winner, fit)) = self.tried(self.search.winner).zip(self.fits.first()) else {
            return Vec::new();
        };
        let findings = allocator_findings(&winner.conf, fit.settings.version);
        let mut all: Vec<(&str, String)> = findings
            .into_iter()
            .map(|finding| (finding.severity.name(), finding.message))
            .collect();
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

/// A line for a shell.
fn shell_line(variable: &str, conf: &str) -> String {
    match conf {
        "" => format!("unset {variable}"),
        conf => format!("export {variable}='{}'", conf.replace('\'', r"'\''")),
    }
}

/// A line for Python, before torch is imported.
fn python_line(variable: &str, conf: &str) -> String {
    match conf {
        "" => format!("os.environ.pop(\"{variable}\", None)"),
        conf => format!("os.environ[\"{variable}\"] = {}", Json::from(conf)),
    }
}

pub fn setting_search_json(answer: &SettingSearchAnswer<'_>) -> Json {
    let search = answer.search;
    let all = |positions: &[usize]| -> Vec<Json> {
        let tried = positions.iter().map(|at| &search.tried[*at]);
        tried.map(|tried| tried_json(answer, tried)).collect()
    };
    let winner = answer.tried(search.winner).map(|winner| {
        let mut object = tried_json(answer, winner);
        object["shell"] = shell_line(answer.variable(), &winner.conf).into();
        object["python"] = python_line(answer.variable(), &winner.conf).into();
        object["is_recorded"] = (search.winner == Some(search.recorded)).into();
        object
    });
    let recordings = answer.recordings.iter().zip(answer.fits).enumerate();
    let recordings = recordings.map(|(at, (recording, fit))| {
        json!({
            "recording": recording.name,
            "events": fit.check.events,
            "identical": fit.check.identical,
            "recorded_conf": fit.conf,
            "recorded_conf_stated": fit.is_stated,
            "recorded_peak_reserved_bytes": (fit.recorded_peak > Bytes::ZERO).then_some(fit.recorded_peak.get()),
            "replayed_peak_reserved_bytes": fit.own.stats.reserved.peak,
            "replayed_error_percent": fit.own_error_percent(),
            "recommended_peak_reserved_bytes":
                answer.tried(search.winner).map(|winner| winner.figures[at].stats.reserved.peak),
        })
    });
    let keys = search.keys.iter().map(|key| {
        json!({
            "key": key.key,
            "compared": key.compared,
            "lowest_change_bytes": key.change.0,
            "highest_change_bytes": key.change.1,
            "is_neutral": key.is_neutral,
        })
    });
    let warnings = answer.warnings().into_iter();
    json!({
        "goal": "lowest-peak",
        "variable": answer.variable(),
        "device_bytes": answer.device.map(Bytes::get),
        "requested_peak_bytes": answer.requested_peak().get(),
        "settings_tried": search.tried.len(),
        "recordings": recordings.collect::<Vec<Json>>(),
        "replayed": tried_json(answer, answer.recorded()),
        "recommended": winner,
        "runner_up": answer.tried(search.runner_up).map(|tried| tried_json(answer, tried)),
        "equivalent": all(&search.equivalent),
        "keys": keys.collect::<Vec<Json>>(),
        "warnings": warnings
            .map(|(severity, message)| json!({"severity": severity, "message": message}))
            .collect::<Vec<Json>>(),
        "runs": search.tried.iter().map(|tried| tried_json(answer, tried)).collect::<Vec<Json>>(),
        "elapsed_ns": answer.elapsed.0,
    })
}

fn tried_json(answer: &SettingSearchAnswer<'_>, tried: &TriedSetting) -> Json {
    let change = i128::from(tried.peak().get()) - i128::from(answer.recorded_peak().get());
    json!({
        "conf": tried.conf,
        "peak_reserved_bytes": tried.peak().get(),
        "difference_bytes": i64::try_from(change).unwrap_or(i64::MAX),
        "num_alloc_retries": tried.retries(),
        "ooms": tried.failed(),
        "device_calls": tried.device_calls(),
        "changes": tried.changes,
    })
}

pub fn setting_search_text(answer: &SettingSearchAnswer<'_>) -> String {
    let search = answer.search;
    let mut out = String::new();
    for (recording, fit) in answer.recordings.iter().zip(answer.fits) {
        out.push_str(&format!("{}: {}\n", recording.name, fit.sentence()));
    }
    let device = match answer.device {
        Some(device) => format!("a device of {device}"),
        None => "limits unknown: --device-memory SIZE counts failures and retries".to_owned(),
    };
    let count = counted(search.tried.len() as u64, "setting");
    out.push_str(&format!(
        "goal: lowest-peak; {count} replayed in {}; {device}\n\n",
        answer.elapsed
    ));
    out.push_str(&table(answer));
    match answer.tried(search.winner) {
        None => {
            let least = search.tried.iter().map(TriedSetting::failed).min().unwrap_or(0);
            out.push_str(&format!(
                "\nno setting serves every request: under each at least {} fail\n",
                counted(least, "request")
            ));
        }
        Some(winner) => out.push_str(&about(answer, winner)),
    }
    out
}

fn table(answer: &SettingSearchAnswer<'_>) -> String {
    let mut table = Table::new(&[
        "",
        "settings",
        ">peak reserved",
        ">against recorded",
        ">retries",
        ">failed",
        ">device calls",
    ]);
    if answer.fits.iter().any(AllocatorFit::lists_segments) {
        table.row(&[&"recorded", &"", &answer.recorded_peak(), &"", &"", &"", &""]);
    }
    let mut row = |word: &str, tried: &TriedSetting| {
        table.row(&[
            &word,
            &conf_text(&tried.conf),
            &tried.peak(),
            &answer.against_recorded(tried),
            &grouped(tried.retries()),
            &grouped(tried.failed()),
            &grouped(tried.device_calls()),
        ]);
    };
    row("replayed", answer.recorded());
    for (word, position) in [
        ("recommended", answer.search.winner),
        ("runner-up", answer.search.runner_up),
    ] {
        if let Some(tried) = answer.tried(position) {
            row(word, tried);
        }
    }
    let mut out = table.text();
    if let (Some(winner), true) = (answer.tried(answer.search.winner), answer.fits.len() > 1) {
        let mut table = Table::new(&["recording", ">recorded", ">replayed", ">recommended"]);
        let rows = answer.recordings.iter().zip(answer.fits).zip(&winner.figures);
        for ((recording, fit), figures) in rows {
            table.row(&[
                &recording.name,
                &fit.recorded_peak,
                &Bytes(fit.own.stats.reserved.peak),
                &Bytes(figures.stats.reserved.peak),
            ]);
        }
        out.push('\n');
        out.push_str(&table.text());
    }
    out
}

fn about(answer: &SettingSearchAnswer<'_>, winner: &TriedSetting) -> String {
    let search = answer.search;
    let mut out = String::new();
    let tolerance = setting_tolerance(winner.peak());
    if search.winner == Some(search.recorded) {
        out.push_str(&format!(
            "\nkeep the recorded settings: no other lowers the peak by more than {tolerance}\n"
        ));
    } else {
        let variable = answer.variable();
        out.push_str(&format!("\nto apply it: {}\n", shell_line(variable, &winner.conf)));
        out.push_str(&format!(
            "in Python, before torch is imported: {}\n",
            python_line(variable, &winner.conf)
        ));
    }
    for (severity, message) in answer.warnings() {
        out.push_str(&format!("{severity}: {message}\n"));
    }
    let live = answer.requested_peak();
    out.push_str(&format!("live at the peak: {live}; no setting reserves less\n"));
    if !search.equivalent.is_empty() {
        let shown = search.equivalent.iter().take(MOST_SHOWN);
        let names: Vec<&str> = shown.map(|at| conf_text(&search.tried[*at].conf)).collect();
        let more = search.equivalent.len().saturating_sub(MOST_SHOWN);
        let more = match more {
            0 => String::new(),
            more => format!("; {} more", grouped(more as u64)),
        };
        out.push_str(&format!(
            "equivalent (within {tolerance}, with more changes, keys or device calls): {}{more}\n",
            names.join("; ")
        ));
    }
    out.push_str(&keys_text(&search.keys));
    out.push_str(&format!(
        "\nAn estimate: the recorded requests in their order. {}Speed is not predicted.\n",
        answer.error_text()
    ));
    out
}

/// What each key changes; those that change nothing in one line.
fn keys_text(keys: &[KeyEffect]) -> String {
    let mut table = Table::new(&["key", ">settings", ">lowest change", ">highest change"]);
    for key in keys.iter().filter(|key| !key.is_neutral) {
        table.row(&[
            &key.key,
            &grouped(key.compared as u64),
            &signed_bytes(key.change.0.into()),
            &signed_bytes(key.change.1.into()),
        ]);
    }
    let mut out = if table.is_empty() {
        String::new()
    } else {
        format!("\n{}", table.text())
    };
    let neutral = keys.iter().filter(|key| key.is_neutral);
    let neutral: Vec<String> = neutral
        .map(|key| format!("{} ({})", key.key, grouped(key.compared as u64)))
        .collect();
    if !neutral.is_empty() {
        out.push_str(&format!("no change by {}\n", neutral.join(", ")));
    }
    out
}
