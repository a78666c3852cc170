//! Every colour of the window, light and dark. No other file names one.

#![expect(clippy::unreadable_literal, reason = "colours read best as six digits")]

use eframe::egui::{self, Color32, Visuals};

use crate::diagnostics::Severity;
use crate::graph::Phase;
use crate::session::SvgColors;
use crate::timeline::{
    CLASS_COLORS, FIRST_CLASS, FIRST_GROUP, GROUP_COLORS, NO_TENSOR, Owner, PALETTE_LEN, RasterStyle, RematMarkKind,
    STEPPED_BACK, Side, TickClass,
};
use crate::workload::GraphIdx;

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
    /// The outline of what a search found.
    pub found: Color32,
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
    /// Address space without memory.
    pub range: Color32,
    /// Outlines of granted blocks, lines between pages.
    pub grant: Color32,
    /// Stitched pages: ground and hatching, which let their band through.
    pub stitched: (Color32, Color32),
    /// The physical curve.
    pub physical: Color32,
    /// Free below live blocks: ground and hatching.
    pub hole: (Color32, Color32),
    /// Edges from donors and to heirs.
    pub edges: [Color32; 2],
    /// Evicted, and computed anew: orange and blue, which every kind of colour blindness tells apart.
    pub remat: [Color32; 2],
    /// While a tensor is away: ground and hatching.
    pub gap: (Color32, Color32),
    /// Bytes in use as the planner of a budget counts them.
    pub usage: Color32,
    /// The line of the budget.
    pub budget: Color32,
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
/// Hues of heuristics, after Okabe and Ito, on dark and on light; markers tell them apart too.
const HEURISTICS_DARK: [u32; 9] = [
    0xe6e9ed, 0x56b4e9, 0xe69f00, 0x2fc79a, 0xf0e442, 0xcc79a7, 0xff7f3f, 0x9a8cff, 0xa0a0a0,
];
const HEURISTICS_LIGHT: [u32; 9] = [
    0x1b2026, 0x0072b2, 0xb87700, 0x007a5a, 0x857a00, 0xb0508a, 0xd55e00, 0x5b4bc4, 0x7d7d7d,
];
/// Hues of groups of tensors, most bytes first, after Okabe and Ito and Paul Tol, on dark and on light.
const GROUPS_DARK: [u32; GROUP_COLORS as usize] = [
    0x56b4e9, 0xe69f00, 0x2fc79a, 0xcc79a7, 0xf0e442, 0xd55e00, 0x8a97ff, 0x999933, 0xaa5599, 0x44aa99, 0xddcc99,
    0xb0506a,
];
const GROUPS_LIGHT: [u32; GROUP_COLORS as usize] = [
    0x7cc4ee, 0xf0b440, 0x5fcfa8, 0xdb9cc0, 0xe6d943, 0xe88a4a, 0xa6b0ff, 0xb8b25c, 0xc98fbf, 0x74c4b4, 0xe8dca8,
    0xd58a9c,
];
/// Hues of classes, small to large, in one order of lightness (after viridis).
const CLASSES_DARK: [u32; CLASS_COLORS as usize] = [0x6a5acd, 0x4f7fc4, 0x35a0b4, 0x2fbf8f, 0x9ed33f, 0xfde725];
const CLASSES_LIGHT: [u32; CLASS_COLORS as usize] = [0xf5e04a, 0xbfe07a, 0x86dcb4, 0x7fcfd8, 0x93b8ea, 0xb29fe8];
/// Hues of graph pools, after Okabe and Ito; the seventh graph has the first one's again.
const POOLS: [u32; 6] = [0x56b4e9, 0xe69f00, 0xcc79a7, 0xd55e00, 0x009e73, 0xf0e442];
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
            canvas: rgb(0x14171b),
            panel: rgb(0x1b1e23),
            grid: rgb(0x2a2f36),
            frame: rgb(0x3a4048),
            text: rgb(0xe6e9ed),
            text_weak: rgb(0x9aa3ad),
            reserved: rgb(0x6cb2ff),
            reserved_fill: rgb(0x223a55),
            live: rgb(0x56d6a0),
            live_fill: rgb(0x224f45),
            capacity: rgb(0xff6b5e),
            peak: rgb(0xffc857),
            configured: (rgb(0x2f6fb5), rgb(0xffffff)),
            best: (rgb(0x1f7a55), rgb(0xffffff)),
            good: rgb(0x5fd39a),
            bad: rgb(0xff8075),
            selection: rgb(0xffc857),
            found: rgb(0xdfe8f2),
            hover: rgb(0xffffff),
            cursor: rgb(0xc8ced6),
            cursor_tag: (rgb(0xe6e9ed), rgb(0x14171b)),
            region_outline: rgb(0x667080),
            region_free: rgb(0x23282f),
            range: rgb(0x171a1f),
            grant: rgb(0x5a6472),
            stitched: (Color32::TRANSPARENT, rgb(0x9fb4c9)),
            physical: rgb(0xd1a8ff),
            hole: (rgb(0x1d2026), rgb(0x59616d)),
            edges: [rgb(0x8fd0ff), rgb(0xffb27a)],
            remat: [rgb(0xff9f45), rgb(0x5cc8f2)],
            gap: (rgb(0x14171b), rgb(0xa06a35)),
            usage: rgb(0xf2a0d4),
            budget: rgb(0xff70c0),
            runs: [rgb(0x2c343f), rgb(0x384150)],
            phases: [rgb(0x274a6b), rgb(0x603a56), rgb(0x5a4b1e)],
            tensors: TENSORS_DARK.map(rgb),
        }
    }

    /// Dark on light.
    pub fn light() -> Self {
        Self {
            is_dark: false,
            canvas: rgb(0xffffff),
            panel: rgb(0xf6f7f9),
            grid: rgb(0xe6e9ed),
            frame: rgb(0xc4cad2),
            text: rgb(0x1b2026),
            text_weak: rgb(0x59636e),
            reserved: rgb(0x1f6fc4),
            reserved_fill: rgb(0xd3e5f8),
            live: rgb(0x008358),
            live_fill: rgb(0xb9e3d2),
            capacity: rgb(0xc62b1d),
            peak: rgb(0xb35c00),
            configured: (rgb(0x1f6fc4), rgb(0xffffff)),
            best: (rgb(0x007a50), rgb(0xffffff)),
            good: rgb(0x007348),
            bad: rgb(0xc02a1c),
            selection: rgb(0xb33c00),
            found: rgb(0x202830),
            hover: rgb(0x000000),
            cursor: rgb(0x46505a),
            cursor_tag: (rgb(0x1b2026), rgb(0xffffff)),
            region_outline: rgb(0x9099a5),
            region_free: rgb(0xeef0f3),
            range: rgb(0xf9fafb),
            grant: rgb(0xa3adb9),
            stitched: (Color32::TRANSPARENT, rgb(0x5b6b7c)),
            physical: rgb(0x7a3fb5),
            hole: (rgb(0xfafbfc), rgb(0xb4bcc6)),
            edges: [rgb(0x0b4f94), rgb(0x9a3d00)],
            remat: [rgb(0xc25700), rgb(0x0070a8)],
            gap: (rgb(0xffffff), rgb(0xd79a62)),
            usage: rgb(0xb0307f),
            budget: rgb(0x8f0f60),
            runs: [rgb(0xe2e7ee), rgb(0xd3dae4)],
            phases: [rgb(0xcfe2f5), rgb(0xf0d7e6), rgb(0xf1e6bf)],
            tensors: TENSORS_LIGHT.map(rgb),
        }
    }

    /// A band over canvases: what is below stays readable.
    pub fn band(&self, color: Color32) -> Color32 {
        color.gamma_multiply(if self.is_dark { 0.14 } else { 0.12 })
    }

    /// The colour of a tensor's index.
    pub fn tensor(&self, index: u8) -> Color32 {
        self.tensors[usize::from(index % PALETTE_LEN)]
    }

    /// The colour of a block by its number, as [`crate::timeline::Look`] gives it.
    pub fn block(&self, number: u8) -> Color32 {
        let plain = number & !STEPPED_BACK;
        let (groups, classes) = if self.is_dark {
            (GROUPS_DARK, CLASSES_DARK)
        } else {
            (GROUPS_LIGHT, CLASSES_LIGHT)
        };
        let color = match plain {
            0..FIRST_GROUP => self.tensor(plain),
            NO_TENSOR => self.grant,
            FIRST_CLASS.. => rgb(classes[usize::from((plain - FIRST_CLASS) % CLASS_COLORS)]),
            group => {
                let hue = groups.get(usize::from(group - FIRST_GROUP));
                hue.map_or(self.region_outline, |hue| rgb(*hue))
            }
        };
        if plain == number {
            color
        } else {
            color.lerp_to_gamma(self.canvas, 0.8)
        }
    }

    /// The colours of pictures of lanes.
    pub fn raster_style(&self, has_holes: bool) -> RasterStyle {
        let (ground, line) = self.hole;
        RasterStyle {
            colors: (0..=u8::MAX).map(|number| self.block(number).to_array()).collect(),
            hole: has_holes.then(|| [line.to_array(), ground.to_array()]),
        }
    }

    /// What a picture is multiplied with; beside a selection it steps back.
    pub fn picture_tint(&self, is_beside: bool) -> Color32 {
        if is_beside {
            Color32::WHITE.gamma_multiply(0.4)
        } else {
            Color32::WHITE
        }
    }

    /// The ground of memory by whose it is.
    pub fn owner(&self, owner: Owner) -> Color32 {
        let hue = match owner {
            Owner::Weights => self.part(1),
            Owner::Variables => self.part(2),
            Owner::InputOutput => self.part(3),
            Owner::SharedArena => self.tensors[7],
            Owner::Fixed => self.tensors[12],
            Owner::Pool(graph) | Owner::Stitched(graph) => pool_hue(graph),
            Owner::Arena | Owner::DevicePool | Owner::Unplaced => return self.region_free,
        };
        hue.lerp_to_gamma(self.canvas, 0.66)
    }

    /// The colour of a pool's name and figures.
    pub fn pool(&self, graph: Option<GraphIdx>) -> Color32 {
        graph.map_or(self.grant, |graph| pool_hue(graph).lerp_to_gamma(self.canvas, 0.25))
    }

    /// The colour of a tick.
    pub fn tick(&self, class: TickClass) -> Color32 {
        match class {
            TickClass::Trouble => self.bad,
            TickClass::Graphs => self.physical,
            TickClass::Arena => self.tensors[7],
            TickClass::Driver => self.reserved,
            TickClass::Pools => self.peak,
            TickClass::Pages => self.tensors[1],
            TickClass::Grants => self.text_weak,
            TickClass::Clears => self.tensors[4],
        }
    }

    /// Over what the device panel points at.
    pub fn highlight(&self) -> Color32 {
        self.selection.gamma_multiply(0.3)
    }

    /// What a difference holds more.
    pub fn more(&self) -> Color32 {
        self.bad.lerp_to_gamma(self.canvas, 0.35)
    }

    /// What it holds less.
    pub fn less(&self) -> Color32 {
        self.good.lerp_to_gamma(self.canvas, 0.35)
    }

    /// Over what is out of view in the overview.
    pub fn veil(&self) -> Color32 {
        self.panel.gamma_multiply(0.62)
    }

    /// Over what lies behind the end of a run.
    pub fn behind_the_end(&self) -> Color32 {
        self.bad.gamma_multiply(0.10)
    }

    /// The colour of an edge.
    pub fn edge(&self, side: Side) -> Color32 {
        match side {
            Side::Donor => self.edges[0],
            Side::Heir => self.edges[1],
        }
    }

    /// The colour of a mark of a run under a budget.
    pub fn remat_mark(&self, kind: RematMarkKind) -> Color32 {
        match kind {
            RematMarkKind::Evict => self.remat[0],
            RematMarkKind::Rematerialize | RematMarkKind::Sibling => self.remat[1],
            RematMarkKind::OutOfMemory | RematMarkKind::Thrash => self.bad,
        }
    }

    /// Over steps on which an op is computed anew.
    pub fn anew(&self) -> Color32 {
        self.remat[1].gamma_multiply(if self.is_dark { 0.22 } else { 0.20 })
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
        color.lerp_to_gamma(self.canvas, 0.35)
    }

    /// A tensor that a search did not find.
    pub fn faded(&self, color: Color32) -> Color32 {
        color.lerp_to_gamma(self.canvas, 0.78)
    }

    /// Words on a tensor's colour.
    pub fn on_tensor(&self) -> Color32 {
        rgb(0x101418)
    }

    /// A ground that lets little through, behind words on a curve.
    pub fn halo(&self) -> Color32 {
        self.canvas.gamma_multiply(0.85)
    }
}

