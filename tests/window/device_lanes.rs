//! Lanes that a graphics device draws: pixel by pixel what the processor's pictures are.
//!
//! These tests need a device; one in software will do. Where there is none they print "skipped".

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use eframe::egui::{self, Color32, Pos2, RawInput, Rect, vec2};
use eframe::egui_wgpu::{RenderState, RendererOptions, ScreenDescriptor, WgpuConfiguration, WgpuSetup};
use eframe::wgpu;
use highwater_session::PainterChoice;
use highwater_timeline::{
    AxisKind, Coloring, ColoringRequest, DIMMED, LaneView, Raster, RasterFrame, RasterStyle, Timeline, Viewport, raster,
};
use highwater_ui::gpu::{DeviceLanes, LanePlace, LargeLanes, is_wanted};

use crate::synthetic;

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
pub(crate) fn device() -> Option<RenderState> {
    let mut setup = WgpuSetup::without_display_handle();
    if let WgpuSetup::CreateNew(new) = &mut setup {
        new.instance_descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
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
    let state = state
        .ok()
        .map(|state| (LargeLanes::choose(PainterChoice::Device, Some(&state)), state));
    match state {
        Some((large, state)) if large.is_by_device => Some(state),
        Some((large, _)) => {
            eprintln!("skipped: {}", large.words);
            None
        }
        None => {
            eprintln!("skipped: no graphics device");
            None
        }
    }
}

/// What a device draws of a lane.
struct Sight<'a> {
    timeline: &'a Arc<Timeline>,
    look: &'a Arc<Coloring>,
    version: (u64, u64),
    lane: usize,
    frame: RasterFrame,
    style: &'a RasterStyle,
}

impl Sight<'_> {
    /// As many frames as it takes until no further one is asked for; the last one's pixels.
    fn drawn(&self, state: &RenderState) -> Vec<u8> {
        let context = egui::Context::default();
        let size = [self.frame.width, self.frame.height];
        let rect = Rect::from_min_size(Pos2::ZERO, vec2(size[0] as f32, size[1] as f32));
        let mut pixels = Vec::new();
        for _ in 0..8 {
            let raw = RawInput {
                screen_rect: Some(rect),
                ..RawInput::default()
            };
            let mut output = context.run_ui(raw, |ui| {
                let lanes = DeviceLanes {
                    timeline: self.timeline,
                    look: self.look,
                    version: self.version,
                };
                let place = LanePlace {
                    lane: self.lane,
                    view: self.frame.view,
                    rect,
                    style: self.style.clone(),
                    tint: Color32::WHITE,
                };
                lanes.paint(ui.painter(), place);
            });
            let jobs = context.tessellate(std::mem::take(&mut output.shapes), 1.0);
            output.drop_without_applying_deltas();
            pixels = rendered(state, &jobs, size);
        }
        pixels
    }
}

/// What egui's own renderer makes of shapes: premultiplied RGBA.
fn rendered(state: &RenderState, jobs: &[egui::ClippedPrimitive], [width, height]: [u32; 2]) -> Vec<u8> {
    let (device, queue) = (&state.device, &state.queue);
    let size = wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: state.target_format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let row = (width * 4).next_multiple_of(256);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let screen = ScreenDescriptor {
        size_in_pixels: [width, height],
        pixels_per_point: 1.0,
    };
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut renderer = state.renderer.write();
    let before = renderer.update_buffers(device, queue, &mut encoder, jobs, &screen);
    {
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut pass = encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..wgpu::RenderPassDescriptor::default()
            })
            .forget_lifetime();
        renderer.render(&mut pass, jobs, &screen);
    }
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(row),
        rows_per_image: None,
    };
    let into = wgpu::TexelCopyBufferInfo {
        buffer: &buffer,
        layout,
    };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), into, size);
    queue.submit(before.into_iter().chain([encoder.finish()]));
    let slice = buffer.slice(..);
    slice.map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let mapped = slice.get_mapped_range().unwrap();
    let rows = mapped.chunks(row as usize);
    rows.flat_map(|pixels| pixels[..width as usize * 4].to_vec()).collect()
}

