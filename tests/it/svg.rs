//! Drawings of lanes: well-formed, exact, deterministic.

use expect_test::expect;
use highwater::analysis::Comparison;
use highwater::export::{LaneDrawing, SvgColors, lane_svg};
use highwater::timeline::{Attribute, AxisKind, ColorBy, Coloring, ColoringRequest, DIMMED, Timeline, View, Viewport};

use crate::cli::{fails, run};
use crate::synthetic;

fn drawing(comparison: &Comparison, lane: usize, change: impl FnOnce(Viewport) -> Viewport) -> String {
    drawing_along(AxisKind::Order, comparison, lane, change)
}

fn drawing_along(
    axis: AxisKind,
    comparison: &Comparison,
    lane: usize,
    change: impl FnOnce(Viewport) -> Viewport,
) -> String {
    let timeline = Timeline::new(comparison);
    let drawing = LaneDrawing {
        comparison,
        timeline: &timeline,
        lane,
        viewport: change(timeline.fit()),
        axis,
        size: (800.0, 400.0),
        colors: &SvgColors::print(),
        look: None,
        most_shapes: None,
    };
    let text = lane_svg(&drawing).unwrap();
    assert_eq!(lane_svg(&drawing).unwrap(), text);
    text
}

/// All of the first lane, in the given colours.
fn whole<'a>(
    comparison: &'a Comparison,
    timeline: &'a Timeline,
    colors: &'a SvgColors,
    look: &'a Coloring,
) -> LaneDrawing<'a> {
    LaneDrawing {
        comparison,
        timeline,
        lane: 0,
        viewport: timeline.fit(),
        axis: AxisKind::Order,
        size: (800.0, 400.0),
        colors,
        look: Some(look),
        most_shapes: None,
    }
}

/// Tags in order with their attributes, and the texts between them; panics where the text is not well-formed.
pub(crate) fn tags(xml: &str) -> Vec<String> {
    let (mut open, mut seen, mut rest) = (Vec::new(), Vec::new(), xml);
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        assert!(!text.contains('>'), "{text}");
        for piece in text.split('&').skip(1) {
            let is_known = ["amp;", "lt;", "gt;", "quot;", "#39;"]
                .iter()
                .any(|name| piece.starts_with(name));
            assert!(is_known, "{text}");
        }
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = inside.split([' ', '/']).next().unwrap_or_default().to_owned();
        if !inside.ends_with('/') {
            open.push(name.clone());
        }
        seen.push(inside.to_owned());
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(rest.trim(), "");
    seen
}

#[test]
fn drawings_are_well_formed_and_contain_the_view() {
    let comparison = synthetic::comparison(40, 1);
    for lane in 0..comparison.lanes.len() {
        let whole = drawing(&comparison, lane, |view| view);
        let all = tags(&whole);
        assert!(all[0].starts_with("svg "), "{}", all[0]);
        assert!(whole.contains(&format!(
            "peak reserved {}",
            comparison.lanes[lane].summary.peak_reserved
        )));
        let blocks = |tags: &[String]| tags.iter().filter(|tag| tag.starts_with("rect ")).count();
        let part = drawing(&comparison, lane, |view| View::from(view).zoom_steps(8.0, 20.0));
        assert!(blocks(&tags(&part)) < blocks(&all));
    }
}

/// The window draws constant regions outside the scale, so that its view begins at the floor of a lane.
#[test]
fn a_lane_above_its_floor_draws_what_changes() {
    let comparison = synthetic::comparison(12, 2);
    let timeline = Timeline::new(&comparison);
    for (lane, view) in timeline.lanes.iter().enumerate() {
        let floor = view.floor().get();
        assert!(floor > 0, "weights are constant");
        let above = drawing(&comparison, lane, |whole| Viewport {
            a0: floor as f64,
            a1: (floor + view.drawn_height().get()) as f64,
            ..whole
        });
        let whole = drawing(&comparison, lane, |whole| whole);
        let rects = |text: &str| tags(text).iter().filter(|tag| tag.starts_with("rect ")).count();
        assert!(rects(&above) > 1 && rects(&above) <= rects(&whole), "lane {lane}");
        let constant = view
            .regions
            .iter()
            .find(|region| region.is_constant)
            .expect("a constant region");
        assert!(constant.base + constant.bytes.get() <= floor);
        assert_ne!(above, whole, "lane {lane}");
    }
}

