//! Lists and ranges of values, as the user writes them for an axis.
//!
//! ```text
//! 8,16,32        one after another                       8..128x2      8 16 32 64 128: times 2 up to the end
//! 8..32+8        8 16 24 32: plus 8 up to the end        8..11         8 9 10 11: plus 1
//! 1GiB..4GiB+1GiB  of sizes                              1..2,8..16x2  1 2 8 16
//! ```
//!
//! Values keep their order, each once. A range includes its end where it meets it. Commas within brackets, braces,
//! parentheses or quotes do not separate values. Ranges are of whole numbers and sizes; a text such as `../x` is a
//! range only where the axis takes numbers.

use highwater_model::units::Bytes;
use highwater_options::Value;

pub(super) const MAX_VALUES: usize = 10_000;

/// `read` reads one value; its error names the expected form.
///
/// # Errors
/// A clause with the mistake.
pub(super) fn parse(
    text: &str,
    has_ranges: bool,
    read: impl Fn(&str) -> Result<Value, String>,
) -> Result<Vec<Value>, String> {
    let mut values: Vec<Value> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for item in items(text) {
        let item = item.trim();
        if item.is_empty() {
            return Err("empty value; expected VALUE,VALUE or a range, e.g. 8..128x2".to_owned());
        }
        let more = if has_ranges && item.contains("..") {
            range(item)?
        } else {
            vec![read(item)?]
        };
        for value in more {
            if seen.insert(value.clone()) {
                values.push(value);
            }
        }
        if values.len() > MAX_VALUES {
            return Err(format!("more than {MAX_VALUES} values; use fewer"));
        }
    }
    Ok(values)
}

/// The items between commas outside brackets and quotes.
fn items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut depth, mut start, mut quote) = (0_usize, 0, None);
    for (at, letter) in text.char_indices() {
        if let Some(open) = quote {
            quote = (open != letter).then_some(open);
            continue;
        }
        match letter {
            '"' | '\'' => quote = Some(letter),
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    items
}

/// The step of a range.
#[derive(Clone, Copy, Debug)]
enum Stride {
    Plus(u64),
    Times(u64),
}

fn range(text: &str) -> Result<Vec<Value>, String> {
    let form = || format!("\"{text}\" is not a range; expected FIRST..LAST+STEP or FIRST..LASTxFACTOR, e.g. 8..128x2");
    let (first, rest) = text.split_once("..").ok_or_else(form)?;
    let (last, stride) = match rest.rfind(['+', 'x']) {
        None => (rest, Stride::Plus(1)),
        Some(at) => {
            let number = size(&rest[at + 1..]).ok_or_else(form)?;
            let stride = if rest.as_bytes()[at] == b'x' {
                Stride::Times(number)
            } else {
                Stride::Plus(number)
            };
            (&rest[..at], stride)
        }
    };
    let (first, last) = size(first).zip(size(last)).ok_or_else(form)?;
    if last < first {
        return Err(format!(
            "the range \"{text}\" ends below its start; write the smaller number first"
        ));
    }
    match stride {
        Stride::Plus(0) => return Err(format!("the range \"{text}\" never ends: its step is 0")),
        Stride::Times(..=1) => return Err(format!("the range \"{text}\" never ends: its factor must be 2 or more")),
        Stride::Times(_) if first == 0 => return Err(format!("the range \"{text}\" never ends: 0 stays 0")),
        _ => {}
    }
    let mut values = Vec::new();
    let mut next = Some(first);
    while let Some(value) = next.filter(|value| *value <= last) {
        if values.len() > MAX_VALUES {
            return Err(format!(
                "the range \"{text}\" has more than {MAX_VALUES} values; use a larger step"
            ));
        }
        values.push(Value::Int(i64::try_from(value).map_err(|_large| form())?));
        next = match stride {
            Stride::Plus(step) => value.checked_add(step),
            Stride::Times(factor) => value.checked_mul(factor),
        };
    }
    Ok(values)
}

/// A whole number or a size.
fn size(text: &str) -> Option<u64> {
    Bytes::parse(text).ok().map(Bytes::get)
}
