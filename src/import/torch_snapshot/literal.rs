//! A snapshot as text: JSON, or Python values as `print`, `repr` and `pprint` write them.
//!
//! In: bytes, read as a stream. Out: the same heap as that of a pickle, with the machine's own operations: a list that
//! opens is a mark. JSON and Python differ in the spelling of values alone: `null` and `None`, `true` and `True`, one
//! kind of quotes or two, tuples, commas behind the last item, texts that are divided into several.

use super::machine::{Machine, ReadPickle};
use super::value::Value;
use super::window::Window;
use crate::json_key::has_key;
use crate::{ImportError, Input};
use highwater_model::progress::Progress;

/// Letters of the longest word or number; whole numbers have 39 digits at most.
const WORD_BYTES: usize = 400;

/// Bytes of the longest text.
const TEXT_BYTES: usize = 4 << 20;

/// Whether a text begins like a snapshot, or like the list of segments alone.
pub(super) fn detect(head: &[u8]) -> bool {
    let has = |path: &str| has_key(head, path);
    let is_segment = |list: &str| {
        let has = |key: &str| has(&format!("{list}[].{key}"));
        has("total_size") && (has("blocks") || has("segment_type"))
    };
    has("device_traces") || is_segment("segments") || is_segment("")
}

/// What a value may be followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// A value; in a list also its end.
    Value,
    /// A comma or an end.
    Comma,
    Colon,
}

