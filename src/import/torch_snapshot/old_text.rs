//! Numbers and texts of pickle protocol 0, which writes each on a line.

use super::opcode as op;
use super::value::{Heap, Value};

pub(super) fn index(line: &[u8]) -> Option<usize> {
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// The value of a line; `None` where it cannot be read.
pub(super) fn value(heap: &mut Heap, opcode: u8, line: &[u8]) -> Option<Value> {
    match opcode {
        op::INT if line == b"00" => Some(Value::bool(false)),
        op::INT if line == b"01" => Some(Value::bool(true)),
        op::INT | op::LONG => {
            let text = std::str::from_utf8(line).ok()?.trim();
            let digits = text.strip_suffix('L').unwrap_or(text);
            match digits.parse::<i128>() {
                Ok(number) => Some(heap.int(number)),
                // Larger than any number of bytes.
                Err(_) if is_number(digits) => Some(Value::OPAQUE),
                Err(_) => None,
            }
        }
        op::FLOAT => {
            let number: f64 = std::str::from_utf8(line).ok()?.trim().parse().ok()?;
            Some(heap.float(number))
        }
        op::STRING => {
            let line = line.trim_ascii();
            let inner = line.strip_prefix(b"'").and_then(|line| line.strip_suffix(b"'"));
            let inner = inner.or_else(|| line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")))?;
            Some(heap.intern(inner))
        }
        _ => Some(heap.intern(unescaped(line).as_bytes())),
    }
}

fn is_number(digits: &str) -> bool {
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Python's raw-unicode-escape: Latin-1, with `\uXXXX` and `\UXXXXXXXX` for everything else.
fn unescaped(line: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((first, behind)) = rest.split_first() {
        let n_digits = match (first, behind.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => 0,
        };
        let digits = behind.get(1..=n_digits).filter(|_| n_digits > 0);
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let Some(code) = code {
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = &behind[1 + n_digits..];
        } else {
            text.push(char::from(*first));
            rest = behind;
        }
    }
    text
}
