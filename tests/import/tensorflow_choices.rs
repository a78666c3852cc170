//! What may run in place of the main graph: members of a saved object, each function once.

use crate::made::told;
use crate::tensorflow::{each, entries, import};
use crate::tensorflow_signatures::{call, function, handle, meta, only, signature};

/// A saved object whose members are functions by position of their object, and functions with their traces.
fn saved_object(members: &[(&str, usize)], functions: &[&[&str]]) -> String {
    let members = each(members, |(name, object)| {
        format!("children {{ node_id: {object} local_name: \"{name}\" }}\n")
    });
    let functions = each(functions, |traces| {
        let traces = each(traces, |trace| format!("concrete_functions: \"{trace}\" "));
        format!("nodes {{ function {{ {traces} }} }}\n")
    });
    format!("object_graph_def {{ nodes {{ {members} }}\n{functions} }}\n")
}

fn names(text: &str) -> Vec<String> {
    let entry = only(text);
    let bodies = entry.bodies.iter().map(|body| body.name().to_owned());
    std::iter::once(entry.name.clone()).chain(bodies).collect()
}

#[test]
fn members_that_are_one_function_are_one_graph() {
    let many: Vec<String> = (0..500).map(|number| format!("m{number:03}")).collect();
    let mut members: Vec<(&str, usize)> = many.iter().map(|name| (name.as_str(), 1)).collect();
    // Another object of the same function, and one of another function.
    members.extend([("a", 2), ("z", 3), ("z", 1)]);
    let objects = saved_object(&members, &[&["one"], &["one"], &["two"]]);
    let text = meta("serve", "", &[function("one", "Neg"), function("two", "Exp")], &objects);
    assert_eq!(names(&text), ["a", "z"]);
    let imported = import(text.as_bytes()).expect("a model");
    let repeated = told(&imported, "is the same function as one listed before it");
    assert_eq!(repeated, Some(("m000".to_owned(), 500)));
}

#[test]
fn each_of_many_functions_is_found() {
    let many: Vec<String> = (0..500).map(|number| format!("f{number:03}")).collect();
    let functions: Vec<String> = many.iter().map(|name| function(name, "Neg")).collect();
    let traces: Vec<[&str; 2]> = many.iter().map(|name| ["nowhere", name.as_str()]).collect();
    let traces: Vec<&[&str]> = traces.iter().map(|traces| &traces[..]).collect();
    let members: Vec<(&str, usize)> = many.iter().map(String::as_str).zip(1..).collect();
    let text = meta("serve", "", &functions, &saved_object(&members, &traces));
    assert_eq!(names(&text), many);
}

#[test]
fn further_traces_of_a_function_are_told() {
    let functions = [function("one", "Neg"), function("two", "Exp")];
    for (traces, expected) in [
        (&["one", "two"][..], Some(("f".to_owned(), 1))),
        (&["one"], None),
        (&["one", "nowhere"], None),
    ] {
        let text = meta("serve", "", &functions, &saved_object(&[("f", 1)], &[traces]));
        assert_eq!(names(&text), ["f"]);
        let imported = import(text.as_bytes()).expect("a model");
        assert_eq!(
            told(&imported, "only its first trace can be chosen"),
            expected,
            "{traces:?}"
        );
    }
}

#[test]
fn names_of_several_meta_graphs_differ_and_are_those_of_the_messages() {
    let nodes = [
        handle("w", 4, &[]),
        call("infer", "reads", &["w"]),
        call("train", "applies", &["w"]),
    ]
    .concat();
    let functions = [function("reads", "Neg"), function("applies", "ApplyNothing")];
    let train_op = "collection_def { key: \"train_op\" value { node_list { value: \"train\" } } }";
    let training = [train_op, &signature("train", "infer:0")].concat();
    let serving = [train_op, &signature("serving_default", "infer:0")].concat();
    let metas = [("train", training), ("serve", serving)];
    let text = each(&metas, |(tags, rest)| {
        format!("meta_graphs {{ {} }}\n", meta(tags, &nodes, &functions, rest))
    });
    let imported = import(text.as_bytes()).expect("a model");
    // What serves comes first, although it is the second of the file.
    let entries = entries(&imported);
    let names: Vec<(&str, &str)> = entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.bodies[0].name()))
        .collect();
    assert_eq!(names, [("serve", "serve: train_op"), ("train", "train: train")]);
    for (message, place) in [
        (
            "of the graph \"serve\" the signature \"serving_default\" is what runs; 1 op",
            "serve",
        ),
        ("choose another with --graph NAME: \"serve: train_op\"", "serve"),
        (
            "of the graph \"train\" the training op \"train_op\" is what runs, because the meta graph has the tag \"train\"",
            "train",
        ),
        ("choose another with --graph NAME: \"train: train\"", "train"),
    ] {
        let told = told(&imported, message).map(|(place, _)| place);
        assert_eq!(told.as_deref(), Some(place), "{message} {:?}", imported.diagnostics);
    }
}

#[test]
fn the_message_says_why_it_is_this_one() {
    let nodes = [
        handle("w", 4, &[]),
        call("infer", "reads", &["w"]),
        call("train", "applies", &["w"]),
    ]
    .concat();
    let functions = [function("reads", "Neg"), function("applies", "ApplyNothing")];
    for (signatures, expected) in [
        (
            &[("dec", "infer:0"), ("enc", "infer:0")][..],
            "\"dec\" is what runs (the first by name, because there is no \"serving_default\")",
        ),
        (
            &[("dec", "infer:0"), ("fit", "train:0")],
            "\"fit\" is what runs (the first that trains, because there is no \"serving_default\")",
        ),
        (&[("dec", "infer:0")], "\"dec\" is what runs; 1 op that"),
        (
            &[("dec", "infer:0"), ("serving_default", "infer:0")],
            "\"serving_default\" is what runs; 1 op that",
        ),
    ] {
        let signatures = each(signatures, |(key, fetch)| signature(key, fetch));
        let imported = import(meta("serve", &nodes, &functions, &signatures).as_bytes()).expect("a model");
        assert!(
            told(&imported, expected).is_some(),
            "{expected} {:?}",
            imported.diagnostics
        );
    }
    let objects = saved_object(&[("f", 1), ("g", 2)], &[&["reads"], &["other"]]);
    let functions = [function("reads", "Neg"), function("other", "Neg")];
    let imported = import(meta("serve", "", &functions, &objects).as_bytes()).expect("a model");
    let expected = "the function \"f\" is what runs (the first by name, because there is no \"serving_default\"); the file has no signature";
    assert!(told(&imported, expected).is_some(), "{:?}", imported.diagnostics);
}
