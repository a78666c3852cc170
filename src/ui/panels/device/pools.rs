//! Pools at a step: bytes held and granted, and free lists.

use eframe::egui;

use super::{Shown, highlight_ui};
use crate::lanes::{HoveredRegion, LanesState};
use crate::widgets::{Named as _, bytes_ui};
use highwater_model::units::{Bytes, grouped};
use highwater_sim::{DevicePicture, PoolPicture};
use highwater_timeline::Owner;

/// Sizes listed of a collapsed free list.
const FEW: usize = 6;
/// Sizes listed of an expanded one.
const MANY: usize = 400;

/// The device's pool comes first.
pub(super) fn pools_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    picture: &DevicePicture,
    open: &mut Option<usize>,
    lanes: &mut LanesState,
) {
    ui.strong("Pools of dynamic memory");
    if picture.pools.is_empty() {
        let is_static = shown.comparison.session.graphs.iter().all(|graph| graph.is_static);
        ui.weak(if is_static {
            "None: every graph is static."
        } else {
            "None: the run ended before a dynamic graph created its pool."
        })
        .on_hover_text(
            "A graph is dynamic if its shapes change over the schedule: give a dimension several values, or set \
             compile_dynamic_mode.",
        );
        ui.add_space(6.0);
        return;
    }
    for (position, pool) in picture.pools.iter().enumerate() {
        pool_ui(ui, shown, position, pool, open, lanes);
        ui.add_space(6.0);
    }
}

fn pool_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    position: usize,
    pool: &PoolPicture,
    open: &mut Option<usize>,
    lanes: &mut LanesState,
) {
    let name = match pool.graph {
        Some(_) => format!("pool of {}", shown.graph(pool.graph)),
        None => "device pool".to_owned(),
    };
    let owner = pool.graph.map_or(Owner::DevicePool, Owner::Pool);
    ui.horizontal(|ui| {
        let (square, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
        ui.painter().rect_filled(square, 2, shown.theme.pool(pool.graph));
        let words = format!("outline the {name} in the memory map");
        let region = HoveredRegion::Pool(owner);
        highlight_ui(ui, &name, &words, shown, region, lanes).on_hover_text(&words);
    });
    let (given, gave) = match pool.graph {
        Some(_) => ("in tensors", "Live bytes, rounded"),
        None => ("granted", "Bytes granted to graph pools"),
    };
    let idle = pool.idle();
    let mut rows = vec![
        (
            "holds",
            pool.occupied,
            "Device blocks, or blocks of the device pool and pages",
        ),
        (given, pool.given, gave),
        ("idle", idle, "Bytes of free spans in its blocks"),
        (
            "largest idle",
            pool.largest_idle(),
            "The largest request that fits into its blocks",
        ),
    ];
    if pool.idle_pages > Bytes::ZERO {
        rows.push(("idle pages", pool.idle_pages, "Mapped pages without a live tensor"));
    }
    egui::Grid::new(("device pool", position))
        .num_columns(2)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for (name, bytes, explanation) in rows {
                ui.label(name).on_hover_text(explanation);
                bytes_ui(ui, bytes);
                ui.end_row();
            }
        });
    free_list_ui(ui, position, &name, pool, open);
}

/// Count x size, largest first.
fn free_list_ui(ui: &mut egui::Ui, position: usize, name: &str, pool: &PoolPicture, open: &mut Option<usize>) {
    if pool.idle_spans.is_empty() {
        return;
    }
    let is_open = *open == Some(position);
    let most = if is_open { MANY } else { FEW };
    let text: Vec<String> = pool
        .idle_spans
        .iter()
        .rev()
        .take(most)
        .map(|(bytes, count)| format!("{}×{bytes}", grouped(*count)))
        .collect();
    ui.horizontal_wrapped(|ui| {
        ui.label("free list:")
            .on_hover_text("Free spans by size, largest first: count × size");
        ui.monospace(text.join(", "));
        let n_sizes = pool.idle_spans.len();
        if n_sizes > FEW {
            let words = if is_open {
                "fewer".to_owned()
            } else {
                format!("all {n_sizes} sizes")
            };
            let button = ui
                .small_button(&words)
                .named(egui::Role::Button, || format!("free list of the {name}: {words}"));
            if button.clicked() {
                *open = (!is_open).then_some(position);
            }
        }
    });
}
