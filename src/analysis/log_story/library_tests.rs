//! Requests of every library: what is answered and advised for their figures.

use super::*;
use crate::verdict::Served;
use highwater_model::workload::{Holder, Library, LoggedStatement, MemoryPlace};

/// Requested, allocated, reserved, free, total, allowed in MiB; −1 is not stated.
type Figures = [i64; 6];

/// A request, settings of the text, the answer and the first advice.
type Row<'a> = (Library, Figures, &'a [(&'a str, &'a str)], Served, &'a str);

fn process(library: Library, figures: Figures, settings: &[(&str, &str)]) -> LoggedProcess {
    let figures = figures.map(|mib| u64::try_from(mib).ok().map(|mib| mib << 20));
    let [requested, allocated, reserved, free, total, allowed] = figures;
    let failure = LoggedFailure {
        requested,
        allocated,
        reserved,
        free,
        total,
        allowed,
        library,
        who: Some(format!("{library:?}")),
        device: Some(0),
        ..LoggedFailure::default()
    };
    LoggedProcess {
        failures: vec![failure],
        settings: settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..LoggedProcess::default()
    }
}

fn request(process: LoggedProcess) -> FailedRequest {
    let story = LogStory::new(&[Arc::new(process)]);
    story.processes[0].requests[0].clone()
}

