//! Whether a typed path would overwrite a file: looked up on a separate thread, because file systems may be slow.

use std::path::PathBuf;

use crossbeam_channel::{Receiver, bounded};
use eframe::egui;

/// The state of the look-up.
#[derive(Default)]
pub(super) enum PathCheck {
    #[default]
    Unknown,
    /// The look-up runs.
    Running(Receiver<bool>),
    /// No such file exists.
    Free,
    /// The file exists.
    Taken,
}

impl PathCheck {
    /// Starts the look-up.
    pub(super) fn start(path: PathBuf, ctx: &egui::Context) -> Self {
        let (sender, answer) = bounded(1);
        let wake = ctx.clone();
        let thread = std::thread::Builder::new().name("path-look".to_owned()).spawn(move || {
            // The field may have closed.
            if sender.send(path.is_file()).is_ok() {
                wake.request_repaint();
            }
        });
        // Without a thread the path counts as free; the worker writes atomically.
        if thread.is_ok() {
            Self::Running(answer)
        } else {
            Self::Free
        }
    }

    /// Takes the answer; whether it just arrived and the file exists. Never waits.
    pub(super) fn poll(&mut self) -> bool {
        let Self::Running(answer) = self else {
            return false;
        };
        let Ok(is_taken) = answer.try_recv() else {
            return false;
        };
        *self = Self::of(is_taken);
        is_taken
    }

    /// Waits for the look-up, for tests.
    pub(super) fn settle(&mut self) {
        if let Self::Running(answer) = self {
            let (sender, again) = bounded(1);
            // Without an answer the path counts as free.
            let is_taken = answer.recv().unwrap_or(false);
            if sender.send(is_taken).is_ok() {
                *self = Self::Running(again);
            }
        }
    }

    const fn of(is_taken: bool) -> Self {
        if is_taken { Self::Taken } else { Self::Free }
    }
}
