//! CPU time of a frame of the lanes: the interface's code and tessellation, no GPU.

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use eframe::egui::{self, Pos2, RawInput, Rect, vec2};
use highwater::timeline::Timeline;
use highwater::ui::app::App;
use highwater::ui::lanes::{LaneContent, LanesInput, LanesState, lanes_ui};
use highwater::ui::panels::options::{OptionsState, options_ui};
use highwater::ui::theme::Theme;

#[path = "../tests/it/synthetic.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod synthetic;
#[path = "training_graph.rs"]
mod training_graph;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Four lanes of a training graph of 5,000 tensors and its evaluation, while the view moves.
fn frame(criterion: &mut Criterion) {
    let comparison = synthetic::comparison(1_670, 1);
    let timeline = Timeline::new(&comparison);
    criterion.bench_function("timeline of 5,000 tensors x 4 lanes", |bencher| {
        bencher.iter(|| black_box(Timeline::new(&comparison)));
    });
    let large = LazyCell::new(|| synthetic::comparison(6_680, 1));
    criterion.bench_function("timeline of 20,000 tensors x 4 lanes", |bencher| {
        bencher.iter(|| black_box(Timeline::new(&large)));
    });
    let cases = [
        ("maps, everything", LaneContent::MemoryMap, 1.0, false),
        ("maps, panning at 20x", LaneContent::MemoryMap, 20.0, false),
        (
            "maps, everything, hovered and selected",
            LaneContent::MemoryMap,
            1.0,
            true,
        ),
        ("lifetimes, everything", LaneContent::Lifetimes, 1.0, false),
    ];
    for (name, content, zoom, is_marked) in cases {
        let context = egui::Context::default();
        let theme = Theme::dark();
        let mut state = LanesState::default();
        state.content = content;
        let selected = if is_marked { timeline.lanes[0].tensor(40) } else { None };
        let input = LanesInput {
            comparison: &comparison,
            timeline: &timeline,
            selected,
            matches: None,
            is_stale: false,
            theme: &theme,
        };
        let mut n_frames = 0_u32;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                n_frames += 1;
                let whole = timeline.fit();
                let step = whole.t1 * 0.3 + f64::from(n_frames % 400);
                state.viewport = Some(whole.zoom_steps(zoom, step).clamp(whole));
                let mut raw = RawInput {
                    screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1600.0, 900.0))),
                    ..RawInput::default()
                };
                if is_marked {
                    raw.events.push(egui::Event::PointerMoved(Pos2::new(500.0, 180.0)));
                }
                let mut actions = Vec::new();
                let mut output = context.run_ui(raw, |ui| lanes_ui(ui, &input, &mut state, &mut actions));
                let shapes = std::mem::take(&mut output.shapes);
                black_box(context.tessellate(shapes, output.pixels_per_point));
                output.drop_without_applying_deltas();
            });
        });
    }
}

/// The whole window on a training graph of 5,000 tensors: menus, options, lanes, inspector, problems.
fn window(criterion: &mut Criterion) {
    for (name, is_hovered) in [("whole window", false), ("whole window, hovered", true)] {
        let context = egui::Context::default();
        let mut app = App::new(training_graph::session(2500));
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut raw = RawInput {
                    screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1600.0, 900.0))),
                    ..RawInput::default()
                };
                if is_hovered {
                    raw.events.push(egui::Event::PointerMoved(Pos2::new(700.0, 420.0)));
                }
                let mut output = context.run_ui(raw, |ui| app.show(ui));
                let shapes = std::mem::take(&mut output.shapes);
                black_box(context.tessellate(shapes, output.pixels_per_point));
                output.drop_without_applying_deltas();
            });
        });
    }
}

/// The option panel with every section open, scrolled from its top to its end and back.
fn options(criterion: &mut Criterion) {
    let session = training_graph::session(50);
    let theme = Theme::dark();
    let context = egui::Context::default();
    let mut state = OptionsState::searching("e");
    let mut n_frames = 0_u32;
    criterion.bench_function("option panel, every section open, scrolling", |bencher| {
        bencher.iter(|| {
            n_frames += 1;
            let raw = RawInput {
                screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(300.0, 900.0))),
                ..RawInput::default()
            };
            let offset = 20.0 * f32::from(u16::try_from(n_frames % 400).unwrap_or(0));
            let mut commands = Vec::new();
            let mut output = context.run_ui(raw, |ui| {
                let area = egui::ScrollArea::vertical().vertical_scroll_offset(offset);
                area.show(ui, |ui| options_ui(ui, &session, &mut state, &theme, &mut commands));
            });
            let shapes = std::mem::take(&mut output.shapes);
            black_box(context.tessellate(shapes, output.pixels_per_point));
            output.drop_without_applying_deltas();
        });
    });
}

criterion_group!(benches, frame, window, options);
criterion_main!(benches);
