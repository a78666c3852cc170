//! The picture of one lane: drawn by the graphics device when it changes, shown in every frame.

use eframe::egui::{Pos2, Rect};
use eframe::wgpu;

use super::pipelines::{COLOR, DEPTH, Pipelines, SHARE};
use super::uploads::Uploads;
use highwater_timeline::{Canvas, LaneView, RasterStyle, RectRun, Viewport};

/// The subject of a lane's picture.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) view: Viewport,
    /// In points.
    pub(super) rect: Rect,
    pub(super) style: RasterStyle,
    /// Premultiplied factor of the colours.
    pub(super) tint: [f32; 4],
}

impl Shown {
    /// Corner and size in pixels.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "pixels of a screen fit; casts of floats saturate"
    )]
    fn pixels(&self, per_point: f32) -> ([i32; 2], [u32; 2]) {
        let corner = |at: Pos2| [(at.x * per_point).round() as i32, (at.y * per_point).round() as i32];
        let n_pixels = |points: f32| (points * per_point).round().max(1.0) as u32;
        let size = [n_pixels(self.rect.width()), n_pixels(self.rect.height())];
        (corner(self.rect.min), size)
    }

    /// The uniforms of `lanes.wgsl`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a view's scale and the part of a step or a byte need no more digits; origins are positive"
    )]
    fn uniform(&self, canvas: Canvas) -> Vec<u8> {
        let view = &self.view;
        let (step, address) = (view.t0.floor().max(0.0) as u32, view.a0.floor().max(0.0) as u64);
        let floats = [
            canvas.width as f32,
            canvas.height as f32,
            (canvas.width / view.steps()) as f32,
            (canvas.height / view.bytes()) as f32,
            (view.t0 - f64::from(step)) as f32,
            (view.a0 - float(address)) as f32,
            0.0,
            0.0,
        ];
        let origin = [step, address as u32, (address >> 32) as u32, 0];
        let channels = |color: [u8; 4]| color.map(|channel| f32::from(channel) / 255.0);
        let [line, ground] = self.style.gap.unwrap_or_default().map(channels);
        let colors = (0..256).map(|number| {
            let color = self.style.colors.get(number).or(self.style.colors.last());
            u32::from_le_bytes(color.copied().unwrap_or_default())
        });
        let floats = floats.iter().map(|float| float.to_bits());
        let holes = line.iter().chain(&ground).map(|float| float.to_bits());
        let words = floats.chain(origin).chain(holes).chain(colors);
        words.flat_map(u32::to_ne_bytes).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "addresses are below 2^48")]
const fn float(address: u64) -> f64 {
    address as f64
}

/// Where a frame is drawn.
pub(super) struct DeviceCx<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) queue: &'a wgpu::Queue,
    pub(super) encoder: &'a mut wgpu::CommandEncoder,
}

/// The textures of a lane, of one size.
#[derive(Debug)]
struct Targets {
    size: [u32; 2],
    large: wgpu::TextureView,
    small: wgpu::TextureView,
    share: wgpu::TextureView,
    depth: wgpu::TextureView,
    screen: wgpu::BindGroup,
}

impl Targets {
    fn new(device: &wgpu::Device, pipelines: &Pipelines, screen: &wgpu::Buffer, [width, height]: [u32; 2]) -> Self {
        let view = |format: wgpu::TextureFormat| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("lane"),
                size: wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        let (large, small, share) = (view(COLOR), view(COLOR), view(SHARE));
        let textures = [&large, &small, &share];
        let textures = (1..).zip(textures.map(wgpu::BindingResource::TextureView));
        let entries = std::iter::once((0, screen.as_entire_binding())).chain(textures);
        let entries: Vec<_> = entries
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let screen = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("lane on the screen"),
            layout: &pipelines.screen_layout,
            entries: &entries,
        });
        Self {
            size: [width, height],
            depth: view(DEPTH),
            large,
            small,
            share,
            screen,
        }
    }
}

#[derive(Debug)]
pub(super) struct LaneOnDevice {
    pub(super) uploads: Uploads,
    uniform: wgpu::Buffer,
    uniforms: wgpu::BindGroup,
    screen: wgpu::Buffer,
    targets: Option<Targets>,
    /// The uniforms and the upload count that the picture was drawn from.
    drawn: Option<(Vec<u8>, u64)>,
}

/// Bytes of the uniforms of `lanes.wgsl`.
const UNIFORM: u64 = 5 * 16 + 64 * 16;
const SCREEN: u64 = 2 * 16;

