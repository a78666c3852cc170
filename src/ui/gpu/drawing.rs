//! The picture of one lane, drawn by the graphics device when what it shows has changed, and put on the screen in every frame.

use eframe::egui::{Pos2, Rect};
use eframe::wgpu;

use super::pipelines::{COLOR, DEPTH, Pipelines, SHARE};
use super::uploads::{Source, Uploads};
use highwater_timeline::{Canvas, LaneView, RasterStyle, RectRun, Viewport};

/// What a lane's picture shows.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) view: Viewport,
    /// Where it stands, in points.
    pub(super) rect: Rect,
    pub(super) style: RasterStyle,
    /// What it is multiplied with, premultiplied.
    pub(super) tint: [f32; 4],
}

impl Shown {
    /// Its corner and its size, in pixels.
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

    /// What the shader reads, as `lanes.wgsl` lays it out.
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
    fn new(device: &wgpu::Device, (pipelines, screen): (&Pipelines, &wgpu::Buffer), [width, height]: [u32; 2]) -> Self {
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

/// What the device holds of a lane.
#[derive(Debug)]
pub(super) struct LaneOnDevice {
    pub(super) uploads: Uploads,
    uniform: wgpu::Buffer,
    uniforms: wgpu::BindGroup,
    screen: wgpu::Buffer,
    targets: Option<Targets>,
    /// What the picture shows: what the shader read, and how much was on the device.
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

    /// Brings the picture up to date. What is as it was is not drawn again.
    pub(super) fn draw(
        &mut self,
        (device, queue, encoder): (&wgpu::Device, &wgpu::Queue, &mut wgpu::CommandEncoder),
        pipelines: &Pipelines,
        source: &Source<'_>,
        (shown, per_point): (&Shown, f32),
    ) {
        let (corner, size) = shown.pixels(per_point);
        let most = device.limits().max_texture_dimension_2d;
        let size = size.map(|side| side.min(most));
        let words = corner.map(i32::to_ne_bytes).into_iter().chain([[0; 4]; 2]);
        let tint = shown.tint.map(f32::to_ne_bytes);
        let screen: Vec<u8> = words.chain(tint).flatten().collect();
        queue.write_buffer(&self.screen, 0, &screen);
        if self.targets.as_ref().is_none_or(|targets| targets.size != size) {
            self.targets = Some(Targets::new(device, (pipelines, &self.screen), size));
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
        queue.write_buffer(&self.uniform, 0, &key.0);
        let lane = Passes {
            pipelines,
            uniforms: &self.uniforms,
            uploads: &self.uploads,
            targets,
        };
        lane.draw(encoder, (source.lane, shown, canvas));
        self.drawn = Some(key);
    }

    /// Puts the picture on the screen.
    pub(super) fn show(&self, pass: &mut wgpu::RenderPass<'_>, pipelines: &Pipelines) {
        let Some(targets) = &self.targets else { return };
        pass.set_pipeline(&pipelines.screen);
        pass.set_bind_group(0, &targets.screen, &[]);
        pass.draw(0..3, 0..1);
    }
}

/// What the passes of a lane draw from and into.
struct Passes<'a> {
    pipelines: &'a Pipelines,
    uniforms: &'a wgpu::BindGroup,
    uploads: &'a Uploads,
    targets: &'a Targets,
}

impl Passes<'_> {
    fn draw(&self, encoder: &mut wgpu::CommandEncoder, (lane, shown, canvas): (&LaneView, &Shown, Canvas)) {
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
            let mut pass = self.pass(encoder, (&self.targets.large, None), hole);
            for run in &holes {
                self.uploads.draw_holes(&mut pass, &run.range);
            }
            pass.set_pipeline(large);
            self.blocks(&mut pass, runs.iter().filter(|run| run.has_large));
        }
        let seen = (&self.targets.small, Some(&self.targets.depth));
        for (target, pipeline) in [(seen, small), ((&self.targets.share, None), share)] {
            let mut pass = self.pass(encoder, target, pipeline);
            self.blocks(&mut pass, runs.iter().filter(|run| run.has_small));
        }
    }

    fn blocks<'a>(&self, pass: &mut wgpu::RenderPass<'_>, runs: impl Iterator<Item = &'a RectRun>) {
        for run in runs {
            self.uploads.draw_blocks(pass, &run.range);
        }
    }

    /// A pass into an empty picture; where there is a depth, it ranks what is drawn.
    fn pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        (target, depth): (&wgpu::TextureView, Option<&wgpu::TextureView>),
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
