//! Whole numbers and gaps, with a sentence about what is wrong with them.

/// A whole number from 0 to 2^64 - 1.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_digits => Ok(number),
        _ if is_digits => Err(format!("{} is more than 2^64 - 1", shortened(text))),
        _ if text.is_empty() => Err("the number is missing".to_owned()),
        _ => Err(match text.strip_prefix('-') {
            Some(digits) if parse(digits).is_ok() => format!("{} is negative", shortened(text)),
            _ => format!("\"{}\" is no whole number", shortened(text)),
        }),
    }
}

/// A gap: `lower-upper`.
pub(super) fn gap(text: &str) -> Result<(u64, u64), String> {
    if text.contains('@') {
        return Err(format!(
            "gap \"{}\" lends a part of the bytes (@), which is not supported; leave out the gap",
            shortened(text)
        ));
    }
    let (lower, upper) = text
        .split_once('-')
        .ok_or_else(|| format!("gap \"{}\" is not of the form 12-20", shortened(text)))?;
    let number = |part| parse(part).map_err(|what| format!("gap \"{}\": {what}", shortened(text)));
    Ok((number(lower)?, number(upper)?))
}

/// At most 40 characters: a message is one line.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