/// Pixels in which a block may lie or not: an edge falls so near a border of pixels that digits decide.
fn doubtful(lane: &LaneView, frame: &RasterFrame) -> Vec<bool> {
    const NEAR: f64 = 4e-3;
    let (width, height) = (f64::from(frame.width), f64::from(frame.height));
    let (step, byte) = (width / frame.view.steps(), height / frame.view.bytes());
    let mut doubts = vec![false; (frame.width * frame.height) as usize];
    // Whether moving an edge a little moves the pixels of a span; then everything beside the span is in doubt.
    let wobbles = |low: f64, high: f64, span: f64| {
        let is_at = |at: f64, border: f64| (at - border - (at - border).round()).abs() < NEAR;
        (span - 1.0).abs() < NEAR || is_at(low, 0.5) || is_at(high, 0.5) || is_at(low, 0.0) && span < 1.0 + NEAR
    };
    let blocks = &lane.blocks;
    for idx in 0..blocks.len() {
        let x = [blocks.start[idx], blocks.end[idx]].map(|at| (f64::from(at) - frame.view.t0) * step);
        let top = blocks.base.at(idx) + blocks.bytes.at(idx);
        let y = [top, blocks.base.at(idx)].map(|at| height - (at as f64 - frame.view.a0) * byte);
        if !wobbles(x[0], x[1], x[1] - x[0]) && !wobbles(y[0], y[1], y[1] - y[0]) {
            continue;
        }
        let span = |[low, high]: [f64; 2], most: u32| {
            let most = i64::from(most);
            let from = (low.floor() as i64 - 2).clamp(0, most);
            from..(high.ceil() as i64 + 3).clamp(from, most)
        };
        for row in span(y, frame.height) {
            for column in span(x, frame.width) {
                doubts[(row * i64::from(frame.width) + column) as usize] = true;
            }
        }
    }
    doubts
}

/// The pixels of both that differ, as far as they have to be alike.
fn differences(lane: &LaneView, picture: &Raster, drawn: &[u8]) -> (usize, usize, Vec<String>) {
    let doubts = doubtful(lane, &picture.frame);
    let pixels = picture.rgba.as_chunks::<4>().0.iter().zip(drawn.as_chunks::<4>().0);
    let (mut n_certain, mut n_held, mut found) = (0, 0, Vec::new());
    for (at, (wanted, drawn)) in pixels.enumerate().filter(|(at, _)| !doubts[*at]) {
        n_certain += 1;
        n_held += usize::from(wanted[3] > 0);
        let place = (at % picture.frame.width as usize, at / picture.frame.width as usize);
        if (wanted[3] > 0) != (drawn[3] > 0) {
            found.push(format!("{place:?}: {wanted:?} is {drawn:?}"));
        }
    }
    (n_certain, n_held, found)
}

/// Opaque colours that tell numbers apart.
fn style(gap: Option<[[u8; 4]; 2]>) -> RasterStyle {
    RasterStyle {
        colors: (0..=u8::MAX).map(|number| [number, 255 - number, 7, 255]).collect(),
        gap,
    }
}

/// A small generator of numbers from 0 to 1, so that a failure can be run again.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    }
}

#[test]
fn a_device_draws_what_the_processor_draws() {
    let Some(state) = device() else { return };
    let comparison = synthetic::comparison(60, 3);
    let timeline = Arc::new(Timeline::new(&comparison));
    let whole = timeline.fit();
    let look = Arc::new(Coloring::default());
    let mut next = numbers(11);
    for case in 0..12_u32 {
        let (from, share) = (next() * 0.9, 0.002 + next().powi(3) * 1.2);
        let (low, high) = (next() * 0.8, 0.002 + next().powi(3) * 1.2);
        let view = Viewport {
            t0: whole.t1 * from - 3.0,
            t1: whole.t1 * (from + share),
            a0: whole.a1 * low - 10.0,
            a1: whole.a1 * (low + high),
        };
        let frame = RasterFrame {
            axis: AxisKind::Order,
            view,
            width: 60 + case * 17,
            height: 40 + case * 9,
        };
        let lane = case as usize % timeline.lanes.len();
        let hole = [[250, 250, 1, 255], [9, 9, 200, 255]];
        for hole in [None, Some(hole)] {
            let style = style(hole);
            let lane_view = &timeline.lanes[lane];
            let picture = raster(lane_view, &timeline.axes, &lane_view.blocks.color, &frame, &style);
            let drawn = Sight {
                timeline: &timeline,
                look: &look,
                version: (1, 1),
                lane,
                frame,
                style: &style,
            }
            .drawn(&state);
            if hole.is_none() {
                let (n_certain, _, found) = differences(lane_view, &picture, &drawn);
                let n_pixels = (frame.width * frame.height) as usize;
                assert!(
                    n_certain * 4 > n_pixels,
                    "case {case}: {n_certain} of {n_pixels} are certain"
                );
                assert!(
                    found.is_empty(),
                    "case {case}: {} differ, {:?}",
                    found.len(),
                    &found[..found.len().min(4)]
                );
            }
            // Colours too, up to rounding and to which of equals is on top.
            let alike = |(wanted, drawn): (&[u8; 4], &[u8; 4])| {
                wanted
                    .iter()
                    .zip(drawn)
                    .all(|(wanted, drawn)| wanted.abs_diff(*drawn) <= 3)
            };
            let pixels = picture.rgba.as_chunks::<4>().0.iter().zip(drawn.as_chunks::<4>().0);
            let (n_all, n_alike) = pixels.fold((0, 0), |(all, same), pair| (all + 1, same + usize::from(alike(pair))));
            assert!(
                n_alike * 200 >= n_all * 199,
                "case {case}, holes {hole:?}: {n_alike} of {n_all} have their colour"
            );
        }
    }
}

