//! Whether a typed path would write over a file: found out on a thread of its own, because folders may be far away.

use std::path::PathBuf;

use crossbeam_channel::{Receiver, bounded};
use eframe::egui;

/// What is known of the path that is typed.
#[derive(Default)]
pub(super) enum Standing {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// Somebody is looking.
    Asked(Receiver<bool>),
    /// There is no such file.
    Free,
    /// There is one.
    Taken,
}

impl Standing {
    /// Looks whether there is such a file.
    pub(super) fn ask(path: PathBuf, ctx: &egui::Context) -> Self {
        let (sender, answer) = bounded(1);
        let wake = ctx.clone();
        let thread = std::thread::Builder::new().name("path-look".to_owned()).spawn(move || {
            // The field may be closed by then.
            if sender.send(path.is_file()).is_ok() {
                wake.request_repaint();
            }
        });
        // Where no thread starts, the worker still writes files whole or not at all.
        if thread.is_ok() {
            Self::Asked(answer)
        } else {
            Self::Free
        }
    }

    /// Takes the answer, if there is one; says whether it is that there is such a file. Never waits.
    pub(super) fn poll(&mut self) -> bool {
        let Self::Asked(answer) = self else {
            return false;
        };
        let Ok(is_taken) = answer.try_recv() else {
            return false;
        };
        *self = Self::of(is_taken);
        is_taken
    }

    /// Waits for the answer, for tests.
    pub(super) fn settle(&mut self) {
        if let Self::Asked(answer) = self {
            let (sender, again) = bounded(1);
            // Where nobody answers the path counts as free.
            let is_taken = answer.recv().unwrap_or(false);
            if sender.send(is_taken).is_ok() {
                *self = Self::Asked(again);
            }
        }
    }

    const fn of(is_taken: bool) -> Self {
        if is_taken { Self::Taken } else { Self::Free }
    }
}
