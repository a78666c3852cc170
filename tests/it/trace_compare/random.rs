//! Random traces on small devices: rejections, destroyed pools, unloads of running graphs and repeated requests leave
//! valid logs.

use highwater::timeline::Timeline;
use proptest::prelude::*;

use super::compared;
use crate::replay::trace;

fn command() -> impl Strategy<Value = String> {
    let size = prop_oneof![0..4_u64, 1..3_000_u64, 1..40_000_u64];
    let id = 0..6_u8;
    let segment = (size.clone(), prop_oneof![Just(""), Just(":z"), Just(":n"), Just(":g")]);
    let segments = prop::collection::vec(segment, 1..4);
    prop_oneof![
        6 => (id.clone(), size.clone()).prop_map(|(id, kib)| format!("a b{id} {kib}K")),
        4 => id.clone().prop_map(|id| format!("f b{id}")),
        1 => (0..3_u8).prop_map(|pool| format!("use {pool}")),
        1 => (0..3_u8).prop_map(|pool| format!("destroy {pool}")),
        1 => Just("recycle".to_owned()),
        1 => Just("recycle_l1".to_owned()),
        1 => Just("sync".to_owned()),
        3 => (id.clone(), segments).prop_map(|(id, segments)| {
            let texts: Vec<String> = segments.iter().map(|(kib, flags)| format!("{kib}K{flags}")).collect();
            format!("load G{id} {}", texts.join(" "))
        }),
        4 => id.clone().prop_map(|id| format!("exec G{id}")),
        2 => id.clone().prop_map(|id| format!("begin G{id}")),
        2 => id.clone().prop_map(|id| format!("finish G{id}")),
        2 => id.clone().prop_map(|id| format!("unload G{id}")),
        1 => (id.clone(), size.clone()).prop_map(|(id, kib)| format!("w G{id} {kib}K")),
        1 => id.clone().prop_map(|id| format!("wf G{id}")),
        1 => (id.clone(), size).prop_map(|(id, kib)| format!("fixed G{id} {kib}K")),
        1 => id.prop_map(|id| format!("unfixed G{id}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn logs_of_random_traces_hold(commands in prop::collection::vec(command(), 1..80), mib in 40..400_u32, is_documented: bool, can_reserve: bool) {
        let header = if can_reserve { "" } else { "no_reserve\n" };
        let trace = trace(&format!("device {mib}M\n{header}{}\n", commands.join("\n")));
        let behaviour = if is_documented { "documented" } else { "engine" };
        let comparison = compared(&trace, &[("simulation.policy_2_behaviour", behaviour)]);
        let timeline = Timeline::new(&comparison);
        prop_assert_eq!(timeline.lanes.len(), 4);
    }
}
