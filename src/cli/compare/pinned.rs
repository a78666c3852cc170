//! Pinned configurations in the answer of `compare` for people: how they differ, what the rules say of them, and why some have
//! no lane.

use highwater_analysis::{Comparison, Configuration};
use highwater_model::diagnostics::Severity;

/// A paragraph a pin; empty where there is none.
pub(super) fn text(comparison: &Comparison, options: &Configuration) -> String {
    let mut out = String::new();
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let Some(pinned) = comparison.pinned(position) else {
            continue;
        };
        let differences = pinned.configuration.differences(options);
        let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
        let how = if texts.is_empty() {
            "as the options are".to_owned()
        } else {
            texts.join("; ")
        };
        let device = &pinned.device;
        out.push_str(&format!("\n{}: {how}\n", comparison.lane_title(lane.id)));
        out.push_str(&format!(
            "  on {} with {}: fits {}\n",
            device.name,
            device.memory(),
            comparison.fit(position).text()
        ));
        for sentence in pinned.fit.sentences() {
            out.push_str(&format!("  {sentence}\n"));
        }
        for finding in pinned
            .findings
            .iter()
            .filter(|finding| finding.severity != Severity::Info)
        {
            out.push_str(&format!(
                "  {}: {} {}\n",
                finding.severity, finding.rule, finding.message
            ));
        }
        for entry in pinned
            .diagnostics
            .entries()
            .iter()
            .filter(|entry| entry.severity != Severity::Info)
        {
            out.push_str(&format!("  {}: {}\n", entry.severity, entry.message));
        }
    }
    for problem in &comparison.pin_failures {
        out.push_str(&format!("\npinned {} has no lane: {}\n", problem.name, problem.why));
    }
    out
}
