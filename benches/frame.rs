//! CPU time of a frame of the lanes: interface code and tessellation, no GPU.
//!
//! Frames are measured in CPU time of their thread, so that other work on the machine does not count; the worker and
//! the painter are measured in wall time.

use std::cell::{Cell, LazyCell, RefCell};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, criterion_group, criterion_main};
use eframe::egui::{self, Key, Pos2, RawInput, Rect, vec2};
use highwater_model::progress::Cancel;
use highwater_model::workload::DeviceProfiles;
use highwater_session::{Command, Document, PictureFrame, PictureKind, PictureOrder, Session, SourceSpec, Worker};
use highwater_timeline::{
    Areas, AxisKind, Canvas, Coloring, LaneRows, RasterFrame, RasterScratch, RowOrder, RowsFrame, ScopeFolds, Timeline,
    View,
};
use highwater_ui::app::App;
use highwater_ui::lanes::{Drawn, LaneContent, LanesCx, LanesInput, LanesState, lanes_ui};
use highwater_ui::panels::PaneCx;
use highwater_ui::panels::options::{OptionsState, options_ui};
use highwater_ui::theme::Theme;

#[path = "pickle_writer.rs"]
#[expect(dead_code, reason = "the importer's bench uses more of it")]
mod pickle_writer;
mod size;
#[path = "../tests/support/synthetic.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod synthetic;
#[path = "training_graph.rs"]
mod training_graph;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// CPU time of the measuring thread.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = ThreadTime;
    type Value = Duration;

    fn start(&self) -> ThreadTime {
        ThreadTime::now()
    }

    fn end(&self, start: ThreadTime) -> Duration {
        start.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Four lanes of a training graph of 5,000 tensors and its evaluation, while the view moves.
fn frame(criterion: &mut Criterion<CpuTime>) {
    let comparison = synthetic::comparison(size::size(1_670, 40), 1);
    let timeline = Timeline::new(&comparison);
    criterion.bench_function("timeline of 5,000 tensors x 4 lanes", |bencher| {
        bencher.iter(|| black_box(Timeline::new(&comparison)));
    });
    let large = LazyCell::new(|| synthetic::comparison(size::size(6_680, 80), 1));
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
        let theme = Theme::new(true);
        let mut state = LanesState::default();
        state.content = content;
        let selected = if is_marked { timeline.lanes[0].tensor(40) } else { None };
        let rows = Arc::new(LaneRows::new(&comparison, &timeline, 0, RowOrder::Birth));
        let input = LanesInput {
            drawn: Drawn {
                lifetimes: Some(&rows),
                ..Drawn::default()
            },
            comparison: &comparison,
            timeline: &timeline,
            selected,
            matches: None,
            baseline: None,
            is_stale: false,
            theme: &theme,
        };
        let mut n_frames = 0_u32;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                n_frames += 1;
                let whole = timeline.fit();
                let step = whole.t1 * 0.3 + f64::from(n_frames % 400);
                state.viewport = Some(View::from(whole).zoom_steps(zoom, step).clamp(whole));
                let mut raw = RawInput {
                    screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1600.0, 900.0))),
                    ..RawInput::default()
                };
                if is_marked {
                    raw.events.push(egui::Event::PointerMoved(Pos2::new(500.0, 180.0)));
                }
                let (mut commands, mut window_commands) = (Vec::new(), Vec::new());
                let mut cx = LanesCx {
                    input: &input,
                    state: &mut state,
                    commands: &mut commands,
                    window_commands: &mut window_commands,
                };
                let mut output = context.run_ui(raw, |ui| lanes_ui(ui, &mut cx));
                let shapes = std::mem::take(&mut output.shapes);
                black_box(context.tessellate(shapes, output.pixels_per_point));
                output.drop_without_applying_deltas();
            });
        });
    }
}

