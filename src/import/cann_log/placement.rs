//! `[IMAS]Set` and the lines that move tensors later.
//!
//! ```text
//! [IMAS]Set GRAPH name[OP] optype[T] output[0] offset to [O] ... size[B] realsize[R] noalignsize[A] life time begin[X] life time end[Y] ...
//! [IMAS]Continuous input : Set GRAPH name[OP] ... output[0] offset to [O] ... size[B] realsize[R] ...
//! [IMAS]Atomic ordinary workspace : Set GRAPH name[OP] ... workspace[0] offset to [END] ... size[B] real_size[R].
//! ```

use super::draft::Draft;
use super::field::{after, first_number, leading, number};
use highwater_model::workload::LoggedPlace;

/// Op ids that mean the end of everything.
const FOR_EVER: [u64; 2] = [4_294_967_294, 4_294_967_295];

/// Longer types of ops are damage.
const MOST_LETTERS: usize = 256;

/// Takes a line: `label` is the text between `[IMAS]` and `Set `, `body` the text after.
pub(super) fn take(label: &str, body: &str, draft: &mut Draft) {
    if body.contains("atomic_node name[") {
        return;
    }
    let is_first = label.is_empty();
    let Some((graph, tensor, rest)) = tensor_of(body) else {
        draft.damaged += u64::from(is_first);
        return;
    };
    let mut place = LoggedPlace {
        offset: first_number(rest, &["offset to [", "offset to["]),
        block: first_number(rest, &[" size[", ",size[", "]size["]),
        size: first_number(rest, &["realsize[", "real_size["]),
        unpadded: number(rest, "noalignsize["),
        begin: number(rest, "life time begin[").map(op_id),
        end: end_of(rest),
        op: own_op(rest),
        kind: kind_of(body).and_then(|kind| draft.kinds.intern(kind)),
        stream: number(rest, "streamid[").and_then(small),
        memory_type: number(rest, "memtype[").map(|kind| u8::try_from(kind).unwrap_or(u8::MAX)),
        is_io: is_io(rest),
        is_cleared: label.contains("Atomic"),
    };
    if label.contains("ordinary workspace") {
        let start = place.offset.zip(place.block);
        place.offset = start.and_then(|(end, bytes)| end.checked_sub(bytes));
    }
    // A tensor is not larger than its block, unless that is 0 bytes.
    let fits = |bytes: &u64| place.block.is_none_or(|block| block == 0 || *bytes <= block);
    let stated = (place.size, place.unpadded);
    (place.size, place.unpadded) = (place.size.filter(fits), place.unpadded.filter(fits));
    if !is_first {
        draft.damaged += u64::from(stated != (place.size, place.unpadded));
    }
    if is_first {
        let fields = [place.offset, place.block, place.size, place.unpadded];
        let is_whole = fields.iter().all(Option::is_some) && place.begin.is_some() && place.end.is_some();
        draft.damaged += u64::from(!is_whole);
        if place.block == Some(0) {
            return;
        }
    }
    let plan = match draft.plans.get_mut(graph) {
        Some(plan) => plan,
        None => draft.plans.entry(graph.to_owned()).or_default(),
    };
    match plan.get_mut(tensor.as_str()) {
        Some(known) if !is_first => {
            (known.offset, known.block, known.size) = (place.offset, place.block, place.size);
            known.unpadded = known.unpadded.filter(fits);
            known.is_cleared |= place.is_cleared;
        }
        Some(known) => *known = place,
        None => {
            if !is_first {
                (place.unpadded, place.begin, place.end, place.op) = (None, None, None, None);
            }
            plan.insert(tensor, place);
        }
    }
}

/// The graph, `OP:output:I`, and the text after.
fn tensor_of(body: &str) -> Option<(&str, String, &str)> {
    let (graph, rest) = body.split_once(" name[")?;
    let (op, rest) = match rest.find("] ") {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => rest.split_once(']')?,
    };
    let slots = ["output", "workspace", "output_desc"].into_iter().filter_map(|kind| {
        let mark = format!(" {kind}[");
        rest.find(&mark).map(|at| (at, kind, at + mark.len()))
    });
    let (_, kind, at) = slots.min()?;
    let index = leading(&rest[at..])?;
    Some((graph.trim(), format!("{op}:{kind}:{index}"), &rest[at..]))
}

fn op_id(id: u64) -> i64 {
    if FOR_EVER.contains(&id) {
        -1
    } else {
        i64::try_from(id).unwrap_or(i64::MAX)
    }
}

/// The last of `a--b--c`, which is the end over all streams.
fn end_of(rest: &str) -> Option<i64> {
    let ids = after(rest, "life time end[")?;
    let ids = &ids[..=ids.find(']')?];
    leading(ids.rfind("--").map_or(ids, |at| &ids[at + 2..])).map(op_id)
}