#[test]
fn drawings_along_time_have_marks_of_time() {
    let comparison = synthetic::comparison(40, 1);
    let [plain, along] = [AxisKind::Order, AxisKind::Estimated]
        .map(|axis| drawing_along(axis, &comparison, 0, |view| View::from(view).zoom_steps(2.0, 20.0)));
    let (tags_plain, tags_along) = (tags(&plain), tags(&along));
    let n_groups = |tags: &[String]| tags.iter().filter(|tag| tag.starts_with("g ")).count();
    assert_eq!(n_groups(&tags_plain), n_groups(&tags_along));
    assert_ne!(plain, along);
    assert!(plain.contains(">step</text>") && along.contains(">estimated time</text>"));
    assert!(along.contains("µs</text>") || along.contains("ms</text>"));
    // Without recorded times the axis of wall time is that of steps.
    let wall = drawing_along(AxisKind::Wall, &comparison, 0, |view| {
        View::from(view).zoom_steps(2.0, 20.0)
    });
    assert_eq!(wall, plain);
}

#[test]
fn names_cannot_break_a_drawing() {
    let mut comparison = synthetic::comparison(3, 1);
    let workload = std::sync::Arc::make_mut(&mut comparison.workload);
    workload.name = "<script>&\"'\u{1}".to_owned();
    let text = drawing(&comparison, 0, |view| view);
    tags(&text);
    assert!(text.contains("&lt;script&gt;&amp;&quot;&#39;\u{fffd}"), "{text:.400}");
}