/// The whole window on a training graph of 5,000 tensors: menus, options, lanes, inspector, problems.
fn window(criterion: &mut Criterion<CpuTime>) {
    for (name, is_hovered) in [("whole window", false), ("whole window, hovered", true)] {
        let context = egui::Context::default();
        let mut app = App::new(training_graph::session(size::size(2500, 50)));
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

/// The whole window while the view pans and zooms, with that many lifetimes in each of four lanes and a selected
/// tensor, so that the inspector is full; with the initial pane of tables, and with a table of all tensors.
fn many(criterion: &mut Criterion<CpuTime>) {
    for (name, n_iterations) in [("10^5", 20), ("10^6", 200)] {
        let app = LazyCell::new(|| {
            let mut session = training_graph::session(size::size(2500, 50));
            session.apply(Command::SetIterations(size::size(n_iterations, 2)));
            session.settle();
            let (_, timeline) = session.answer().expect("an answer");
            let selected = timeline.lanes[0].tensor(40);
            let n_blocks: Vec<usize> = timeline.lanes.iter().map(|lane| lane.blocks.len()).collect();
            eprintln!("{n_blocks:?} lifetimes a lane");
            session.apply(Command::Select(selected));
            (egui::Context::default(), RefCell::new(App::new(session)))
        });
        let mut n_frames = 0_u32;
        let has_table = Cell::new(false);
        for (moving, axis, panes, keys) in moves() {
            criterion.bench_function(
                &format!("whole window{panes}, {name} lifetimes in each lane, {moving}"),
                |bencher| {
                    let (context, app) = &*app;
                    if app.borrow().lanes().shown_axis() != axis {
                        frame_of(context, &mut app.borrow_mut(), vec![pressed(Key::U)]);
                    }
                    if !panes.is_empty() && !has_table.replace(true) {
                        frame_of(context, &mut app.borrow_mut(), vec![pressed(Key::X)]);
                        frame_of(context, &mut app.borrow_mut(), Vec::new());
                        app.borrow_mut().settle();
                    }
                    bencher.iter(|| {
                        n_frames += 1;
                        let key = keys[(n_frames / 4 % 4) as usize];
                        let events = key.map(pressed).into_iter().collect();
                        frame_of(context, &mut app.borrow_mut(), events);
                    });
                },
            );
        }
    }
}

/// Name, axis, pane to open, and the keys pressed in turn.
fn moves() -> impl Iterator<Item = (&'static str, AxisKind, &'static str, [Option<Key>; 4])> {
    let pan = [Some(Key::D), Some(Key::D), Some(Key::A), Some(Key::A)];
    let zoom = [Some(Key::W), Some(Key::W), Some(Key::S), Some(Key::S)];
    let order = ["", " with a table"].into_iter().flat_map(move |panes| {
        [
            ("at rest", AxisKind::Order, panes, [None; 4]),
            ("panning", AxisKind::Order, panes, pan),
            ("zooming", AxisKind::Order, panes, zoom),
        ]
    });
    order.chain([
        (
            "panning along estimated time",
            AxisKind::Estimated,
            " with a table",
            pan,
        ),
        (
            "zooming along estimated time",
            AxisKind::Estimated,
            " with a table",
            zoom,
        ),
    ])
}

fn pressed(key: Key) -> egui::Event {
    egui::Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    }
}

/// One frame of the window with the pointer over a lane.
fn frame_of(context: &egui::Context, app: &mut App, events: Vec<egui::Event>) {
    let mut raw = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1600.0, 900.0))),
        events,
        ..RawInput::default()
    };
    raw.events.push(egui::Event::PointerMoved(Pos2::new(700.0, 420.0)));
    let mut output = context.run_ui(raw, |ui| app.show(ui));
    let shapes = std::mem::take(&mut output.shapes);
    black_box(context.tessellate(shapes, output.pixels_per_point));
    output.drop_without_applying_deltas();
}

