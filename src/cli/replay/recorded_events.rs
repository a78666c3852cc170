//! `replay SNAPSHOT --allocator torch --events`: what the allocator does for each event of a recording, as JSON lines.
//!
//! ```text
//! {"event":null,"events":[["segment_alloc",...],["alloc",...]]}   blocks that predate the recording
//! {"event":0,"events":[...]}                                      one line per recorded event that the program caused
//! {"end":true,"peaks":[...],...}
//! ```

use std::io::{self, BufWriter, StdoutLock, Write as _};

use highwater_analysis::{AllocatorFit, AllocatorSetting};
use highwater_export::run_closing_json;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_torch::{Event, Observer};

/// Writes the lines of a setting.
///
/// # Errors
/// The setting is refused, the work is cancelled, or standard output fails.
pub(super) fn write_recorded_events(
    fit: &AllocatorFit,
    setting: &AllocatorSetting,
    device: Option<Bytes>,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    let lines = Lines {
        steps: fit.steps(),
        out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        event: None,
        text: String::new(),
        failed: Ok(()),
    };
    let observed = fit.observed(setting, device, lines, progress);
    progress.check()?;
    let (run, mut lines) = observed.map_err(|why| anyhow::anyhow!("--conf {why}"))?;
    lines.end_line();
    lines.failed?;
    writeln!(lines.out, "{}", run_closing_json(fit, &run))?;
    Ok(lines.out.flush()?)
}

struct Lines<'a> {
    /// The recording's event of each input.
    steps: &'a [u32],
    out: BufWriter<StdoutLock<'static>>,
    /// The event whose line is open; `None`: blocks that predate the recording.
    event: Option<u32>,
    /// What the allocator did for it, separated by commas.
    text: String,
    /// The first error; nothing is written after it.
    failed: io::Result<()>,
}

impl Lines<'_> {
    /// Writes the open line, unless nothing happened.
    fn end_line(&mut self) {
        if self.failed.is_ok() && !self.text.is_empty() {
            let event = self.event.map_or_else(|| "null".to_owned(), |event| event.to_string());
            self.failed = writeln!(self.out, "{{\"event\":{event},\"events\":[{}]}}", self.text);
        }
        self.text.clear();
    }
}

impl Observer for Lines<'_> {
    fn event(&mut self, event: Event) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        event.write_json(&mut self.text);
    }

    fn input(&mut self, position: Option<u32>) {
        let event = position.map(|position| self.steps.get(position as usize).copied().unwrap_or(position));
        if event != self.event {
            self.end_line();
            self.event = event;
        }
    }
}