impl LaneOnDevice {
    pub(super) fn new(device: &wgpu::Device, pipelines: &Pipelines) -> Self {
        let buffer = |size: u64| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("view of a lane"),
                size,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let uniform = buffer(UNIFORM);
        let uniforms = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view of a lane"),
            layout: &pipelines.lane_layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: uniform.as_entire_binding(),
            }],
        });
        Self {
            uploads: Uploads::default(),
            uniform,
            uniforms,
            screen: buffer(SCREEN),
            targets: None,
            drawn: None,
        }
    }

    /// Draws the picture where it changed.
    pub(super) fn draw(
        &mut self,
        cx: &mut DeviceCx<'_>,
        pipelines: &Pipelines,
        lane: &LaneView,
        shown: &Shown,
        per_point: f32,
    ) {
        let (corner, size) = shown.pixels(per_point);
        let most = cx.device.limits().max_texture_dimension_2d;
        let size = size.map(|side| side.min(most));
        let words = corner.map(i32::to_ne_bytes).into_iter().chain([[0; 4]; 2]);
        let tint = shown.tint.map(f32::to_ne_bytes);
        let screen: Vec<u8> = words.chain(tint).flatten().collect();
        cx.queue.write_buffer(&self.screen, 0, &screen);
        if self.targets.as_ref().is_none_or(|targets| targets.size != size) {
            self.targets = Some(Targets::new(cx.device, pipelines, &self.screen, size));
            self.drawn = None;
        }
        let canvas = Canvas {
            width: f64::from(size[0]),
            height: f64::from(size[1]),
        };
        let uniform = shown.uniform(canvas);
        let key = (uniform, self.uploads.n_sent);
        let Some(targets) = self.targets.as_ref().filter(|_| self.drawn.as_ref() != Some(&key)) else {
            return;
        };
        cx.queue.write_buffer(&self.uniform, 0, &key.0);
        let passes = Passes {
            pipelines,
            uniforms: &self.uniforms,
            uploads: &self.uploads,
            targets,
        };
        passes.draw(cx.encoder, lane, shown, canvas);
        self.drawn = Some(key);
    }

    pub(super) fn show(&self, pass: &mut wgpu::RenderPass<'_>, pipelines: &Pipelines) {
        let Some(targets) = &self.targets else { return };
        pass.set_pipeline(&pipelines.screen);
        pass.set_bind_group(0, &targets.screen, &[]);
        pass.draw(0..3, 0..1);
    }
}

/// Inputs and targets of a lane's passes.
struct Passes<'a> {
    pipelines: &'a Pipelines,
    uniforms: &'a wgpu::BindGroup,
    uploads: &'a Uploads,
    targets: &'a Targets,
}

impl Passes<'_> {
    fn draw(&self, encoder: &mut wgpu::CommandEncoder, lane: &LaneView, shown: &Shown, canvas: Canvas) {
        let Pipelines {
            hole,
            large,
            small,
            share,
            ..
        } = self.pipelines;
        let runs = lane.block_rects().met(&shown.view, canvas);
        let holes = if shown.style.gap.is_some() {
            lane.gap_rects().met(&shown.view, canvas)
        } else {
            Vec::new()
        };
        {
            let mut pass = self.pass(encoder, &self.targets.large, None, hole);
            for run in &holes {
                self.uploads.draw_holes(&mut pass, &run.range);
            }
            pass.set_pipeline(large);
            self.blocks(&mut pass, runs.iter().filter(|run| run.has_large));
        }
        let depth = Some(&self.targets.depth);
        for (target, depth, pipeline) in [(&self.targets.small, depth, small), (&self.targets.share, None, share)] {
            let mut pass = self.pass(encoder, target, depth, pipeline);
            self.blocks(&mut pass, runs.iter().filter(|run| run.has_small));
        }
    }

    fn blocks<'a>(&self, pass: &mut wgpu::RenderPass<'_>, runs: impl Iterator<Item = &'a RectRun>) {
        for run in runs {
            self.uploads.draw_blocks(pass, &run.range);
        }
    }

    /// A pass into an empty picture, ranked by depth where there is one.
    fn pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        depth: Option<&wgpu::TextureView>,
        pipeline: &wgpu::RenderPipeline,
    ) -> wgpu::RenderPass<'a> {
        let depth = depth.map(|view| wgpu::RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(0.0),
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("lane"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: depth,
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, self.uniforms, &[]);
        pass
    }
}
