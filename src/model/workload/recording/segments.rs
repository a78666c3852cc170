//! The segments that contain the blocks of a recording.
//!
//! ```text
//! addresses  0x1000 |-- segment --|        the same addresses may belong to
//!            0x1000        |--- another segment later ---|
//!              ^ block: the segment that is held at its birth
//! ```

use super::{BlockAddress, RecordedBlock, RecordedName, RecordedRegion, Recording};
use crate::units::Step;

/// The segments of a recording by address, for many blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    segments: Vec<Segment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    pub address: u64,
    /// Exclusive.
    end: u64,
    birth: Step,
    death: Step,
    pub stream: u64,
    /// With its private pool, see [`Recording::segment_kind`].
    pub kind: RecordedName,
    /// Position in [`Recording::regions`].
    pub region: u32,
}

impl Segment {
    fn new(position: u32, region: &RecordedRegion) -> Self {
        Self {
            address: region.address,
            end: region.address.saturating_add(region.bytes.get()),
            birth: region.birth,
            death: region.end,
            stream: region.stream,
            kind: region.kind,
            region: position,
        }
    }

    const fn contains(&self, address: u64) -> bool {
        self.address <= address && address < self.end
    }

    fn is_held_at(&self, step: Step) -> bool {
        self.birth <= step && step < self.death
    }
}

/// Segments of the address and below it that are asked at most: the same address may be taken again and again.
const MOST_ASKED: usize = 64;

fn numbered(recording: &Recording) -> impl Iterator<Item = Segment> + Clone {
    let regions = (0..).zip(&recording.regions);
    regions.map(|(position, region)| Segment::new(position, region))
}

impl Segments {
    /// O(segments log segments).
    pub fn new(recording: &Recording) -> Self {
        let mut segments: Vec<Segment> = numbered(recording).collect();
        segments.sort_unstable();
        Self { segments }
    }

    /// The segment that contains a block at its birth, else one that contains its address at another time: events may
    /// share a step. O(log segments).
    pub fn of(&self, block: &RecordedBlock) -> Option<&Segment> {
        let address = block.address.map(BlockAddress::get)?;
        let after = self.segments.partition_point(|segment| segment.address <= address);
        let asked = self.segments[..after].iter().rev().take(MOST_ASKED);
        first(asked, address, block.birth)
    }
}

/// The segment of one block, without an index. O(segments).
pub fn segment_of(recording: &Recording, block: &RecordedBlock) -> Option<Segment> {
    let address = block.address.map(BlockAddress::get)?;
    first(numbered(recording), address, block.birth)
}

/// The first segment that contains an address on a step, else the first that contains it at all.
fn first<T: std::borrow::Borrow<Segment>>(
    segments: impl Iterator<Item = T> + Clone,
    address: u64,
    step: Step,
) -> Option<T> {
    let mut holding = segments.filter(|segment| segment.borrow().contains(address));
    let held = holding.clone().find(|segment| segment.borrow().is_held_at(step));
    held.or_else(|| holding.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn blocks_are_in_the_segment_that_is_held_at_their_birth() {
        let region = |address: u64, bytes: u64, steps: (u32, u32), kind: u32| RecordedRegion {
            address,
            bytes: Bytes(bytes),
            birth: Step(steps.0),
            end: Step(steps.1),
            stream: 0,
            kind: RecordedName(kind),
            is_older: false,
        };
        let recording = Recording {
            regions: vec![
                region(0x1000, 0x1000, (0, 4), 1),
                region(0x1000, 0x3000, (4, 9), 2),
                region(0x2000, 0x1000, (0, 3), 3),
                region(0x3000, 0x1000, (1, 4), 4),
            ],
            ..Recording::default()
        };
        let segments = Segments::new(&recording);
        let kind = |address: u64, birth: u32| {
            let block = RecordedBlock {
                address: BlockAddress::new(address),
                ..RecordedBlock::new(RecordedName(0), Step(birth), Step(birth + 1), Bytes(1))
            };
            let found = segments.of(&block).copied();
            assert_eq!(found, segment_of(&recording, &block), "{address:#x} on step {birth}");
            found.map(|segment| segment.kind.0)
        };
        for (address, birth, expected) in [
            (0x1000, 0, Some(1)),
            (0x1fff, 3, Some(1)),
            (0x1fff, 4, Some(2)),
            (0x2000, 2, Some(3)),
            (0x2000, 8, Some(2)),
            (0x3fff, 2, Some(4)),
            (0x4000, 2, None),
            (0x0fff, 2, None),
        ] {
            assert_eq!(kind(address, birth), expected, "{address:#x} on step {birth}");
        }
    }
}