/// At the deepest zoom, far from the origin of both axes, edges are exact to the pixel.
#[test]
fn blocks_do_not_move_at_any_zoom() {
    let Some(state) = device() else { return };
    let comparison = synthetic::comparison(40, 60);
    let timeline = Arc::new(Timeline::new(&comparison));
    let (look, style) = (Arc::new(Coloring::default()), style(None));
    let lane = &timeline.lanes[0];
    let last = lane.blocks.len() - 7;
    let (step, base) = (f64::from(lane.blocks.start[last]), lane.blocks.base.at(last) as f64);
    for zoom in [2.0, 17.0, 400.0] {
        let frame = RasterFrame {
            axis: AxisKind::Order,
            view: Viewport {
                t0: step - zoom * 0.37,
                t1: step + zoom * 0.63,
                a0: base - 2_100.5,
                a1: base + 1_999.25,
            },
            width: 301,
            height: 97,
        };
        let picture = raster(lane, &timeline.axes, &lane.blocks.color, &frame, &style);
        let drawn = Sight {
            timeline: &timeline,
            look: &look,
            version: (2, 0),
            lane: 0,
            frame,
            style: &style,
        }
        .drawn(&state);
        let (_, n_held, found) = differences(lane, &picture, &drawn);
        assert!(n_held > 50, "{n_held} pixels hold something at {zoom}");
        assert!(found.is_empty(), "{zoom}: {found:?}");
    }
}

/// Other colours are seen in the next frames, and what steps back hides nothing that does not.
#[test]
fn colours_follow_their_version() {
    let Some(state) = device() else { return };
    let comparison = synthetic::comparison(60, 3);
    let timeline = Arc::new(Timeline::new(&comparison));
    let wanted = timeline.lanes[0].tensor(40).unwrap();
    let is_lit = |_lane: usize, tensor| tensor == wanted;
    let found = Coloring::new(&comparison, &timeline, &ColoringRequest::default(), Some(&is_lit));
    let frame = RasterFrame {
        axis: AxisKind::Order,
        view: timeline.fit(),
        width: 80,
        height: 40,
    };
    // What is lit is red, everything else blue.
    let colors = (0..=u8::MAX).map(|number| {
        if number < DIMMED {
            [255, 0, 0, 255]
        } else {
            [0, 0, 255, 255]
        }
    });
    let style = RasterStyle {
        colors: colors.collect(),
        gap: None,
    };
    let red = |pixels: &[u8]| {
        pixels
            .as_chunks::<4>()
            .0
            .iter()
            .filter(|pixel| pixel[0] > pixel[2])
            .count()
    };
    let all = Arc::new(Coloring::default());
    let found = Arc::new(found);
    let drawn = |look: &Arc<Coloring>, version: u64| {
        let sight = Sight {
            timeline: &timeline,
            look,
            version: (3, version),
            lane: 0,
            frame,
            style: &style,
        };
        red(&sight.drawn(&state))
    };
    let n_all = drawn(&all, 1);
    let lane = &timeline.lanes[0];
    let picture = raster(lane, &timeline.axes, found.colors(0, lane), &frame, &style);
    let n_found = drawn(&found, 2);
    assert!(n_all > 100, "{n_all} pixels are lit");
    assert!(n_found > 0 && n_found < n_all, "{n_found} of {n_all} pixels are lit");
    assert!(
        n_found.abs_diff(red(&picture.rgba)) <= 2,
        "{n_found} instead of {}",
        red(&picture.rgba)
    );
    assert_eq!(drawn(&all, 3), n_all);
}

#[test]
fn software_draws_pictures_unless_it_is_asked_for() {
    use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
    for (kind, is_real) in [
        (DiscreteGpu, true),
        (IntegratedGpu, true),
        (VirtualGpu, true),
        (Cpu, false),
        (Other, false),
    ] {
        let cases = [
            (PainterChoice::Auto, is_real),
            (PainterChoice::Device, true),
            (PainterChoice::Picture, false),
        ];
        for (choice, wanted) in cases {
            assert_eq!(is_wanted(choice, kind), wanted, "{choice:?} on {kind:?}");
        }
    }
    let unknown = LargeLanes::choose(PainterChoice::Device, None);
    assert_eq!(unknown, LargeLanes::default());
}
