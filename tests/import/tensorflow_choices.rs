//! What may run in place of the main graph: members of a saved object, each function once.

use crate::made::told;
use crate::tensorflow::{each, import};
use crate::tensorflow_signatures::{function, meta, only};

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
