//! The answer of `compare` as Markdown, short enough for a comment on a change: figures first, then what changed, details
//! folded.

use super::against::{Against, until_of};
use super::pinned::Beside;
use super::verdict::{VerdictMark, verdict};
use highwater_analysis::{COMPARED, Comparison, Configuration, Fit, METRICS, Metric};
use highwater_model::diagnostics::Severity;
use highwater_options::Finding;
use highwater_timeline::{Change, ChangeKind, Changes, signed_bytes};

/// What is told.
#[derive(Clone, Copy, Debug)]
pub struct CompareAnswer<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// Findings of the configuration.
    pub findings: &'a [Finding],
    /// The configuration; pins are told by how they differ from it.
    pub options: &'a Configuration,
    /// The lane in force beside an earlier answer, or under limits.
    pub against: Option<&'a Against<'a>>,
    /// Why the policy in force does not run to its end, where it does not.
    pub shortage: Option<&'a str>,
    /// All lanes beside one of them.
    pub beside: Option<&'a Beside>,
    /// How many changes of a kind are listed.
    pub most: usize,
}

/// The metrics of the table of lanes.
const COLUMNS: [&str; 5] = [
    "peak_reserved",
    "peak_live",
    "fragmentation",
    "device_mallocs",
    "estimated_overhead",
];

/// The page. Linear in what it lists.
pub fn comparison_markdown(answer: &CompareAnswer<'_>) -> String {
    let comparison = answer.comparison;
    let mut out = format!("### Device memory of {}\n\n", code(&comparison.workload.name));
    out.push_str(&verdict_list(answer));
    out.push_str(&lanes(comparison));
    if let Some(best) = &comparison.lowest_peak {
        out.push_str(&format!(
            "\nLeast: policy {}, {}.\n",
            best.policy.number(),
            plain(&best.why)
        ));
    }
    out.push_str(&pins(comparison, answer.options));
    if let Some(beside) = answer.beside {
        out.push_str(&others(beside, comparison, answer.most));
    }
    if let Some(against) = answer.against.filter(|against| against.file().is_some()) {
        out.push_str(&difference(against));
        out.push_str(&changes(against, answer.most));
    }
    let findings = answer
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Warning);
    for (position, finding) in findings.enumerate() {
        if position == 0 {
            out.push_str("\n**Findings**\n\n");
        }
        let text = plain(&finding.message);
        out.push_str(&format!("- {} {}: {text}\n", finding.severity, finding.rule));
    }
    out.push_str(&notes(comparison));
    out
}

