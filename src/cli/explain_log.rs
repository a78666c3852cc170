//! `highwater explain-log`: which requests for memory failed in a log of CANN, and what to try.

use super::Verdict;
use super::args::{ExplainLogArgs, Format};
use super::opened::Named;
use super::opening::Opening;
use super::text::{diagnostics, print_answer};
use std::io::Write as _;

use anyhow::Context as _;
use highwater_analysis::LogStory;
use highwater_export::LogAnswer;
use highwater_model::progress::Progress;
use highwater_model::visible::visible;
use highwater_model::workload::Workload;
use highwater_session::read_log;

pub(super) fn run(args: &ExplainLogArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json, Format::Markdown])?;
    let named = Named::of(&args.files, &Opening::default(), progress)?;
    let imported = read_log(&named.sources, progress)?;
    let workload = Workload {
        measured: imported.measured,
        ..Workload::new(String::new(), imported.source)
    };
    let story = LogStory::of_workload(&workload).context("there is no record of a process")?;
    let answer = LogAnswer {
        story: &story,
        import: &imported.diagnostics,
    };
    print_answer(&answer, args.format, false)?;
    if args.format != Format::Json {
        // The last line of the answer is the sentence for a ticket. A closed standard error is ignored.
        let notes = diagnostics(&imported.diagnostics);
        drop(write!(std::io::stderr(), "{}", visible(&notes)));
    }
    Ok(Verdict::Done)
}