/// The id of the op, which follows that of a beginning elsewhere: `a--b`.
fn own_op(rest: &str) -> Option<u32> {
    let ids = after(rest, "life time begin[")?;
    let ids = &ids[..=ids.find(']')?];
    leading(&ids[ids.find("--")? + 2..]).and_then(small)
}

/// A number of an op or stream; larger ones mean none.
fn small<T: TryFrom<u64>>(number: u64) -> Option<T> {
    Some(number)
        .filter(|number| !FOR_EVER.contains(number))
        .and_then(|number| T::try_from(number).ok())
}

/// The type of the op; damaged ones are `None`.
fn kind_of(body: &str) -> Option<&str> {
    let (kind, _) = after(body, " optype[")?.split_once(']')?;
    (!kind.is_empty() && kind.len() <= MOST_LETTERS).then_some(kind)
}

/// Whether the fourth number of `child[...]` says that it is an input or output.
fn is_io(rest: &str) -> bool {
    let numbers = after(rest, "child[").and_then(|rest| rest.split_once(']'));
    numbers.is_some_and(|(numbers, _)| numbers.split(':').nth(3) == Some("1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::workload::OpKinds;

    fn plan(lines: &[(&str, &str)]) -> (Vec<(String, LoggedPlace)>, u64) {
        let mut draft = Draft::default();
        for (label, body) in lines {
            take(label, body, &mut draft);
        }
        let plan = draft.plans.shift_remove("g_1").unwrap_or_default();
        (plan.into_iter().collect(), draft.damaged)
    }

    const SET: &str = "g_1 name[a/b] optype[Relu] output[0] offset to [512] streamid[0] memtype[2] size[1024] realsize[544] \
                       noalignsize[512] life time begin[1--0] life time end[3--4294967295] child[0:0:0:1:1] isref[0]\n";

    #[test]
    fn a_whole_line_is_a_place() {
        let (plan, damaged) = plan(&[("", SET)]);
        let place = LoggedPlace {
            offset: Some(512),
            block: Some(1024),
            size: Some(544),
            unpadded: Some(512),
            begin: Some(1),
            end: Some(-1),
            op: Some(0),
            kind: OpKinds::default().intern("Relu"),
            stream: Some(0),
            memory_type: Some(2),
            is_io: true,
            is_cleared: false,
        };
        assert_eq!((plan, damaged), (vec![("a/b:output:0".to_owned(), place)], 0));
    }

    #[test]
    fn a_cut_line_gives_what_was_printed() {
        let (cut, damaged) = plan(&[("", &SET[..SET.find("44] no").expect("there")])]);
        assert_eq!((cut[0].1.block, cut[0].1.size, damaged), (Some(1024), None, 1));
        for (what, larger) in [
            ("noalignsize[512]", "noalignsize[1025]"),
            ("realsize[544]", "realsize[1025]"),
        ] {
            let (larger, damaged) = plan(&[("", &SET.replace(what, larger))]);
            let Some((_, place)) = larger.first() else {
                panic!("{what}: no place")
            };
            let kept = [place.size, place.unpadded].map(|bytes| bytes.is_some());
            assert_eq!((kept, damaged), ([what != "realsize[544]", what == "realsize[544]"], 1));
        }
        let (none, damaged) = plan(&[("", "g_1 name[a/b")]);
        assert_eq!((none.len(), damaged), (0, 1));
    }

    #[test]
    fn later_lines_move_tensors_and_zero_sizes_own_nothing() {
        let zero = SET.replace(" size[1024]", " size[0]");
        assert_eq!(plan(&[("", &zero)]), (Vec::new(), 0));
        let end = "g_1 name[c] optype[T] workspace[1] offset to [900] size[400] real_size[300].\n";
        let moved =
            "g_1 name[a/b] output[0] offset to [64] stream_id[0] memtype[2] size[96] realsize[80] nopadding[0]\n";
        let (plan, damaged) = plan(&[
            ("", SET),
            ("Continuous input : ", moved),
            ("Atomic ordinary workspace : ", end),
            (
                "AppendAttrsToMemSetOp : ",
                "g_1 atomic_node name[x] workspace[0] offset to [1 2 ] size[3 4 ]",
            ),
        ]);
        assert_eq!(
            (plan[0].1.offset, plan[0].1.size, plan[0].1.begin),
            (Some(64), Some(80), Some(1))
        );
        assert_eq!(plan[1].0, "c:workspace:1");
        assert_eq!(
            (plan[1].1.offset, plan[1].1.begin, plan.len(), damaged),
            (Some(500), None, 2, 0)
        );
    }
}
