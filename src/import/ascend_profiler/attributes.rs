//! The attributes of an event of msmemscope.
//!
//! In: `{allocation_id:4,addr:0x1000,size:512,owner:PTA@ops@aten}` or, in JSON's form, `{"addr":"0x1", "size":5}`.
//! Out: pairs of texts. Commas and colons within brackets or quotation marks divide nothing.

/// Calls `found` with each pair, without marks around.
pub(super) fn each_attribute<'a>(text: &'a [u8], mut found: impl FnMut(&'a [u8], &'a [u8])) {
    let mut text = text.trim_ascii();
    while let Some(inner) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) {
        text = inner.trim_ascii();
    }
    let text = text.strip_prefix(b"{").unwrap_or(text);
    let text = text.strip_suffix(b"}").unwrap_or(text);
    let (mut depth, mut is_quoted, mut start, mut colon) = (0_u32, false, 0, None);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && colon.is_none() => colon = Some(at),
            b',' if depth == 0 => {
                pair(&text[start..at], colon.map(|colon| colon - start), &mut found);
                (start, colon) = (at + 1, None);
            }
            _ => {}
        }
    }
    pair(&text[start..], colon.map(|colon| colon - start), &mut found);
}

fn pair<'a>(text: &'a [u8], colon: Option<usize>, found: &mut impl FnMut(&'a [u8], &'a [u8])) {
    if let Some(colon) = colon {
        found(bare(&text[..colon]), bare(&text[colon + 1..]));
    }
}

fn bare(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    inner.unwrap_or(text).trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let owned = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        each_attribute(text.as_bytes(), |key, value| all.push((owned(key), owned(value))));
        all
    }

    #[test]
    fn both_forms_are_read() {
        let plain = pairs("{allocation_id:4,addr:0x01,size:5,owner:PTA@ops@aten::add}");
        assert_eq!(plain.len(), 4);
        assert_eq!(plain[3], ("owner".to_owned(), "PTA@ops@aten::add".to_owned()));
        let json = pairs(r#"{"addr": "0x1", "size" : 5, "shape":[1, 2], "owner":"a,b:{c}"}"#);
        assert_eq!(json.len(), 4);
        assert_eq!(json[1], ("size".to_owned(), "5".to_owned()));
        assert_eq!(json[2].1, "[1, 2]");
        assert_eq!(json[3].1, "a,b:{c}");
        assert_eq!(pairs("\"{size:7}\""), [("size".to_owned(), "7".to_owned())]);
    }

    #[test]
    fn damage_gives_fewer_pairs() {
        assert!(pairs("").is_empty());
        assert!(pairs("{}").is_empty());
        assert_eq!(pairs("{size:5,addr"), [("size".to_owned(), "5".to_owned())]);
        assert_eq!(pairs("{{{size:5"), []);
        assert_eq!(pairs("\""), []);
    }
}
