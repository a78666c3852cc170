//! Snapshots as JSON, as printed Python values and as `SQLite` databases: the same recordings as of a pickle.

use rusqlite::{Connection, MAIN_DB};

use super::{Py, block, event, pickle, read, segment, small, snapshot_of};
use crate::Input;
use crate::test_help::{messages, read as read_any};

/// The spelling of values.
#[derive(Clone, Copy)]
struct Spelling {
    nothing: &'static str,
    booleans: [&'static str; 2],
    quote: char,
    tuple: [char; 2],
    /// Between items, and behind the last.
    comma: [&'static str; 2],
}

const JSON: Spelling = Spelling {
    nothing: "null",
    booleans: ["false", "true"],
    quote: '"',
    tuple: ['[', ']'],
    comma: [", ", ""],
};

const PYTHON: Spelling = Spelling {
    nothing: "None",
    booleans: ["False", "True"],
    quote: '\'',
    tuple: ['(', ')'],
    comma: [",\n ", ",\n"],
};

fn written(value: &Py, how: Spelling) -> String {
    let list = |items: &[Py], [open, close]: [char; 2]| {
        let items: Vec<String> = items.iter().map(|item| written(item, how)).collect();
        let tail = if items.is_empty() { "" } else { how.comma[1] };
        format!("{open}{}{tail}{close}", items.join(how.comma[0]))
    };
    let text = |text: &str| {
        let text = text
            .replace('\\', "\\\\")
            .replace(how.quote, &format!("\\{}", how.quote));
        format!("{0}{text}{0}", how.quote)
    };
    match value {
        Py::Nothing => how.nothing.to_owned(),
        Py::Bool(value) => how.booleans[usize::from(*value)].to_owned(),
        Py::Int(number) => number.to_string(),
        Py::Float(number) => format!("{number:?}"),
        Py::Text(value) => text(value),
        Py::List(items) => list(items, ['[', ']']),
        Py::Tuple(items) => list(items, how.tuple),
        Py::Dict(pairs) => {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(key, value)| format!("{}: {}", text(key), written(value, how)))
                .collect();
            let tail = if pairs.is_empty() { "" } else { how.comma[1] };
            format!("{{{}{tail}}}", pairs.join(how.comma[0]))
        }
        Py::Shared(_, value) => written(value, how),
    }
}

#[test]
fn json_and_printed_values_are_read_as_the_pickle_is() {
    let segments = Py::List(vec![segment(
        0x1000,
        1024,
        "small",
        vec![
            block(0x1000, 512, 500, "active_allocated"),
            block(0x1200, 512, 0, "inactive"),
        ],
    )]);
    let expandable = snapshot_of(Vec::new(), vec![vec![event("segment_map", 0x2000, 0x1000, None)]]);
    for value in [small(), segments, expandable] {
        let (expected, told) = read(&pickle(&value, 4)).expect("a snapshot");
        for how in [JSON, PYTHON] {
            let text = written(&value, how);
            let imported = read_any("snapshot.txt", text.as_bytes()).expect("the same snapshot");
            assert_eq!(imported.format, "torch_snapshot");
            let (found, also_told) = read(text.as_bytes()).expect("the same snapshot");
            assert_eq!(found, expected);
            assert_eq!(messages(&also_told), messages(&told));
        }
    }
}

#[test]
fn texts_may_be_escaped_and_divided() {
    let text = br#" [{"total_size": 0x, "#;
    assert!(read(text).is_err());
    let text = "[{'total_size': 512, 'address': 4096, 'device': 0, 'is_expandable': False,\n 'segment_type': 'lar' \"ge\", 'blocks': \
                [{'size': 512, 'state': 'active\\x5fallocated', 'frames': [{'filename': 'a\\u00e9\\ud83d\\ude00\\'.py', 'line': 3, \
                'name': \"f\"}]}]}]\n";
    let (found, told) = read(text.as_bytes()).expect("a snapshot");
    assert_eq!(found[0].text(found[0].regions[0].kind), "large");
    assert_eq!(
        found[0].block_name(&found[0].blocks[0]),
        "f (aé😀'.py:3)",
        "{}",
        messages(&told)
    );
}

#[test]
fn damaged_texts_name_the_byte() {
    for (text, expected) in [
        (
            "{\"segments\": [}",
            "neither JSON nor a printed Python value at byte 14",
        ),
        (
            "{\"segments\" []}",
            "neither JSON nor a printed Python value at byte 12",
        ),
        (
            "{\"segments\": [,]}",
            "neither JSON nor a printed Python value at byte 14",
        ),
        (
            "{\"segments\": 1 2}",
            "neither JSON nor a printed Python value at byte 15",
        ),
        ("{\"segments\": }", "neither JSON nor a printed Python value at byte 13"),
        ("{1, 2}", "neither JSON nor a printed Python value at byte 2"),
        ("{{}: 1}", "neither JSON nor a printed Python value at byte 1"),
        ("[1)", "neither JSON nor a printed Python value at byte 2"),
        ("[deque([])]", "\"deque\" is no value"),
        ("[\"\\uzzzz\"]", "escape that cannot be read"),
        ("[{\"total_size\": 1", "the snapshot"),
        ("[\"abc", "the snapshot"),
        ("[1, 2]", "holds no memory snapshot"),
    ] {
        let expected = if expected.starts_with("holds") { "" } else { expected };
        let found = read(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
        match found {
            Err(message) => assert!(message.contains(expected), "{text}: {message}"),
            Ok(()) => assert_eq!(expected, "", "{text}"),
        }
    }
    let (_, told) = read(b"{\"segments\": []} x").expect("a snapshot");
    assert!(messages(&told).contains("behind the end of the snapshot"));
}

const DATABASE: &str = r#"
    CREATE TABLE device_traces (id integer primary key, device integer, action text, addr integer, size integer,
        stream integer, time_us integer, frames text);
    CREATE TABLE segments (segment_id integer primary key, device integer, address integer, total_size integer,
        allocated_size integer, active_size integer, stream integer, segment_type text);
    CREATE TABLE blocks (id integer primary key, segment_id integer, address integer, size integer,
        requested_size integer, state text, frames text);
    CREATE TABLE other (x);
    INSERT INTO segments VALUES (1, 1, 4096, 1024, 512, 512, 0, 'small'), (2, 1, 8192, 2048, 0, 0, 0, 'large');
    INSERT INTO blocks VALUES (1, 2, 8192, 2048, 0, 'inactive', '[]'), (2, 1, 4096, 512, 500, 'active_allocated', '[]'),
        (3, 1, 4608, 512, 0, 'inactive', '[broken');
    INSERT INTO device_traces VALUES (1, 1, 'segment_alloc', 4096, 1024, 0, 10, '[]'),
        (2, 1, 'alloc', 4096, 500, 0, 11, '[{"filename": "train.py", "line": 3, "name": "step"}]');"#;

#[test]
fn databases_are_snapshots() {
    let mut connection = Connection::open_in_memory().expect("memory is there");
    connection.execute_batch(DATABASE).expect("the statements are right");
    let bytes = connection.serialize(MAIN_DB).expect("it has pages").to_vec();
    let imported = read_any("snapshot.db", &bytes).expect("a snapshot");
    assert_eq!(imported.format, "torch_snapshot");
    let (found, told) = read(&bytes).expect("a snapshot");
    assert_eq!(
        (found.len(), found[0].name.as_str(), found[0].n_steps),
        (1, "device1", 2)
    );
    let block = found[0].blocks[0];
    assert_eq!(found[0].block_name(&block), "step (train.py:3)");
    assert_eq!((block.bytes.get(), block.held.get(), block.is_older), (500, 512, false));
    assert_eq!(found[0].regions.len(), 2);
    let told = messages(&told);
    assert!(
        told.contains("no JSON and are left out x1 at row 3 of blocks"),
        "{told}"
    );
    assert!(told.contains("other"), "{told}");
    // Cut off or of another kind: an error that names the file as what it is.
    assert!(read(&bytes[..bytes.len() / 2]).is_err());
    let other = Input::from_bytes("x.db", b"SQLite format 3\0CREATE TABLE segments(x)").expect("memory can be read");
    assert!(!super::detect(&other));
}
