//! One small trace per rule: reserved bytes, forbidden commands, invalid traces.

use highwater::sim::replay::{Outcome, Replay, ReplayRules};
use highwater::units::Bytes;
use serde_json::{Value as Json, json};

use super::{lines, replayed, rules, trace};

/// MiB in use after each load.
fn reserved(text: &str, policy: u8, is_documented: bool) -> Vec<u64> {
    let trace = trace(text);
    let rules = ReplayRules {
        is_documented,
        ..rules(&trace, policy)
    };
    let mut replay = Replay::new(&trace, rules);
    let mut found = Vec::new();
    while let Some(answer) = replay.step() {
        if matches!(answer.outcome, Outcome::Loaded(_)) {
            found.push(answer.in_use.get() >> 20);
        }
    }
    assert_eq!(replay.summary().reserved, Bytes::ZERO, "all is given back");
    found
}

const GROWING: &str = "device 32G\nload A 100M\nexec A\nload B 300M\nexec B\nload C 200M\nexec C\nexec A\nexec B\nexec C\n\
                       unload A\nunload B\nunload C\n";

#[test]
fn three_graphs_reserve_as_their_policy_requires() {
    for (policy, is_documented, expected) in [
        (0, false, [100, 400, 600]),
        (3, false, [100, 400, 600]),
        (2, true, [100, 300, 300]),
        (2, false, [100, 400, 400]),
        (1, false, [100, 400, 400]),
        (4, false, [104, 304, 304]),
    ] {
        assert_eq!(reserved(GROWING, policy, is_documented), expected, "policy {policy}");
    }
    let in_two = GROWING.replace("load B 300M", "load B 200M 100M");
    assert_eq!(reserved(&in_two, 2, false), [100, 300, 300]);
}

#[test]
fn policy_1_is_policy_2() {
    let trace = trace(GROWING);
    assert_eq!(lines(&trace, rules(&trace, 1)), lines(&trace, rules(&trace, 2)));
}

#[test]
fn the_header_states_device_and_threshold() {
    let header = &replayed("device 64G\nthreshold_gb 3\nsync\n", 0)[0];
    assert_eq!(header["threshold"], 3_u64 << 30);
    assert_eq!(header["uncacheable"], 32_u64 << 30);
    let header = &replayed("device 1G\nthreshold_gb 1\nsync\n", 3)[0];
    assert_eq!(header["threshold"], 1_020_054_732, "an option beyond 95 % is none");
    assert_eq!(replayed("sync\n", 4)[0]["device"], 32_u64 << 30);
}

#[test]
fn rates_have_four_decimals() {
    let trace = trace("device 1G\na x 3M\n");
    let all = lines(&trace, rules(&trace, 0));
    assert!(all[2].contains("\"reach_theory_rate\":100.0000,"), "{}", all[2]);
}

/// Fields of one line.
#[track_caller]
fn says(line: &Json, expected: &Json) {
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&line[field], value, "{field} of {line}");
    }
}

#[test]
fn missing_blocks_are_skipped_and_a_live_name_is_not_reused() {
    for policy in [0, 3] {
        let all = replayed(
            "f x\na x 1M\na x 2M\nf x\nf x\na y 900G\nf y\nrecycle\nrecycle_l1\nsync\n",
            policy,
        );
        says(
            &all[1],
            &json!({"ev": "f", "id": "x", "skip": true, "pool": null, "l1": null, "dev": []}),
        );
        says(&all[2], &json!({"ok": true}));
        says(&all[3], &json!({"ok": false, "skip": true, "size": 2 << 20, "dev": []}));
        says(&all[4], &json!({"k": 0, "skip": null}));
        says(&all[5], &json!({"skip": true, "k": null}));
        says(&all[6], &json!({"ok": false, "skip": null, "dev": [["sync"]]}));
        says(&all[7], &json!({"skip": true}));
        says(&all[9], &json!({"ev": "recycle_l1", "k": null}));
        assert_eq!(all[11]["pools"]["0"]["alloc_succ"], 1);
    }
}

