//! What makes the answer of `compare` "no", what is to be known before it is believed, and which limits hold.
//!
//! In: an answer. Out: lines, those first that make it "no", so that whoever reads one line knows why a job failed.

use super::comparison_markdown::CompareAnswer;
use super::limit_checks::Outcome;
use highwater_model::diagnostics::Severity;

/// What a line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictMark {
    /// The answer is "no".
    No,
    /// What is compared may not be comparable.
    Warning,
    /// A limit holds.
    Holds,
}

/// A line of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictLine {
    /// What it means.
    pub mark: VerdictMark,
    /// The limit or the rule that it speaks of; empty where it is none.
    pub of: String,
    /// Why; empty where there is nothing to say.
    pub text: String,
}

/// The lines: what makes the answer "no", warnings, limits that hold.
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
    let Some(against) = answer.against else { return lines };
    for judged in &against.judged {
        let (mark, why) = match &judged.outcome {
            Outcome::Broken(why) => (VerdictMark::No, why.as_str()),
            Outcome::Open(why) => (VerdictMark::Warning, why.as_str()),
            Outcome::Holds => (VerdictMark::Holds, ""),
        };
        lines.push(line(mark, &judged.limit, why));
    }
    let warnings = against.warnings();
    lines.extend(warnings.iter().map(|text| line(VerdictMark::Warning, "", text)));
    lines.sort_by_key(|line| match line.mark {
        VerdictMark::No => 0,
        VerdictMark::Warning => 1,
        VerdictMark::Holds => 2,
    });
    lines
}
