//! Every colour of the window, light and dark.

mod hues;
mod style;

use eframe::egui::{Color32, Visuals};

pub use style::{HATCH_POINTS, hatch, style};

use hues::{
    CLASSES_DARK, CLASSES_LIGHT, GROUPS_DARK, GROUPS_LIGHT, HEURISTICS_DARK, HEURISTICS_LIGHT, ON_TENSOR, POOLS,
};

use highwater_analysis::Effect;
use highwater_model::diagnostics::Severity;
use highwater_model::graph::{Phase, Role};
use highwater_model::workload::GraphIdx;
use highwater_session::SvgColors;
use highwater_timeline::{
    CLASS_COLORS, DIMMED, FIRST_CLASS, FIRST_GROUP, NO_TENSOR, Owner, PALETTE_LEN, RasterStyle, RematMarkKind,
    TickClass,
};

const fn rgb(hex: u32) -> Color32 {
    let [_, r, g, b] = hex.to_be_bytes();
    Color32::from_rgb(r, g, b)
}

/// Opacity of figures of an older answer, while the new one is computed.
pub(crate) const STALE: f32 = 0.5;

#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Whether the surroundings are dark.
    pub is_dark: bool,
    /// Behind curves and maps.
    pub canvas: Color32,
    /// Behind panels.
    pub panel: Color32,
    /// Grid lines at axis marks.
    pub grid: Color32,
    /// Frames of canvases.
    pub frame: Color32,
    pub text: Color32,
    pub text_weak: Color32,
    pub reserved: Color32,
    /// Below the reserved curve.
    pub reserved_fill: Color32,
    pub live: Color32,
    /// Below the live curve.
    pub live_fill: Color32,
    pub capacity: Color32,
    pub peak: Color32,
    /// Badge of the lowest peak: ground and text.
    pub best: (Color32, Color32),
    /// Fits, or improved.
    pub good: Color32,
    /// Does not fit, or got worse.
    pub bad: Color32,
    /// Outline of the selection.
    pub selection: Color32,
    /// Outline of search matches.
    pub found: Color32,
    /// Outline under the pointer.
    pub hover: Color32,
    /// The crosshair.
    pub cursor: Color32,
    /// Label at the crosshair: ground and text.
    pub cursor_tag: (Color32, Color32),
    pub region_outline: Color32,
    /// Reserved, unused.
    pub region_free: Color32,
    /// Address space without memory.
    pub range: Color32,
    /// Outlines of granted blocks, lines between pages.
    pub granted: Color32,
    /// Stitched pages: ground and hatching, which let their band through.
    pub stitched: (Color32, Color32),
    pub physical: Color32,
    /// Gaps: ground and hatching.
    pub hole: (Color32, Color32),
    /// Edges from earlier and to later owners of bytes.
    pub edge: Color32,
    /// Evictions and recomputations: orange and blue, which every kind of colour blindness tells apart.
    pub remat: [Color32; 2],
    /// Evicted intervals: ground and hatching.
    pub gap: (Color32, Color32),
    /// Bytes in use as the planner of a budget counts them.
    pub usage: Color32,
    pub budget: Color32,
    /// Alternating runs along the axis.
    pub runs: [Color32; 2],
    /// Forward, backward, optimizer.
    pub phases: [Color32; 3],
    pub tensors: [Color32; PALETTE_LEN as usize],
}

impl Theme {
    /// For egui's visuals.
    pub fn of(visuals: &Visuals) -> Self {
        Self::new(visuals.dark_mode)
    }

    /// A translucent band, through which canvases stay readable.
    pub fn band(&self, color: Color32) -> Color32 {
        color.gamma_multiply(if self.is_dark { 0.14 } else { 0.12 })
    }

    pub fn tensor(&self, index: u8) -> Color32 {
        self.tensors[usize::from(index % PALETTE_LEN)]
    }

    /// By the number of [`highwater_timeline::Coloring`].
    pub fn block(&self, number: u8) -> Color32 {
        let plain = number & !DIMMED;
        let (groups, classes) = if self.is_dark {
            (GROUPS_DARK, CLASSES_DARK)
        } else {
            (GROUPS_LIGHT, CLASSES_LIGHT)
        };
        let color = match plain {
            0..FIRST_GROUP => self.tensor(plain),
            NO_TENSOR => self.granted,
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
            gap: has_holes.then(|| [line.to_array(), ground.to_array()]),
        }
    }

    /// The tint of a picture; a selection dims it.
    pub fn picture_tint(&self, is_beside: bool) -> Color32 {
        if is_beside {
            Color32::WHITE.gamma_multiply(0.4)
        } else {
            Color32::WHITE
        }
    }

