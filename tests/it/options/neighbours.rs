//! Settings of other memory systems in scripts, variables that come too late, and releases of torch that a script installs.

use expect_test::expect;

use super::python::reads;

#[test]
fn the_older_call_of_eager_eviction_is_todays_setting() {
    reads(
        "a.py",
        "from megengine.utils.dtr import DTR\nds = DTR(memory_budget=5*1024**3, tensor_lowerbound=4096)\n",
        &expect![[r#"
            dtr.eviction_threshold = Int(5368709120)
            dtr.evictee_minimum_size = Int(4096)
            simulation.remat_heuristic = Text("megengine_eager")
            info: line 2: DTR(memory_budget=...) of MegEngine 1.3 and 1.4 is today's dtr.eviction_threshold; it is simulated by today's rules
        "#]],
    );
    reads(
        "a.py",
        "import megengine.utils.dtr as dtr\nds = dtr.DTR(2**30)\n",
        &expect![[r#"
            dtr.eviction_threshold = Int(1073741824)
            simulation.remat_heuristic = Text("megengine_eager")
            info: line 2: DTR(memory_budget=...) of MegEngine 1.3 and 1.4 is today's dtr.eviction_threshold; it is simulated by today's rules
        "#]],
    );
    reads(
        "a.py",
        "from megengine.utils.dtr import DTR\nds = DTR()\n",
        &expect![[r#"
        info: line 2: DTR(...) without a memory_budget above 0 evicts nothing
    "#]],
    );
    // Another class of that name.
    reads(
        "a.py",
        "from mine import DTR\nds = DTR(memory_budget=5)\n",
        &expect![[r#"
        warning: nothing in it sets an option; highwater reads a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], npu.global_options() or os.environ[...]
    "#]],
    );
}

#[test]
fn settings_of_paddles_other_passes_are_named() {
    reads(
        "a.py",
        "import paddle\nbs = paddle.static.BuildStrategy()\nbs.memory_optimize = True\nbs.enable_inplace = False\n\
         bs.fuse_bn_act_ops = True\n",
        &expect![[r#"
            info: line 3: BuildStrategy.memory_optimize is not simulated; it is Paddle's pass over the program of a CompiledProgram that reuses memory of dead variables; it is another pass than fluid.memory_optimize, whose options are memory_optimize.*
            info: line 4: BuildStrategy.enable_inplace is not simulated; it is Paddle's pass that lets ops of a CompiledProgram write over their inputs
        "#]],
    );
    reads(
        "a.py",
        "import paddle\npaddle.set_flags({'FLAGS_eager_delete_tensor_gb': 1.0, 'FLAGS_benchmark': True})\n",
        &expect![[r#"
            info: line 2: FLAGS_eager_delete_tensor_gb is not simulated; it is Paddle's garbage collection: tensors that died are freed once so many GiB of them have gathered; 0 frees each at once, below 0 turns it off
        "#]],
    );
    reads(
        "a.py",
        "other.memory_optimize = True\n",
        &expect![[r#"
        warning: nothing in it sets an option; highwater reads a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], npu.global_options() or os.environ[...]
    "#]],
    );
    reads(
        "a.sh",
        "export FLAGS_eager_delete_tensor_gb=0.0\nexport FLAGS_allocator_strategy=auto_growth\n",
        &expect![[r#"
            env FLAGS_allocator_strategy = "auto_growth"
            env FLAGS_eager_delete_tensor_gb = "0.0"
            info: line 1: FLAGS_eager_delete_tensor_gb is not simulated; it is Paddle's garbage collection: tensors that died are freed once so many GiB of them have gathered; 0 frees each at once, below 0 turns it off
            info: line 2: FLAGS_allocator_strategy is not simulated; it is Paddle's allocator of device memory (auto_growth, naive_best_fit or thread_local)
        "#]],
    );
    reads(
        "a.yaml",
        "env:\n  FLAGS_fraction_of_gpu_memory_to_use: '0.5'\n",
        &expect![[r#"
            info: line 2: FLAGS_fraction_of_gpu_memory_to_use is not simulated; it is the part of the device's memory that Paddle's allocator takes at once
        "#]],
    );
    reads(
        "a.py",
        "import os\nos.environ['PYTORCH_NO_CUDA_MEMORY_CACHING'] = '1'\n",
        &expect![[r#"
            env PYTORCH_NO_CUDA_MEMORY_CACHING = "1"
            info: line 2: PYTORCH_NO_CUDA_MEMORY_CACHING is not simulated; it is the switch that turns PyTorch's caching allocator off: each tensor is a device allocation
        "#]],
    );
}

#[test]
fn a_variable_after_the_first_tensor_on_the_device_comes_too_late() {
    let late = "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n";
    let firsts = [
        ("x = torch.zeros(1, device='cuda')", true),
        ("x = torch.zeros(1, device=torch.device('cuda:1'))", true),
        ("x = torch.zeros(1).cuda()", true),
        ("model.to('cuda:0')", true),
        ("model.to(device='cuda')", true),
        ("d = 'cuda'\nx = torch.ones(2, device=d)", true),
        ("x = torch.zeros(1, device='cpu')", false),
        ("model.to(torch.float16)", false),
        ("d = torch.device('cuda')", false),
        ("d = 'cuda' if torch.cuda.is_available() else 'cpu'\nmodel.to(d)", true),
        ("d = torch.device('cuda')\nmodel.to(d)", true),
        ("d = torch.device('cuda')\nd = 'cpu'\nmodel.to(d)", false),
        ("f = lambda: torch.zeros(3).cuda()", false),
        ("if debug:\n    torch.zeros(3).cuda()", false),
        ("a = argparse.Namespace(device='cuda')", false),
        ("torch.cuda.get_device_properties(device='cuda')", false),
        ("import wandb\nwandb.cuda()", false),
        ("def later():\n    return torch.zeros(1, device='cuda')", false),
        ("torch.cuda.set_device(0)", false),
    ];
    for (first, is_late) in firsts {
        let script = format!("import os, torch\n{first}\n{late}");
        let (_, warnings) = highwater::script::read_config("a.py", script.as_bytes()).expect("a script");
        let is_told = warnings
            .entries()
            .iter()
            .any(|entry| entry.message.contains("is set after the first tensor"));
        assert_eq!(is_told, is_late, "{first}");
    }
    // In one function the order is known; what is set before stays.
    reads(
        "a.py",
        "import os, torch\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb:64'\ndef main():\n    torch.zeros(1).cuda()\n    \
         os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'bogus:1'\nmain()\n",
        &expect![[r#"
            env PYTORCH_CUDA_ALLOC_CONF = "max_split_size_mb:64"
            warning: line 5: PYTORCH_CUDA_ALLOC_CONF is set after the first tensor on the device (line 4), when the allocator has read it already: it has no effect; set it before torch is imported
        "#]],
    );
    // At run time the settings can be changed.
    reads(
        "a.py",
        "import torch\nx = torch.zeros(1, device='cuda')\n\
         torch.cuda.memory._set_allocator_settings('expandable_segments:True')\n",
        &expect![[r#"
            env PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True"
        "#]],
    );
}

#[test]
fn a_release_of_torch_that_the_script_installs_reads_its_own_keys() {
    let set = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n";
    reads(
        "a.sh",
        &format!("pip install torch==2.0.1\n{set}"),
        &expect![[r#"
        env PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True"
        warning: line 1: torch 2.0.1 is installed, which refuses PYTORCH_CUDA_ALLOC_CONF: `expandable_segments` is not a key of torch 2.0's allocator; it is known from torch 2.1 on
    "#]],
    );
    reads(
        "a.sh",
        &format!("pip install 'torch==2.1.2+cu118' numpy\n{set}"),
        &expect![[r#"
        env PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True"
    "#]],
    );
    reads(
        "a.sh",
        "conda install -y pytorch=2.3 -c pytorch\nexport PYTORCH_ALLOC_CONF=expandable_segments:True\n",
        &expect![[r#"
            env PYTORCH_ALLOC_CONF = "expandable_segments:True"
            warning: line 1: torch 2.3 is installed, which does not read PYTORCH_ALLOC_CONF on CUDA devices: set PYTORCH_CUDA_ALLOC_CONF
        "#]],
    );
    reads(
        "Dockerfile",
        &format!("FROM pytorch/pytorch:1.13.1-cuda11.6\n{}", set.replace("export", "ENV")),
        &expect![[r#"
        env PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True"
        info: line 1: torch 1.13.1 is installed, whose keys of PYTORCH_CUDA_ALLOC_CONF are not known here; known are torch 2.0 to 2.15
    "#]],
    );
    reads(
        "a.ipynb",
        r#"{"cells": [{"cell_type": "code", "source": ["!pip install torch==2.0.1\n", "import os\n", "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n"]}]}"#,
        &expect![[r#"
            env PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:True"
            warning: cell 1, line 1: torch 2.0.1 is installed, which refuses PYTORCH_CUDA_ALLOC_CONF: `expandable_segments` is not a key of torch 2.0's allocator; it is known from torch 2.1 on
        "#]],
    );
}
