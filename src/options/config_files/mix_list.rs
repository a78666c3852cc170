//! The file that `modify_mixlist` names: changes to the built-in lists of mixed precision.
//!
//! ```text
//! { "black-list": { "to-remove": ["Yolo"], "to-add": ["MatMul"] },     // these stay float32
//!   "white-list": { "to-remove": ["Bias"], "to-add": ["Pow"] } }       // these become 16 bits wide
//! ```
//!
//! In: bytes of JSON; comments from `//` to the end of a line are allowed. Out: a [`MixList`]. What does not fit is
//! left out; [`super::super::check`] reports it. Source: NPURunConfig option reference.

use serde_json::Value as Json;

/// Op types by list and change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MixList {
    /// Op types that stay float32 from now on.
    pub black_add: Vec<String>,
    /// Op types that need not stay float32 any more.
    pub black_remove: Vec<String>,
    /// Op types that become 16 bits wide from now on.
    pub white_add: Vec<String>,
    /// Op types that become 16 bits wide no more by themselves.
    pub white_remove: Vec<String>,
}

/// Reads the file; an unreadable one changes nothing.
pub fn mix_list(bytes: &[u8]) -> MixList {
    let text = without_comments(&String::from_utf8_lossy(bytes));
    let json: Json = serde_json::from_str(&text).unwrap_or(Json::Null);
    let names = |list: &str, change: &str| -> Vec<String> {
        let items = json
            .get(list)
            .and_then(|list| list.get(change))
            .and_then(Json::as_array);
        items
            .into_iter()
            .flatten()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    MixList {
        black_add: names("black-list", "to-add"),
        black_remove: names("black-list", "to-remove"),
        white_add: names("white-list", "to-add"),
        white_remove: names("white-list", "to-remove"),
    }
}

/// The text without comments; a `//` inside a text in quotes is none.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_quoted => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            '"' => is_quoted = !is_quoted,
            '/' if !is_quoted && letters.peek() == Some(&'/') => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
                continue;
            }
            _ => {}
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_the_rest_is_left_out() {
        let text = br#"{ // changes
            "black-list": {"to-add": ["Mat//Mul", 3], "to-remove": ["Exp"]}, // kept
            "white-list": {"to-add": ["Pow"]},
            "gray-list": {"to-add": ["Add"]}
        }"#;
        let list = mix_list(text);
        assert_eq!(list.black_add, ["Mat//Mul"]);
        assert_eq!(list.black_remove, ["Exp"]);
        assert_eq!(list.white_add, ["Pow"]);
        assert!(list.white_remove.is_empty());
        for damaged in ["", "[", "[]", "{\"black-list\": 3}"] {
            assert_eq!(mix_list(damaged.as_bytes()), MixList::default(), "{damaged}");
        }
    }
}
