//! The text of traces.

use highwater_torch::Trace;
use proptest::prelude::*;

const DEVICE: &str = "device total=1000 other=0 order=up\n";

#[test]
fn errors_name_line_and_column() {
    let cases = [
        ("alloc 1 2 3", "line 1, column 1: "),
        ("", "line 1, column 1: the first line must be `device"),
        ("device total=x", "line 1, column 8: `total=x`"),
        ("device other=1", "line 1, column 15: the device has no size"),
    ];
    for (text, wanted) in cases {
        let error = Trace::parse(text).expect_err("it is wrong").to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
    let cases = [
        ("alloc 1", "line 2, column 8: the size is missing"),
        ("alloc 1 -5 0", "line 2, column 9: `-5` is no size"),
        ("free 1 2", "line 2, column 8: `2` is more"),
        ("fraction 2", "line 2, column 10: a fraction is"),
        ("pool_begin 1 x", "line 2, column 14: a pool takes"),
        ("frobnicate", "line 2, column 1: `frobnicate` is no command"),
        (
            "alloc 1 2 0\nalloc 1 2 0",
            "line 3, column 7: allocation 1 was made before",
        ),
    ];
    for (text, wanted) in cases {
        let error = Trace::parse(&format!("{DEVICE}{text}"))
            .expect_err("it is wrong")
            .to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(?s).{0,60}", command in "(alloc|free|set|pool_begin|empty|é)[ 0-9é*]{0,12}") {
        let answers = [Trace::parse(&text), Trace::parse(&format!("{DEVICE}{command}"))];
        for error in answers.into_iter().filter_map(Result::err) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
