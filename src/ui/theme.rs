//! Every colour of the window, light and dark. No other file names one.

use eframe::egui::{self, Color32, Visuals};

use crate::diagnostics::Severity;
use crate::graph::Phase;
use crate::sim::RegionKind;
use crate::timeline::PALETTE_LEN;

const fn rgb(hex: u32) -> Color32 {
    let [_, r, g, b] = hex.to_be_bytes();
    Color32::from_rgb(r, g, b)
}

/// Colours by meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Whether the surroundings are dark.
    pub is_dark: bool,
    /// Behind curves and maps.
    pub canvas: Color32,
    /// Behind the window's panels.
    pub panel: Color32,
    /// Thin lines at axis marks.
    pub grid: Color32,
    /// Frames of canvases.
    pub frame: Color32,
    /// Names and figures.
    pub text: Color32,
    /// Axis marks and secondary words.
    pub text_weak: Color32,
    /// The reserved curve.
    pub reserved: Color32,
    /// Below the reserved curve.
    pub reserved_fill: Color32,
    /// The live curve.
    pub live: Color32,
    /// Below the live curve.
    pub live_fill: Color32,
    /// The capacity of the device.
    pub capacity: Color32,
    /// The mark at a peak.
    pub peak: Color32,
    /// The badge of the configured policy: ground and words.
    pub configured: (Color32, Color32),
    /// The badge of the lowest peak: ground and words.
    pub best: (Color32, Color32),
    /// What fits, or became better.
    pub good: Color32,
    /// What does not fit, or became worse.
    pub bad: Color32,
    /// The outline of what is selected.
    pub selection: Color32,
    /// The outline of what the pointer is on.
    pub hover: Color32,
    /// The line through all lanes.
    pub cursor: Color32,
    /// The tag at the cursor: ground and words.
    pub cursor_tag: (Color32, Color32),
    /// Outlines of regions.
    pub region_outline: Color32,
    /// Reserved and free.
    pub region_free: Color32,
    /// Weights, variables, inputs and outputs.
    pub region_resident: Color32,
    /// Runs along the axis, alternately.
    pub runs: [Color32; 2],
    /// Forward, backward, optimizer.
    pub phases: [Color32; 3],
    /// Tensors.
    pub tensors: [Color32; PALETTE_LEN as usize],
}

/// Hues told apart with the common kinds of colour blindness (after Paul Tol, and Okabe and Ito), on dark.
const TENSORS_DARK: [u32; PALETTE_LEN as usize] = [
    0x4f83b8, 0x63b9d6, 0x3a9a5b, 0xc9b84a, 0xd9717f, 0xa8528f, 0x86a8e0, 0x45a596, 0x7fb069, 0x9a9440, 0xdcc983,
    0xc0677a, 0x8c6bb8, 0xe0a13a, 0x5f9fc9, 0xd27d45,
];
/// The same order of hues on light: lighter, so that dark words read on them.
const TENSORS_LIGHT: [u32; PALETTE_LEN as usize] = [
    0x77aadd, 0x8fd3f2, 0x62bd80, 0xd9ca5f, 0xee8f9a, 0xc583b4, 0xa5bdf0, 0x5fbfae, 0xa6cf8c, 0xb8b25c, 0xeedd99,
    0xd98b9b, 0xb09ad6, 0xf0b95a, 0x8cbfe0, 0xe79d6c,
];

impl Theme {
    /// The theme that suits egui's visuals.
    pub fn of(visuals: &Visuals) -> Self {
        if visuals.dark_mode { Self::dark() } else { Self::light() }
    }

    /// Light on dark.
    pub fn dark() -> Self {
        Self {
            is_dark: true,
            canvas: rgb(0x0014_171b),
            panel: rgb(0x001b_1e23),
            grid: rgb(0x002a_2f36),
            frame: rgb(0x003a_4048),
            text: rgb(0x00e6_e9ed),
            text_weak: rgb(0x009a_a3ad),
            reserved: rgb(0x006c_b2ff),
            reserved_fill: rgb(0x0022_3a55),
            live: rgb(0x0056_d6a0),
            live_fill: rgb(0x0022_4f45),
            capacity: rgb(0x00ff_6b5e),
            peak: rgb(0x00ff_c857),
            configured: (rgb(0x002f_6fb5), rgb(0x00ff_ffff)),
            best: (rgb(0x001f_7a55), rgb(0x00ff_ffff)),
            good: rgb(0x005f_d39a),
            bad: rgb(0x00ff_8075),
            selection: rgb(0x00ff_c857),
            hover: rgb(0x00ff_ffff),
            cursor: rgb(0x00c8_ced6),
            cursor_tag: (rgb(0x00e6_e9ed), rgb(0x0014_171b)),
            region_outline: rgb(0x0066_7080),
            region_free: rgb(0x0023_282f),
            region_resident: rgb(0x0047_4f5b),
            runs: [rgb(0x002c_343f), rgb(0x0038_4150)],
            phases: [rgb(0x0027_4a6b), rgb(0x0060_3a56), rgb(0x005a_4b1e)],
            tensors: TENSORS_DARK.map(rgb),
        }
    }