#[test]
fn every_library_has_its_answer() {
    use Library::{Jax, MindSpore, Paddle, TensorFlow, TorchCuda, TorchHip, TorchMps, TorchNpu, TorchXpu};
    use Served::{No, Unknown, Yes};
    const REDUCE: &str = "Reduce the batch, or recompute activations";
    const CUDA: &str = "PYTORCH_CUDA_ALLOC_CONF";
    let on = [(CUDA, "expandable_segments:True")];
    let rows: [Row<'_>; 22] = [
        (TorchCuda, [23_327, 9298, 18_872, 13_036, 32_225, -1], &[], No, REDUCE),
        (
            TorchCuda,
            [1741, 3000, 5356, 0, 6144, -1],
            &[],
            Yes,
            "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        ),
        (TorchCuda, [1741, 3000, 5356, 0, 6144, -1], &on, Unknown, REDUCE),
        (TorchCuda, [10_988, 17_613, 19_610, 0, 8192, -1], &[], No, REDUCE),
        (TorchCuda, [20, 0, 0, 8, 24_000, -1], &[], No, "Run nvidia-smi"),
        (
            TorchHip,
            [20, 100, 100, 8, 24_000, -1],
            &[],
            No,
            "Run rocm-smi --showpids",
        ),
        (
            TorchHip,
            [2, 1017, 1072, 250_000, 262_000, 1075],
            &[],
            Yes,
            "Raise per_process_memory_fraction",
        ),
        (
            TorchXpu,
            [8305, 0, 0, 16_937, 16_937, 8468],
            &[],
            No,
            "Add the driver's messages",
        ),
        (
            TorchXpu,
            [100, 5000, 6000, 50, 8000, -1],
            &[],
            Unknown,
            "Release cached memory (empty_cache) before this request",
        ),
        (
            TorchMps,
            [768, 5693, -1, -1, -1, 6963],
            &[],
            Unknown,
            "Add torch's whole sentence",
        ),
        (TorchNpu, [500, 4000, 4100, 10, 32_000, -1], &[], No, "Run npu-smi info"),
        (MindSpore, [1792, 57_344, -1, -1, -1, 58_368], &[], No, REDUCE),
        (
            MindSpore,
            [1792, 57_344, -1, -1, -1, 58_368],
            &[("max_device_memory", "57GB")],
            Unknown,
            "Raise max_device_memory",
        ),
        (
            MindSpore,
            [1792, 50_000, 58_000, -1, -1, -1],
            &[],
            Yes,
            "Set MS_ALLOC_CONF=enable_vmm:true",
        ),
        (
            TensorFlow,
            [192, 6597, -1, -1, -1, 7598],
            &[],
            Yes,
            "Set TF_GPU_ALLOCATOR=cuda_malloc_async",
        ),
        (Paddle, [256, -1, -1, 96, -1, -1], &[], Unknown, REDUCE),
        (Paddle, [3709, 3277, -1, 2883, -1, -1], &[], Unknown, REDUCE),
        // Nothing states what was free.
        (TorchXpu, [2560, 12_605, 13_834, -1, 16_292, -1], &[], Unknown, REDUCE),
        (TorchXpu, [4096, 12_605, 13_834, -1, 16_292, -1], &[], No, REDUCE),
        (
            TorchCuda,
            [1741, 3000, 5356, -1, 6144, -1],
            &[],
            Yes,
            "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        ),
        (Jax, [65_331, -1, -1, -1, 31_488, -1], &[], No, REDUCE),
        (Jax, [6, -1, -1, -1, -1, -1], &[], Unknown, REDUCE),
    ];
    for (library, figures, settings, served, first) in rows {
        let request = request(process(library, figures, settings));
        let got = (request.verdict.served, request.advice[0].action.as_str());
        assert_eq!(got, (served, first), "{library:?} {figures:?}: {}", request.verdict.why);
        // No advice of another vendor.
        let texts = format!("{:?} {:?}", request.advice, request.remarks);
        let is_npu = matches!(library, TorchNpu | MindSpore);
        assert!(is_npu || !texts.contains("npu"), "{texts}");
    }
}

#[test]
fn the_limit_of_mps_counts_other_allocations() {
    let mut process = process(Library::TorchMps, [768, 5693, -1, -1, -1, 6963], &[]);
    process.failures[0].holders.push(Holder {
        name: "other allocations".to_owned(),
        bytes: 1126 << 20,
    });
    let request = request(process);
    assert_eq!(request.advice[0].action, "Raise PYTORCH_MPS_HIGH_WATERMARK_RATIO");
    assert!(
        request
            .remarks
            .iter()
            .any(|remark| remark.starts_with("Held then by other allocations"))
    );
}

/// The device that the process uses has nothing to do with memory of the host.
#[test]
fn host_memory_is_of_no_device() {
    let mut of_host = process(Library::TorchNpu, [16_384, -1, -1, -1, -1, -1], &[]);
    of_host.failures[0].memory = MemoryPlace::Host;
    of_host.device = Some(4);
    let story = LogStory::new(&[Arc::new(of_host)]);
    assert_eq!(story.processes[0].device(), None);
    let request = &story.processes[0].requests[0];
    assert!(
        request.sentence.contains("16.00\u{a0}GiB of host memory"),
        "{}",
        request.sentence
    );
    let told = format!("{} {:?} {:?}", story.ticket(), request.advice, request.remarks);
    assert!(told.contains("ulimit -l") && told.contains("pinned"), "{told}");
    for wrong in ["/dev/shm", "npu-smi", "HCCL_BUFFSIZE", "device 0", "device 4"] {
        assert!(!told.contains(wrong), "{wrong}: {told}");
    }
}

#[test]
fn a_version_in_the_text_chooses_the_settings() {
    let figures = [1741, 3000, 5356, 0, 6144, -1];
    let settings_of = |torch: &str| {
        let mut process = process(Library::TorchCuda, figures, &[]);
        process
            .versions
            .extend((!torch.is_empty()).then(|| ("torch".to_owned(), torch.to_owned())));
        let advice = request(process).advice.into_iter();
        let settings = advice.filter_map(|one| Some((one.setting?.split_once('=')?.1.to_owned(), one.needs_version)));
        settings.collect::<Vec<(String, Option<String>)>>()
    };
    let expandable = "expandable_segments:True".to_owned();
    let split = "max_split_size_mb:128".to_owned();
    let unknown = [
        (expandable.clone(), Some("2.1".to_owned())),
        (split.clone(), Some("1.10".to_owned())),
    ];
    assert_eq!(settings_of(""), unknown);
    assert_eq!(settings_of("2.6.0+cu124"), [(expandable, None), (split.clone(), None)]);
    assert_eq!(settings_of("1.13.1"), [(split, None)]);
    assert_eq!(settings_of("1.8.0"), []);
}

/// What no text states is no 0.
#[test]
fn unknown_free_memory_is_no_figure() {
    for requested in [1000, 2560, 4096] {
        let figures = [requested, 12_605, 13_834, -1, 16_292, -1];
        let request = request(process(Library::TorchXpu, figures, &[]));
        let told = format!("{} {:?}", request.verdict.why, request.advice).replace('\u{a0}', " ");
        assert!(!told.contains("0 B"), "{told}");
        assert_eq!(told.contains("at most"), requested > 1229, "{told}");
    }
}

/// torch's warning that the platform has no expandable segments excludes their advice.
#[test]
fn what_the_platform_does_not_support_is_not_advised() {
    let figures = [1536, 12_288, 20_480, 512, 24_259, -1];
    let mut process = process(Library::TorchCuda, figures, &[]);
    process.statements.push(LoggedStatement {
        at: None,
        text: "expandable_segments not supported on this platform".to_owned(),
        device: None,
    });
    let request = request(process);
    let settings: Vec<String> = request.advice.iter().filter_map(|one| one.setting.clone()).collect();
    assert_eq!(settings, ["PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128"]);
    let reason = &request.advice[0].reason;
    assert!(reason.contains("expandable_segments is not supported here"), "{reason}");
    assert_eq!(request.verdict.served, Served::Yes);
}

/// The arithmetic goes with the first setting, whichever that is.
#[test]
fn the_first_setting_has_the_arithmetic() {
    for torch in ["2.0.1", "2.6.0"] {
        let mut process = process(Library::TorchCuda, [1741, 3000, 5356, 0, 6144, -1], &[]);
        process.versions.insert("torch".to_owned(), torch.to_owned());
        let reason = request(process).advice[0].reason.replace('\u{a0}', " ");
        assert!(
            reason.starts_with("fragmentation: about 2.301 GiB of the pool"),
            "{reason}"
        );
    }
}

#[test]
fn what_the_system_did_not_give_is_checked_in_ram_first() {
    let first = |library: Library, who: &str| {
        let mut process = process(library, [16_384, -1, -1, -1, -1, -1], &[]);
        process.failures[0].memory = MemoryPlace::Host;
        process.failures[0].who = Some(who.to_owned());
        let request = request(process);
        (request.advice[0].action.clone(), format!("{:?}", request.advice))
    };
    let (action, told) = first(Library::System, "numpy");
    assert_eq!(action, "Check the free RAM (free -h)");
    assert!(
        !told.contains("ulimit") && !told.contains("pinned") && !told.contains("/dev/shm"),
        "{told}"
    );
    assert_eq!(first(Library::TorchNpu, "torch").0, "Check ulimit -l");
}

#[test]
fn statements_alone_are_told_as_such() {
    let statement = LoggedStatement {
        at: None,
        text: "vLLM had \u{2212}0.87 GiB for the KV cache.".to_owned(),
        device: None,
    };
    let process = LoggedProcess {
        statements: vec![statement.clone(), statement],
        ..LoggedProcess::default()
    };
    let story = LogStory::new(&[Arc::new(process)]);
    assert!(story.states_memory() && !story.has_failures());
    let wanted = "The text states no request of an allocator that failed. It states: vLLM had \u{2212}0.87 GiB for the KV \
                  cache.";
    assert_eq!(story.sentence, wanted);
    assert!(story.missing[0].starts_with("No allocator's line is among the text"));
    assert!(!LogStory::new(&[Arc::new(LoggedProcess::default())]).states_memory());
}

#[test]
fn what_is_on_already_is_not_advised() {
    for (library, figures, name, value) in [
        (
            Library::TensorFlow,
            [192, 6597, -1, -1, -1, 7598],
            "TF_GPU_ALLOCATOR",
            "cuda_malloc_async",
        ),
        (
            Library::MindSpore,
            [1792, 50_000, 58_000, -1, -1, -1],
            "MS_ALLOC_CONF",
            "enable_vmm:True",
        ),
        (
            Library::TorchNpu,
            [30, 61_788, 62_054, 14, 62_423, -1],
            "PYTORCH_NPU_ALLOC_CONF",
            "expandable_segments:True",
        ),
    ] {
        let request = request(process(library, figures, &[(name, value)]));
        assert_eq!(request.verdict.served, Served::Unknown);
        assert!(
            request.advice.iter().all(|one| one.setting.is_none()),
            "{:?}",
            request.advice
        );
        assert!(
            request.advice[0].reason.contains("is on already"),
            "{:?}",
            request.advice
        );
    }
}