impl Theme {
    /// The colours of drawings.
    pub fn svg(&self) -> SvgColors {
        let text = |color: Color32| {
            let [r, g, b, _] = color.to_array();
            format!("#{r:02x}{g:02x}{b:02x}")
        };
        SvgColors {
            page: text(self.panel),
            canvas: text(self.canvas),
            text: text(self.text),
            text_weak: text(self.text_weak),
            grid: text(self.grid),
            frame: text(self.frame),
            reserved: text(self.reserved),
            reserved_fill: text(self.reserved_fill),
            live: text(self.live),
            live_fill: text(self.live_fill),
            physical: text(self.physical),
            capacity: text(self.capacity),
            peak: text(self.peak),
            region: text(self.region_free),
            region_outline: text(self.region_outline),
            on_tensor: text(self.on_tensor()),
            tensors: self.tensors.map(text).to_vec(),
        }
    }

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

    /// The colour of a heuristic, by its position in the table.
    pub fn heuristic(&self, position: usize) -> Color32 {
        let hues = if self.is_dark {
            HEURISTICS_DARK
        } else {
            HEURISTICS_LIGHT
        };
        rgb(hues[position % hues.len()])
    }

    /// The colour of what the user changed.
    pub fn accent(&self) -> Color32 {
        self.reserved
    }
}