/// What makes the answer "no", first of all; what is to be known; limits that hold.
fn verdict_list(answer: &CompareAnswer<'_>) -> String {
    let mut out = String::new();
    for line in verdict(answer) {
        let sign = match line.mark {
            VerdictMark::No => ":x:",
            VerdictMark::Warning => ":warning:",
            VerdictMark::Holds => ":white_check_mark:",
        };
        let of = if line.of.is_empty() {
            String::new()
        } else {
            code(&line.of)
        };
        let colon = if line.of.is_empty() || line.text.is_empty() {
            ""
        } else {
            ": "
        };
        out.push_str(&format!("- {sign} {of}{colon}{}\n", plain(&line.text)));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// One row a lane.
fn lanes(comparison: &Comparison) -> String {
    let metrics: Vec<&Metric> = COLUMNS.iter().filter_map(|name| Metric::find(name)).collect();
    let mut out = String::from("| lane |");
    for metric in &metrics {
        out.push_str(&format!(" {} |", metric.label));
    }
    out.push_str(" fits |\n|---|");
    out.push_str(&"---:|".repeat(metrics.len()));
    out.push_str("---|\n");
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let is_main = comparison.main_lane() == Some(position);
        let title = plain(&comparison.lane_title(lane.id));
        let cut = until_of(lane);
        let title = if is_main { format!("**{title}**") } else { title };
        out.push_str(&format!("| {title}{cut} |"));
        for metric in &metrics {
            let figure = comparison.figure(position, metric);
            let text = figure.map_or_else(|| "not recorded".to_owned(), |figure| figure.to_string());
            out.push_str(&format!(" {text} |"));
        }
        out.push_str(&format!(" {} |\n", fits(comparison.fit(position))));
    }
    out
}

/// Whether a lane fits, in a word.
fn fits(fit: Fit) -> String {
    if fit.is_good() {
        fit.word().to_owned()
    } else {
        format!("**{}**", fit.word())
    }
}

/// How pins differ from the options, and which of them have no lane.
fn pins(comparison: &Comparison, options: &Configuration) -> String {
    let mut out = String::new();
    for lane in 0..comparison.lanes.len() {
        let Some(pinned) = comparison.pinned(lane) else {
            continue;
        };
        let title = plain(&comparison.lane_title(comparison.lanes[lane].id));
        let differences = pinned.configuration.differences(options);
        let texts: Vec<String> = differences
            .iter()
            .map(|row| format!("{} {}", code(&row.name), plain(&row.texts().0)))
            .collect();
        let how = if texts.is_empty() {
            "as the options are".to_owned()
        } else {
            texts.join(", ")
        };
        out.push_str(&format!("- {title}: {how}\n"));
        let findings = pinned.findings.iter();
        for finding in findings.filter(|finding| finding.severity != Severity::Info) {
            let text = plain(&finding.message);
            out.push_str(&format!("  - {} {}: {text}\n", finding.severity, finding.rule));
        }
    }
    for problem in &comparison.pin_failures {
        out.push_str(&format!(
            "- pinned {} has no lane: {}\n",
            plain(&problem.name),
            plain(&problem.why)
        ));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// All lanes beside one of them.
fn others(beside: &Beside, comparison: &Comparison, most: usize) -> String {
    let metrics: Vec<&Metric> = COMPARED.iter().filter_map(|name| Metric::find(name)).collect();
    let title = plain(&beside.baseline.lane.title);
    let mut out = format!("\n**Lanes** against {title}\n\n| lane |");
    for metric in &metrics {
        out.push_str(&format!(" {} |", metric.label));
    }
    out.push_str(" fits |\n|---|");
    out.push_str(&"---:|".repeat(metrics.len()));
    out.push_str("---|\n");
    let others = beside.others(comparison);
    for against in &others {
        out.push_str(&format!("| {} |", plain(&against.title)));
        for metric in &metrics {
            let both = against.now(metric).zip(against.before(metric));
            let text = both.map_or_else(String::new, |(now, before)| {
                let [bytes, percent] = against.difference_texts(now, before);
                if bytes.is_empty() {
                    bytes
                } else {
                    format!("{bytes} ({percent})")
                }
            });
            out.push_str(&format!(" {text} |"));
        }
        out.push_str(&format!(" {} |\n", fits(against.fit())));
    }
    for against in others.iter().filter(|against| against.lane.pinned.is_some()) {
        out.push_str(&format!("\n{} against {title}\n", plain(&against.title)));
        out.push_str(&changes(against, most));
    }
    out
}

/// The lane in force beside the baseline.
fn difference(against: &Against<'_>) -> String {
    let mut out = format!("\n**{}** against the baseline\n\n", plain(&against.title));
    let [was, is] = against.headings();
    out.push_str(&format!(
        "| figure | {was} | {is} | difference | |\n|---|---:|---:|---:|---:|\n"
    ));
    for metric in METRICS {
        let Some((before, now)) = against.before(metric).zip(against.now(metric)) else {
            continue;
        };
        if before == now && !COLUMNS.contains(&metric.name) {
            continue;
        }
        let [bytes, percent] = against.difference_texts(now, before);
        out.push_str(&format!(
            "| {} | {before} | {now} | {bytes} | {percent} |\n",
            metric.label
        ));
    }
    out
}

/// Who is to blame, folded.
fn changes(against: &Against<'_>, most: usize) -> String {
    let mut out = String::new();
    if let Some(why) = against.untold() {
        out.push_str(&format!("\n{why}\n"));
    }
    for (title, changes) in against.told() {
        out.push_str(&peak_changes(title, changes, most));
    }
    out
}

/// Who holds other bytes at a peak, folded.
fn peak_changes(title: &str, changes: &Changes, most: usize) -> String {
    let mut out = format!("\n<details><summary>What is held otherwise {title}</summary>\n\n");
    out.push_str("| | name | before | now | difference |\n|---|---|---:|---:|---:|\n");
    for kind in ChangeKind::ALL {
        let n_rows = changes.of_kind(kind).count();
        for change in changes.of_kind(kind).take(most) {
            out.push_str(&change_row(change));
        }
        if n_rows > most {
            let more: i128 = changes.of_kind(kind).skip(most).map(Change::difference).sum();
            let text = signed_bytes(more);
            out.push_str(&format!("| {} | {} more | | | {text} |\n", kind.words(), n_rows - most));
        }
    }
    if changes.unlisted != 0 {
        let text = signed_bytes(changes.unlisted);
        out.push_str(&format!("| | {} | | | {text} |\n", changes.unlisted_words()));
    }
    out.push_str("\n</details>\n");
    out
}

fn change_row(change: &Change) -> String {
    let name = if change.is_tensor {
        code(&change.of.name)
    } else {
        plain(&change.of.to_string())
    };
    format!(
        "| {} | {name} | {} | {} | {} |\n",
        change.kind().words(),
        change.before,
        change.after,
        signed_bytes(change.difference())
    )
}

/// What figures hold, and what is an estimate.
fn notes(comparison: &Comparison) -> String {
    let mut out = String::new();
    if let Some(note) = comparison.scratch.note() {
        out.push_str(&format!("\n<sub>{} Overhead is an estimate.</sub>\n", plain(note)));
    } else if comparison.lower_bound {
        out.push_str("\n<sub>Figures are lower bounds: tensors of unknown size count 0 bytes.</sub>\n");
    }
    out
}

/// Text of a file within a cell: nothing in it is a sign of Markdown or of HTML.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' | '@' => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// A name as code; one with a sign that would end it is plain text.
fn code(text: &str) -> String {
    if text.is_empty() || text.contains(['`', '|', '\n', '\r', '<']) {
        plain(text)
    } else {
        format!("`{text}`")
    }
}

#[cfg(test)]
mod tests {
    use super::{code, plain};

    #[test]
    fn names_of_files_are_no_markup() {
        assert_eq!(
            plain("a|b <img src=x> *c* @d\ne"),
            "a\\|b &lt;img src=x&gt; \\*c\\* \\@d e"
        );
        assert_eq!(
            [code("conv_1/out:0"), code("a|b"), code("`x`")],
            ["`conv_1/out:0`", "a\\|b", "\\`x\\`"]
        );
    }
}
