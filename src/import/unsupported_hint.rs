//! Files that no importer takes: whether they are of a known format in a form that is not read.
//!
//! In: the head of a file, and what recognises formats. Out: an error that names the form, where another form of the same
//! text would be recognised: UTF-16, or columns that are divided by semicolons or tabs. Nothing is converted: a semicolon
//! mostly comes with decimal commas, which change numbers.

use super::{ImportError, Input};

/// The error for a known format in a form that is not read; `None` for all other content.
pub(super) fn unsupported_hint(input: &Input<'_>, is_known: &dyn Fn(&Input<'_>) -> bool) -> Option<ImportError> {
    let head = input.head();
    if let Some(text) = from_utf16(head) {
        let is_table = is_known_as(input, text.as_bytes(), is_known);
        let advice = if is_table || is_known_as(input, text.replace(['\t', ';'], ",").as_bytes(), is_known) {
            "save the file as UTF-8, then it can be read: the content itself is of a known format"
        } else {
            "save the file as UTF-8"
        };
        return Some(ImportError::at(
            "the text is UTF-16, as its first bytes tell,",
            "byte 0",
            advice,
        ));
    }
    for (divider, what, advice) in [
        (
            b';',
            "the columns are divided by semicolons, as some spreadsheets write them,",
            "export the table with commas, and with points in numbers",
        ),
        (
            b'\t',
            "the columns are divided by tabs",
            "export the table with commas between the columns",
        ),
    ] {
        let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if !first_line.contains(&divider) {
            continue;
        }
        let with_commas: Vec<u8> = head
            .iter()
            .map(|byte| if *byte == divider { b',' } else { *byte })
            .collect();
        if is_known_as(input, &with_commas, is_known) {
            return Some(ImportError::at(what, "line 1", advice));
        }
    }
    None
}

fn is_known_as(input: &Input<'_>, head: &[u8], is_known: &dyn Fn(&Input<'_>) -> bool) -> bool {
    Input::from_bytes(input.name(), head).is_ok_and(|other| is_known(&other))
}

/// The text of a head in UTF-16, recognised by its mark or by a zero in every other byte; `None` where it is none.
fn from_utf16(head: &[u8]) -> Option<String> {
    let (is_big, body) = match head {
        [0xff, 0xfe, body @ ..] => (false, body),
        [0xfe, 0xff, body @ ..] => (true, body),
        [first, 0, second, 0, ..] if is_letter(*first) && is_letter(*second) => (false, head),
        [0, first, 0, second, ..] if is_letter(*first) && is_letter(*second) => (true, head),
        _ => return None,
    };
    let units = body.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if is_big {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    });
    // The head may end within a character.
    let text: String = char::decode_utf16(units)
        .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    // Two bytes of a mark may begin anything: what any bytes decode to has too few letters, or no plain one at all.
    let looked = || text.chars().take(200);
    let n_strange = looked().filter(|char| !is_written(*char)).count();
    let has_plain = looked().any(|char| char.is_ascii_graphic() || char.is_ascii_whitespace());
    (has_plain && n_strange * 10 <= looked().count()).then_some(text)
}

/// Whether a character occurs in texts: letters of any script, with the punctuation of Chinese and Japanese.
fn is_written(char: char) -> bool {
    char.is_alphanumeric()
        || char.is_ascii_graphic()
        || char.is_whitespace()
        || matches!(char, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}

const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> Option<String> {
        let input = Input::from_bytes("x.csv", bytes).expect("memory can be read");
        let is_known = |input: &Input<'_>| input.head().starts_with(b"id,lower,upper");
        unsupported_hint(&input, &is_known).map(|error| error.to_string())
    }

    #[test]
    fn known_tables_in_another_form_are_told() {
        let semicolons = said(b"id;lower;upper\n1;2,5;3\n").expect("told");
        assert!(semicolons.contains("semicolons"), "{semicolons}");
        assert!(said(b"id\tlower\tupper\n").is_some_and(|text| text.contains("tabs")));
        assert_eq!(said(b"a;b;c\n"), None);
        assert_eq!(said(b""), None);
        let chinese = "名称,大小（字节）,分配时间\r\n张量,1,2\r\n";
        let bytes: Vec<u8> = format!("\u{feff}{chinese}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert!(said(&bytes).is_some_and(|text| text.contains("UTF-16")), "{chinese}");
        for text in ["id,lower,upper\n", "{\"a\": 1}"] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let marked = [&[0xff, 0xfe][..], &little].concat();
            for bytes in [little, big, marked] {
                assert!(said(&bytes).is_some_and(|text| text.contains("UTF-8")), "{text}");
            }
        }
        assert_eq!(said(&[0xff, 0xfe, 0x01, 0x9c, 0xe2, 0x9c].repeat(40)), None);
    }
}