    /// Dark on light.
    pub fn light() -> Self {
        Self {
            is_dark: false,
            canvas: rgb(0x00ff_ffff),
            panel: rgb(0x00f6_f7f9),
            grid: rgb(0x00e6_e9ed),
            frame: rgb(0x00c4_cad2),
            text: rgb(0x001b_2026),
            text_weak: rgb(0x0059_636e),
            reserved: rgb(0x001f_6fc4),
            reserved_fill: rgb(0x00d3_e5f8),
            live: rgb(0x0000_8358),
            live_fill: rgb(0x00b9_e3d2),
            capacity: rgb(0x00c6_2b1d),
            peak: rgb(0x00b3_5c00),
            configured: (rgb(0x001f_6fc4), rgb(0x00ff_ffff)),
            best: (rgb(0x0000_7a50), rgb(0x00ff_ffff)),
            good: rgb(0x0000_7348),
            bad: rgb(0x00c0_2a1c),
            selection: rgb(0x00b3_3c00),
            hover: rgb(0x0000_0000),
            cursor: rgb(0x0046_505a),
            cursor_tag: (rgb(0x001b_2026), rgb(0x00ff_ffff)),
            region_outline: rgb(0x0090_99a5),
            region_free: rgb(0x00ee_f0f3),
            region_resident: rgb(0x00cb_d1d9),
            runs: [rgb(0x00e2_e7ee), rgb(0x00d3_dae4)],
            phases: [rgb(0x00cf_e2f5), rgb(0x00f0_d7e6), rgb(0x00f1_e6bf)],
            tensors: TENSORS_LIGHT.map(rgb),
        }
    }

    /// The colour of a tensor's index.
    pub fn tensor(&self, index: u8) -> Color32 {
        self.tensors[usize::from(index % PALETTE_LEN)]
    }

    /// The ground of a region.
    pub fn region(&self, kind: RegionKind) -> Color32 {
        match kind {
            RegionKind::Variables | RegionKind::Weights | RegionKind::InputOutput => self.region_resident,
            RegionKind::Arena | RegionKind::PoolBlock | RegionKind::PagedRange => self.region_free,
        }
    }

    /// The ground of a phase band.
    pub fn phase(&self, phase: Phase) -> Color32 {
        match phase {
            Phase::Unknown => self.panel,
            Phase::Forward => self.phases[0],
            Phase::Backward => self.phases[1],
            Phase::Optimizer => self.phases[2],
        }
    }

    /// Steps a colour back towards the canvas, as beside a selection.
    pub fn dimmed(&self, color: Color32) -> Color32 {
        color.lerp_to_gamma(self.canvas, 0.45)
    }

    /// Words on a tensor's colour.
    pub fn on_tensor(&self) -> Color32 {
        rgb(0x0010_1418)
    }

    /// A ground that lets little through, behind words on a curve.
    pub fn halo(&self) -> Color32 {
        self.canvas.gamma_multiply(0.85)
    }
}

impl Theme {
    /// The colour of a severity's word.
    pub fn severity(&self, severity: Severity) -> Color32 {
        match severity {
            Severity::Error => self.bad,
            Severity::Warning => self.peak,
            Severity::Info => self.text_weak,
        }
    }

    /// The colour of a part of the peak: features, weights, variables, inputs and outputs.
    pub fn part(&self, position: usize) -> Color32 {
        [self.reserved, self.tensors[3], self.tensors[2], self.tensors[5]][position % 4]
    }

    /// The colour of what the user changed.
    pub fn accent(&self) -> Color32 {
        self.reserved
    }
}

/// Sizes, spacing and the grounds of egui's own widgets, for both themes.
pub fn style(ctx: &egui::Context) {
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.interaction.selectable_labels = false;
        style.animation_time = 0.0;
    });
    for (which, theme) in [(egui::Theme::Dark, Theme::dark()), (egui::Theme::Light, Theme::light())] {
        ctx.style_mut_of(which, |style| {
            let visuals = &mut style.visuals;
            visuals.panel_fill = theme.panel;
            visuals.window_fill = theme.panel;
            visuals.extreme_bg_color = theme.canvas;
            visuals.faint_bg_color = theme.panel.lerp_to_gamma(theme.grid, 0.6);
            visuals.weak_text_color = Some(theme.text_weak);
            visuals.widgets.noninteractive.fg_stroke.color = theme.text;
            visuals.widgets.inactive.fg_stroke.color = theme.text;
            visuals.widgets.noninteractive.bg_stroke.color = theme.frame;
            visuals.hyperlink_color = theme.accent();
        });
    }
}