#[test]
fn a_destroyed_pool_frees_its_blocks_and_can_be_created_again() {
    for policy in [0, 3] {
        let text =
            "use 1\na x 1M\nuse 0\na y 1M\ndestroy 1\nf x\ndestroy 1\ndestroy 7\nuse 1\na x 2M\nf x\ndestroy 1\nf y\n";
        let all = replayed(text, policy);
        says(&all[5], &json!({"ev": "destroy", "k": 1}));
        assert!(all[5]["pool"].is_array(), "the current pool is still there");
        says(&all[6], &json!({"skip": true}));
        for nothing in [7, 8] {
            says(&all[nothing], &json!({"dev": [], "used": all[6]["used"]}));
        }
        says(&all[10], &json!({"ok": true, "k": 1, "size": 2 << 20}));
        says(&all[12], &json!({"pool": null}));
        says(&all[13], &json!({"k": 0}));
        let end = &all[14]["pools"];
        assert_eq!((end["0"].is_object(), end["1"].is_null()), (true, true));
    }
}

#[test]
fn unloaded_graphs_do_not_run_and_loaded_ones_are_not_reloaded() {
    let text =
        "exec A\nbegin A\nfinish A\nunload A\nload A 10M\nload A 20M\nfinish A\nbegin A\nbegin A\nunload A\nexec A\n";
    for policy in [0, 2, 3, 4] {
        let all = replayed(text, policy);
        for skipped in [1, 2, 3, 7, 9, 11] {
            says(&all[skipped], &json!({"skip": true, "dev": [], "st": null}));
        }
        says(&all[4], &json!({"ev": "unload", "g": "A", "dev": []}));
        says(&all[5], &json!({"ok": true, "size": 10 << 20}));
        says(
            &all[6],
            &json!({"ok": false, "skip": true, "dev": [], "size": 20 << 20}),
        );
        says(&all[8], &json!({"st": 0}));
        says(&all[10], &json!({"used": 0}));
        assert_eq!(all[12]["dev"]["used"], 0);
    }
}

#[test]
fn a_load_without_room_is_an_answer_and_changes_nothing_for_others() {
    let text = "device 200M\nload A 100M\nexec A\nload B 120M\nexec B\nunload B\nload C 90M\nexec C\nexec A\nunload C\nunload A\n";
    for policy in [0, 2, 3, 4] {
        let all = replayed(text, policy);
        says(&all[3], &json!({"ok": false, "base": null, "size": 120 << 20}));
        says(&all[5], &json!({"used": all[3]["used"], "dev": []}));
        says(&all[6], &json!({"ok": true}));
        says(&all[8], &json!({"st": 0}));
        assert_eq!(all[11]["dev"]["used"], 0, "policy {policy}");
    }
}

#[test]
fn running_before_the_first_run_of_a_shared_graph_fails_with_the_engines_status() {
    let text = "load A 100M\nexec A\nload B 90M\nexec A\nexec B\nexec A\n";
    for (policy, status) in [(0, 0_u32), (2, 0), (3, 0), (4, 1_343_225_857)] {
        let all = replayed(text, policy);
        assert_eq!(all[4]["st"], status, "policy {policy}");
        assert_eq!((&all[5]["st"], &all[6]["st"]), (&json!(0), &json!(0)));
    }
}

#[test]
fn sizes_of_nothing_do_no_harm() {
    let text = "load A\nload B 0\nload C 10M\nexec A\nexec B\nexec C\nunload A\nunload B\nunload C\na x 0\nf x\nw y 0\n\
                wf y\nfixed A 0\nunfixed A\n";
    for policy in [0, 2, 3, 4] {
        let all = replayed(text, policy);
        for loaded in [1, 2, 3] {
            says(&all[loaded], &json!({"ok": true}));
        }
        says(&all[9], &json!({"used": 0}));
        says(&all[10], &json!({"ok": true, "span": 65536}));
        says(&all[12], &json!({"ok": false, "addr": null}));
        says(&all[14], &json!({"ok": true, "addr": null, "pool_size": 0}));
    }
}

