//! The curve and the memory map of a drawing.

use super::text::{cut, escaped, number, width};
use super::{Area, LaneDrawing, Pen};
use highwater_model::units::{Bytes, Step};
use highwater_timeline::{Canvas, Curve, ItemRect, Owner, byte_ticks, tensor_name};

/// The upper edge of the curve, as a multiple of the highest peak.
const HEADROOM: f64 = 1.14;
/// The smallest width and height of a block with a name, and the number of names.
const LABEL: (f64, f64) = (48.0, 12.0);
const MOST_LABELS: usize = 300;
/// The smallest area of a block with a tooltip, in square points.
const LEAST_HINTED: f32 = 12.0;

/// The capacity of the lane, where it is near enough to be a line.
pub(super) fn near_capacity(drawing: &LaneDrawing<'_>) -> Option<Bytes> {
    drawing.comparison.drawn_capacity(drawing.lane, drawing.timeline.peak)
}

/// The bytes at the upper edge of the curve, the same for all lanes of an answer.
#[expect(clippy::cast_precision_loss, reason = "points on a page need no more")]
fn top(drawing: &LaneDrawing<'_>) -> f64 {
    let highest = drawing.comparison.drawn_top(drawing.timeline.peak);
    highest.get().max(1) as f64 * HEADROOM
}

/// The place of bytes in an area from 0 to `top`.
#[expect(clippy::cast_precision_loss, reason = "points on a page need no more")]
fn y_of(area: Area, top: f64, bytes: u64) -> f64 {
    area.bottom() - bytes as f64 / top * area.height
}

/// Columns with equal neighbours merged: left, right, lowest, highest, in points and bytes.
fn spans(columns: &[(u64, u64)], area: Area) -> Vec<(f64, f64, u64, u64)> {
    let pitch = area.width / f64::from(u32::try_from(columns.len().max(1)).unwrap_or(u32::MAX));
    let mut spans: Vec<(f64, f64, u64, u64)> = Vec::new();
    for (number, (low, high)) in (0_u32..).zip(columns) {
        let (left, right) = (
            area.left + f64::from(number) * pitch,
            area.left + f64::from(number + 1) * pitch,
        );
        match spans.last_mut() {
            Some(last) if (last.2, last.3) == (*low, *high) => last.1 = right,
            _ => spans.push((left, right, *low, *high)),
        }
    }
    spans
}

/// The place of a block in an area.
pub(super) fn place_of(area: Area, item: &ItemRect) -> Area {
    Area {
        left: area.left + f64::from(item.x0),
        top: area.top + f64::from(item.y0),
        width: f64::from(item.x1 - item.x0),
        height: f64::from(item.y1 - item.y0),
    }
}

