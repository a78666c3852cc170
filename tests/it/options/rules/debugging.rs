//! Operator debugging, the compile cache, AOE, dumps and file locations.

use super::{Case, FOLDER, LOCKED, MISSING, UNREADABLE, case};

const DEBUG: (&str, &str) = ("op_debug_config", "/d.cfg");
const OOM: (&str, &str) = (
    "/d.cfg",
    "# memory\nop_debug_config= ccec_g,oom\nop_debug_list=GatherV2,opType::ReduceSum\n",
);
const OOM_EVERYWHERE: (&str, &str) = ("/d.cfg", "op_debug_config = oom");
const OOM_SLOW: (&str, &str) = ("/d.cfg", "op_debug_config = ccec_O0,ccec_g,oom\nop_debug_list=Add");
const CACHE: (&str, &str) = ("op_compiler_cache_dir", "/c/");
const AOE_FILE: (&str, &str) = ("aoe_config_file", "/a.json");
const DUMP: (&str, &str) = ("dump_config.enable_dump", "True");
const DUMP_PATH: (&str, &str) = ("dump_config.dump_path", "/dump");
const OVERFLOW: (&str, &str) = ("dump_config.enable_dump_debug", "True");
const STEP: &str = "dump_config.dump_step";

pub(super) const CASES: &[Case] = &[
    // Switches that exclude each other.
    case(&[DEBUG], ""),
    case(&[DEBUG], "R56I").seeing(&[OOM]),
    case(&[DEBUG], "").seeing(&[("/d.cfg", "op_debug_config=ccec_g\nop_debug_list=Add")]),
    case(&[DEBUG, ("compile_dynamic_mode", "True")], "R24W")
        .seeing(&[("/d.cfg", "op_debug_config=ccec_g\nop_debug_list=Add")]),
    case(&[DEBUG, ("compile_dynamic_mode", "False")], "")
        .seeing(&[("/d.cfg", "op_debug_config=ccec_g\nop_debug_list=Add")]),
    case(&[DEBUG], "R24E R56I").seeing(&[OOM_SLOW]),
    case(&[DEBUG], "R43I").with(&[("NPU_COLLECT_PATH", "/n")]),
    case(&[DEBUG], "R25E R43I R56I")
        .with(&[("NPU_COLLECT_PATH", "/n")])
        .seeing(&[OOM]),
    case(&[("op_debug_level", "2"), DEBUG], "R26E R26W R29W R46W R56I").seeing(&[OOM]),
    case(
        &[("op_debug_level", "2"), DEBUG, ("graph_run_mode", "0")],
        "R29W R46W R56I",
    ),
    case(
        &[
            ("op_debug_level", "2"),
            ("graph_run_mode", "0"),
            ("compile_dynamic_mode", "True"),
        ],
        "R26W R29W R46W R56I",
    ),
    case(
        &[
            ("op_debug_level", "4"),
            ("graph_run_mode", "0"),
            ("compile_dynamic_mode", "True"),
        ],
        "R29W R46W",
    ),
    case(&[("op_debug_level", "1")], "R26W R29W R46W R56I"),
    case(&[("op_debug_level", "3")], "R29W R46W"),
    case(&[("op_debug_level", "0")], "R46W"),
    case(&[("op_debug_level", "5")], "R46W K1E"),
    // The compile cache.
    case(&[DEBUG], "R29W R56I").seeing(&[OOM_EVERYWHERE]),
    case(&[DEBUG, ("op_compiler_cache_mode", "force")], "R29W R56I").seeing(&[OOM_EVERYWHERE]),
    case(&[DEBUG, ("op_compiler_cache_mode", "disable")], "R56I").seeing(&[OOM_EVERYWHERE]),
    case(&[("op_compiler_cache_mode", "enable")], ""),
    case(&[("op_compiler_cache_mode", "force")], "R29W"),
    case(&[("op_compiler_cache_mode", "on")], "K1E"),
    case(&[], "R30I").with(&[("ASCEND_MAX_OP_CACHE_SIZE", "-1")]),
    case(&[], "R30I").with(&[("ASCEND_REMAIN_CACHE_SIZE_RATIO", "80")]),
    case(&[], "R30W R30I").with(&[("ASCEND_REMAIN_CACHE_SIZE_RATIO", "0")]),
    case(&[], "R30W R30I").with(&[("ASCEND_REMAIN_CACHE_SIZE_RATIO", "101")]),
    case(&[], "R30W R30I").with(&[("ASCEND_MAX_OP_CACHE_SIZE", "-2")]),
    case(&[], "R30W R30I").with(&[("ASCEND_MAX_OP_CACHE_SIZE", "big")]),
    case(&[CACHE], "R44I"),
    case(&[CACHE], "R30I R44I").seeing(&[(
        "/c/op_cache.ini",
        "[op_compiler_cache]\nmax_op_cache_size=500\nremain_cache_size_ratio=80",
    )]),
    // The file takes effect only where both values are valid.
    case(&[CACHE], "R30W R44I").seeing(&[("/c/op_cache.ini", "[op_compiler_cache]\nmax_op_cache_size=-5")]),
    case(&[CACHE], "R30W R44I").seeing(&[(
        "/c/op_cache.ini",
        "[op_compiler_cache]\nmax_op_cache_size=700\nremain_cache_size_ratio=180",
    )]),
    case(&[CACHE], "R30W R44I").seeing(&[("/c/op_cache.ini", "[op_compiler_cache]\nmax_op_cache_size=700")]),
    case(&[CACHE], "R30W R30I R44I")
        .with(&[("ASCEND_MAX_OP_CACHE_SIZE", "9")])
        .seeing(&[("/c/op_cache.ini", "remain_cache_size_ratio=0")]),
    case(&[("op_compiler_cache_dir", "")], "R44I").seeing(&[("/op_cache.ini", "nonsense")]),
    // File locations.
    case(&[("debug_dir", "/d")], "R44I"),
    case(&[("debug_dir", "/d")], "R44I").with(&[("ASCEND_WORK_PATH", "/w"), ("ASCEND_CACHE_PATH", "/c")]),
    case(&[], "R44I").with(&[("ASCEND_WORK_PATH", "/w")]),
    case(&[], "R44I").with(&[("ASCEND_CACHE_PATH", "/w")]),
    case(&[], "R43I").with(&[("NPU_COLLECT_PATH", "/n")]),
    case(&[("enable_exception_dump", "2")], "R43I").with(&[("NPU_COLLECT_PATH", "/n")]),
    case(&[("enable_exception_dump", "1")], "R44I").with(&[("NPU_COLLECT_PATH", "")]),
    case(&[("enable_exception_dump", "2")], "R44I").with(&[("ASCEND_WORK_PATH", "/w")]),
    case(&[("enable_exception_dump", "0")], ""),
    case(&[("op_debug_level", "0")], "R43I R44I R46W").with(&[("NPU_COLLECT_PATH", "/n")]),
    // AOE.
    case(&[("aoe_mode", "1")], ""),
    case(&[("aoe_mode", "2")], "").seeing(&[("./", FOLDER)]),
    case(&[("aoe_mode", "4")], "R22E").seeing(&[("./", LOCKED)]),
    case(&[("aoe_mode", "3")], "R21E").seeing(&[("./", LOCKED)]),
    case(&[("aoe_mode", "")], "R21E"),
    case(&[("aoe_mode", "2"), ("work_path", "/w")], "").seeing(&[("/w", FOLDER), ("./", LOCKED)]),
    case(&[("aoe_mode", "2"), ("work_path", "/w")], "R22E").seeing(&[("/w", MISSING)]),
    case(&[("aoe_mode", "2"), ("work_path", "/w")], "R22E").seeing(&[("/w", "a file")]),
    case(&[("aoe_mode", "2"), ("work_path", "/w")], "R22E").seeing(&[("/w", UNREADABLE)]),
    case(&[("work_path", "/w")], "").seeing(&[("/w", MISSING)]),
    case(&[], "R21E").with(&[("AOE_MODE", "3")]),
    case(&[("aoe_mode", "2")], "R21I").with(&[("AOE_MODE", "3")]),
    case(&[], "R22E").with(&[("AOE_MODE", "1")]).seeing(&[("./", LOCKED)]),
    case(&[AOE_FILE, ("aoe_mode", "2")], "").seeing(&[("/a.json", r#"{"feature": ["deeper_opat"]}"#)]),
    case(&[AOE_FILE, ("aoe_mode", "1")], "R23E").seeing(&[("/a.json", r#"{"feature": ["deeper_opat"]}"#)]),
    case(&[AOE_FILE, ("aoe_mode", "1")], "R23E").seeing(&[("/a.json", r#"{"feature": "deeper_opat"}"#)]),
    case(&[AOE_FILE, ("aoe_mode", "1")], "R23E")
        .seeing(&[("/a.json", r#"{"feature": ["deeper_opat", "nonhomo_split"]}"#)]),
    case(&[AOE_FILE], "R23E").seeing(&[("/a.json", r#"{"feature": ["nonhomo_split"]}"#)]),
    case(&[AOE_FILE], "")
        .with(&[("AOE_MODE", "1")])
        .seeing(&[("/a.json", r#"{"feature": ["nonhomo_split"]}"#)]),
    case(&[AOE_FILE, ("aoe_mode", "2")], "R23E").seeing(&[("/a.json", r#"{"feature": ["nonhomo_split"]}"#)]),
    // Dumps.
    case(&[DUMP], "R39E"),
    case(&[("dump_config.enable_dump_debug", "True")], "R39E"),
    case(&[("dump_config.enable_dump", "False")], ""),
    case(&[DUMP, DUMP_PATH], ""),
    case(&[DUMP, DUMP_PATH], "").seeing(&[("/dump", FOLDER)]),
    case(&[DUMP, DUMP_PATH], "R39E").seeing(&[("/dump", MISSING)]),
    case(&[DUMP, DUMP_PATH], "R39E").seeing(&[("/dump", LOCKED)]),
    case(&[DUMP, DUMP_PATH], "R39E").seeing(&[("/dump", "a file")]),
    case(&[DUMP, ("dump_config.dump_path", "")], "R39E"),
    case(&[("aoe_mode", "2"), ("work_path", "")], "R22E"),
    case(&[DUMP_PATH], "").seeing(&[("/dump", MISSING)]),
    case(&[DUMP, DUMP_PATH, (STEP, "0|5|10")], ""),
    case(&[DUMP, DUMP_PATH, (STEP, "0|5|10-20")], ""),
    case(&[DUMP, DUMP_PATH, (STEP, "3|")], ""),
    case(&[DUMP, DUMP_PATH, (STEP, "")], ""),
    case(&[DUMP, DUMP_PATH, (STEP, "-3")], ""),
    case(&[DUMP, DUMP_PATH, (STEP, "3-")], ""),
    case(&[DUMP, DUMP_PATH, (STEP, "|")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "3||")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "3--")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "2-1")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "1-1")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "1-2-3")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "1||2")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, "1, 2")], "R39E"),
    case(&[DUMP, DUMP_PATH, (STEP, " 1")], "R39E"),
    case(&[(STEP, "1,2")], "R39W"),
    case(&[("dump_config.enable_dump", "False"), (STEP, "2-1")], "R39W"),
    case(&[DUMP, DUMP_PATH, ("dump_config.dump_mode", "input")], ""),
    case(&[DUMP, DUMP_PATH, ("dump_config.dump_mode", "both")], "R39E"),
    case(&[("dump_config.dump_mode", "both")], "R39W"),
    case(&[OVERFLOW, DUMP_PATH, ("dump_config.dump_mode", "both")], "R39W"),
    case(&[OVERFLOW, DUMP_PATH, ("dump_config.dump_debug_mode", "none")], "R39E"),
    case(&[DUMP, DUMP_PATH, ("dump_config.dump_debug_mode", "none")], "R39W"),
    case(&[("dump_config.dump_debug_mode", "aicore_overflow")], ""),
    case(&[("dump_config.dump_data", "stats")], ""),
    case(&[("dump_config.dump_data", "Tensor")], "R39E"),
    // Classes.
    case(&[("dump_config", "DumpConfig(**settings)")], ""),
    case(&[("dump_config", "npu.DumpConfig(enable_dump=on())")], ""),
    case(&[("dump_config", "ProfilingConfig()")], "R8E"),
    case(&[("dump_config", "yes")], "R8E"),
    case(&[("experimental_config", "5")], "R8E R55I"),
    case(&[("dynamic_input_config", "DumpConfig()")], "R8E"),
    case(&[("dynamic_input_config", "DynamicInputConfig(*fields)")], ""),
    case(&[("profiling_config", "yes")], "K1E"),
    case(
        &[(
            GRAPH_MEMORY,
            r#"GraphMemoryOptimizeConfig(recompute="auto", graph_slice='manual')"#,
        )],
        "R55I",
    ),
    case(
        &[(GRAPH_MEMORY, r#"GraphMemoryOptimizeConfig(graph_slice="always")"#)],
        "R8E R55I",
    ),
    case(&[(GRAPH_MEMORY, r#"GraphMemoryOptimizeConfig("none")"#)], "R8E R55I"),
    case(&[(GRAPH_MEMORY, "GraphMemoryOptimizeConfig()")], "R55I"),
    case(&[(GRAPH_MEMORY, "DumpConfig()")], "R55I K1E"),
];

const GRAPH_MEMORY: &str = "experimental_config.graph_memory_optimize_config";

#[test]
fn at_most_a_hundred_sets_of_steps_are_dumped() {
    for (count, expected) in [(100, ""), (101, "R39W")] {
        let steps = vec!["1"; count].join("|");
        let settings = super::typed(STEP, highwater::options::Value::from(steps.as_str()));
        assert_eq!(super::fired(&settings), expected);
    }
}