    /// The ground of memory by owner.
    pub fn owner(&self, owner: Owner) -> Color32 {
        let hue = match owner {
            Owner::Weights => self.part(1),
            Owner::Variables => self.part(2),
            Owner::InputOutput => self.part(3),
            // Near the hue of features, which it holds; far from that of variables, which lie below it.
            Owner::SharedArena => self.tensors[6],
            Owner::Fixed => self.tensors[12],
            Owner::Pool(graph) | Owner::Stitched(graph) => pool_hue(graph),
            Owner::Arena | Owner::DevicePool | Owner::Unplaced => return self.region_free,
        };
        hue.lerp_to_gamma(self.canvas, 0.66)
    }

    /// The colour of a pool's name and figures.
    pub fn pool(&self, graph: Option<GraphIdx>) -> Color32 {
        graph.map_or(self.granted, |graph| pool_hue(graph).lerp_to_gamma(self.canvas, 0.25))
    }

    pub fn tick(&self, class: TickClass) -> Color32 {
        match class {
            TickClass::Trouble => self.bad,
            TickClass::Graphs => self.physical,
            TickClass::Arena => self.tensors[6],
            TickClass::Driver => self.reserved,
            TickClass::Pools => self.peak,
            TickClass::Pages => self.tensors[1],
            TickClass::Grants => self.text_weak,
            TickClass::Clears => self.tensors[4],
        }
    }

    /// Over the highlight of the device pane.
    pub fn highlight(&self) -> Color32 {
        self.selection.gamma_multiply(0.3)
    }

    /// Positive differences.
    pub fn more(&self) -> Color32 {
        self.bad.lerp_to_gamma(self.canvas, 0.35)
    }

    /// Negative differences.
    pub fn less(&self) -> Color32 {
        self.good.lerp_to_gamma(self.canvas, 0.35)
    }

    /// Over the hidden parts of the minimap.
    pub fn veil(&self) -> Color32 {
        self.panel.gamma_multiply(0.62)
    }

    /// Over steps after the end of a run.
    pub fn behind_the_end(&self) -> Color32 {
        self.bad.gamma_multiply(0.10)
    }

    pub fn remat_mark(&self, kind: RematMarkKind) -> Color32 {
        match kind {
            RematMarkKind::Evict => self.remat[0],
            RematMarkKind::Rematerialize | RematMarkKind::Sibling => self.remat[1],
            RematMarkKind::OutOfMemory | RematMarkKind::Thrash => self.bad,
        }
    }

    /// Over steps that recompute an op.
    pub fn recomputed(&self) -> Color32 {
        self.remat[1].gamma_multiply(if self.is_dark { 0.22 } else { 0.20 })
    }

    pub fn phase(&self, phase: Phase) -> Color32 {
        match phase {
            Phase::Unknown => self.panel,
            Phase::Forward => self.phases[0],
            Phase::Backward => self.phases[1],
            Phase::Optimizer => self.phases[2],
        }
    }

    /// Blends a colour towards the canvas.
    pub fn dimmed(&self, color: Color32) -> Color32 {
        color.lerp_to_gamma(self.canvas, 0.35)
    }

    /// Text on a tensor's colour.
    pub fn on_tensor(&self) -> Color32 {
        rgb(ON_TENSOR)
    }

    /// A nearly opaque ground behind text on a curve.
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
            runs: self.runs.map(text),
            phases: self.phases.map(text),
            blocks: (0..=u8::MAX).map(|number| text(self.block(number))).collect(),
        }
    }

    pub fn severity(&self, severity: Severity) -> Color32 {
        match severity {
            Severity::Error => self.bad,
            Severity::Warning => self.peak,
            Severity::Info => self.text_weak,
        }
    }

    /// Parts of the peak: features, weights, variables, inputs and outputs.
    pub fn part(&self, position: usize) -> Color32 {
        [self.reserved, self.tensors[3], self.tensors[2], self.tensors[5]][position % 4]
    }

    /// By the role of a tensor; roles with a part of the peak have its hue.
    pub fn role(&self, role: Option<Role>) -> Color32 {
        match role {
            Some(Role::Activation) => self.part(0),
            Some(Role::Weight | Role::Constant) => self.part(1),
            Some(Role::Parameter | Role::Buffer | Role::OptimizerState) => self.part(2),
            Some(Role::Input) => self.part(3),
            Some(Role::Workspace) => self.tensors[15],
            None => self.granted,
        }
    }

    /// Of a difference.
    pub const fn effect(&self, effect: Effect) -> Color32 {
        match effect {
            Effect::Equivalent => self.text_weak,
            Effect::Better => self.good,
            Effect::Worse => self.bad,
        }
    }

    /// By the position of a heuristic in the table.
    pub fn heuristic(&self, position: usize) -> Color32 {
        let hues = if self.is_dark {
            HEURISTICS_DARK
        } else {
            HEURISTICS_LIGHT
        };
        rgb(hues[position % hues.len()])
    }

    /// The colour of changed values.
    pub fn accent(&self) -> Color32 {
        self.reserved
    }
}

fn pool_hue(graph: GraphIdx) -> Color32 {
    rgb(POOLS[graph.0 as usize % POOLS.len()])
}
