//! Rows and colours of a lane on the graphics device: some per frame, so that no frame waits for a million.

use std::ops::Range;

use eframe::wgpu::{self, util::DeviceExt as _};

use super::pipelines::{COLOR_NUMBER, ROW};
use highwater_timeline::{LaneView, Rects};

/// Rows of a buffer: 2.5 MiB, far below the least that adapters offer (256 MiB).
pub(super) const CHUNK: usize = 1 << 17;

#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) lane: &'a LaneView,
    /// By block.
    pub(super) colors: &'a [u8],
    /// Version of the colours.
    pub(super) look: u64,
}

/// Consecutive blocks in the order of classes.
#[derive(Debug)]
struct Chunk {
    rows: wgpu::Buffer,
    colors: wgpu::Buffer,
    look: u64,
}

#[derive(Debug, Default)]
pub(super) struct Uploads {
    blocks: Vec<Chunk>,
    holes: Vec<wgpu::Buffer>,
    /// Grows with every upload.
    pub(super) n_sent: u64,
}

impl Uploads {
    /// Uploads the next chunk, or the next chunk's changed colours. Returns whether more is left.
    pub(super) fn send(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, source: &Source<'_>) -> bool {
        let (blocks, holes) = (source.lane.block_rects(), source.lane.gap_rects());
        if let Some(range) = next(self.blocks.len(), blocks.len()) {
            self.blocks.push(Chunk {
                rows: buffer(device, &rows(blocks, range.clone())),
                colors: buffer(device, &numbers(blocks, range, source.colors)),
                look: source.look,
            });
        } else if let Some(range) = next(self.holes.len(), holes.len()) {
            self.holes.push(buffer(device, &rows(holes, range)));
        } else if let Some(stale) = self.blocks.iter().position(|chunk| chunk.look != source.look) {
            let range = stale * CHUNK..((stale + 1) * CHUNK).min(blocks.len());
            let chunk = &mut self.blocks[stale];
            queue.write_buffer(&chunk.colors, 0, &numbers(blocks, range, source.colors));
            chunk.look = source.look;
        } else {
            return false;
        }
        self.n_sent += 1;
        self.blocks.len() * CHUNK < blocks.len()
            || self.holes.len() * CHUNK < holes.len()
            || self.blocks.iter().any(|chunk| chunk.look != source.look)
    }

    /// Draws uploaded blocks of one range.
    pub(super) fn draw_blocks(&self, pass: &mut wgpu::RenderPass<'_>, range: &Range<usize>) {
        for (chunk, instances) in parts(range) {
            let Some(chunk) = self.blocks.get(chunk) else { return };
            pass.set_vertex_buffer(0, chunk.rows.slice(..));
            pass.set_vertex_buffer(1, chunk.colors.slice(..));
            pass.draw(0..4, instances);
        }
    }

    /// Draws uploaded gaps of one range.
    pub(super) fn draw_holes(&self, pass: &mut wgpu::RenderPass<'_>, range: &Range<usize>) {
        for (chunk, instances) in parts(range) {
            let Some(rows) = self.holes.get(chunk) else { return };
            pass.set_vertex_buffer(0, rows.slice(..));
            pass.draw(0..4, instances);
        }
    }
}

/// The range of the next chunk; `None` after the last.
fn next(n_chunks: usize, n_rows: usize) -> Option<Range<usize>> {
    let first = n_chunks * CHUNK;
    (first < n_rows).then(|| first..(first + CHUNK).min(n_rows))
}

/// The chunks of a range, and the part of each.
fn parts(range: &Range<usize>) -> impl Iterator<Item = (usize, Range<u32>)> + use<> {
    let (start, end) = (range.start, range.end);
    (start / CHUNK..end.div_ceil(CHUNK)).map(move |chunk| {
        let within = |at: usize| u32::try_from(at.clamp(chunk * CHUNK, (chunk + 1) * CHUNK) - chunk * CHUNK);
        (chunk, within(start).unwrap_or(0)..within(end).unwrap_or(0))
    })
}

fn rows(rects: Rects<'_>, range: Range<usize>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(range.len() * usize::try_from(ROW).unwrap_or(0));
    for row in rects.rows(range) {
        bytes.extend_from_slice(row.map(u32::to_ne_bytes).as_flattened());
    }
    bytes
}

fn numbers(rects: Rects<'_>, range: Range<usize>, colors: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(range.len() * usize::try_from(COLOR_NUMBER).unwrap_or(0));
    for idx in rects.numbers(range) {
        let color = colors.get(idx).copied().unwrap_or(u8::MAX);
        bytes.extend_from_slice(&u32::from(color).to_ne_bytes());
    }
    bytes
}

fn buffer(device: &wgpu::Device, contents: &[u8]) -> wgpu::Buffer {
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("lane"),
        contents,
        usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
    })
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, next, parts};

    #[test]
    fn ranges_are_cut_where_buffers_end() {
        let cases = [
            (0..10, vec![(0, 0..10)]),
            (CHUNK - 1..CHUNK + 1, vec![(0, 131_071..131_072), (1, 0..1)]),
            (CHUNK..2 * CHUNK, vec![(1, 0..131_072)]),
            (5..5, vec![(0, 5..5)]),
        ];
        for (range, wanted) in cases {
            let found: Vec<_> = parts(&range).collect();
            assert_eq!(found, wanted, "{range:?}");
        }
        assert_eq!(next(0, 0), None);
        assert_eq!(next(0, 7), Some(0..7));
        assert_eq!(next(1, CHUNK + 7), Some(CHUNK..CHUNK + 7));
        assert_eq!(next(1, CHUNK), None);
    }
}
