//! Strings, numbers, words and names of the text format.

use super::DAMAGED;
use super::source::TextSource;
use crate::ImportError;

const STRING: &str = "a string";

pub(super) const fn starts_scalar(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'-' | b'+' | b'.' | b'_') || byte.is_ascii_alphanumeric()
}

/// Reads adjacent strings as one; keeps the first `limit` bytes and returns their number.
pub(super) fn strings(source: &mut TextSource<'_>, kept: &mut Vec<u8>, limit: usize) -> Result<u64, ImportError> {
    let mut string = StringReader {
        bytes: kept,
        limit,
        length: 0,
    };
    loop {
        if limit == 0 {
            // The text is skipped, so its length in the file will do.
            let from = source.place().byte;
            skip_string(source)?;
            string.length += source.place().byte - from - 2;
        } else {
            string.read(source)?;
        }
        source.blank()?;
        if !matches!(source.peek()?, Some(b'"' | b'\'')) {
            return Ok(string.length);
        }
    }
}

/// Passes the plain bytes of a string on, up to the next escape or behind its end; whether there is an escape.
fn to_escape(source: &mut TextSource<'_>, quote: u8, mut plain: impl FnMut(&[u8])) -> Result<bool, ImportError> {
    loop {
        let run = source.run()?;
        let len = run.len();
        let end = run
            .iter()
            .position(|byte| *byte == quote || *byte == b'\\' || *byte == b'\n');
        let stop = end.map(|end| run[end]);
        let end = end.unwrap_or(len);
        plain(&run[..end]);
        source.advance(end, 0);
        match stop {
            Some(b'\\') => return Ok(true),
            Some(b'\n') => return Err(breaks(source)),
            Some(_) => {
                source.advance(1, 0);
                return Ok(false);
            }
            None if len == 0 => return Err(source.ends_in(STRING)),
            None => {}
        }
    }
}

pub(super) fn skip_string(source: &mut TextSource<'_>) -> Result<(), ImportError> {
    let quote = source.take(STRING)?;
    while to_escape(source, quote, |_| {})? {
        source.advance(1, 0);
        match source.peek()? {
            Some(b'\n') => return Err(breaks(source)),
            Some(_) => source.advance(1, 0),
            None => return Err(source.ends_in(STRING)),
        }
    }
    Ok(())
}

struct StringReader<'a> {
    bytes: &'a mut Vec<u8>,
    limit: usize,
    length: u64,
}

impl StringReader<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let room = self.limit.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn read(&mut self, source: &mut TextSource<'_>) -> Result<(), ImportError> {
        let quote = source.take(STRING)?;
        while to_escape(source, quote, |plain| self.push(plain))? {
            self.escape(source)?;
        }
        Ok(())
    }

    fn escape(&mut self, source: &mut TextSource<'_>) -> Result<(), ImportError> {
        let place = source.place();
        source.advance(1, 0);
        let byte = match source.peek()? {
            Some(b'\n') => return Err(breaks(source)),
            _ => source.take(STRING)?,
        };
        let plain = match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => byte,
            b'0'..=b'7' => {
                let rest = digits(source, 8, 2)?;
                // Up to three octal digits; what is above 255 wraps, as other readers do.
                let first = u32::from(byte - b'0') << (3 * rest.count);
                u8::try_from((first + rest.value) & 0xff).unwrap_or(0)
            }
            b'x' | b'X' => u8::try_from(required(source, place.text(), 16, 2, 1)?).unwrap_or(0),
            b'u' => return self.unicode(source, &place.text(), 4),
            b'U' => return self.unicode(source, &place.text(), 8),
            other => {
                return Err(ImportError::at(
                    format!("a string has the unknown escape \\{}", other.escape_ascii()),
                    place.text(),
                    DAMAGED,
                ));
            }
        };
        self.push(&[plain]);
        Ok(())
    }

    fn unicode(&mut self, source: &mut TextSource<'_>, place: &str, width: u32) -> Result<(), ImportError> {
        let code = required(source, place.to_owned(), 16, width, width)?;
        // Half a surrogate pair is no character.
        let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut bytes = [0; 4];
        self.push(letter.encode_utf8(&mut bytes).as_bytes());
        Ok(())
    }
}

struct Digits {
    value: u32,
    count: u32,
}

/// Up to `most` digits of a base.
fn digits(source: &mut TextSource<'_>, base: u32, most: u32) -> Result<Digits, ImportError> {
    let mut read = Digits { value: 0, count: 0 };
    while read.count < most {
        let Some(digit) = source.peek()?.and_then(|byte| char::from(byte).to_digit(base)) else {
            break;
        };
        source.advance(1, 0);
        read.value = read.value.wrapping_mul(base).wrapping_add(digit);
        read.count += 1;
    }
    Ok(read)
}

