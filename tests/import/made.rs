//! Protocol buffers written by hand, and files damaged.

use highwater_import::Imported;
use highwater_model::graph::Bindings;
use highwater_model::liveness::{View, lifetimes};
use highwater_model::workload::Source;

pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// A field of a number.
pub(crate) fn number(field: u64, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value.cast_unsigned(), &mut out);
    out
}

/// A field of bytes, which a text or a message is too.
pub(crate) fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 2, &mut out);
    varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

/// The place of the first diagnostic whose message has a text, and its count.
pub(crate) fn told(imported: &Imported, text: &str) -> Option<(String, u64)> {
    let mut entries = imported.diagnostics.entries().iter();
    let found = entries.find(|entry| entry.message.contains(text))?;
    Some((found.place.clone(), found.count))
}

/// Reads a file damaged in so many ways, the same in every run: what is read has figures, what is not has an error in words,
/// and more than `least` of both are met.
pub(crate) fn damage(whole: &[u8], rounds: u32, least: u32, read: impl Fn(&[u8]) -> Result<Imported, String>) {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut answers, mut errors) = (0, 0);
    for _ in 0..rounds {
        let mut damaged = whole.to_vec();
        for _ in 0..=next() % 4 {
            let at = usize::try_from(next() % damaged.len() as u64).expect("a position");
            match next() % 4 {
                0 => damaged[at] = next().to_le_bytes()[0],
                1 => damaged[at] ^= 1 << (next() % 8),
                2 => damaged.insert(at, next().to_le_bytes()[0]),
                _ => {
                    damaged.remove(at);
                }
            }
        }
        match read(&damaged) {
            Ok(imported) => {
                answers += 1;
                has_figures(&imported.source);
            }
            Err(error) => {
                assert!(!error.is_empty());
                errors += 1;
            }
        }
    }
    assert!(answers > least && errors > least, "{answers} answers, {errors} errors");
}

fn has_figures(source: &Source) {
    let bindings = [("batch".to_owned(), 3), ("seq".to_owned(), 5)];
    let bindings = Bindings::from(bindings);
    match source {
        Source::Graphs(entries) => {
            for entry in entries {
                let sizes = entry.graph.sizes(&bindings);
                for view in [View::Naive, View::Aliased] {
                    lifetimes(&entry.graph, &sizes, view).peak();
                }
            }
        }
        Source::Recordings(all) => all.iter().for_each(|one| assert_eq!(one.check(), Ok(()))),
        _ => {}
    }
}
