//! The rounding of an allocator, from requested and held bytes.

use super::{Calibration, LearnedSetting};
use highwater_model::units::Bytes;
use highwater_model::workload::{RecordedBlock, Recording};
use highwater_options::keys;

/// Fewest blocks for a rule.
const FEWEST_BLOCKS: usize = 8;

/// The share of blocks that a rule has to explain, in percent.
const LEAST_PERCENT: usize = 90;

/// The coarsest rounding that is tried: the largest page size.
const MAX_ROUNDING: u64 = 1 << 30;

/// Adds the rounding, where one explains the blocks.
pub(super) fn learn(calibration: &mut Calibration, recording: &Recording, now: Option<Bytes>) {
    let blocks: Vec<&RecordedBlock> = recording
        .blocks
        .iter()
        .filter(|block| block.bytes > Bytes::ZERO)
        .collect();
    if blocks.iter().all(|block| block.held == block.bytes) {
        calibration.note(
            "The recording does not state requested and allocated sizes separately, so rounding cannot be \
                   learned.",
        );
        return;
    }
    let sum = |bytes: fn(&RecordedBlock) -> Bytes| blocks.iter().map(|block| u128::from(bytes(block).get())).sum();
    let (requested, held): (u128, u128) = (sum(|block| block.bytes), sum(|block| block.held));
    #[expect(clippy::cast_precision_loss, reason = "percents with two decimals")]
    let more = (held.saturating_sub(requested)) as f64 * 100.0 / requested as f64;
    let Some((rounding, n_explained)) = rounding(&blocks).filter(|_| blocks.len() >= FEWEST_BLOCKS) else {
        calibration.note(format!(
            "{} blocks are {more:.1} % larger than requested, but no single rounding explains that, so none is \
             learned.",
            blocks.len()
        ));
        return;
    };
    calibration.settings.push(LearnedSetting {
        key: keys::TENSOR_ROUNDING,
        now: now.map_or_else(|| "the engine's own rule".to_owned(), |now| now.get().to_string()),
        learned: rounding.to_string(),
        from: format!(
            "{n_explained} of {} blocks have their requested size rounded up to a multiple of it; all blocks together \
             are {more:.1} % larger than requested.",
            blocks.len()
        ),
        poor_fit: None,
    });
}

/// The power of two that explains most blocks, the coarsest of equals, and how many; `None` where it explains too few.
/// O(blocks).
fn rounding(blocks: &[&RecordedBlock]) -> Option<(u64, usize)> {
    // A power of two explains a block if it divides the held bytes and exceeds the spare bytes. The powers of a block
    // are consecutive, so changes between them are counted.
    let mut changes = [0_i64; MAX_ROUNDING.trailing_zeros() as usize + 2];
    for block in blocks {
        let spare = block.held.get().saturating_sub(block.bytes.get());
        let first = spare
            .saturating_add(1)
            .checked_next_power_of_two()
            .map_or(u64::BITS, u64::trailing_zeros);
        let last = block.held.get().trailing_zeros().min(MAX_ROUNDING.trailing_zeros());
        if block.held >= block.bytes && first <= last {
            changes[first as usize] += 1;
            changes[last as usize + 1] -= 1;
        }
    }
    let mut explained = 0;
    let mut best: (u64, i64) = (1, 0);
    for (power, change) in changes.iter().enumerate().take(changes.len() - 1) {
        explained += change;
        if power > 0 && explained >= best.1 {
            best = (1 << power, explained);
        }
    }
    let count = usize::try_from(best.1).ok()?;
    (count * 100 >= blocks.len() * LEAST_PERCENT).then_some((best.0, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::units::Step;
    use highwater_model::workload::RecordedName;

    fn block(bytes: u64, held: u64) -> RecordedBlock {
        RecordedBlock {
            held: Bytes(held),
            is_freed: true,
            ..RecordedBlock::new(RecordedName(0), Step(0), Step(1), Bytes(bytes))
        }
    }

    #[test]
    fn the_coarsest_rounding_that_explains_nearly_all_is_learned() {
        let all: Vec<RecordedBlock> = (1..100_u64)
            .map(|n| block(n * 100, (n * 100).next_multiple_of(512)))
            .collect();
        assert_eq!(rounding(&all.iter().collect::<Vec<_>>()), Some((512, 99)));
        let mut nearly = all.clone();
        nearly[3].held = Bytes(1 << 20);
        assert_eq!(rounding(&nearly.iter().collect::<Vec<_>>()), Some((512, 98)));
        // One by one, whatever the sizes.
        for seed in 0..50_u64 {
            let mixed: Vec<RecordedBlock> = (1..40_u64)
                .map(|n| {
                    let bytes = 1 + n * 7_919 * (seed + 1) % 5_000;
                    let rounding = 1 << (n * (seed + 3) % 12);
                    block(bytes, bytes.next_multiple_of(if n % 20 == 0 { rounding } else { 64 }))
                })
                .collect();
            let mixed: Vec<&RecordedBlock> = mixed.iter().collect();
            let count = |rounding: u64| {
                let is_explained = |block: &&&RecordedBlock| block.bytes.align_up(rounding) == block.held;
                mixed.iter().filter(is_explained).count()
            };
            let expected = (1..=30)
                .map(|power| 1_u64 << power)
                .map(|power| (count(power), power))
                .max();
            let expected = expected.filter(|(count, _)| count * 100 >= mixed.len() * LEAST_PERCENT);
            assert_eq!(
                rounding(&mixed),
                expected.map(|(count, power)| (power, count)),
                "{seed}"
            );
        }
        let none: Vec<RecordedBlock> = (1..100_u64).map(|n| block(n * 100, n * 100 + n)).collect();
        assert_eq!(rounding(&none.iter().collect::<Vec<_>>()), None);
    }
}