fn required(source: &mut TextSource<'_>, place: String, base: u32, most: u32, least: u32) -> Result<u32, ImportError> {
    let read = digits(source, base, most)?;
    if read.count >= least {
        return Ok(read.value);
    }
    Err(ImportError::at("an escape of a string lacks digits", place, DAMAGED))
}

fn breaks(source: &TextSource<'_>) -> ImportError {
    ImportError::at("a string does not end on its line", source.place().text(), DAMAGED)
}

/// Reads the bytes for which `belongs` holds; an error where there are more than `limit`.
fn while_in(
    source: &mut TextSource<'_>,
    bytes: &mut Vec<u8>,
    limit: usize,
    belongs: impl Fn(&[u8], u8) -> bool,
) -> Result<(), ImportError> {
    while let Some(byte) = source.peek()? {
        if !belongs(bytes, byte) {
            break;
        }
        if bytes.len() >= limit {
            return Err(ImportError::at(
                format!("a name or word has more than {limit} bytes"),
                source.place().text(),
                DAMAGED,
            ));
        }
        bytes.push(byte);
        source.advance(1, 0);
    }
    Ok(())
}

pub(super) fn name(source: &mut TextSource<'_>, bytes: &mut Vec<u8>, limit: usize) -> Result<(), ImportError> {
    while_in(source, bytes, limit, |_, byte| {
        byte.is_ascii_alphanumeric() || byte == b'_'
    })
}

/// Reads an extension's name or the URL of an Any, brackets included.
pub(super) fn extension(source: &mut TextSource<'_>, bytes: &mut Vec<u8>, limit: usize) -> Result<(), ImportError> {
    bytes.push(source.take("an extension's name")?);
    while_in(source, bytes, limit, |_, byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'%' | b'~' | b' ')
    })?;
    match source.peek()? {
        Some(b']') => {
            source.advance(1, 0);
            bytes.push(b']');
            bytes.retain(|byte| *byte != b' ');
            Ok(())
        }
        None => Err(source.ends_in("an extension's name")),
        Some(_) => Err(ImportError::at(
            "an extension's name is not closed",
            source.place().text(),
            DAMAGED,
        )),
    }
}

/// Reads a number or word with its sign.
pub(super) fn word(source: &mut TextSource<'_>, bytes: &mut Vec<u8>, limit: usize) -> Result<(), ImportError> {
    let place = source.place();
    if let Some(sign @ (b'-' | b'+')) = source.peek()? {
        source.advance(1, 0);
        if sign == b'-' {
            bytes.push(sign);
        }
        source.blank()?;
    }
    let sign = bytes.len();
    while_in(source, bytes, limit, |read, byte| match byte {
        b'_' | b'.' => true,
        // A sign belongs to an exponent only.
        b'+' | b'-' => {
            let number = &read[sign..];
            let is_number = number
                .first()
                .is_some_and(|first| first.is_ascii_digit() || *first == b'.');
            is_number && matches!(number, [.., b'e' | b'E']) && !matches!(number, [b'0', b'x' | b'X', ..])
        }
        _ => byte.is_ascii_alphanumeric(),
    })?;
    if bytes.len() == sign {
        return Err(ImportError::at("a value is missing", place.text(), DAMAGED));
    }
    Ok(())
}

/// A whole number as written; `None` where it is none or does not fit 64 bits.
pub(crate) fn int(word: &str) -> Option<i64> {
    let (is_negative, digits) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
    let lower = digits.as_bytes();
    let magnitude = match lower {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
        [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8),
        [b'0'..=b'9', ..] => digits.parse(),
        _ => return None,
    }
    .ok()?;
    if is_negative {
        i64::try_from(-i128::from(magnitude)).ok()
    } else {
        Some(magnitude.cast_signed())
    }
}

pub(super) fn float(word: &str) -> Option<f64> {
    if let Some(number) = int(word) {
        #[expect(clippy::cast_precision_loss, reason = "a float field written without a fraction")]
        return Some(number as f64);
    }
    let (sign, digits) = word.strip_prefix('-').map_or((1.0, word), |rest| (-1.0, rest));
    let lower = digits.to_ascii_lowercase();
    let magnitude = match lower.as_str() {
        "inf" | "infinity" | "inff" => f64::INFINITY,
        "nan" => f64::NAN,
        other if other.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
            other.strip_suffix('f').unwrap_or(other).parse().ok()?
        }
        _ => return None,
    };
    Some(sign * magnitude)
}
