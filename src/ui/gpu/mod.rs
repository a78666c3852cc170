//! Lanes with more blocks than a frame draws one by one, drawn by the graphics device.
//!
//! In: the lanes of an answer, the colours of their blocks, a view. Out: the pixels of `timeline::raster`, in every frame of a
//! view that moves. Rows of blocks lie on the device for as long as their answer is shown; other colours send a column of
//! numbers, another view sends two lines of them. What is narrower or lower than a pixel is a pixel.
//!
//! ```text
//! rows + colours --large--> picture ----------+
//!                --small--> picture, ranked --+--> on the screen
//!                --share--> sums -------------+
//! ```
//!
//! Devices that are a processor in disguise draw slower than our own pictures do, so that these stay theirs.

mod drawing;
mod pipelines;
mod uploads;

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui::{self, Color32, PaintCallbackInfo, Painter, Rect};
use eframe::egui_wgpu::{Callback, CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use eframe::wgpu;

use self::drawing::{LaneOnDevice, Shown};
use self::pipelines::{DEPTH, Pipelines, SHARE};
use self::uploads::Source;
use highwater_session::PainterChoice;
use highwater_timeline::{Coloring, MOST_ADDRESS, RasterStyle, Timeline, Viewport};

/// Blocks and holes of a lane that is drawn by the device: 400 MB of its memory.
const MOST_ROWS: usize = 1 << 24;

/// Who draws large lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeLanes {
    /// Whether the graphics device does; otherwise the worker draws pictures.
    pub is_by_device: bool,
    /// A sentence that says so; empty where nothing is known of a device.
    pub words: String,
    /// The answer that was on the screen last.
    answer: u64,
}

impl LargeLanes {
    /// Looks at the device of a window, and gets it ready where it is to draw.
    pub fn choose(choice: PainterChoice, state: Option<&RenderState>) -> Self {
        let Some(state) = state else { return Self::default() };
        let info = state.adapter.get_info();
        let name = format!("{} ({})", info.name, info.backend);
        let is_wanted = is_wanted(choice, info.device_type);
        let is_by_device = is_wanted && can_draw(state);
        if is_by_device {
            let on_device = OnDevice::new(&state.device, state.target_format);
            state.renderer.write().callback_resources.insert(on_device);
        }
        let words = match (is_by_device, is_wanted, choice) {
            (true, ..) => format!("Large lanes are drawn by the graphics device: {name}."),
            (false, true, _) => {
                format!("Large lanes are drawn as pictures by the processor: {name} lacks what drawing them takes.")
            }
            (false, false, PainterChoice::Picture) => {
                "Large lanes are drawn as pictures by the processor, as --painter picture says.".to_owned()
            }
            (false, false, _) => {
                format!("Large lanes are drawn as pictures by the processor: {name} is no graphics device of its own.")
            }
        };
        Self {
            is_by_device,
            words,
            answer: 0,
        }
    }

    /// Lets go of what the device holds of answers other than this one.
    pub fn keep(&mut self, state: Option<&RenderState>, answer: u64) {
        let is_other = std::mem::replace(&mut self.answer, answer) != answer;
        let Some(state) = state.filter(|_| is_other && self.is_by_device) else {
            return;
        };
        let mut renderer = state.renderer.write();
        if let Some(on_device) = renderer.callback_resources.get_mut::<OnDevice>() {
            on_device.keep(answer);
        }
    }
}

/// Whether a window is drawn by the processor, so that every frame takes its time from whatever else goes on.
pub fn is_software(state: Option<&RenderState>) -> bool {
    state.is_some_and(|state| state.adapter.get_info().device_type == wgpu::DeviceType::Cpu)
}

/// Whether a device of this kind is to draw.
pub fn is_wanted(choice: PainterChoice, kind: wgpu::DeviceType) -> bool {
    match choice {
        PainterChoice::Device => true,
        PainterChoice::Picture => false,
        PainterChoice::Auto => matches!(
            kind,
            wgpu::DeviceType::DiscreteGpu | wgpu::DeviceType::IntegratedGpu | wgpu::DeviceType::VirtualGpu
        ),
    }
}

/// Whether a device can: sums of shares take a format that older ones do not draw into.
fn can_draw(state: &RenderState) -> bool {
    let of = |format: wgpu::TextureFormat| state.adapter.get_texture_format_features(format);
    let is_target = |format| {
        of(format)
            .allowed_usages
            .contains(wgpu::TextureUsages::RENDER_ATTACHMENT)
    };
    let is_blended = of(SHARE).flags.contains(wgpu::TextureFormatFeatureFlags::BLENDABLE);
    is_blended && is_target(SHARE) && is_target(DEPTH) && !state.target_format.is_srgb()
}

