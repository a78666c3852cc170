//! Why the answer of `compare` is "no", warnings, and limits that hold.
//!
//! In: an answer. Out: lines, reasons for "no" first, so that the first line says why a job failed.

use super::compare_answer::CompareAnswer;
use super::limit_checks::Outcome;
use highwater_model::diagnostics::Severity;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictMark {
    /// The answer is "no".
    No,
    /// The two sides may not be comparable.
    Warning,
    Holds,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictLine {
    pub mark: VerdictMark,
    /// The limit or the rule; may be empty.
    pub of: String,
    /// The reason; may be empty.
    pub text: String,
}

pub fn verdict(answer: &CompareAnswer<'_>) -> Vec<VerdictLine> {
    let line = |mark, of: &str, text: &str| VerdictLine {
        mark,
        of: of.to_owned(),
        text: text.to_owned(),
    };
    let mut lines: Vec<VerdictLine> = Vec::new();
    if let Some(text) = answer.shortage {
        lines.push(line(VerdictMark::No, "", text));
    }
    let errors = answer
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    lines.extend(errors.map(|finding| line(VerdictMark::No, finding.rule, &finding.message)));
    let Some(compared) = answer.baseline_comparison else {
        return lines;
    };
    for check in &compared.limit_checks {
        let (mark, why) = match &check.outcome {
            Outcome::Broken(why) => (VerdictMark::No, why.as_str()),
            Outcome::Open(why) => (VerdictMark::Warning, why.as_str()),
            Outcome::Holds => (VerdictMark::Holds, ""),
        };
        lines.push(line(mark, &check.limit, why));
    }
    let warnings = compared.warnings();
    lines.extend(warnings.iter().map(|text| line(VerdictMark::Warning, "", text)));
    lines.sort_by_key(|line| match line.mark {
        VerdictMark::No => 0,
        VerdictMark::Warning => 1,
        VerdictMark::Holds => 2,
    });
    lines
}
