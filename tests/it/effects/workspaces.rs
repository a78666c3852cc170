//! Scratch memory estimated by op type.

use highwater::analysis::ScratchSource;
use highwater::graph::{Role, TensorId};
use highwater::timeline::{Selected, Timeline, facts};
use highwater::units::{Bytes, Step};
use highwater::workload::GraphIdx;

use super::graphs::{CHAIN, MIXED, TRAINING};
use super::{Ask, MIB, Settings, parts, slot};

const ON: (&str, &str) = ("simulation.workspace_estimate", "on");

/// Estimated workspaces as (step, bytes, name).
fn estimated(graph: &str, settings: Settings<'_>) -> Vec<(u32, u64, String)> {
    let comparison = Ask::new(graph, settings).run();
    let items = &comparison.session.runs[0].bound.program.lifetimes.items;
    let named = items.iter().filter_map(|item| {
        let name = comparison.workspaces.name(GraphIdx(0), item.tensor)?;
        assert_eq!(comparison.tensor_name(GraphIdx(0), item.tensor), name);
        assert_eq!(item.end.0, item.birth.0 + 1);
        Some((item.birth.0, item.bytes.get(), name.to_owned()))
    });
    named.collect()
}

#[test]
fn ops_without_scratch_memory_get_an_estimate_on_request() {
    let all = ("simulation.workspace_table", "*=50%");
    let name = |op: &str| format!("workspace of {op} (estimate)");
    for (graph, settings, expected) in [
        (CHAIN, &[] as Settings<'_>, vec![]),
        (CHAIN, &[all], vec![]),
        // The stated workspace of n0 is kept; the last op's result counts although the graph returns it.
        (
            CHAIN,
            &[ON, all],
            vec![
                (1, MIB / 2, name("n1")),
                (2, MIB / 2, name("n2")),
                (3, MIB / 4, name("n3")),
                (4, MIB / 2, name("n4")),
            ],
        ),
        // The default table has Softmax and reductions.
        (
            CHAIN,
            &[ON],
            vec![(1, (MIB * 5).div_ceil(100), name("n1")), (3, 64 << 10, name("n3"))],
        ),
        // An unreadable table acts as the default.
        (
            CHAIN,
            &[ON, ("simulation.workspace_table", "Softmax")],
            vec![(1, (MIB * 5).div_ceil(100), name("n1")), (3, 64 << 10, name("n3"))],
        ),
        (CHAIN, &[ON, ("simulation.workspace_table", "")], vec![]),
        (
            CHAIN,
            &[
                ON,
                ("simulation.workspace_table", "Add=3MiB"),
                ("precision_mode", "force_fp16"),
            ],
            vec![(2, 3 * MIB, name("n2"))],
        ),
        // A share follows the width of the results.
        (
            CHAIN,
            &[
                ON,
                ("simulation.workspace_table", "Add=100%"),
                ("precision_mode", "force_fp16"),
            ],
            vec![(2, MIB / 2, name("n2"))],
        ),
        // Ops of the host need no device memory.
        (
            MIXED,
            &[
                ON,
                ("simulation.workspace_table", "*=1KiB"),
                ("mix_compile_mode", "True"),
            ],
            vec![(0, 1024, name("conv")), (3, 1024, name("relu")), (4, 1024, name("mm"))],
        ),
        // Unnamed workspaces get names; writing a variable in place computes nothing else.
        (
            TRAINING,
            &[ON, ("simulation.workspace_table", "sum=1KiB,mm=50%")],
            vec![
                (0, MIB / 2, name("mm of step 0")),
                (3, 1024, name("sum of step 3")),
                (4, 2 * MIB, name("mm of step 4")),
            ],
        ),
    ] {
        assert_eq!(estimated(graph, settings), expected, "{settings:?}");
    }
}

#[test]
fn estimated_scratch_is_called_so() {
    let fixed = ("simulation.workspace_table", "relu=2MiB");
    for (graph, settings, scratch, lower_bound, keys) in [
        (
            TRAINING,
            &[] as Settings<'_>,
            ScratchSource::Missing,
            true,
            &[] as &[&str],
        ),
        (CHAIN, &[], ScratchSource::Stated, false, &[]),
        (
            TRAINING,
            &[ON, fixed],
            ScratchSource::Estimated,
            true,
            &["simulation.workspace_estimate", "simulation.workspace_table"],
        ),
        (TRAINING, &[fixed], ScratchSource::Missing, true, &[]),
        (
            CHAIN,
            &[ON],
            ScratchSource::Estimated,
            false,
            &["simulation.workspace_estimate"],
        ),
    ] {
        let comparison = Ask::new(graph, settings).run();
        assert_eq!(
            (comparison.scratch, comparison.lower_bound),
            (scratch, lower_bound),
            "{settings:?}"
        );
        let found: Vec<&str> = comparison.estimates.iter().map(|estimate| estimate.key).collect();
        assert_eq!(found, keys);
    }
    assert!(
        ScratchSource::Estimated
            .note()
            .is_some_and(|note| note.contains("estimate"))
    );
}

#[test]
fn every_view_knows_them() {
    let settings = [ON, ("simulation.workspace_table", "relu=2MiB")];
    let dynamic = [settings[0], settings[1], ("compile_dynamic_mode", "True")];
    // `g` and `w2` outweigh one relu; its op is live together with a and b.
    let plain = parts(&Ask::new(TRAINING, &[]).run());
    let with = parts(&Ask::new(TRAINING, &[ON, ("simulation.workspace_table", "relu=20MiB")]).run());
    assert_eq!(plain[0], 3 * slot(MIB) + slot(4 * MIB));
    assert_eq!(with[0], 2 * slot(MIB) + slot(20 * MIB));
    for settings in [&settings[..], &dynamic] {
        let comparison = Ask::new(TRAINING, settings).run();
        let n_tensors = u32::try_from(comparison.workload.graphs()[0].graph.tensors().len()).expect("few");
        let selected = Selected {
            run: 0,
            graph: GraphIdx(0),
            tensor: TensorId(n_tensors + 1),
        };
        let facts = facts(&comparison, selected);
        assert_eq!(facts.name, "workspace of relu of step 1 (estimate)");
        assert_eq!((facts.role, facts.op_kind.as_str()), (Some(Role::Workspace), "relu"));
        assert_eq!(
            (facts.bytes, facts.life),
            (Some(Bytes::mib(2)), Some((Step(1), Step(2))))
        );
        let timeline = Timeline::new(&comparison);
        for lane in &timeline.lanes {
            assert_eq!(lane.blocks_of(selected).len(), 1, "{:?}", lane.policy);
        }
        assert!(timeline.rows.find(selected).is_some());
    }
}