impl Pen<'_> {
    fn ground(&mut self, area: Area) {
        let colors = self.drawing.colors;
        self.area(area, &colors.canvas, &colors.frame);
    }

    fn area(&mut self, area: Area, fill: &str, stroke: &str) {
        let stroke = escaped(stroke);
        self.rect(area, fill, format_args!(r#" stroke="{stroke}"/>"#));
    }

    fn byte_axis(&mut self, area: Area, low: f64, high: f64, y: impl Fn(f64) -> f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a handful of marks"
        )]
        let most = (area.height / 30.0).clamp(1.0, 8.0) as u32;
        let colors = self.drawing.colors;
        for tick in byte_ticks(low, high, most) {
            let at = y(tick.value);
            let (left, right, y) = (number(area.left), number(area.right()), number(at));
            let grid = escaped(&colors.grid);
            self.line(format_args!(
                r#"<path d="M{left} {y}H{right}" stroke="{grid}" fill="none"/>"#
            ));
            let baseline = (at + 4.0).clamp(area.top + 8.0, area.bottom());
            self.words(area.left - 6.0, baseline, "end", &colors.text_weak, &tick.label);
        }
    }

    pub(super) fn curve(&mut self, area: Area) {
        let drawing = self.drawing;
        let (colors, view) = (drawing.colors, self.view);
        let top = top(drawing);
        self.ground(area);
        self.byte_axis(area, 0.0, top, |value| area.bottom() - value / top * area.height);
        let (states_reserved, states_live) = drawing.comparison.states(drawing.lane);
        if states_reserved {
            let fill = Some(colors.reserved_fill.as_str());
            self.line_of(&view.reserved, area, top, fill, &colors.reserved);
        }
        if states_live {
            let fill = Some(colors.live_fill.as_str());
            self.line_of(&view.live, area, top, fill, &colors.live);
        }
        if view.physical.max() > 0 {
            self.line_of(&view.physical, area, top, None, &colors.physical);
        }
        if let Some(memory) = near_capacity(drawing) {
            let at = y_of(area, top, memory.get());
            let (left, right, y, color) = (
                number(area.left),
                number(area.right()),
                number(at),
                escaped(&colors.capacity),
            );
            self.line(format_args!(
                r#"<path d="M{left} {y}H{right}" stroke="{color}" stroke-width="1.5" fill="none"/>"#
            ));
            let words = format!("capacity {memory}");
            self.words(area.right() - 4.0, at - 3.0, "end", &colors.capacity, &words);
        }
    }

    /// A curve: the area below it, and a band between the extremes of each column.
    fn line_of(&mut self, curve: &Curve, area: Area, top: f64, fill: Option<&str>, color: &str) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a page is a few thousand points wide"
        )]
        let width = area.width.round().max(1.0) as u32;
        let spans = spans(&curve.columns(self.drawing.view(), width), area);
        let mut upper = String::new();
        for (number_of, (left, right, _, high)) in spans.iter().enumerate() {
            let y = number(y_of(area, top, *high));
            let start = if number_of == 0 {
                format!("M{} {y}", number(*left))
            } else {
                format!("V{y}")
            };
            upper.push_str(&format!("{start}H{}", number(*right)));
        }
        if let Some(fill) = fill {
            let (low, left, fill) = (number(area.bottom()), number(area.left), escaped(fill));
            self.line(format_args!(r#"<path d="{upper}V{low}H{left}Z" fill="{fill}"/>"#));
        }
        let mut lower = String::new();
        for (left, _, low, _) in spans.iter().rev() {
            lower.push_str(&format!("V{}H{}", number(y_of(area, top, *low)), number(*left)));
        }
        let color = escaped(color);
        self.line(format_args!(
            r#"<path d="{upper}{lower}Z" fill="{color}" stroke="{color}" stroke-width="1.2"/>"#
        ));
    }

    pub(super) fn map(&mut self, area: Area) {
        let drawing = self.drawing;
        let (viewport, view) = (drawing.view(), self.view);
        self.ground(area);
        self.byte_axis(area, viewport.a0, viewport.a1, |address| {
            area.top + viewport.y_from_address(address, area.height)
        });
        let canvas = Canvas {
            width: area.width,
            height: area.height,
        };
        let items = view.visible(viewport, canvas);
        let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(number);
        // A page has several drawings, and an id only once.
        let (first, last) = (number(drawing.viewport.t0), number(drawing.viewport.t1));
        let name = format!("map{}-{first}-{last}", drawing.lane);
        self.line(format_args!(
            r#"<clipPath id="{name}"><rect x="{x}" y="{y}" width="{w}" height="{h}"/></clipPath>"#
        ));
        let (n_drawn, n_total) = (items.n_drawn(), items.n_total);
        let is_pictured = drawing.most_shapes.is_some_and(|most| n_drawn > most);
        let shapes = if is_pictured {
            "a picture".to_owned()
        } else {
            format!("{n_drawn} shapes")
        };
        self.line(format_args!(
            r#"<g clip-path="url(#{name})" aria-label="memory map: {shapes} for {n_total} blocks">"#
        ));
        self.regions(area, canvas);
        if is_pictured {
            self.pictured(area, &items.rects);
            self.line(format_args!("</g>"));
            return;
        }
        for item in &items.rects {
            self.block(area, item, true);
        }
        for mark in &items.marks {
            self.block(area, &mark.rect, false);
        }
        self.names(area, &items.rects);
        self.line(format_args!("</g>"));
    }

    fn regions(&mut self, area: Area, canvas: Canvas) {
        let (view, colors) = (self.view, self.drawing.colors);
        for (idx, [left, top, right, bottom]) in view.visible_regions(&self.drawing.view(), canvas) {
            let region = &view.regions[idx];
            if region.is_paged || right - left < 0.5 || bottom - top < 0.5 {
                continue;
            }
            let place = Area {
                left: area.left + left,
                top: area.top + top,
                width: right - left,
                height: bottom - top,
            };
            self.area(place, &colors.region, &colors.region_outline);
            let is_resident = matches!(region.owner, Owner::Variables | Owner::Weights | Owner::InputOutput);
            let (seen_left, seen_right) = (place.left.max(area.left), place.right().min(area.right()));
            if is_resident && seen_right - seen_left >= LABEL.0 && place.height >= LABEL.1 {
                let words = format!("{} {}", region.label, region.bytes);
                let words = cut(&words, seen_right - seen_left - 8.0);
                let baseline = place.top + place.height / 2.0 + 4.0;
                self.words(seen_left + 4.0, baseline, "start", &colors.text, &words);
            }
        }
    }

    fn block(&mut self, area: Area, item: &ItemRect, is_exact: bool) {
        let place = place_of(area, item);
        // As in the window: large neighbours have a gap.
        let gap = |length: f64| if is_exact && length >= 4.0 { 0.75 } else { 0.0 };
        let place = Area {
            left: place.left,
            top: place.top + gap(place.height),
            width: place.width - gap(place.width),
            height: place.height - gap(place.height),
        };
        let fill = self.drawing.colors.block(self.color(item));
        let is_hinted = is_exact && (item.x1 - item.x0) * (item.y1 - item.y0) >= LEAST_HINTED;
        match self.hint(item.block).filter(|_| is_hinted) {
            Some(hint) => self.rect(place, fill, format_args!("><title>{}</title></rect>", escaped(&hint))),
            None => self.rect(place, fill, format_args!("/>")),
        }
    }

    /// The colour number of a block.
    fn color(&self, item: &ItemRect) -> u8 {
        let (lane, look) = (self.drawing.lane, self.drawing.look);
        look.map_or(item.color, |look| look.color(lane, self.view, item.block as usize))
    }

    pub(super) fn hint(&self, block: u32) -> Option<String> {
        let blocks = &self.view.blocks;
        let idx = block as usize;
        let (start, end, bytes) = (blocks.start.get(idx)?, blocks.end.get(idx)?, blocks.bytes.get(idx)?);
        let name = self
            .view
            .tensor(block)
            .map_or("", |tensor| tensor_name(self.drawing.comparison, tensor));
        let comparison = self.drawing.comparison;
        let life = comparison.steps_text(self.drawing.lane, Step(*start), Step(*end));
        Some(format!("{name}: {} ({}), {life}", Bytes(bytes), Bytes(bytes).exact()))
    }

    pub(super) fn names(&mut self, area: Area, items: &[ItemRect]) {
        #[expect(clippy::cast_possible_truncation, reason = "points on a page fit f32")]
        let (right, bottom) = (area.width as f32, area.height as f32);
        let mut places: Vec<(f64, f64, f64, f64, u32)> = items
            .iter()
            .map(|item| {
                let (x0, x1) = (f64::from(item.x0.max(0.0)), f64::from(item.x1.min(right)));
                let (y0, y1) = (f64::from(item.y0.max(0.0)), f64::from(item.y1.min(bottom)));
                (x0, y0, x1 - x0, y1 - y0, item.block)
            })
            .filter(|(_, _, width, height, _)| *width >= LABEL.0 && *height >= LABEL.1)
            .collect();
        places.sort_by(|a, b| (b.2 * b.3).total_cmp(&(a.2 * a.3)).then(a.4.cmp(&b.4)));
        for (x, y, width, height, block) in places.into_iter().take(MOST_LABELS) {
            let tensor = self.view.tensor(block);
            let name = tensor.map_or("", |tensor| tensor_name(self.drawing.comparison, tensor));
            if !name.is_empty() {
                let (left, baseline) = (area.left + x + 4.0, area.top + y + height / 2.0 + 4.0);
                let color = &self.drawing.colors.on_tensor;
                self.words(left, baseline, "start", color, &cut(name, width - 8.0));
            }
        }
    }

    /// The line at the peak, through curve and map, with its figure.
    pub(super) fn peak(&mut self, curve: Area, lowest: Area) {
        let drawing = self.drawing;
        let (colors, shown) = (drawing.colors, drawing.comparison.shown_peak(drawing.lane));
        let Some(step) = shown.step else { return };
        let at = drawing.view().x_from_step(f64::from(step.0) + 0.5, curve.width);
        if !(0.0..=curve.width).contains(&at) {
            return;
        }
        let x = curve.left + at;
        let (at_text, top, bottom) = (number(x), number(curve.top), number(lowest.bottom()));
        let color = escaped(&colors.peak);
        self.line(format_args!(
            r#"<path d="M{at_text} {top}V{bottom}" stroke="{color}" stroke-dasharray="4 3" fill="none"/>"#
        ));
        let words = format!(
            "peak {} at {}",
            shown.bytes,
            drawing.comparison.step_text(drawing.lane, step)
        );
        let is_left = at + width(&words) + 8.0 > curve.width;
        let (x, anchor) = if is_left { (x - 5.0, "end") } else { (x + 5.0, "start") };
        self.words(x, curve.top + 12.0, anchor, &colors.text, &words);
    }
}
