//! The window: the only room that names egui.
//!
//! Panels are functions that read state, paint, and push commands into a list; they hold no engine logic and never
//! wait.

pub mod app;
mod combo;
pub mod commands;
pub mod dialogs;
pub mod document;
mod dropping;
pub mod export_dialog;
pub mod frame_output;
pub mod help;
mod keys;
pub mod lanes;
mod numbers;
pub mod pages;
pub mod palette;
pub mod panels;
pub mod panes;
mod perform;
pub mod persisted;
pub mod pictures;
pub mod recent;
mod status_bar;
pub mod theme;
pub mod top_bar;
mod visible_texts;
mod widgets;

use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::anyhow;
use eframe::egui_wgpu::{RenderState, WgpuSetup};
use eframe::{egui, wgpu};

use self::persisted::Persisted;
use highwater_model::visible::visible;
use highwater_model::workload::DeviceProfiles;
use highwater_session::{Document, Notice, Restore, Session, StartConfigs, Wake, Worker};

/// Interval of progress reports.
const PROGRESS: Duration = Duration::from_millis(250);
/// Interval where frames are drawn by software: a frame takes the processors from the job.
const SLOW_PROGRESS: Duration = Duration::from_secs(1);

/// Opens the window and runs until it is closed. `restore` says what to take over from the last run, whose document
/// replaces the given one.
///
/// # Errors
/// The window cannot open; the message names the cause and what to do.
pub fn run(document: Document, configs: StartConfigs, restore: Restore) -> anyhow::Result<()> {
    let profiles = DeviceProfiles::bundled()?;
    let mut options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("highwater")
            .with_app_id("highwater")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([1024.0, 640.0])
            .with_drag_and_drop(true),
        persist_window: restore != Restore::Nothing,
        // Colours denote groups and shares: dithering would falsify them, and takes time.
        dithering: false,
        ..eframe::NativeOptions::default()
    };
    reduce_graphics_memory(&mut options);
    // Files are read while the window opens.
    let window = Arc::new(OnceLock::new());
    let worker = worker_for(Arc::clone(&window), highwater_session::most_threads()?)?;
    let begun = if restore == Restore::Everything {
        Begun::Waiting(Box::new((document, profiles)), worker)
    } else {
        Begun::Session(Box::new(Session::new(document, profiles, worker)))
    };
    let has_begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&has_begun);
    let start = move || {
        eframe::run_native(
            "highwater",
            options,
            Box::new(move |creation| {
                begins.store(true, Ordering::Relaxed);
                let context = &creation.egui_ctx;
                if restore == Restore::Nothing {
                    context.memory_mut(|memory| *memory = egui::Memory::default());
                }
                let graphics = creation.wgpu_render_state.as_ref();
                if let Some(graphics) = graphics {
                    graphics
                        .device
                        .set_device_lost_callback(|reason, cause| end_if_lost(reason, &cause));
                }
                let is_slow = graphics.is_some_and(is_software);
                let progress = if is_slow { SLOW_PROGRESS } else { PROGRESS };
                drop(window.set((context.clone(), progress)));
                let kept = Persisted::read(creation.storage, restore);
                let mut session = match begun {
                    Begun::Session(mut session) => {
                        if let Some(complaint) = kept.complaint() {
                            session.notify(Notice::Failed(complaint));
                        }
                        *session
                    }
                    Begun::Waiting(given, worker) => {
                        let (document, profiles) = *given;
                        session(document, profiles, worker, &kept)
                    }
                };
                session.note_start(configs);
                let mut app = app::App::restored(session, &kept).with_background_search();
                // Without a storage folder there is nothing to recover from.
                let folder = eframe::storage_dir("highwater");
                app.recover_from(folder.map(|folder| folder.join("recovery")).as_deref());
                Ok(Box::new(app))
            }),
        )
    };
    without_panic(start, &has_begun).map_err(|cause| anyhow!(start_failure(&cause)))
}

/// Libraries of the window panic where the display or a variable such as `WINIT_X11_SCALE_FACTOR` is unusable: before the
/// application has begun this is an error like any other.
fn without_panic(start: impl FnOnce() -> eframe::Result, has_begun: &Arc<AtomicBool>) -> Result<(), String> {
    let usual = panic::take_hook();
    let is_shown = Arc::clone(has_begun);
    panic::set_hook(Box::new(move |about| {
        if is_shown.load(Ordering::Relaxed) {
            usual(about);
        }
    }));
    let ended = panic::catch_unwind(AssertUnwindSafe(start));
    match ended {
        Ok(ended) => ended.map_err(|error| error.to_string()),
        Err(payload) if has_begun.load(Ordering::Relaxed) => panic::resume_unwind(payload),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Err(text.unwrap_or("the display cannot be used").to_owned())
        }
    }
}

