//! Writes messages in the binary form, with the lines of the text that they come from.

/// Bytes of a message's length, which is written once the message is whole.
const LENGTH_BYTES: usize = 5;

#[derive(Default)]
pub(super) struct Encoder {
    out: Vec<u8>,
    /// Positions in `out` of messages that were opened, with their lines.
    lines: Vec<(u64, u64)>,
}

/// A message that is open: where its content starts.
#[derive(Clone, Copy)]
pub(super) struct Open(usize);

/// A model in the binary form.
#[derive(Debug)]
pub(in crate::onnx) struct Binary {
    pub(in crate::onnx) bytes: Vec<u8>,
    lines: Vec<(u64, u64)>,
}

impl Binary {
    /// The line of the text from which a byte comes; 0 where the text has no lines.
    pub(super) fn line(&self, byte: u64) -> u64 {
        let behind = self.lines.partition_point(|(at, _)| *at <= byte);
        behind.checked_sub(1).map_or(0, |position| self.lines[position].1)
    }
}

impl Encoder {
    pub(super) fn open(&mut self, number: u64, line: u64) -> Open {
        self.lines.push((self.out.len() as u64, line));
        self.varint(number << 3 | 2);
        self.out.extend([0; LENGTH_BYTES]);
        Open(self.out.len())
    }

    pub(super) fn close(&mut self, open: Open) {
        let mut length = self.out.len() - open.0;
        for byte in &mut self.out[open.0 - LENGTH_BYTES..open.0] {
            // Zeros behind the last digit are digits, too: 35 bits are more than a message may have.
            *byte = (length & 0x7f).to_le_bytes()[0] | 0x80;
            length >>= 7;
        }
        self.out[open.0 - 1] &= 0x7f;
    }

    pub(super) fn number(&mut self, number: u64, value: i64) {
        self.varint(number << 3);
        self.varint(value.cast_unsigned());
    }

    #[expect(clippy::cast_possible_truncation, reason = "a field of 4 bytes")]
    pub(super) fn float(&mut self, number: u64, value: f64) {
        self.varint(number << 3 | 5);
        self.out.extend((value as f32).to_le_bytes());
    }

    pub(super) fn double(&mut self, number: u64, value: f64) {
        self.varint(number << 3 | 1);
        self.out.extend(value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, number: u64, content: &[u8]) {
        self.varint(number << 3 | 2);
        self.varint(content.len() as u64);
        self.out.extend_from_slice(content);
    }

    pub(super) fn finish(self) -> Binary {
        Binary {
            bytes: self.out,
            lines: self.lines,
        }
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.out.push(value.to_le_bytes()[0]);
    }
}
