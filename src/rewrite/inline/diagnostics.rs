//! Diagnostics of inlining: inlined calls, and calls that stay, with the graph's name as place.

use super::{Inlined, MAX_OPS};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{counted, grouped};

pub(super) fn report(done: &Inlined, graph: &str, diagnostics: &mut Diagnostics) {
    if done.calls > 0 {
        let functions = match done.calls {
            1 => "the function that 1 op calls is".to_owned(),
            count => format!("the functions that {} ops call are", grouped(count)),
        };
        diagnostics.info(
            format!(
                "{functions} run in place: with those of the functions the graph has {} in place of {} (`inspect` counts \
                 the graph as the file has it)",
                counted(done.ops, "op"),
                grouped(done.ops_before)
            ),
            graph,
        );
    }
    if done.too_large > 0 {
        diagnostics.warning(
            format!(
                "{} of functions would make more than {} ops, or names that take too much memory; {}",
                counted(done.too_large, "call"),
                grouped(MAX_OPS),
                stay(done.too_large)
            ),
            graph,
        );
    }
    if done.uncounted > 0 {
        diagnostics.warning(
            format!(
                "what {} of loops and branches keep resident is too much to be listed; it is not counted among the weights",
                counted(done.uncounted, "graph")
            ),
            graph,
        );
    }
    if done.circular > 0 {
        diagnostics.warning(
            format!(
                "{} a circle, as a function that calls itself does; {}",
                match done.circular {
                    1 => "1 call of a function closes".to_owned(),
                    count => format!("{} calls of functions close", grouped(count)),
                },
                stay(done.circular)
            ),
            graph,
        );
    }
}

const fn stay(count: u64) -> &'static str {
    if count == 1 {
        "it stays a single op"
    } else {
        "they stay single ops"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many_are_told_in_words() {
        for (done, expected) in [
            (
                Inlined {
                    calls: 1,
                    ops_before: 1,
                    ops: 10_000,
                    ..Inlined::default()
                },
                "the function that 1 op calls is run in place: with those of the functions the graph has 10\u{a0}000 ops in \
                 place of 1 (`inspect` counts the graph as the file has it)",
            ),
            (
                Inlined {
                    too_large: 2,
                    ..Inlined::default()
                },
                "2 calls of functions would make more than 4\u{a0}000\u{a0}000 ops, or names that take too much memory; \
                 they stay single ops",
            ),
            (
                Inlined {
                    circular: 1,
                    ..Inlined::default()
                },
                "1 call of a function closes a circle, as a function that calls itself does; it stays a single op",
            ),
            (
                Inlined {
                    circular: 2,
                    ..Inlined::default()
                },
                "2 calls of functions close a circle, as a function that calls itself does; they stay single ops",
            ),
        ] {
            let mut diagnostics = Diagnostics::new();
            report(&done, "main", &mut diagnostics);
            let said: Vec<&str> = diagnostics.entries().iter().map(|entry| &*entry.message).collect();
            assert_eq!(said, [expected]);
        }
    }
}
