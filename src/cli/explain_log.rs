//! `highwater explain-log`: which requests for memory failed in a log of CANN, and what to try.

use super::args::{ExplainLogArgs, Format};
use super::opened::Named;
use super::opening::Opening;
use super::text::diagnostics;
use super::{Verdict, print, print_json};
use std::io::Write as _;

use anyhow::Context as _;
use highwater_analysis::LogStory;
use highwater_export::{log_story_json, log_story_markdown, log_story_text};
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
    match args.format {
        Format::Json => print_json(&log_story_json(&story, &imported.diagnostics))?,
        Format::Markdown => print(&log_story_markdown(&story))?,
        _ => print(&log_story_text(&story))?,
    }
    if args.format != Format::Json {
        // The last line of the answer is the sentence for a ticket. A closed standard error is ignored.
        let notes = diagnostics(&imported.diagnostics);
        drop(write!(std::io::stderr(), "{}", visible(&notes)));
    }
    Ok(Verdict::Done)
}
