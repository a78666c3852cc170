//! `highwater explain`: which requests for memory failed, whether a setting could have served them, and what to try.

use super::Verdict;
use super::args::{ExplainArgs, Format};
use super::opened::Named;
use super::opening::Opening;
use super::text::{diagnostics, print_answer};
use std::io::Write as _;

use highwater_analysis::LogStory;
use highwater_export::LogAnswer;
use highwater_model::progress::Progress;
use highwater_model::visible::visible;
use highwater_session::read_story;

pub(super) fn run(args: &ExplainArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json, Format::Markdown])?;
    let named = Named::of(&args.files, &Opening::default(), progress)?;
    let stated = read_story(&named.sources, progress)?;
    let recordings = stated.recordings.iter().map(|recording| &**recording);
    let story = LogStory::of_recordings(recordings, progress)?;
    let answer = LogAnswer {
        story: &story,
        import: &stated.diagnostics,
    };
    print_answer(&answer, args.format, false)?;
    if args.format != Format::Json {
        // The last line of the answer is the sentence for a ticket. A closed standard error is ignored.
        let notes = diagnostics(&stated.diagnostics);
        drop(write!(std::io::stderr(), "{}", visible(&notes)));
    }
    Ok(if story.states_memory() {
        Verdict::Done
    } else {
        Verdict::No
    })
}
