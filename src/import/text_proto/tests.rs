//! Tables of texts and what is read of them.

use std::fmt::Write as _;
use std::io::Cursor;

use super::*;
use highwater_model::progress::Cancel;

fn with_reader<T>(text: &[u8], run: impl FnOnce(&mut TextProto<'_>) -> T) -> T {
    let cancel = Cancel::new();
    let mut reader = Cursor::new(text.to_vec());
    let mut proto = TextProto::new(&mut reader, text.len() as u64, Progress::silent(&cancel));
    run(&mut proto)
}

/// Everything, as `name=value name{...}`.
fn events(text: &[u8]) -> Result<String, String> {
    with_reader(text, |proto| {
        let mut out = String::new();
        let mut depth = 0;
        loop {
            match proto.field().map_err(|error| error.to_string())? {
                Some(Form::Message) => {
                    write!(out, "{}{{ ", proto.name()).expect("a string");
                    proto.enter().map_err(|error| error.to_string())?;
                    depth += 1;
                }
                Some(Form::Scalar) => {
                    let name = proto.name().to_owned();
                    let value = match proto.scalar(1000).map_err(|error| error.to_string())? {
                        Scalar::Text(bytes, length) => {
                            assert_eq!(bytes.len() as u64, length);
                            format!("\"{}\"", bytes.escape_ascii())
                        }
                        Scalar::Word(word) => word.to_owned(),
                    };
                    write!(out, "{name}={value} ").expect("a string");
                }
                None if depth == 0 => return Ok(out.trim_end().to_owned()),
                None => {
                    depth -= 1;
                    out.push_str("} ");
                }
            }
        }
    })
}

#[test]
fn texts_and_what_they_say() {
    for (text, expected) in [
        ("", ""),
        ("  # only a comment", ""),
        ("a: 1 b: -2; c: 0x1F, d: 017", "a=1 b=-2 c=0x1F d=017"),
        ("a{b:1}", "a{ b=1 }"),
        ("a: { b: 1 } c < d: 2 >", "a{ b=1 } c{ d=2 }"),
        ("a {} b { c {} }", "a{ } b{ c{ } }"),
        ("a: [1, 2, -3] b: 4", "a=1 a=2 a=-3 b=4"),
        ("a: [] b: []; c: 1", "c=1"),
        ("m { a: [] }", "m{ }"),
        ("a: [{b: 1}, <b: [2, 3]>] c: 1", "a{ b=1 } a{ b=2 b=3 } c=1"),
        ("a [{ b: 1 }]", "a{ b=1 }"),
        ("a: \"x\" 'y' # and\n \"z\" b: 1", "a=\"xyz\" b=1"),
        ("a: ['p' \"q\", 'r']", "a=\"pq\" a=\"r\""),
        (r#"a: "\n\t\\\"\'" "#, r#"a="\n\t\\\"\'""#),
        (
            r#"a: "\101\0\1778\x41\xfg\u00e9\U0001F600""#,
            r#"a="A\x00\x7f8A\x0fg\xc3\xa9\xf0\x9f\x98\x80""#,
        ),
        ("a: \"it's\" b: 'say \"x\"'", "a=\"it\\'s\" b=\"say \\\"x\\\"\""),
        (
            "a: true b: VT_LIST c: inf d: -nan e: - 5",
            "a=true b=VT_LIST c=inf d=-nan e=-5",
        ),
        ("a: 1.5e-3f b: .5 c: 1e+4 d: -1.0", "a=1.5e-3f b=.5 c=1e+4 d=-1.0"),
        (
            "[a.b.c]: 1 [type.googleapis.com/x.Y] { z: 1 }",
            "[a.b.c]=1 [type.googleapis.com/x.Y]{ z=1 }",
        ),
        ("12: 3 14 { 1: \"x\" }", "12=3 14{ 1=\"x\" }"),
        ("a\n:\r\n1", "a=1"),
        ("a: 1,b: 2;", "a=1 b=2"),
    ] {
        assert_eq!(events(text.as_bytes()).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(events(b"a: \"\xff\x00\xfe\"").as_deref(), Ok(r#"a="\xff\x00\xfe""#));
}

#[test]
fn errors_name_the_line_and_the_byte() {
    for (text, expected) in [
        ("a: 1\nb", "byte 6, in the middle of field \"b\""),
        (
            "a: 1\nb 2",
            "'2' found where ':' or a message is expected at line 2, byte 7",
        ),
        ("a: }", "'}' found where a value is expected at line 1, byte 3"),
        ("a {\n b: 1", "in the middle of the message that starts in line 1"),
        ("a {\n b: 1 >", "'>' found where a field is expected at line 2, byte 10"),
        ("}", "'}' found where a field is expected at line 1, byte 0"),
        ("a: [1 2]", "'2' found where ',' or ']' is expected at line 1, byte 6"),
        ("a: [1, ]", "']' found where a value is expected"),
        ("a: [[1]]", "'[' found where a value is expected"),
        ("a: [1,\n2", "in the middle of field \"a\""),
        ("a: \"x\nb: 1", "a string does not end on its line at line 1, byte 5"),
        ("a: \"x", "in the middle of a string"),
        ("a: \"x\\", "in the middle of a string"),
        ("\n\na: \"\\q\"", "unknown escape \\q at line 3, byte 6"),
        ("a: \"\\xg\"", "lacks digits at line 1, byte 4"),
        ("a: \"\\u12\"", "lacks digits"),
        ("a: -", "a value is missing"),
        ("[a.b: 1", "an extension's name is not closed"),
        ("\u{feff}a: 1", "found where a field is expected at line 1, byte 0"),
    ] {
        let error = events(text.as_bytes()).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn numbers_are_exact_over_64_bits() {
    for (text, expected) in [
        ("a: 62277025792", Some(62_277_025_792)),
        ("a: -9223372036854775808", Some(i64::MIN)),
        ("a: 18446744073709551615", Some(-1)),
        ("a: 18446744073709551616", None),
        ("a: 0xffffffffffffffff", Some(-1)),
        ("a: 0", Some(0)),
        ("a: 010", Some(8)),
        ("a: 1.5", None),
        ("a: \"1\"", None),
        ("a { }", None),
    ] {
        let read = with_reader(text.as_bytes(), |proto| {
            proto.field().expect("readable");
            proto.int().ok()
        });
        assert_eq!(read, expected, "{text}");
    }
    for (text, expected) in [
        ("a: 1.5e-3f", Some(0.0015)),
        ("a: -inf", Some(f64::NEG_INFINITY)),
        ("a: 3", Some(3.0)),
        ("a: .5F", Some(0.5)),
        ("a: x", None),
    ] {
        let read = with_reader(text.as_bytes(), |proto| {
            proto.field().expect("readable");
            proto.float().ok()
        });
        assert_eq!(read.map(f64::to_bits), expected.map(f64::to_bits), "{text}");
    }
}

#[test]
fn unread_fields_are_skipped_and_cost_no_memory() {
    let kernel = "\\000\\\"#{<".repeat(400_000);
    let text = format!("m {{ k: \"{kernel}\" n <\n a: '{kernel}' # }} not\n> }}\ns: '{kernel}'\nend: 7");
    with_reader(text.as_bytes(), |proto| {
        assert_eq!(proto.field().expect("readable"), Some(Form::Message));
        assert_eq!(proto.field().expect("readable"), Some(Form::Scalar));
        assert_eq!(proto.name(), "s");
        assert_eq!(proto.field().expect("readable"), Some(Form::Scalar));
        assert_eq!((proto.name(), proto.place().line), ("end", 5));
        assert_eq!(proto.int().expect("a number"), 7);
        assert_eq!(proto.field().expect("readable"), None);
        assert!(proto.bytes.capacity() < 1000, "{}", proto.bytes.capacity());
    });
    with_reader(format!("s: '{kernel}' t: 'abc'").as_bytes(), |proto| {
        proto.field().expect("readable");
        let Scalar::Text(bytes, length) = proto.scalar(4).expect("a string") else {
            panic!("a string");
        };
        assert_eq!((bytes, length), (&b"\0\"#{"[..], 5 * 400_000));
        proto.field().expect("readable");
        let error = proto.text(2).expect_err("too long").to_string();
        assert!(error.contains("\"t\" is a string of 3 bytes"), "{error}");
    });
}

#[test]
fn deep_messages_end_in_an_error() {
    let text = "a {".repeat(100_000);
    let skipped = with_reader(text.as_bytes(), |proto| {
        proto.field().expect("readable");
        proto.skip().expect_err("too deep").to_string()
    });
    assert!(skipped.contains("deep"), "{skipped}");
    let entered = events(text.as_bytes()).expect_err("too deep");
    assert!(entered.contains("deep"), "{entered}");
    let lists = events("a: [{".repeat(100_000).as_bytes()).expect_err("too deep");
    assert!(lists.contains("deep"), "{lists}");
}

#[test]
fn a_cancel_is_seen_within_a_string() {
    let cancel = Cancel::new();
    let mut reader = Cursor::new(format!("a: \"{}\"", "x".repeat(1 << 20)).into_bytes());
    let flag = |_: &'static str, fraction: f32| {
        if fraction > 0.5 {
            cancel.cancel();
        }
    };
    let mut proto = TextProto::new(&mut reader, 1 << 20, Progress::new(&cancel, &flag));
    proto.field().expect("readable");
    assert!(matches!(proto.skip(), Err(ImportError::Cancelled(_))));
}
