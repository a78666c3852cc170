// Blocks and gaps of a lane, to the pixel as `timeline/raster.rs` draws them.
//
// Positions are whole numbers until the view's origin is taken from them, so that they stay exact at every zoom: what is
// left is as exact as a pixel needs wherever it is on the screen.

struct Lane {
    // Pixels of the picture from left to right and top to bottom; pixels a step, pixels a byte.
    size_scale: vec4<f32>,
    // Offset of the view from its origin, in steps and bytes; two unused.
    fraction: vec4<f32>,
    // The origin: step, low and high half of the address; one unused.
    origin: vec4<u32>,
    hole_line: vec4<f32>,
    hole_ground: vec4<f32>,
    // Colours by number, four a row: premultiplied, a byte a channel.
    palette: array<vec4<u32>, 64>,
}

@group(0) @binding(0) var<uniform> lane: Lane;

struct Row {
    @builtin(vertex_index) corner: u32,
    // First step, step behind the last, low half of the address, low half of the bytes.
    @location(0) place: vec4<u32>,
    // High halves: 16 bits of the address, 16 bits of the bytes.
    @location(1) highs: u32,
}

struct Drawn {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(flat) share: f32,
}

// The same for all pictures.
const HATCH: i32 = 6;
const LEAST_GAP: f32 = 4.0;
const LEAST_OPAQUE: f32 = 0.45;
// The first number of dimmed colors.
const STEPPED_BACK: u32 = 128u;
const FOUR_GIB: f32 = 4294967296.0;

fn steps_from_origin(step: u32) -> f32 {
    if step >= lane.origin.x {
        return f32(step - lane.origin.x);
    }
    return -f32(lane.origin.x - step);
}

