//! Seeded damage: by disks, networks, editors and attackers.

/// A deterministic stream of damage.
#[derive(Debug)]
pub(crate) struct Mutator(u64);

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
    b"\"",
    b"\\",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\t",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
    "\u{feff}".as_bytes(),
    &[0xc3, 0x28],
];

impl Mutator {
    /// The damage of one round of a sample.
    pub(crate) fn of(name: &str, round: u32) -> Self {
        let seed = name.bytes().fold(0x9e37_79b9_u64, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        // Neighbouring rounds must differ.
        let mixed = (seed ^ u64::from(round)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self((mixed ^ (mixed >> 29)) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// A number below `n`; 0 where `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or(0)
    }

    /// A place within the bytes; half of them near the start, where headers are.
    fn place(&mut self, len: usize) -> usize {
        if self.below(2) == 0 {
            self.below(len.min(256))
        } else {
            self.below(len)
        }
    }

    /// One to eight damages in a row.
    pub(crate) fn mutate(&mut self, bytes: &[u8], other: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        for _ in 0..=self.below(8) {
            self.damage(&mut damaged, other);
            // Repeated doubling would not stay small.
            damaged.truncate(bytes.len() * 2 + 4096);
        }
        damaged
    }

    fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let len = bytes.len();
        let at = self.place(len);
        match self.below(12) {
            0 if len > 0 => bytes[at] ^= 1 << self.below(8),
            1 if len > 0 => bytes[at] = u8::try_from(self.below(256)).unwrap_or(0),
            2 => {
                let token = TOKENS[self.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            3 => {
                let token = TOKENS[self.below(TOKENS.len())];
                let end = (at + token.len()).min(len);
                bytes.splice(at..end, token.iter().copied());
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
            8 => self.change_number(bytes, at),
            9 => self.move_line(bytes),
            10 => {
                let end = (at + self.below(16)).min(len);
                bytes[at..end].fill(0);
            }
            _ => {
                let end = (at + 1 + self.below(8)).min(len);
                let random: Vec<u8> = (at..end).map(|_| u8::try_from(self.below(256)).unwrap_or(0)).collect();
                bytes.splice(at..end, random);
            }
        }
    }

    /// Changes the next decimal number after a place.
    fn change_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else {
            return;
        };
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let numbers: [&[u8]; 8] = [
            b"0",
            b"1",
            b"-1",
            b"255",
            b"4294967295",
            b"4294967296",
            b"18446744073709551615",
            b"99999999999999999999999999",
        ];
        let number = numbers[self.below(numbers.len())];
        bytes.splice(start..start + length, number.iter().copied());
    }

    /// Duplicates or moves a line.
    fn move_line(&mut self, bytes: &mut Vec<u8>) {
        let starts: Vec<usize> = std::iter::once(0)
            .chain(
                bytes
                    .iter()
                    .enumerate()
                    .filter(|(_, byte)| **byte == b'\n')
                    .map(|(at, _)| at + 1),
            )
            .collect();
        let line = self.below(starts.len());
        let start = starts[line];
        let end = starts.get(line + 1).copied().unwrap_or(bytes.len());
        let copy = bytes[start..end].to_vec();
        if self.below(2) == 0 {
            bytes.drain(start..end);
        }
        let to = starts[self.below(starts.len())].min(bytes.len());
        bytes.splice(to..to, copy);
    }
}
