//! Whether the first bytes of a JSON text name a key: what detection asks.

/// Whether the head holds a key in quotes with a colon behind it.
pub(super) fn has_key(head: &[u8], key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    let found = head.windows(quoted.len()).enumerate();
    found.filter(|(_, window)| *window == quoted.as_bytes()).any(|(at, _)| {
        let mut rest = head[at + quoted.len()..].iter();
        rest.find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
    })
}