/// As `window`, with areas and lifetimes instead of memory maps.
fn contents(criterion: &mut Criterion<CpuTime>) {
    let app = LazyCell::new(|| {
        let mut session = training_graph::session(size::size(2500, 50));
        session.apply(Command::SetIterations(size::size(200, 2)));
        session.settle();
        (egui::Context::default(), RefCell::new(App::new(session)))
    });
    let mut n_frames = 0_u32;
    // Maps, areas, lifetimes: V switches to the next.
    let shown = Cell::new(0);
    for (content, wanted) in [("areas", 1), ("lifetimes", 2)] {
        for (moving, keys) in [
            ("at rest", [None; 4]),
            ("panning", [Some(Key::D), Some(Key::D), Some(Key::A), Some(Key::A)]),
            ("zooming", [Some(Key::W), Some(Key::W), Some(Key::S), Some(Key::S)]),
        ] {
            criterion.bench_function(
                &format!("whole window, 10^6 lifetimes, {content}, {moving}"),
                |bencher| {
                    let (context, app) = &*app;
                    let mut app = app.borrow_mut();
                    while shown.get() < wanted {
                        shown.set(shown.get() + 1);
                        // Switches the content, then waits for its data.
                        for events in [vec![pressed(Key::V)], Vec::new(), Vec::new(), Vec::new()] {
                            frame_of(context, &mut app, events);
                            app.settle();
                        }
                    }
                    bencher.iter(|| {
                        n_frames += 1;
                        let key = keys[(n_frames / 4 % 4) as usize];
                        let events = key.map(pressed).into_iter().collect();
                        frame_of(context, &mut app, events);
                    });
                },
            );
        }
    }
}

/// The worker's part of rows and areas of 10^6 lifetimes.
fn work(criterion: &mut Criterion) {
    let answer = LazyCell::new(|| {
        let mut session = training_graph::session(size::size(2500, 50));
        session.apply(Command::SetIterations(size::size(200, 2)));
        session.settle();
        let (comparison, timeline) = session.answer().expect("an answer");
        (Arc::clone(comparison), Arc::clone(timeline))
    });
    for by in RowOrder::ALL {
        criterion.bench_function(&format!("10^6 rows by {}", by.words()), |bencher| {
            let (comparison, timeline) = &*answer;
            bencher.iter(|| black_box(LaneRows::new(comparison, timeline, 0, by)));
        });
    }
    criterion.bench_function("picture of 10^6 rows", |bencher| {
        let (comparison, timeline) = &*answer;
        let rows = LaneRows::new(comparison, timeline, 0, RowOrder::Birth);
        let style = Theme::new(true).raster_style(false);
        let canvas = Canvas {
            width: 1600.0,
            height: 700.0,
        };
        let colors = &timeline.lanes[0].blocks.color;
        bencher.iter(|| {
            let frame = RowsFrame {
                view: timeline.fit(),
                axis: AxisKind::Order,
                folds: ScopeFolds::default(),
                canvas,
                scale: 1.0,
            };
            black_box(rows.raster(&frame, &timeline.axes, colors, &style, Cancel::new().n_threads()))
        });
    });
    criterion.bench_function("areas of 10^6 lifetimes x 4 lanes", |bencher| {
        let (_, timeline) = &*answer;
        bencher.iter(|| black_box(Areas::new(timeline, &Coloring::default())));
    });
}

/// Pictures of lanes with 10^6 lifetimes, as the painter draws them.
fn pictures(criterion: &mut Criterion) {
    let timeline = LazyCell::new(|| {
        let mut session = training_graph::session(size::size(2500, 50));
        session.apply(Command::SetIterations(size::size(200, 2)));
        session.settle();
        let (_, timeline) = session.answer().expect("an answer");
        Arc::clone(timeline)
    });
    let style = Theme::new(true).raster_style(true);
    for zoom in [1.0, 10.0, 100.0] {
        criterion.bench_function(&format!("picture of 10^6 lifetimes, {zoom}x"), |bencher| {
            let whole = timeline.fit();
            let lane = &timeline.lanes[0];
            let frame = RasterFrame {
                view: View::from(whole).zoom_steps(zoom, whole.t1 * 0.4),
                axis: AxisKind::Order,
                width: 1600,
                height: 225,
            };
            let mut scratch = RasterScratch::on_threads(Cancel::new().n_threads());
            bencher.iter(|| black_box(scratch.lane(lane, &timeline.axes, &lane.blocks.color, &frame, &style)));
        });
    }
}

