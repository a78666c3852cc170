//! Texts and numbers as XML takes them.

/// A text between tags or in an attribute. Characters outside of XML become the replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// The shortest text of a number with at most two decimals.
pub(crate) fn number(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The approximate width of a text in letters of 11 points.
pub(super) fn width(text: &str) -> f64 {
    f64::from(u32::try_from(text.chars().count()).unwrap_or(u32::MAX)) * 6.0
}

/// A text that is cut with an ellipsis to fit in the room.
pub(super) fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if width(&kept) + 12.0 > room {
            break;
        }
        kept.push(letter);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::{cut, escaped, number};

    #[test]
    fn texts_and_numbers_are_valid_xml() {
        assert_eq!(escaped("a<b>&\"c'\u{1}\n"), "a&lt;b&gt;&amp;&quot;c&#39;\u{fffd} ");
        let cases = [
            (1.0, "1"),
            (1.5, "1.5"),
            (1.005, "1"),
            (-0.001, "0"),
            (100.0, "100"),
            (f64::NAN, "0"),
            (0.129, "0.13"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(cut("tensor", 100.0), "tensor");
        assert_eq!(cut("tensor", 30.0), "tens…");
    }
}