/// Reads one value; returns also the number of bytes behind its end.
pub(super) fn run(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<ReadPickle, ImportError> {
    let window = Window::new(input, progress, "the snapshot")?;
    let mut machine = Machine::new(window);
    // The closing bracket of each open list, and whether a key comes next.
    let mut open: Vec<(u8, bool)> = Vec::new();
    let mut expected = Expected::Value;
    loop {
        let byte = machine.next_byte()?;
        machine.at = machine.window.position().saturating_sub(1);
        match (byte, expected) {
            (b'[' | b'(' | b'{', Expected::Value) if open.last().is_none_or(|(_, is_key)| !is_key) => {
                machine.mark()?;
                let end = if byte == b'(' { b')' } else { byte + 2 };
                open.push((end, byte == b'{'));
                continue;
            }
            (b']' | b')' | b'}', Expected::Value | Expected::Comma)
                if open.last().is_some_and(|(end, is_key)| {
                    *end == byte && (byte != b'}' || *is_key == (expected == Expected::Value))
                }) =>
            {
                open.pop();
                machine.close(byte == b'}')?;
                expected = Expected::Comma;
            }
            (b',', Expected::Comma) if !open.is_empty() => {
                expected = Expected::Value;
                if let Some((b'}', is_key)) = open.last_mut() {
                    *is_key = true;
                }
                continue;
            }
            (b':', Expected::Colon) => {
                expected = Expected::Value;
                continue;
            }
            (b'"' | b'\'', Expected::Value) => {
                machine.literal_text(byte)?;
                expected = after(&mut open);
            }
            (b'-' | b'+' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z', Expected::Value) => {
                machine.word(byte)?;
                expected = after(&mut open);
            }
            _ => return Err(machine.fault("the text is neither JSON nor a printed Python value")),
        }
        if open.is_empty() {
            let result = machine.pop()?;
            let rest = machine.rest_of_text()?;
            return Ok((machine.heap, result, rest));
        }
    }
}

/// What follows a value that is no list: a colon behind a key.
fn after(open: &mut [(u8, bool)]) -> Expected {
    match open.last_mut() {
        Some((b'}', is_key)) if *is_key => {
            *is_key = false;
            Expected::Colon
        }
        _ => Expected::Comma,
    }
}

impl Machine<'_> {
    /// The next byte that is no blank.
    fn next_byte(&mut self) -> Result<u8, ImportError> {
        loop {
            let byte = self.window.byte()?;
            if !byte.is_ascii_whitespace() {
                return Ok(byte);
            }
        }
    }

    /// The next byte, which is not taken; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        if self.window.position() >= self.window.len() {
            return Ok(None);
        }
        if self.window.buffered().is_empty() {
            self.window.refill(1)?;
        }
        Ok(self.window.buffered().first().copied())
    }

    /// Bytes that are no blanks behind the value.
    fn rest_of_text(&mut self) -> Result<u64, ImportError> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(self.window.len().saturating_sub(self.window.position()));
            }
            self.window.pass(1);
        }
        Ok(0)
    }

    /// Makes a list or a dict of the values since its opening bracket.
    fn close(&mut self, is_dict: bool) -> Result<(), ImportError> {
        let start = self.pop_mark()?;
        if !is_dict {
            return self.list_of(start);
        }
        let items = self.stack.split_off(start);
        self.empty_dict()?;
        self.fill(&items)
    }

    /// A number or a word that begins with a byte.
    fn word(&mut self, first: u8) -> Result<(), ImportError> {
        let mut word = vec![first];
        while let Some(byte) = self.peek()? {
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_')) {
                break;
            }
            if word.len() >= WORD_BYTES {
                return Err(self.fault("a number or word is longer than any of a snapshot"));
            }
            word.push(byte);
            self.window.pass(1);
        }
        let word = std::str::from_utf8(&word).unwrap_or_default();
        let value = match word {
            "null" | "None" => Value::NOTHING,
            "true" | "True" => Value::bool(true),
            "false" | "False" => Value::bool(false),
            _ => match (word.parse::<i128>(), word.parse::<f64>()) {
                (Ok(number), _) => self.heap.int(number),
                (_, Ok(number)) => self.heap.float(number),
                _ => return Err(self.fault(&format!("\"{word}\" is no value of a snapshot"))),
            },
        };
        self.push(value)
    }

    /// A text behind its opening quote; texts that follow it with nothing between are its parts.
    fn literal_text(&mut self, quote: u8) -> Result<(), ImportError> {
        let mut text = Vec::new();
        let mut quote = quote;
        loop {
            self.quoted(quote, &mut text)?;
            while self.peek()?.is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.window.pass(1);
            }
            match self.peek()? {
                Some(next @ (b'"' | b'\'')) => {
                    self.window.pass(1);
                    quote = next;
                }
                _ => break,
            }
        }
        let value = self.heap.intern(&text);
        self.check_containers()?;
        self.push(value)
    }

    fn quoted(&mut self, quote: u8, text: &mut Vec<u8>) -> Result<(), ImportError> {
        loop {
            // Most texts lie in the buffer as they are.
            let buffered = self.window.buffered();
            let n_plain = buffered
                .iter()
                .take_while(|byte| **byte != quote && **byte != b'\\')
                .count();
            text.extend_from_slice(&buffered[..n_plain]);
            self.window.pass(n_plain);
            if text.len() > TEXT_BYTES {
                return Err(self.fault("a text is longer than any of a snapshot"));
            }
            match self.window.byte()? {
                byte if byte == quote => return Ok(()),
                b'\\' => {
                    let letter = self.escaped()?;
                    text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                byte => text.push(byte),
            }
        }
    }

    /// What a backslash and the letters behind it mean in JSON and in Python.
    fn escaped(&mut self) -> Result<char, ImportError> {
        let code = match self.window.byte()? {
            b'n' => return Ok('\n'),
            b't' => return Ok('\t'),
            b'r' => return Ok('\r'),
            b'b' => return Ok('\u{8}'),
            b'f' => return Ok('\u{c}'),
            b'x' => self.hex(2)?,
            b'U' => self.hex(8)?,
            b'u' => {
                let first = self.hex(4)?;
                let has_second = (0xd800..0xdc00).contains(&first) && self.window.buffered().starts_with(b"\\u");
                if has_second {
                    self.window.pass(2);
                    let second = self.hex(4)?;
                    0x1_0000 + ((first & 0x3ff) << 10 | second & 0x3ff)
                } else {
                    first
                }
            }
            byte => u32::from(byte),
        };
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, n_digits: usize) -> Result<u32, ImportError> {
        let digits = String::from_utf8_lossy(self.window.take(n_digits)?).into_owned();
        u32::from_str_radix(&digits, 16).map_err(|_damage| self.fault("a text has an escape that cannot be read"))
    }
}
