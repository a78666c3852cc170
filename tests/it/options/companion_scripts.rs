//! MegEngine and Paddle in scripts: calls without arguments, sizes as texts, the module of the eager interpreter.

use expect_test::expect;

use super::python::reads;

#[test]
fn a_call_without_arguments_sets_its_default() {
    reads(
        "a.py",
        "from megengine.jit import DTRConfig\ndtr_config = DTRConfig()\nfluid.memory_optimize(main)\n",
        &expect![[r"
            dtr.eviction_threshold = Int(0)
            memory_optimize.level = Int(0)
        "]],
    );
    reads(
        "a.py",
        "DTRConfig(**settings)\nmemory_optimize(main, level=1, print_log=True)\n",
        &expect![[r#"
            memory_optimize.print_log = Bool(true)
            memory_optimize.level = Int(1)
            warning: line 1: DTRConfig(...) takes arguments that are computed when the script runs; set them by hand
        "#]],
    );
}

#[test]
fn sizes_as_texts_are_refused_by_the_class_and_read_by_the_module() {
    reads(
        "a.py",
        "DTRConfig(eviction_threshold='8GB', evictee_minimum_size='many')\n",
        &expect![[r#"
            dtr.eviction_threshold = Int(8589934592)
            dtr.evictee_minimum_size = Text("many")
            error: line 1: eviction_threshold is "8GB", a text, for which DTRConfig raises a TypeError: write the bytes, 8589934592 (KB, MB and GB are powers of 1024 in MegEngine)
            error: line 1: evictee_minimum_size is "many", a text, for which DTRConfig raises a TypeError: write the bytes as a number
        "#]],
    );
    reads(
        "a.py",
        "import megengine as mge\nmge.dtr.eviction_threshold = '1.5GB'\nmge.dtr.evictee_minimum_size = '1MB'\n\
         mge.dtr.enable_sqrt_sampling = True\nmge.dtr.enable()\n",
        &expect![[r#"
            dtr.eviction_threshold = Int(1610612736)
            dtr.evictee_minimum_size = Int(1048576)
            simulation.remat_heuristic = Text("megengine_eager")
            info: line 2: dtr.eviction_threshold is "1.5GB", which is 1610612736 bytes: KB, MB and GB are powers of 1024 in megengine.dtr
            info: line 3: dtr.evictee_minimum_size is "1MB", which is 1048576 bytes: KB, MB and GB are powers of 1024 in megengine.dtr
            info: line 4: megengine.dtr.enable_sqrt_sampling has no effect here: it is not simulated
        "#]],
    );
    reads(
        "a.py",
        "from megengine import dtr\ndtr.eviction_threshold = 'five'\ndtr.evictee_minimum_size = 4096\n",
        &expect![[r#"
            dtr.evictee_minimum_size = Int(4096)
            simulation.remat_heuristic = Text("megengine_eager")
            error: line 2: dtr.eviction_threshold is "five", which megengine.dtr refuses: write a number with B, KB, MB or GB, such as 5GB
            warning: line 3: megengine.dtr.enable() is not called in this script; the setting is taken as if, and without the call nothing is evicted
        "#]],
    );
    // Another module of that name.
    reads(
        "a.py",
        "from mine import dtr\ndtr.eviction_threshold = '5GB'\n",
        &expect![[r#"
        warning: nothing in it sets an option; highwater reads a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], npu.global_options() or os.environ[...]
    "#]],
    );
}