/// Asks for the smallest blocks of graphics memory, instead of 64 MiB on the host and 128 MiB on the device that grow. Pages of a block
/// that were used once stay, and software graphics have them in main memory.
fn reduce_graphics_memory(options: &mut eframe::NativeOptions) {
    const BLOCK: u64 = 4 << 20;
    if let WgpuSetup::CreateNew(setup) = &mut options.wgpu_options.wgpu_setup {
        let usual = Arc::clone(&setup.device_descriptor);
        setup.device_descriptor = Arc::new(move |adapter| wgpu::DeviceDescriptor {
            memory_hints: wgpu::MemoryHints::Manual {
                suballocated_device_memory_block_size: BLOCK..BLOCK,
            },
            ..usual(adapter)
        });
    }
}

/// Whether frames are drawn by the processor, so that each takes time from other work.
fn is_software(graphics: &RenderState) -> bool {
    graphics.adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// Nothing can be drawn any more, and the next frame would panic. What was not saved is in the recovery folder.
fn end_if_lost(reason: wgpu::DeviceLostReason, cause: &str) {
    if let Some(sentence) = lost_device(reason, cause) {
        // Without a terminal it is lost.
        drop(writeln!(std::io::stderr(), "highwater: {sentence}"));
        std::process::exit(1);
    }
}

/// `None` where the window was closed.
fn lost_device(reason: wgpu::DeviceLostReason, cause: &str) -> Option<String> {
    let cause = cause.replace(['\n', '\r'], " ");
    (reason != wgpu::DeviceLostReason::Destroyed).then(|| {
        format!(
            "the graphics device was lost ({}); start highwater again, it offers the unsaved changes",
            visible(&cause)
        )
    })
}

/// One line: the cause, and what to do.
fn start_failure(cause: &str) -> String {
    let cause = cause.replace(['\n', '\r'], " ");
    format!(
        "the window cannot open: {cause}; install the packages that docs/window.md lists, or run `highwater compare FILE`, \
         which needs no window"
    )
}

enum Begun {
    /// Named files are being read.
    Session(Box<Session>),
    /// The window's storage has the last document.
    Waiting(Box<(Document, DeviceProfiles)>, Worker),
}

/// A worker that wakes the window. The first frame takes what it sent before.
fn worker_for(window: Arc<OnceLock<(egui::Context, Duration)>>, n_threads: usize) -> std::io::Result<Worker> {
    Worker::start_with(n_threads, move |when| match (window.get(), when) {
        (None, _) => {}
        (Some((window, _)), Wake::Now) => window.request_repaint(),
        (Some((window, progress)), Wake::Soon) => window.request_repaint_after(*progress),
    })
}

/// The session of the last document, or of the given one, with a notice about what could not be read.
pub fn session(document: Document, profiles: DeviceProfiles, worker: Worker, kept: &Persisted) -> Session {
    let last = kept.document.as_ref();
    let read = last.and_then(highwater_session::PersistedDocument::document);
    let mut complaints: Vec<String> = kept.complaint().into_iter().collect();
    let is_gone = last.is_some() && read.is_none();
    complaints.extend(is_gone.then(|| "the last session is from another version, so a sample is open".to_owned()));
    let mut session = match read {
        Some((document, complaint)) => {
            complaints.extend(complaint);
            Session::restored(document, profiles, worker)
        }
        None => Session::new(document, profiles, worker),
    };
    if !complaints.is_empty() {
        session.notify(Notice::Failed(complaints.join("; ")));
    }
    session
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_is_told_and_a_closed_one_is_not() {
        let lost = lost_device(wgpu::DeviceLostReason::Unknown, "reset\nby the driver").expect("a sentence");
        assert!(
            lost.contains("(reset by the driver)") && lost.lines().count() == 1,
            "{lost}"
        );
        assert_eq!(lost_device(wgpu::DeviceLostReason::Destroyed, "closed"), None);
    }

    #[test]
    fn a_failed_start_names_its_cause_on_one_line() {
        let causes = ["the storage is locked", "no adapter\nfound"];
        for (cause, words) in causes.iter().zip(["the storage is locked", "no adapter found"]) {
            let text = start_failure(cause);
            assert!(text.contains(words), "{text}");
            assert_eq!(text.lines().count(), 1);
            assert!(text.contains("highwater compare"), "{text}");
        }
    }

    #[test]
    fn a_panic_before_the_window_begins_is_an_error() {
        let start = || -> eframe::Result { panic!("`WINIT_X11_SCALE_FACTOR` invalid") };
        let ended = without_panic(start, &Arc::new(AtomicBool::new(false)));
        assert_eq!(ended, Err("`WINIT_X11_SCALE_FACTOR` invalid".to_owned()));
    }
}