/// The lanes of an answer, for a device that draws them.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLanes<'a> {
    /// The view-model.
    pub timeline: &'a Arc<Timeline>,
    /// The colours of blocks.
    pub look: &'a Arc<Coloring>,
    /// The number of the answer and of its colours.
    pub version: (u64, u64),
}

/// Where a lane is drawn, and how.
#[derive(Clone, Debug)]
pub struct LanePlace {
    /// Which.
    pub lane: usize,
    /// What of it.
    pub view: Viewport,
    /// Where, in points.
    pub rect: Rect,
    /// In which colours.
    pub style: RasterStyle,
    /// What the picture is multiplied with.
    pub tint: Color32,
}

impl DeviceLanes<'_> {
    /// Whether a lane fits the device.
    pub fn takes(&self, lane: usize) -> bool {
        let Some(lane) = self.timeline.lanes.get(lane) else {
            return false;
        };
        let n_rows = lane.block_rects().len() + lane.gap_rects().len();
        n_rows <= MOST_ROWS && lane.height.get() < MOST_ADDRESS
    }

    /// Paints a lane. Its pixels are drawn when the frame is.
    pub fn paint(&self, painter: &Painter, place: LanePlace) {
        let LanePlace {
            lane,
            view,
            rect,
            style,
            tint,
        } = place;
        let tint = tint.gamma_multiply(painter.opacity()).to_array();
        let callback = LaneCallback {
            lane,
            timeline: Arc::clone(self.timeline),
            look: Arc::clone(self.look),
            version: self.version,
            shown: Shown {
                view,
                rect,
                style,
                tint: tint.map(|channel| f32::from(channel) / 255.0),
            },
            context: painter.ctx().clone(),
        };
        painter.add(Callback::new_paint_callback(rect, callback));
    }
}

/// What the device holds of an answer.
struct OnDevice {
    pipelines: Pipelines,
    answer: u64,
    lanes: BTreeMap<usize, LaneOnDevice>,
}

impl OnDevice {
    fn new(device: &wgpu::Device, target: wgpu::TextureFormat) -> Self {
        Self {
            pipelines: Pipelines::new(device, target),
            answer: 0,
            lanes: BTreeMap::new(),
        }
    }

    fn keep(&mut self, answer: u64) {
        if self.answer != answer {
            self.lanes.clear();
            self.answer = answer;
        }
    }
}

/// One lane in one frame.
struct LaneCallback {
    lane: usize,
    timeline: Arc<Timeline>,
    look: Arc<Coloring>,
    version: (u64, u64),
    shown: Shown,
    context: egui::Context,
}

impl CallbackTrait for LaneCallback {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        screen: &ScreenDescriptor,
        encoder: &mut wgpu::CommandEncoder,
        resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        let on_device = resources.get_mut::<OnDevice>();
        let Some((on_device, lane)) = on_device.zip(self.timeline.lanes.get(self.lane)) else {
            return Vec::new();
        };
        on_device.keep(self.version.0);
        let pipelines = &on_device.pipelines;
        let lanes = &mut on_device.lanes;
        let of_lane = lanes
            .entry(self.lane)
            .or_insert_with(|| LaneOnDevice::new(device, pipelines));
        let source = Source {
            lane,
            colors: self.look.colors(self.lane, lane),
            look: self.version.1,
        };
        if of_lane.uploads.send(device, queue, &source) {
            self.context.request_repaint();
        }
        let shown = (&self.shown, screen.pixels_per_point);
        of_lane.draw((device, queue, encoder), pipelines, &source, shown);
        Vec::new()
    }

    fn paint(&self, info: PaintCallbackInfo, pass: &mut wgpu::RenderPass<'static>, resources: &CallbackResources) {
        let Some(on_device) = resources.get::<OnDevice>() else {
            return;
        };
        let Some(lane) = on_device.lanes.get(&self.lane) else {
            return;
        };
        let [width, height] = info.screen_size_px.map(pixels);
        // The picture finds its place by itself, also where a part of it is beyond the window.
        pass.set_viewport(0.0, 0.0, width, height, 0.0, 1.0);
        lane.show(pass, &on_device.pipelines);
    }
}

#[expect(clippy::cast_precision_loss, reason = "pixels of a screen fit f32")]
const fn pixels(side: u32) -> f32 {
    side as f32
}
