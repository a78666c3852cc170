//! Pixels: the only room that names egui.
//!
//! Panels are functions that read state, paint, and push what the user wants into a list; they hold no engine logic
//! and never wait.

pub mod app;
pub mod commands;
pub mod dialogs;
pub mod help;
pub mod lanes;
pub mod panels;
pub mod panes;
pub mod theme;
pub mod top_bar;

use anyhow::anyhow;
use eframe::egui;

use crate::diagnostics::Diagnostics;
use crate::session::{Document, Session, Worker};
use crate::workload::DeviceProfiles;

/// Opens the window and runs until it is closed.
///
/// # Errors
/// One sentence where there is no display or no graphics driver.
pub fn run(document: Document, remarks: Vec<(String, Diagnostics)>) -> anyhow::Result<()> {
    let profiles = DeviceProfiles::bundled()?;
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("highwater")
            .with_app_id("highwater")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([900.0, 560.0])
            .with_drag_and_drop(true),
        ..eframe::NativeOptions::default()
    };
    let start = move || {
        eframe::run_native(
            "highwater",
            options,
            Box::new(move |creation| {
                let wake = creation.egui_ctx.clone();
                let worker = Worker::start(move || wake.request_repaint())?;
                let mut session = Session::new(document, profiles, worker);
                for (name, remarks) in remarks {
                    session.note_config(name, remarks);
                }
                Ok(Box::new(app::App::new(session)))
            }),
        )
    };
    start().map_err(|_error| {
        anyhow!(
            "the window cannot open: there is no display or no graphics driver; README.md lists the packages it needs, and \
             `highwater compare FILE` prints the same figures without a window"
        )
    })
}
