//! `highwater peak --tree`: the forms of a tree of call stacks, and its options.

use serde_json::Value as Json;

use crate::cli::{Place, fails, json, text_of as output};

/// A dump of msmemscope with Python stacks, innermost frame first.
const DUMP: &str = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,\
Call Stack(Python),Call Stack(C)
1,MALLOC,PTA,N/A,10,1,1,0,0x10,\"{allocation_id:1,addr:0x10,size:1024,total:8192,used:1024}\",\"model.py(3): forward
train.py(9): main
\",
2,MALLOC,PTA,N/A,20,1,1,0,0x20,\"{allocation_id:2,addr:0x20,size:3072,total:8192,used:4096}\",\"model.py(7): loss
train.py(9): main
\",
3,MALLOC,PTA,N/A,30,1,1,0,0x30,\"{allocation_id:3,addr:0x30,size:512,total:8192,used:4608}\",,
4,FREE,PTA,N/A,40,1,1,0,0x10,\"{allocation_id:1,addr:0x10,size:1024,total:8192,used:3584}\",,
";

fn with_dump(check: impl FnOnce(&str)) {
    let place = Place::new();
    check(&place.write("dump.csv", DUMP));
}

#[test]
fn folded_stacks_follow_step_and_order() {
    with_dump(|file| {
        let folded = |more: &[&str]| output(&[&["peak", file, "--format", "folded"], more].concat(), 0);
        assert_eq!(
            folded(&[]),
            "(no call stack) 512\ntrain.py:9 main;model.py:3 forward 1024\ntrain.py:9 main;model.py:7 loss 3072\n"
        );
        assert_eq!(folded(&["--step", "0"]), "train.py:9 main;model.py:3 forward 1024\n");
        assert_eq!(
            folded(&["--range", "0..2", "--inverse"]),
            "model.py:3 forward;train.py:9 main 2048\nmodel.py:7 loss;train.py:9 main 3072\n"
        );
        assert_eq!(folded(&["--lane", "1"]), folded(&[]));
    });
}

#[test]
fn a_tree_is_in_json_where_it_is_wanted() {
    with_dump(|file| {
        let plain = json(&["peak", file, "--format", "json"], 0);
        assert!(plain.get("tree").is_none());
        let with_tree = json(&["peak", file, "--tree", "--format", "json"], 0);
        let tree = &with_tree["tree"];
        assert_eq!(
            (&tree["unit"], &tree["total"]),
            (&Json::from("bytes"), &Json::from(4608))
        );
        assert_eq!(tree["order"], "outermost_first");
        let nodes = tree["nodes"].as_array().expect("a list");
        let weight_below = |parent: usize| -> u64 {
            let children = nodes
                .iter()
                .filter(|node| node["parent"].as_u64() == Some(parent as u64));
            children.map(|node| node["weight"].as_u64().expect("a number")).sum()
        };
        for (position, node) in nodes.iter().enumerate() {
            let own = node["own_weight"].as_u64().expect("a number");
            assert_eq!(node["weight"].as_u64(), Some(own + weight_below(position)), "{node}");
        }
        let loss = nodes
            .iter()
            .find(|node| node["frame"] == "model.py:7 loss")
            .expect("it is listed");
        assert_eq!(
            (&loss["file"], &loss["line"]),
            (&Json::from("model.py"), &Json::from(7))
        );
        let one = json(&["peak", file, "--tree", "--top", "1", "--format", "json"], 0);
        let root = &one["tree"]["nodes"][0];
        assert_eq!(
            (&root["frame"], &root["children_left_out"]),
            (&Json::from("all"), &Json::from(1))
        );
        assert_eq!(one["tree"]["nodes"].as_array().map(Vec::len), Some(3));
    });
}

#[test]
fn a_tree_is_a_text_or_a_drawing() {
    with_dump(|file| {
        let text = output(&["peak", file, "--tree"], 0);
        assert!(text.contains("live bytes by call stack, peak at event 2"), "{text}");
        let line = text
            .lines()
            .find(|line| line.ends_with("    model.py:7 loss"))
            .expect("it is listed");
        assert!(line.contains("66.7 %"), "{line}");
        let svg = output(&["peak", file, "--format", "svg"], 0);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(
            svg.contains("<title>model.py:7 loss 3\u{a0}072\u{a0}B, 66.7 %, 1 block "),
            "{svg}"
        );
        assert_eq!(output(&["peak", file, "--format", "svg"], 0), svg);
    });
}

#[test]
fn graphs_have_trees_of_scopes() {
    let text = output(&["peak", "sample:bert", "--tree"], 0);
    assert!(text.contains("live bytes by scope"), "{text}");
}

#[test]
fn options_of_trees_need_a_tree() {
    for (arguments, expected) in [
        (&["--inverse"][..], "are for --tree"),
        (&["--cpp-frames", "--format", "csv"], "are for --tree"),
        (&["--tree", "--format", "csv"], "--tree is written as"),
    ] {
        let all: Vec<&str> = ["peak", "sample:mobilenet"].iter().chain(arguments).copied().collect();
        fails(&all, expected);
    }
    fails(&["compare", "sample:mobilenet", "--format", "folded"], "`peak`");
}
