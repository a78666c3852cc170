//! Regions that hold memory at a step, as a sorted table.

use eframe::egui::{self, RichText};
use egui_extras::{Column, TableBuilder};

use super::{Shown, highlight_ui};
use crate::lanes::{HoveredRegion, LanesState};
use crate::panels::sorted_table::{Head, SIZE, Sorting, sorted_table_ui};
use highwater_model::units::{Bytes, grouped};
use highwater_sim::{DevicePicture, RegionPicture};
use highwater_timeline::{Sort, region_text};

/// Width of a figure: held, live, idle.
const COLUMN: f32 = 47.0;
const WIDE_COLUMN: f32 = 66.0;
const WIDE: f32 = 330.0;

/// By reserved bytes.
pub(super) const USUAL: Sort = Sort {
    column: 1,
    is_descending: true,
};

pub(super) fn regions_ui(
    ui: &mut egui::Ui,
    shown: Shown<'_>,
    picture: &DevicePicture,
    sorting: &mut Sorting,
    lanes: &mut LanesState,
) {
    let n_regions = grouped(picture.regions.len() as u64);
    ui.strong(format!("Regions that hold memory: {n_regions}"));
    if picture.regions.is_empty() {
        ui.weak("None at this step.");
        return;
    }
    let mut rows: Vec<&RegionPicture> = picture.regions.iter().collect();
    rows.sort_by_key(|row| row.region);
    let figures = |row: &RegionPicture| [row.held, row.live, idle(row)];
    sorting.order(&mut rows, |column, one, other| match column.checked_sub(1) {
        // By kind and birth.
        None => (one.kind, one.graph).cmp(&(other.kind, other.graph)),
        Some(figure) => figures(one)[figure].cmp(&figures(other)[figure]),
    });
    let is_wide = ui.available_width() >= WIDE;
    ui.spacing_mut().item_spacing.x = 4.0;
    ui.spacing_mut().button_padding.x = 2.0;
    let table = TableBuilder::new(ui)
        .id_salt("device regions")
        .striped(true)
        .auto_shrink([false, true])
        .max_scroll_height(320.0);
    let figure = Column::exact(if is_wide { WIDE_COLUMN } else { COLUMN }).clip(true);
    let heads = [
        ("region", "region", Column::remainder().clip(true)),
        ("reserved", "reserved bytes", figure),
        ("live", "live bytes", figure),
        ("idle", "idle bytes", figure),
    ];
    let heads = heads.map(|(title, about, width)| Head {
        sorts_by: title,
        about: about.to_owned(),
        is_number: title != "region",
        ..Head::new(title, width)
    });
    sorted_table_ui(table, &heads, sorting, (20.0, rows.len()), |line, _| {
        let Some(row) = rows.get(line.index()) else { return };
        line.col(|ui| name_ui(ui, shown, row, lanes));
        let of_features = row.kind.is_feature();
        let live = of_features.then_some(row.live);
        for bytes in [Some(row.held), live, of_features.then(|| idle(row))] {
            line.col(|ui| figure_ui(ui, bytes, is_wide));
        }
    });
}

/// Held bytes without a live tensor. A tensor may extend over pages that are held elsewhere.
fn idle(row: &RegionPicture) -> Bytes {
    if row.kind.is_feature() {
        row.held.saturating_sub(row.live)
    } else {
        Bytes::ZERO
    }
}

/// Resident regions are used as a whole.
fn figure_ui(ui: &mut egui::Ui, bytes: Option<Bytes>, is_wide: bool) {
    let Some(bytes) = bytes else {
        ui.weak("-").on_hover_text("No feature memory: the region is one block");
        return;
    };
    let text = if is_wide { bytes.to_string() } else { bytes.short() };
    ui.label(RichText::new(text).size(SIZE)).on_hover_text(bytes.exact());
}

fn name_ui(ui: &mut egui::Ui, shown: Shown<'_>, row: &RegionPicture, lanes: &mut LanesState) {
    let name = region_text(&shown.comparison.session, row.kind, row.graph);
    let words = format!("outline region {}, {name}, in the memory map", row.region.0);
    let region = HoveredRegion::Region(row.region);
    ui.style_mut().override_font_id = Some(egui::FontId::proportional(SIZE));
    let tensors = grouped(row.n_live);
    highlight_ui(ui, &name, &words, shown, region, lanes).on_hover_text(format!(
        "{name}: {tensors} live blocks\nClick: outline it in the memory map"
    ));
}