// Numbers of 64 bits as low and high half.
fn sum(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn bytes_from_origin(address: vec2<u32>) -> f32 {
    let origin = lane.origin.yz;
    let is_behind = address.y > origin.y || (address.y == origin.y && address.x >= origin.x);
    let more = select(origin, address, is_behind);
    let less = select(address, origin, is_behind);
    let low = more.x - less.x;
    let high = more.y - less.y - select(0u, 1u, more.x < less.x);
    let distance = f32(high) * FOUR_GIB + f32(low);
    return select(-distance, distance, is_behind);
}

fn nearest(at: f32) -> f32 {
    return floor(at + 0.5);
}

// First pixel and the one behind the last: to the nearest one, or the one in which a small thing lies.
fn pixels(low: f32, high: f32, span: f32) -> vec2<f32> {
    if span < 1.0 {
        return vec2<f32>(floor(low), floor(low) + 1.0);
    }
    return vec2<f32>(nearest(low), max(nearest(high), nearest(low) + 1.0));
}

struct Place {
    low: vec2<f32>,
    high: vec2<f32>,
    // How wide and high it is in truth.
    span: vec2<f32>,
}

fn place_of(row: Row) -> Place {
    let scale = lane.size_scale.zw;
    let size = lane.size_scale.xy;
    let base = vec2<u32>(row.place.z, row.highs & 0xffffu);
    let bytes = vec2<u32>(row.place.w, row.highs >> 16u);
    let left = (steps_from_origin(row.place.x) - lane.fraction.x) * scale.x;
    let right = (steps_from_origin(row.place.y) - lane.fraction.x) * scale.x;
    let bottom = size.y - (bytes_from_origin(base) - lane.fraction.y) * scale.y;
    let top = size.y - (bytes_from_origin(sum(base, bytes)) - lane.fraction.y) * scale.y;
    let span = vec2<f32>(
        f32(row.place.y - row.place.x) * scale.x,
        (f32(bytes.y) * FOUR_GIB + f32(bytes.x)) * scale.y,
    );
    var x = pixels(left, right, span.x);
    var y = pixels(top, bottom, span.y);
    if span.x >= 1.0 && span.y >= 1.0 {
        x.y -= select(0.0, 1.0, x.y - x.x >= LEAST_GAP);
        y.x += select(0.0, 1.0, y.y - y.x >= LEAST_GAP);
    }
    return Place(vec2<f32>(x.x, y.x), vec2<f32>(x.y, y.y), span);
}

fn is_large(place: Place) -> bool {
    return place.span.x >= 1.0 && place.span.y >= 1.0;
}

fn color_of(number: u32) -> vec4<f32> {
    return unpack4x8unorm(lane.palette[number / 4u][number % 4u]);
}

// A corner of a quad; far from the picture numbers are cut, so that they stay small.
fn corner_of(place: Place, corner: u32, depth: f32) -> vec4<f32> {
    let size = lane.size_scale.xy;
    let at = vec2<f32>(
        select(place.low.x, place.high.x, (corner & 1u) == 1u),
        select(place.low.y, place.high.y, (corner & 2u) == 2u),
    );
    let inside = clamp(at, vec2<f32>(-4.0), size + vec2<f32>(4.0));
    return vec4<f32>(inside.x / size.x * 2.0 - 1.0, 1.0 - inside.y / size.y * 2.0, depth, 1.0);
}

fn nowhere() -> Drawn {
    return Drawn(vec4<f32>(2.0, 2.0, 0.0, 1.0), vec4<f32>(0.0), 0.0);
}

@vertex
fn vs_hole(row: Row) -> Drawn {
    return Drawn(corner_of(place_of(row), row.corner, 0.0), vec4<f32>(0.0), 0.0);
}

@vertex
fn vs_large(row: Row, @location(2) color: u32) -> Drawn {
    let place = place_of(row);
    if !is_large(place) {
        return nowhere();
    }
    return Drawn(corner_of(place, row.corner, 0.0), color_of(color), 0.0);
}

@vertex
fn vs_small(row: Row, @location(2) color: u32) -> Drawn {
    let place = place_of(row);
    if is_large(place) {
        return nowhere();
    }
    let least = vec2<f32>(0.000001);
    let covered = clamp(place.span, least, vec2<f32>(1.0));
    let share = covered.x * covered.y;
    // The one that covers most is seen, of equals that with the highest number; what steps back hides nothing that does not.
    let rank = select(0.5, 0.0, color >= STEPPED_BACK);
    let depth = rank + 0.0001 + share * 0.49 + f32(color % STEPPED_BACK) * 0.0000002;
    return Drawn(corner_of(place, row.corner, depth), color_of(color), share);
}

@fragment
fn fs_color(drawn: Drawn) -> @location(0) vec4<f32> {
    return drawn.color;
}

@fragment
fn fs_share(drawn: Drawn) -> @location(0) vec4<f32> {
    return vec4<f32>(drawn.share);
}

@fragment
fn fs_hole(drawn: Drawn) -> @location(0) vec4<f32> {
    let at = vec2<i32>(floor(drawn.position.xy));
    return select(lane.hole_ground, lane.hole_line, (at.x + at.y) % HATCH == 0);
}

// The picture on the screen.

struct Screen {
    // Left and top pixel; two unused.
    origin: vec4<i32>,
    tint: vec4<f32>,
}

@group(0) @binding(0) var<uniform> screen: Screen;
@group(0) @binding(1) var large: texture_2d<f32>;
@group(0) @binding(2) var small: texture_2d<f32>;
@group(0) @binding(3) var shares: texture_2d<f32>;

@vertex
fn vs_screen(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4<f32> {
    let x = select(-1.0, 3.0, corner == 1u);
    let y = select(-1.0, 3.0, corner == 2u);
    return vec4<f32>(x, y, 0.0, 1.0);
}

@fragment
fn fs_screen(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(floor(position.xy)) - screen.origin.xy;
    let size = vec2<i32>(textureDimensions(large));
    if any(at < vec2<i32>(0)) || any(at >= size) {
        discard;
    }
    let ground = textureLoad(large, at, 0);
    let above = textureLoad(small, at, 0);
    var opaque = 0.0;
    if above.a > 0.0 {
        opaque = LEAST_OPAQUE + (1.0 - LEAST_OPAQUE) * min(textureLoad(shares, at, 0).r, 1.0);
    }
    return (above * opaque + ground * (1.0 - above.a * opaque)) * screen.tint;
}
