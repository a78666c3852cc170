//! Dropped parts are reported, repeated statements are kept, and addresses are no amounts of memory.

use super::{dumped, entry};

#[test]
fn what_there_is_no_room_for_is_told() {
    let option = |value: &str| {
        format!(
            "attr {{ key: \"_NpuOptimizer\" value {{ s: \"x\" }} }} attr {{ key: \"_long\" value {{ s: \"{value}\" }} }}"
        )
    };
    let model = |value: &str, facts: &str| {
        format!(
            "graph {{ name: \"g\" op {{ name: \"a\" type: \"Data\" output_desc {{ dtype: DT_FLOAT }} {} }} {facts} }}",
            option(value)
        )
    };
    let (found, said) = entry(&model(&"v".repeat(5000), ""));
    let kept = dumped(&found).options.iter().find(|option| option.key == "_long");
    assert_eq!((kept.map(|option| option.value.len()), said.as_str()), (Some(5000), ""));
    let (_, said) = entry(&model(&"v".repeat(70_000), ""));
    assert!(
        said.contains("more than 65536 bytes") && said.contains("[_long of a]"),
        "{said}"
    );
    let facts = (0..300).map(|at| format!("attr {{ key: \"k{at}\" value {{ i: {at} }} }} "));
    let facts = facts.collect::<Vec<String>>().concat();
    let (found, said) = entry(&model("v", &facts));
    assert!(said.is_empty() && dumped(&found).facts.len() >= 300, "{said}");
}

#[test]
fn facts_of_one_key_are_all_kept() {
    let text = "attr { key: \"size\" value { i: 1 } } attr { key: \"size\" value { i: 1 } } graph { name: \"g\" \
                op { name: \"a\" type: \"Data\" } attr { key: \"size\" value { i: 2 } } }";
    let (found, _) = entry(text);
    let sizes: Vec<(&str, &str)> = dumped(&found)
        .facts
        .iter()
        .filter(|(key, _)| key.starts_with("size"))
        .map(|(key, value)| (&**key, &**value))
        .collect();
    assert_eq!(sizes, [("size", "1"), ("size (2)", "2")]);
}

/// Addresses of variables are no amount of memory.
#[test]
fn tensors_in_the_memory_of_variables_are_told_apart() {
    let text = r#"graph { name: "g"
      op { name: "v" type: "Variable" output_desc { dtype: DT_FLOAT shape { dim: 8 } } output_i: 62277025792 }
      op { name: "n" type: "Neg" input: "v:0" output_desc { dtype: DT_FLOAT shape { dim: 8 } } output_i: 512 }
      op { name: "w" type: "Assign" input: "v:0" input: "n:0" output_i: 62277025792
        output_desc { dtype: DT_FLOAT shape { dim: 8 } attr { key: "ref_var_src_var_name" value { s: "v" } } } } }"#;
    let (found, said) = entry(text);
    assert!(
        said.contains("in the memory of a variable") && said.contains("[w:0] x1"),
        "{said}"
    );
    let end = dumped(&found)
        .facts
        .iter()
        .find(|(key, _)| key.starts_with("end of offsets"));
    assert_eq!(end.map(|(_, value)| value.as_str()), Some("544"));
}
