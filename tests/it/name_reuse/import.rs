//! Files of programs: parsing, errors with positions, and that nothing panics.

use highwater::analysis::inspect;
use highwater::graph::Bindings;
use proptest::prelude::*;

use super::program;
use crate::support;

const SMALL: &str = r#"{"description": "whole", "cases": [1], "program": {"blocks": [
 {"idx": 0, "parent_idx": -1, "forward_block_idx": -1,
  "vars": [{"name": "x", "shape": [-1, 8], "dtype": "FP32", "persistable": false, "type": "LOD_TENSOR"},
           {"name": "w", "shape": [8], "dtype": "FP32", "persistable": true, "type": "LOD_TENSOR"},
           {"name": "s", "type": "STEP_SCOPES"}],
  "ops": [{"type": "mul", "inputs": {"X": ["x"], "Y": ["w"]}, "outputs": {"Out": ["x"]},
           "attrs": {"op_role": 2, "op_role_var": ["w", "g"], "force_cpu": true, "axis": [1]}},
          {"type": "while", "inputs": {}, "outputs": {}, "attrs": {"sub_block": 1}}]},
 {"idx": 1, "parent_idx": 0}]}}"#;

#[test]
fn programs_are_read_whole_or_inside_an_object() {
    let whole = program("small.json", SMALL.as_bytes());
    assert_eq!(whole.name, "small.json");
    let op = &whole.blocks[0].ops[0];
    assert_eq!((op.role, op.is_forced_to_cpu), (Some(2), true));
    assert_eq!(op.role_variables.as_deref(), Some(&["w".into(), "g".into()][..]));
    assert_eq!(whole.blocks[0].ops[1].sub_block, Some(1));
    assert_eq!(whole.blocks[1].parent, Some(0));
    let value: serde_json::Value = serde_json::from_str(SMALL).unwrap();
    let bare = value["program"].to_string();
    assert_eq!(program("small.json", bare.as_bytes()).blocks, whole.blocks);
    let workload = crate::workloads::workload("small.json", SMALL.as_bytes());
    let figures = |bindings: &Bindings| {
        let inspection = inspect(&workload, bindings);
        let entry = &inspection.lifetimes[0];
        (
            entry.count,
            entry.peak.get(),
            entry.total.get(),
            inspection.diagnostics.entries().len(),
        )
    };
    assert_eq!(figures(&Bindings::new()), (1, 32, 32, 1));
    assert_eq!(figures(&Bindings::from([("batch".to_owned(), 4)])), (1, 128, 128, 0));
}

#[test]
fn damaged_programs_name_a_place() {
    let cases = [
        (r#""parent_idx": 0"#, r#""parent_idx": 7"#, "block 1"),
        (r#""parent_idx": 0"#, r#""parent_idx": 1"#, "lead back"),
        (r#""sub_block": 1"#, r#""sub_block": 0"#, "block 0 op 1 (\"while\")"),
        (r#""sub_block": 1"#, r#""sub_block": 2"#, "block 0 op 1 (\"while\")"),
        (r#""forward_block_idx": -1"#, r#""forward_block_idx": -5"#, "block 0"),
        (r#""idx": 1"#, r#""idx": 3"#, "block 1"),
        (r#""name": "w""#, r#""name": "x""#, "\"x\" is declared twice"),
        (r#""Y": ["w"]"#, r#""X": ["w"]"#, "occurs twice"),
        (r#""type": "mul""#, r#""kind": "mul""#, "line 7"),
    ];
    for (good, bad, expected) in cases {
        let text = SMALL.replacen(good, bad, 1);
        assert_ne!(text, SMALL);
        let error = support::read("bad.json", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{bad}: {error}");
    }
    let empty = r#"{"blocks": [], "vars": []}"#;
    assert!(support::read("empty.json", empty.as_bytes()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutated_programs_never_panic(at in 0..SMALL.len(), byte in any::<u8>(), cut in 0..SMALL.len()) {
        let mut bytes = SMALL.as_bytes().to_vec();
        bytes[at] = byte;
        drop(support::read("mutated.json", &bytes));
        bytes.truncate(cut);
        drop(support::read("cut.json", &bytes));
    }
}
