//! Layers of idle spans: one stack per page count, and the smallest non-empty one.
//!
//! ```text
//! heads    0 . . 3:#7 . . 6:#2 ...        flat up to 4095 pages, found through two levels of bits
//! large    (5000, #1), (996094, #0)       sorted by pages; blocks of that size are few
//! ```
//!
//! In: page counts and new front spans. Out: fronts. Invariants: a bit is set exactly while its layer is not empty;
//! `large` holds no empty layer. No step depends on the number of possible layers, and a pool of small blocks keeps few
//! heads.

pub(super) const NONE: u32 = u32::MAX;

const SMALL: usize = 4096;
const WORD: usize = 64;

/// Fronts of layers by page count.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    /// As many as needed, in whole words.
    heads: Vec<u32>,
    words: Vec<u64>,
    /// One bit per word.
    summary: u64,
    large: Vec<(u64, u32)>,
}

impl Layers {
    pub(super) fn new() -> Self {
        Self {
            heads: Vec::new(),
            words: Vec::new(),
            summary: 0,
            large: Vec::new(),
        }
    }

    /// The front of the smallest non-empty layer of at least `pages`, with its page count. O(1) below 4096 pages,
    /// otherwise O(log non-empty layers).
    #[inline]
    pub(super) fn first_from(&self, pages: u64) -> Option<(u64, u32)> {
        if let Some(at) = small(pages) {
            let (word, bit) = (at / WORD, at % WORD);
            let here = self.words.get(word).map_or(0, |bits| bits & (u64::MAX << bit));
            if here != 0 {
                return Some(self.small_front(word, here));
            }
            let rest = self.summary & (u64::MAX << word) & !(1 << word);
            if rest != 0 {
                let word = rest.trailing_zeros() as usize;
                return Some(self.small_front(word, self.words[word]));
            }
            return self.large.first().copied();
        }
        let at = self.large.partition_point(|(layer, _)| *layer < pages);
        self.large.get(at).copied()
    }

    /// Sets the front of a layer and returns the previous one.
    #[inline]
    pub(super) fn replace_front(&mut self, pages: u64, front: u32) -> u32 {
        if let Some(at) = small(pages) {
            if at >= self.heads.len() {
                self.grow(at);
            }
            self.words[at / WORD] |= 1 << (at % WORD);
            self.summary |= 1 << (at / WORD);
            return std::mem::replace(&mut self.heads[at], front);
        }
        let at = self.large.partition_point(|(layer, _)| *layer < pages);
        match self.large.get_mut(at) {
            Some((layer, head)) if *layer == pages => std::mem::replace(head, front),
            _ => {
                self.large.insert(at, (pages, front));
                NONE
            }
        }
    }

    /// Sets or clears the front of a layer.
    #[inline]
    pub(super) fn set_front(&mut self, pages: u64, front: u32) {
        if front != NONE {
            self.replace_front(pages, front);
        } else if let Some(at) = small(pages).filter(|at| *at < self.heads.len()) {
            self.heads[at] = NONE;
            self.words[at / WORD] &= !(1 << (at % WORD));
            if self.words[at / WORD] == 0 {
                self.summary &= !(1 << (at / WORD));
            }
        } else {
            let at = self.large.partition_point(|(layer, _)| *layer < pages);
            if self.large.get(at).is_some_and(|(layer, _)| *layer == pages) {
                self.large.remove(at);
            }
        }
    }

    #[cold]
    fn grow(&mut self, at: usize) {
        let heads = (at + 1).next_power_of_two().max(WORD);
        self.heads.resize(heads, NONE);
        self.words.resize(heads / WORD, 0);
    }

    fn small_front(&self, word: usize, bits: u64) -> (u64, u32) {
        let at = word * WORD + bits.trailing_zeros() as usize;
        (at as u64, self.heads[at])
    }
}

fn small(pages: u64) -> Option<usize> {
    usize::try_from(pages).ok().filter(|at| *at < SMALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_layer_that_is_not_empty_is_found_at_every_distance() {
        let counts = [1, 2, 63, 64, 65, 127, 128, 4095, 4096, 5000, 1 << 40];
        let mut layers = Layers::new();
        for (front, pages) in (0_u32..).zip(counts) {
            assert_eq!(layers.replace_front(pages, front), NONE);
        }
        for (front, pages) in (0_u32..).zip(counts) {
            let before = counts.get((front as usize).wrapping_sub(1)).copied().unwrap_or(0);
            assert_eq!(layers.first_from(before + 1), Some((pages, front)), "from {before}");
            assert_eq!(layers.first_from(pages), Some((pages, front)));
        }
        assert_eq!(layers.first_from((1 << 40) + 1), None);
        for pages in counts {
            layers.set_front(pages, NONE);
        }
        assert_eq!(layers.first_from(0), None);
        assert_eq!((layers.summary, layers.large.len()), (0, 0));
    }
}