/// Pictures of four lanes with 10^6 lifetimes each, from the order to the last answer, in wall time: several are drawn
/// concurrently.
fn four_pictures(criterion: &mut Criterion) {
    let session = LazyCell::new(|| {
        let mut session = training_graph::session(size::size(2500, 50));
        session.apply(Command::SetIterations(size::size(200, 2)));
        session.settle();
        RefCell::new(session)
    });
    let style = Arc::new(Theme::new(true).raster_style(true));
    criterion.bench_function("pictures of 10^6 lifetimes x 4 lanes", |bencher| {
        let mut session = session.borrow_mut();
        let (_, timeline) = session.answer().expect("an answer");
        let whole = timeline.fit();
        let frames = (0..timeline.lanes.len()).map(|lane| PictureFrame {
            lane,
            kind: PictureKind::Whole,
            frame: RasterFrame {
                view: whole,
                axis: AxisKind::Order,
                width: 1600,
                height: 225,
            },
        });
        let order = PictureOrder {
            rows: None,
            frames: frames.collect(),
            style: Arc::clone(&style),
        };
        assert_eq!(order.frames.len(), 4);
        bencher.iter(|| {
            session.apply(Command::Paint(order.clone()));
            session.settle();
        });
        assert_eq!(session.pictures().len(), 4);
    });
}

/// A snapshot of 10^6 allocations from its path to the first frame that shows it, pictures of its lanes included.
fn open(criterion: &mut Criterion) {
    let file = LazyCell::new(|| {
        let file = tempfile::NamedTempFile::with_suffix(".pickle").expect("a temporary file");
        std::fs::write(file.path(), pickle_writer::synthetic(size::size(1_000_000, 1000), 4))
            .expect("the file can be written");
        file
    });
    let mut group = criterion.benchmark_group("open");
    group.sample_size(10);
    group.bench_function("snapshot of 10^6 allocations, to the first picture", |bencher| {
        let path = file.path().to_owned();
        bencher.iter(|| {
            let worker = Worker::start(|| {}).expect("a thread can be started");
            let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
            let document = Document::new(vec![SourceSpec::Path(path.clone())]);
            let mut app = App::new(Session::new(document, profiles, worker));
            let context = egui::Context::default();
            app.settle();
            // The first frame asks for pictures, the second shows them.
            frame_of(&context, &mut app, Vec::new());
            app.settle();
            frame_of(&context, &mut app, Vec::new());
        });
    });
    group.finish();
}

/// The option panel with every section open, scrolled from its top to its end and back.
fn options(criterion: &mut Criterion<CpuTime>) {
    let session = training_graph::session(50);
    let theme = Theme::new(true);
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
            let mut cx = PaneCx {
                session: &session,
                theme: &theme,
                commands: &mut Vec::new(),
                window_commands: &mut Vec::new(),
                option: None,
            };
            let mut output = context.run_ui(raw, |ui| {
                let area = egui::ScrollArea::vertical().vertical_scroll_offset(offset);
                area.show(ui, |ui| options_ui(ui, &mut cx, &mut state));
            });
            let shapes = std::mem::take(&mut output.shapes);
            black_box(context.tessellate(shapes, output.pixels_per_point));
            output.drop_without_applying_deltas();
        });
    });
}

criterion_group! {
    name = frames;
    config = Criterion::default().with_measurement(CpuTime);
    targets = frame, window, many, contents, options
}
criterion_group!(works, work, pictures, four_pictures, open);
criterion_main!(frames, works);
