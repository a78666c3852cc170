//! Keys in the first bytes of a JSON text: what detection asks.

/// The text behind a key in quotes and a colon.
pub(super) fn value_of<'a>(head: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let quoted = format!("\"{key}\"");
    let found = head.windows(quoted.len()).enumerate();
    let mut ends = found.filter(|(_, window)| *window == quoted.as_bytes());
    ends.find_map(|(at, _)| {
        let rest = head[at + quoted.len()..].trim_ascii_start().strip_prefix(b":")?;
        Some(rest.trim_ascii_start())
    })
}

/// Whether the head holds a key in quotes with a colon behind it.
pub(super) fn has_key(head: &[u8], key: &str) -> bool {
    value_of(head, key).is_some()
}