/// The heights of a path's points.
fn heights(path: &str) -> Vec<f64> {
    let pieces = path.split(['M', 'V']).skip(1);
    let numbers = pieces.filter_map(|piece| piece.split(['H', 'Z']).next()?.split(' ').next_back());
    numbers.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn the_highest_point_of_the_curve_is_the_peak() {
    let comparison = synthetic::comparison(400, 1);
    let timeline = Timeline::new(&comparison);
    let text = drawing(&comparison, 0, |view| view);
    let colors = SvgColors::print();
    let filled = format!("fill=\"{}\"", colors.reserved_fill);
    let line = text
        .lines()
        .find(|line| line.starts_with("<path") && line.contains(&filled));
    let path = line
        .and_then(|line| line.split("d=\"").nth(1)?.split('"').next())
        .unwrap();
    let highest = heights(path).into_iter().fold(f64::INFINITY, f64::min);
    // Below the bands of runs and phases; the curve has 42 percent of the rest, and a seventh above the peak.
    let above = 62.0 + 30.0;
    let height = (400.0 - above - 40.0 - 10.0) * 0.42;
    let capacity = comparison.device.memory().get() as f64;
    let peak = timeline.peak.get() as f64;
    let top = if capacity <= peak * 1.6 {
        peak.max(capacity)
    } else {
        peak
    } * 1.14;
    let own = comparison.lanes[0].summary.peak_reserved.get() as f64;
    let expected = above + height - own / top * height;
    assert!((highest - expected).abs() < 0.02, "{highest} {expected}");
}

#[test]
fn a_small_lane_is_drawn_so() {
    let comparison = synthetic::comparison(1, 1);
    let text = drawing(&comparison, 0, |view| view);
    let shown: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("<text") || line.contains("<desc"))
        .collect();
    expect![[r##"
        <desc>peak reserved 596.0 MiB (624 951 296 B), peak live 196.1 MiB (205 668 352 B), steps 0 to 3 of 4</desc>
        <text x="78" y="20" fill="#1b2026" font-size="15" font-weight="bold">made up: policy 0</text>
        <text x="78" y="36" text-anchor="start" fill="#1b2026">peak reserved 596.0 MiB (624 951 296 B), peak live 196.1 MiB (205 668 352 B), steps 0 to 3 of 4</text>
        <text x="96" y="52" text-anchor="start" fill="#59636e">reserved</text>
        <text x="178" y="52" text-anchor="start" fill="#59636e">live</text>
        <text x="72" y="72" text-anchor="end" fill="#59636e">run</text>
        <text x="81" y="72" text-anchor="start" fill="#1b2026">train</text>
        <text x="609" y="72" text-anchor="start" fill="#1b2026">evaluate</text>
        <text x="72" y="87" text-anchor="end" fill="#59636e">phase</text>
        <text x="81" y="87" text-anchor="start" fill="#1b2026">forward</text>
        <text x="257" y="87" text-anchor="start" fill="#1b2026">backward</text>
        <text x="433" y="87" text-anchor="start" fill="#1b2026">optimizer</text>
        <text x="609" y="87" text-anchor="start" fill="#1b2026">forward</text>
        <text x="72" y="200.36" text-anchor="end" fill="#59636e">0</text>
        <text x="72" y="164.07" text-anchor="end" fill="#59636e">256 MiB</text>
        <text x="72" y="123.79" text-anchor="end" fill="#59636e">512 MiB</text>
        <text x="72" y="360" text-anchor="end" fill="#59636e">0</text>
        <text x="72" y="303.02" text-anchor="end" fill="#59636e">256 MiB</text>
        <text x="72" y="242.03" text-anchor="end" fill="#59636e">512 MiB</text>
        <text x="82" y="328.27" text-anchor="start" fill="#1b2026">variables 300.0 MiB</text>
        <text x="82" y="280.86" text-anchor="start" fill="#101418">layer0.out</text>
        <text x="610" y="233.69" text-anchor="start" fill="#101418">layer0.out</text>
        <text x="258" y="257.52" text-anchor="start" fill="#101418">layer0.grad</text>
        <text x="689" y="104" text-anchor="end" fill="#1b2026">peak 596.0 MiB at step 3</text>
        <text x="78" y="376" text-anchor="middle" fill="#59636e">0</text>
        <text x="254" y="376" text-anchor="middle" fill="#59636e">1</text>
        <text x="430" y="376" text-anchor="middle" fill="#59636e">2</text>
        <text x="606" y="376" text-anchor="middle" fill="#59636e">3</text>
        <text x="430" y="392" text-anchor="middle" fill="#59636e">step</text>"##]].assert_eq(&shown.join("\n"));
}

#[test]
fn drawings_have_the_colours_that_are_seen() {
    let comparison = synthetic::comparison(6, 1);
    let timeline = Timeline::new(&comparison);
    let mut colors = SvgColors::print();
    // Every number has a distinct colour, so that a drawing shows which was used.
    colors.blocks = (0..=u8::MAX).map(|number| format!("#0000{number:02x}")).collect();
    let order = |hidden: &[String]| ColoringRequest {
        by: ColorBy::By(Attribute::Size),
        hidden: hidden.to_vec(),
    };
    let draw = |look: &Coloring| {
        let text = lane_svg(&whole(&comparison, &timeline, &colors, look));
        text.unwrap()
    };
    let look = Coloring::new(&comparison, &timeline, &order(&[]), None);
    assert!(look.legend.len() > 1, "{:?}", look.legend);
    let text = draw(&look);
    tags(&text);
    assert!(text.contains(">colour: size</text>"), "{text:.900}");
    let count = |text: &str, number: u8| text.matches(&format!("fill=\"#0000{number:02x}\"")).count();
    for row in &look.legend {
        assert!(text.contains(&format!(">{}</text>", row.text)), "{}", row.text);
        // Once in the legend, and on blocks.
        assert!(count(&text, row.color) >= 1, "{}", row.text);
    }
    let blocks = &timeline.lanes[0].blocks;
    let own = blocks.color.iter().filter(|number| count(&text, **number) > 0).count();
    assert_eq!(own, 0, "no block has the colour of its tensor");
    let hidden = &look.legend[0];
    let back = draw(&Coloring::new(
        &comparison,
        &timeline,
        &order(std::slice::from_ref(&hidden.text)),
        None,
    ));
    assert_eq!(count(&back, hidden.color), 0);
    assert_eq!(count(&back, hidden.color | DIMMED), count(&text, hidden.color));
    // The curve starts lower, below one row of groups; the axis does not move.
    let plain = draw(&Coloring::default());
    let frames = |text: &str| -> Vec<String> {
        let rects = text
            .lines()
            .filter(|line| line.contains("stroke=\"#c4cad2\"") && line.starts_with("<rect"));
        rects
            .take(1)
            .filter_map(|line| Some(line.split("y=\"").nth(1)?.split('"').next()?.to_owned()))
            .collect()
    };
    assert_eq!(
        (frames(&plain), frames(&text)),
        (vec!["92".to_owned()], vec!["108".to_owned()])
    );
}

#[test]
fn many_groups_have_a_legend_within_the_page() {
    let comparison = synthetic::comparison(6, 1);
    let timeline = Timeline::new(&comparison);
    let order = ColoringRequest {
        by: ColorBy::By(Attribute::Role),
        hidden: Vec::new(),
    };
    let mut look = Coloring::new(&comparison, &timeline, &order, None);
    let first = look.legend[0].clone();
    for number in 0..40 {
        look.legend.push(highwater::timeline::LegendRow {
            text: format!("encoder/layer_{number}/attention/dense/kernel"),
            ..first.clone()
        });
    }
    let colors = SvgColors::print();
    let text = lane_svg(&whole(&comparison, &timeline, &colors, &look));
    let text = text.unwrap();
    tags(&text);
    let n_shown = text.matches("width=\"14\" height=\"8\"").count() - 2;
    let n_more = look.legend.len() - n_shown;
    assert!(
        n_more > 0 && text.contains(&format!(">+{n_more} more</text>")),
        "{n_shown}"
    );
    for line in text.lines().filter(|line| line.contains("width=\"14\"")) {
        let x: f64 = line
            .split("x=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(x < 740.0, "{line}");
    }
}

#[test]
fn drawings_have_bands_of_runs_and_phases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lane.svg");
    let to = path.to_str().unwrap();
    let output = run(&["compare", "sample:resnet50", "--svg", to, "--color-by", "role"]);
    assert_eq!(output.status.code(), Some(0));
    let text = std::fs::read_to_string(&path).unwrap();
    tags(&text);
    for words in ["run", "phase", "forward", "backward", "colour: role", "activation"] {
        assert!(text.contains(&format!(">{words}</text>")), "{words}");
    }
    fails(
        &["compare", "sample:mobilenet", "--svg", to, "--color-by", "taste"],
        "--color-by taste: expected tensor, call_site, file, function, module, category, pool, annotation, compile_context, user_metadata, role, op_type, dtype, phase, scope, size, lifetime",
    );
    fails(&["compare", "sample:mobilenet", "--color-by", "role"], "--svg");
}

#[test]
fn compare_writes_a_drawing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lane.svg");
    let to = path.to_str().unwrap();
    let output = run(&["compare", "sample:mobilenet", "--svg", to, "--policy", "2"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stdout.is_empty());
    let text = std::fs::read_to_string(&path).unwrap();
    tags(&text);
    assert!(text.contains("policy 2") && text.contains("peak "), "{text:.600}");
    fails(
        &["compare", "sample:mobilenet", "--svg", to, "--policy", "9"],
        "--policy 9: not compared; compared are 0, 2, 3, 4",
    );
    fails(&["compare", "sample:mobilenet", "--policy", "2"], "--svg");
    let output = run(&["compare", "sample:mobilenet", "--svg", to, "--axis", "estimated"]);
    assert_eq!(output.status.code(), Some(0));
    let along = std::fs::read_to_string(&path).unwrap();
    assert!(
        along.contains(">estimated time</text>") && along.contains("µs</text>"),
        "{along:.600}"
    );
    fails(
        &["compare", "sample:mobilenet", "--svg", to, "--axis", "wall"],
        "--axis wall: No open recording has clock times.",
    );
    let output = run(&["compare", "sample:lenet", "--svg", to, "--axis", "wall"]);
    assert_eq!(output.status.code(), Some(0));
    let beside = std::fs::read_to_string(&path).unwrap();
    assert!(beside.contains(">wall time of CPU:0"), "{beside:.600}");
    fails(
        &["compare", "sample:mobilenet", "--svg", to, "--axis", "noon"],
        "--axis noon: expected program order, estimated time, wall time",
    );
}
