//! Dynamic shapes.

use super::{Case, case};

const ON: (&str, &str) = ("dynamic_input", "True");
const RANGE: &str = "dynamic_inputs_shape_range";
const MODE: &str = "dynamic_graph_execute_mode";
const SHAPE: &str = "dynamic_input_config.input_shape";
const DIMS: &str = "dynamic_input_config.dynamic_dims";
const NODE: &str = "dynamic_input_config.dynamic_node_type";
const HYBRID: &str = "dynamic_input_config.compile_hybrid_mode";
const GOOD: (&str, &str) = (SHAPE, "data:-1,1,30,1");
const STEPS: (&str, &str) = (DIMS, "50;30");

pub(super) const CASES: &[Case] = &[
    case(&[ON], "R46W"),
    case(&[ON, (MODE, "lazy_recompile")], "R46W"),
    case(&[ON, (MODE, "eager")], "R32E R46W"),
    case(&[(MODE, "eager")], "R46W"),
    case(&[("dynamic_input", "False"), (MODE, "eager")], "R46W"),
    case(
        &[
            ON,
            (
                RANGE,
                "getnext:[128 ,3~5, 2~128, -1],[64 ,3~5, 2~128, -1];data:[128 ,3~5, 2~128, -1]",
            ),
        ],
        "R46W",
    ),
    case(&[ON, (RANGE, "data:[],[3~6]")], "R46W"),
    case(&[ON, (RANGE, "data:[3~")], "R32E R46W"),
    case(&[ON, (RANGE, "input:[3]")], "R32E R46W"),
    case(&[(RANGE, "data:[3]")], "R32W R46W"),
    case(&[(RANGE, "data:[3~")], "R32W R46W"),
    case(&[("dynamic_input", "False"), (RANGE, "data:[3~")], "R32W R46W"),
    case(&[ON, (RANGE, "data:[3]"), GOOD, STEPS, (NODE, "1")], "R32W R46W"),
    case(&[ON, (RANGE, "data:[1],[1],[1],[1],[1],[1],[1],[1],[1],[1]")], "R46W"),
    case(
        &[ON, (RANGE, "data:[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1]")],
        "R32I R46W",
    ),
    // Steps of input shapes.
    case(&[GOOD, STEPS, (NODE, "1")], ""),
    case(&[GOOD, STEPS, (NODE, "0")], ""),
    case(&[GOOD, STEPS, (NODE, "2")], "R38E"),
    case(&[GOOD, STEPS, (NODE, "1"), (HYBRID, "1")], ""),
    case(&[GOOD, STEPS, (NODE, "0"), (HYBRID, "0")], ""),
    case(&[GOOD, STEPS, (NODE, "0"), (HYBRID, "1")], "R38E"),
    case(&[GOOD, STEPS, (NODE, "1"), (HYBRID, "2")], "R38E"),
    case(&[(HYBRID, "0")], ""),
    case(&[(HYBRID, "1")], "R38E"),
    case(&[GOOD], "R38E"),
    case(&[GOOD, STEPS], "R38E"),
    case(&[STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a:b:1,-1;c:3;"), STEPS, (NODE, "1")], ""),
    case(&[(SHAPE, "a:"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a b:1,:2"), STEPS, (NODE, "1")], ""),
    case(&[(SHAPE, ";a:1"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a:1;;"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a: 1"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, ":1"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a:1,"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a:1;;b:2"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a:x"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, "a:--1"), STEPS, (NODE, "1")], "R38E"),
    case(&[(SHAPE, ""), STEPS, (NODE, "1")], "R38E"),
    case(&[GOOD, (DIMS, "1,2;3,4;"), (NODE, "1")], ""),
    case(&[GOOD, (DIMS, "-1"), (NODE, "1")], "R38E"),
    case(&[GOOD, (DIMS, "1 2"), (NODE, "1")], "R38E"),
    case(&[GOOD, (DIMS, ""), (NODE, "1")], "R38E"),
];