/// The hue of a graph's pool.
fn pool_hue(graph: GraphIdx) -> Color32 {
    rgb(POOLS[graph.0 as usize % POOLS.len()])
}

/// Points after which the hatching of holes repeats.
pub const HATCH_POINTS: f32 = 8.0;

/// One piece of the hatching: a slanting line on its ground.
pub fn hatch((ground, line): (Color32, Color32)) -> egui::ColorImage {
    const SIDE: usize = 16;
    let pixel = |idx: usize| {
        let place = (idx % SIDE + idx / SIDE) % SIDE;
        ground.lerp_to_gamma(line, [1.0, 0.6, 0.0][place.min(SIDE - place).min(2)])
    };
    egui::ColorImage::new([SIDE, SIDE], (0..SIDE * SIDE).map(pixel).collect())
}

/// Sizes, spacing and the grounds of egui's own widgets, for both themes.
pub fn style(ctx: &egui::Context) {
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.interaction.selectable_labels = false;
        style.animation_time = 0.0;
        style.scroll_animation = egui::style::ScrollAnimation::none();
        // egui's 9 points are too small for findings and facts.
        style
            .text_styles
            .insert(egui::TextStyle::Small, egui::FontId::proportional(10.5));
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
            // What has the keyboard (egui draws it as hovered) has a ring that is seen on every ground.
            visuals.widgets.hovered.bg_stroke = egui::Stroke::new(1.0, theme.accent());
        });
    }
}