#[test]
fn fixed_memory_is_one_pool_for_all_graphs() {
    for (policy, page) in [(2, 2_u64), (4, 8)] {
        let all = replayed(
            "fixed A 10M\nfixed B 3M\nfixed A 30M\nunfixed A\nunfixed A\nunfixed B\nfixed C 900G\n",
            policy,
        );
        let used: Vec<u64> = all[1..=7]
            .iter()
            .map(|line| line["used"].as_u64().unwrap() >> 20)
            .collect();
        let rounded = |mib: u64| mib.div_ceil(page) * page;
        let (small, large) = (rounded(10), rounded(30));
        assert_eq!(used[..6], [small, small, large, large, large, 0]);
        assert_eq!(used[6], 0);
        says(&all[7], &json!({"ok": false, "addr": null, "pool_size": 0}));
    }
}

#[test]
fn weights_are_device_memory_of_their_own() {
    let all = replayed("device 10M\nw a 7M\nw a 1M\nw b 4M\nwf b\nwf a\nwf a\n", 2);
    says(&all[1], &json!({"ok": true, "addr": ["dev", 0]}));
    says(&all[2], &json!({"ok": false, "skip": true, "dev": []}));
    says(
        &all[3],
        &json!({"ok": false, "addr": null, "dev": [["malloc_fail", 4 << 20]]}),
    );
    says(&all[5], &json!({"used": 0}));
    says(&all[6], &json!({"used": 0, "dev": []}));
}

#[test]
fn the_legacy_allocator_knows_no_pools() {
    let trace = trace("use 1\na x 1M\nsync\na y 9M\nrecycle_l1\nf x\nf q\nrecycle\ndestroy 1\nf y\n");
    let rules = ReplayRules {
        is_legacy: true,
        ..rules(&trace, 3)
    };
    let all: Vec<Json> = lines(&trace, rules)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<&str> = all.iter().filter_map(|line| line["ev"].as_str()).collect();
    assert_eq!(events, ["v1a", "v1a", "v1f", "v1f", "v1try", "v1f"]);
    assert_eq!(all[0]["policy"], 0);
    says(
        &all[1],
        &json!({"addr": ["dev", 0], "block": 1 << 20, "k": null, "pool": null}),
    );
    says(
        &all[2],
        &json!({"v1": [(8 << 20) + (32 << 20) + 1024, 10 << 20, (30 << 20) + 1024, 2]}),
    );
}

#[test]
fn a_run_without_answers_counts_the_same() {
    let text = "device 1G\nw q 5M\nload A 10M\nbegin A\na x 20M\na y 2G\nfinish A\nf x\nfixed A 3M\nexec A\n";
    for policy in [0, 2, 3, 4] {
        let trace = trace(text);
        let (mut fast, mut slow) = (
            Replay::new(&trace, rules(&trace, policy)),
            Replay::new(&trace, rules(&trace, policy)),
        );
        while slow.step().is_some() {}
        let cancel = highwater::progress::Cancel::new();
        let summary = fast.run(&highwater::progress::Progress::silent(&cancel)).unwrap();
        assert_eq!(summary, slow.summary());
        assert_eq!(
            summary.peak_live,
            Bytes::mib(35),
            "weights, the running graph, the block"
        );
        assert_eq!(
            (summary.commands, summary.failed, summary.first_failure),
            (9, 1, Some(4))
        );
        cancel.cancel();
        let mut stopped = Replay::new(&trace, rules(&trace, policy));
        assert!(stopped.run(&highwater::progress::Progress::silent(&cancel)).is_err());
    }
}
