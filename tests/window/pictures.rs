//! Image snapshots of the main views, drawn in software. `UPDATE_SNAPSHOTS=1` rewrites them.
//!
//! Without a graphics device they print "skipped".

use std::future::Future;
use std::task::{Context, Poll, Waker};

use eframe::egui::Theme;
use eframe::egui_wgpu::{RenderState, RendererOptions, WgpuConfiguration, WgpuSetup};
use eframe::wgpu::Backends;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::wgpu::WgpuTestRenderer;
use egui_kittest::{Harness, SnapshotOptions};

use crate::harness::{LanesApp, LanesWindow};
use crate::synthetic;
use crate::synthetic_remat::{self, End};

/// Rasterizers of different versions place edges slightly differently: 300 pixels are less than one line of 720.
fn options() -> SnapshotOptions {
    SnapshotOptions::new()
        .output_path("../../tests/window/snapshots")
        .max_failed_pixels(300)
}

/// Runs what is ready at once, or nearly so.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}

/// A device that draws into nothing; `None` where this machine has none.
fn device() -> Option<RenderState> {
    let mut setup = WgpuSetup::without_display_handle();
    if let WgpuSetup::CreateNew(new) = &mut setup {
        new.instance_descriptor.backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
    }
    let instance = wait(setup.new_instance());
    let config = WgpuConfiguration {
        wgpu_setup: setup,
        ..WgpuConfiguration::default()
    };
    let state = wait(RenderState::create(
        &config,
        &instance,
        None,
        RendererOptions::PREDICTABLE,
    ));
    if state.is_err() {
        eprintln!("skipped: no graphics device");
    }
    state.ok()
}

fn window(lanes: LanesApp, theme: Theme) -> Option<LanesWindow> {
    let state = device()?;
    let builder = Harness::builder()
        .with_size([720.0, 480.0])
        .with_theme(theme)
        .with_options(options())
        .renderer(WgpuTestRenderer::from_render_state(state));
    let mut window = builder.build_ui_state(|ui, lanes: &mut LanesApp| lanes.ui(ui), lanes);
    window.run();
    Some(window)
}

fn memory_map(theme: Theme, name: &str) {
    let lanes = LanesApp::new(synthetic::comparison(24, 1));
    let Some(mut window) = window(lanes, theme) else { return };
    window.snapshot(name);
}

#[test]
fn a_dark_memory_map() {
    memory_map(Theme::Dark, "memory_map_dark");
}

#[test]
fn a_light_memory_map() {
    memory_map(Theme::Light, "memory_map_light");
}

#[test]
fn lifetimes() {
    let lanes = LanesApp::new(synthetic::comparison(24, 1));
    let Some(mut window) = window(lanes, Theme::Dark) else {
        return;
    };
    window.get_by_label("Lifetimes").click();
    window.run();
    window.snapshot("lifetimes");
}

#[test]
fn lanes_under_a_budget() {
    let lanes = LanesApp::new(synthetic_remat::comparison(24, End::Whole));
    let Some(mut window) = window(lanes, Theme::Dark) else {
        return;
    };
    window.snapshot("budget");
}
