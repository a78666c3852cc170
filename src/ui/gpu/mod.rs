//! Lanes with more blocks than a frame can draw, drawn by the graphics device.
//!
//! In: the lanes of an answer, the colours of their blocks, a view. Out: the pixels of `timeline::raster`, in every
//! frame of a moving view. Rows of blocks stay on the device while their answer is shown; new colours upload a column
//! of numbers, a new view two lines of them. What is narrower or lower than a pixel is a pixel.
//!
//! ```text
//! rows + colours --large--> picture ----------+
//!                --small--> picture, ranked --+--> on the screen
//!                --share--> sums -------------+
//! ```
//!
//! Software devices draw slower than the painter thread, so it keeps its pictures there.

mod drawing;
mod pipelines;
mod uploads;

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui::{self, Color32, PaintCallbackInfo, Painter, Rect};
use eframe::egui_wgpu::{Callback, CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use eframe::wgpu;

use self::drawing::{DeviceCx, LaneOnDevice, Shown};
use self::pipelines::{DEPTH, Pipelines, SHARE};
use self::uploads::Source;
use crate::numbers::count_f32;
use highwater_session::PainterChoice;
use highwater_timeline::{Coloring, MOST_ADDRESS, RasterStyle, Timeline, Viewport};

/// Blocks and gaps of a lane on the device: 400 MB of its memory.
const MOST_ROWS: usize = 1 << 24;

/// The choice of what draws large lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeLanes {
    /// Whether the graphics device draws; otherwise the painter thread does.
    pub is_by_device: bool,
    /// The choice in a sentence; empty without a device.
    pub words: String,
    /// The last answer on the screen.
    answer: u64,
}

impl LargeLanes {
    /// Chooses for the device of a window, and prepares it to draw.
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
                format!("Large lanes are drawn as pictures by the processor: {name} lacks a required feature.")
            }
            (false, false, PainterChoice::Picture) => {
                "Large lanes are drawn as pictures by the processor, because of --painter picture.".to_owned()
            }
            (false, false, _) => {
                format!("Large lanes are drawn as pictures by the processor: {name} is a software renderer.")
            }
        };
        Self {
            is_by_device,
            words,
            answer: 0,
        }
    }

    /// Drops lanes of other answers from the device.
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

/// Whether frames are drawn by the processor, so that each takes time from other work.
pub fn is_software(state: Option<&RenderState>) -> bool {
    state.is_some_and(|state| state.adapter.get_info().device_type == wgpu::DeviceType::Cpu)
}

/// Whether a device of this kind should draw.
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

/// Whether a device can draw: sums of shares need a blendable float format.
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

/// The lanes of an answer for a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLanes<'a> {
    pub timeline: &'a Arc<Timeline>,
    pub look: &'a Arc<Coloring>,
    /// Numbers of the answer and of its colours.
    pub version: (u64, u64),
}

/// A lane to draw.
#[derive(Clone, Debug)]
pub struct LanePlace {
    pub lane: usize,
    pub view: Viewport,
    /// In points.
    pub rect: Rect,
    pub style: RasterStyle,
    /// Factor of the picture's colours.
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

    /// Paints a lane. Its pixels are drawn with the frame.
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

/// Lanes of an answer on the device.
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
        let mut cx = DeviceCx { device, queue, encoder };
        of_lane.draw(&mut cx, pipelines, lane, &self.shown, screen.pixels_per_point);
        Vec::new()
    }

    fn paint(&self, info: PaintCallbackInfo, pass: &mut wgpu::RenderPass<'static>, resources: &CallbackResources) {
        let Some(on_device) = resources.get::<OnDevice>() else {
            return;
        };
        let Some(lane) = on_device.lanes.get(&self.lane) else {
            return;
        };
        let [width, height] = info.screen_size_px.map(|side| count_f32(side as usize));
        // The shader places the picture, also where it extends beyond the window.
        pass.set_viewport(0.0, 0.0, width, height, 0.0, 1.0);
        lane.show(pass, &on_device.pipelines);
    }
}
