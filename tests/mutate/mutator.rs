//! Seeded damage: by disks, networks, editors and attackers.

/// A deterministic stream of damage.
#[derive(Debug)]
pub(crate) struct Mutator<'a> {
    state: u64,
    words: &'a [Vec<u8>],
}

/// Bytes and numbers at which parsers fail.
const TOKENS: &[&[u8]] = &[
    &[0],
    &[0xff],
    &[0x7f],
    &[0x80],
    &[0xff; 4],
    &[0xff; 8],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    &[0, 0, 0, 0x80],
    &[0xfe, 0xff, 0xff, 0x7f],
    b"-1",
    b"18446744073709551616",
    b"9223372036854775807",
    b"1e308",
    b"NaN",
    b"null",
    b"[",
    b"{",
    b"}",
    b"]",
    b"(",
    b")",
    b"\"",
    b"'",
    b"\\",
    b",",
    b":",
    b"=",
    b"|",
    b"\n",
    b"\r\n",
    b"\t",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
    b"((((((((((((((((((((((((((((((((",
    "\u{feff}".as_bytes(),
    "\u{202e}".as_bytes(),
    // Several bytes a letter, and other lengths in the other case.
    "é字👩\u{200d}👩".as_bytes(),
    "İſßŉﬀ".as_bytes(),
    // Where texts are cut.
    "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé".as_bytes(),
    &[0xc3, 0x28],
];

/// Decimal numbers at the edges of types.
const NUMBERS: &[&[u8]] = &[
    b"0",
    b"1",
    b"-1",
    b"255",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"4611686018427387904",
    b"9223372036854775808",
    b"18446744073709551615",
    b"99999999999999999999999999",
    b"0.5",
    b"1e400",
];

/// Fixed-width integers at the edges of types.
const INTEGERS: &[u64] = &[
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x4000_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// The longest text that nesting makes.
const MOST_NESTED: usize = 16 << 10;

impl<'a> Mutator<'a> {
    /// The damage of one round of a sample; `words` occur in samples of the same kind.
    pub(crate) fn of(name: &str, round: u64, words: &'a [Vec<u8>]) -> Self {
        let seed = name.bytes().fold(0x9e37_79b9_u64, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        // Neighbouring rounds must differ.
        let mixed = (seed ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let state = (mixed ^ (mixed >> 29)) | 1;
        Self { state, words }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// A number below `n`; 0 where `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or(0)
    }

    fn of_list<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A place within the bytes; half of them near the start, where headers are.
    fn place(&mut self, len: usize) -> usize {
        if self.below(2) == 0 {
            self.below(len.min(256))
        } else {
            self.below(len)
        }
    }

    /// One to eight damages in a row, half of the times one: a single one reaches what is behind the grammar.
    pub(crate) fn mutate(&mut self, bytes: &[u8], other: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        for _ in 0..=self.below(2) * self.below(8) {
            self.damage(&mut damaged, other);
            // Repeated doubling would not stay small.
            damaged.truncate(bytes.len() * 2 + 4096);
        }
        damaged
    }

    fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let len = bytes.len();
        let at = self.place(len);
        match self.below(17) {
            0 if len > 0 => bytes[at] ^= 1 << self.below(8),
            1 if len > 0 => bytes[at] = self.byte(),
            2 => {
                let token = self.token();
                bytes.splice(at..at, token);
            }
            3 => {
                let token = self.token();
                let end = (at + token.len()).min(len);
                bytes.splice(at..end, token);
            }
            4 => {
                let end = (at + self.below(64)).min(len);
                bytes.drain(at..end);
            }
            5 => {
                let end = (at + self.below(256)).min(len);
                let piece = bytes[at..end].to_vec();
                let to = self.below(len);
                bytes.splice(to..to, piece);
            }
            6 => bytes.truncate(at),
            7 => {
                let from = self.below(other.len());
                let end = (from + self.below(128)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            8 => {
                let number = self.of_list(NUMBERS);
                replace_run(bytes, at, number, u8::is_ascii_digit);
            }
            9 => self.move_line(bytes),
            10 => {
                let end = (at + self.below(16)).min(len);
                bytes[at..end].fill(0);
            }
            11 => self.set_integer(bytes, at),
            12 => {
                // Crossover: the beginning of one file and the end of another.
                let from = self.below(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            13 => self.nest(bytes, at),
            14 | 15 => {
                let word = self.token();
                replace_run(bytes, at, &word, is_of_word);
            }
            _ => {
                let end = (at + 1 + self.below(8)).min(len);
                let random: Vec<u8> = (at..end).map(|_| self.byte()).collect();
                bytes.splice(at..end, random);
            }
        }
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap_or(0)
    }

    /// A token; two of three are words of the samples.
    fn token(&mut self) -> Vec<u8> {
        if self.words.is_empty() || self.below(3) == 0 {
            self.of_list(TOKENS).to_vec()
        } else {
            self.words[self.below(self.words.len())].clone()
        }
    }

    /// Overwrites an integer of 1 to 8 bytes in either order, or adds a little to it.
    fn set_integer(&mut self, bytes: &mut [u8], at: usize) {
        let width = 1 << self.below(4);
        let Some(place) = bytes.get_mut(at..at + width) else {
            return;
        };
        let mut value = [0; 8];
        let is_little = self.below(2) == 0;
        if self.below(2) == 0 {
            value = self.of_list(INTEGERS).to_le_bytes();
        } else {
            value[..width].copy_from_slice(place);
            if !is_little {
                value[..width].reverse();
            }
            let delta = self.below(35) as u64;
            value = u64::from_le_bytes(value)
                .wrapping_add(delta)
                .wrapping_sub(17)
                .to_le_bytes();
        }
        if !is_little {
            value[..width].reverse();
        }
        place.copy_from_slice(&value[..width]);
    }

    /// Wraps a piece into repeated copies of what surrounds it: deep nesting in the file's own grammar.
    fn nest(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let outer = (at + 2 + self.below(64)).min(bytes.len());
        let start = at + self.below((outer - at) / 2 + 1);
        let end = start + self.below(outer - start + 1);
        let (open, close) = (bytes[at..start].to_vec(), bytes[end..outer].to_vec());
        let copies = 1 << self.below(10);
        let copies = copies.min(MOST_NESTED / (open.len() + close.len() + 1));
        let nested = [open.repeat(copies), bytes[start..end].to_vec(), close.repeat(copies)].concat();
        bytes.splice(start..end, nested);
    }

    /// Duplicates, moves or removes a line.
    fn move_line(&mut self, bytes: &mut Vec<u8>) {
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts: Vec<usize> = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let line = self.below(starts.len());
        let start = starts[line];
        let end = starts.get(line + 1).copied().unwrap_or(bytes.len());
        let copy = bytes[start..end].to_vec();
        let kind = self.below(3);
        if kind > 0 {
            bytes.drain(start..end);
        }
        if kind < 2 {
            let to = self.of_list(&starts).min(bytes.len());
            bytes.splice(to..to, copy);
        }
    }
}

pub(crate) fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Replaces the next run of such bytes after a place.
fn replace_run(bytes: &mut Vec<u8>, at: usize, new: &[u8], is_in: impl Fn(&u8) -> bool) {
    let Some(start) = bytes[at..].iter().position(&is_in).map(|found| at + found) else {
        return;
    };
    let length = bytes[start..].iter().take_while(|byte| is_in(byte)).count();
    bytes.splice(start..start + length, new.iter().copied());
}
