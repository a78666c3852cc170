//! Kernels of a profiler together with its tables of memory, and both with a graph: fixtures as text, on one clock.

use std::sync::Arc;

use highwater::analysis::Comparison;
use highwater::session::{Document, Session, SourceSpec, Worker};
use highwater::timeline::AxisKind;
use highwater::units::Bytes;
use highwater::workload::DeviceProfiles;

/// Six ops in a row.
fn graph() -> String {
    let nodes: Vec<String> = (0..6)
        .map(|n| {
            format!(
                r#"{{"name": "op{n}", "op": "Relu", "inputs": ["t{n}"],
                     "outputs": [{{"id": "t{}", "shape": [1024], "dtype": "float32"}}]}}"#,
                n + 1
            )
        })
        .collect();
    format!(
        r#"{{"highwater_graph": 1, "nodes": [{}],
             "inputs": [{{"id": "t0", "shape": [1024], "dtype": "float32"}}], "outputs": ["t6"]}}"#,
        nodes.join(",")
    )
}

/// Start of the profile, in microseconds.
const EPOCH: u64 = 1_700_000_000_000_000;

/// A table of kernels: op, start after the epoch, duration.
fn kernels(device: &str, rows: &[(&str, u64, u64)]) -> String {
    let mut text = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n".to_owned();
    for (name, start, time) in rows {
        text += &format!("{device},{name},Relu,AI_CORE,{}.000\t,{time}\n", EPOCH + start);
    }
    text
}

/// A memory curve of a device, a sample every ten microseconds, one of them high.
fn curve(device: &str, high: u64) -> String {
    let mut text = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n".to_owned();
    for row in 0..100 {
        let held = if row == high { 900 } else { 3 };
        text += &format!("PTA,{}.0\t,{held}.0,1000.0,NPU:{device}\n", EPOCH + row * 10);
    }
    text
}

/// Uneven starts: the first five ops start in the first tenth of the run.
const ROWS: [(&str, u64, u64); 6] = [
    ("op0", 1, 5),
    ("op1", 11, 4),
    ("op2", 31, 15),
    ("op3", 51, 20),
    ("op4", 91, 800),
    ("op5", 901, 40),
];

fn opened(files: &[(&str, &str)]) -> Session {
    let source = |(name, text): &(&str, &str)| SourceSpec::Bytes {
        name: (*name).to_owned(),
        bytes: Arc::from(text.as_bytes()),
    };
    let worker = Worker::start(|| {}).unwrap();
    let document = Document::new(files.iter().map(source).collect());
    let mut session = Session::new(document, DeviceProfiles::bundled().unwrap(), worker);
    session.settle();
    session
}

/// The step of the measured lane's peak, and the note on the alignment.
#[track_caller]
fn peak(session: &Session) -> (u32, String) {
    let (comparison, _) = session.answer().unwrap_or_else(|| panic!("{:?}", session.problem()));
    let lane = comparison.lanes.last().unwrap();
    assert!(comparison.recording(lane.id).is_some());
    let live = lane.curves.live.iter().position(|bytes| *bytes == Bytes(900 << 20));
    let told: Vec<&str> = lane.explanation.iter().map(|remark| remark.text.as_str()).collect();
    (u32::try_from(live.expect("the peak is drawn")).unwrap(), told.join(" "))
}

#[test]
fn a_table_of_memory_is_aligned_by_the_kernels_of_its_device() {
    let (graph, kernels) = (graph(), kernels("0", &ROWS));
    // 400 us after the epoch op4 runs, the fifth of six; evenly spread it would be the third.
    let memory = curve("0", 40);
    let alone = opened(&[("g.json", &graph), ("memory_record.csv", &memory)]);
    let (step, told) = peak(&alone);
    assert_eq!(step, 2, "{told}");
    assert!(told.contains("aligned by order only"), "{told}");
    let beside = opened(&[
        ("g.json", &graph),
        ("memory_record.csv", &memory),
        ("kernel_details.csv", &kernels),
    ]);
    let (step, told) = peak(&beside);
    assert_eq!(step, 4, "{told}");
    assert!(told.contains("All 6 measured ops"), "{told}");
    assert!(
        told.contains("are from kernel_details") && told.contains("same clock"),
        "{told}"
    );
}

#[test]
fn kernels_of_another_device_another_time_or_other_ops_align_nothing() {
    let (graph, memory) = (graph(), curve("0", 40));
    let later: Vec<(&str, u64, u64)> = ROWS
        .iter()
        .map(|(name, start, time)| (*name, start + 9_000, *time))
        .collect();
    let others: Vec<(&str, u64, u64)> = ROWS
        .iter()
        .map(|(_, start, time)| ("aclnnRelu", *start, *time))
        .collect();
    for (why, text) in [
        ("device", kernels("1", &ROWS)),
        ("time", kernels("0", &later)),
        ("ops", kernels("0", &others)),
    ] {
        let session = opened(&[
            ("g.json", &graph),
            ("memory_record.csv", &memory),
            ("kernel_details.csv", &text),
        ]);
        let (step, told) = peak(&session);
        assert_eq!(step, 2, "{why}: {told}");
        assert!(told.contains("aligned by order only"), "{why}: {told}");
    }
}

#[test]
fn kernels_belong_to_their_rank() {
    let folder = tempfile::tempdir().unwrap();
    let late: Vec<(&str, u64, u64)> = (0..)
        .zip(&ROWS)
        .map(|(n, (name, ..))| (*name, 1 + 190 * n, 5))
        .collect();
    for (rank, rows) in [("rank0", &ROWS[..]), ("rank1", &late)] {
        let out = folder.path().join(rank);
        std::fs::create_dir(&out).unwrap();
        std::fs::write(out.join("memory_record.csv"), curve("0", 40)).unwrap();
        std::fs::write(out.join("kernel_details.csv"), kernels("0", rows)).unwrap();
    }
    let path = folder.path().join("g.json");
    std::fs::write(&path, graph()).unwrap();
    let worker = Worker::start(|| {}).unwrap();
    let document = Document::new(vec![SourceSpec::Path(folder.path().to_owned())]);
    let mut session = Session::new(document, DeviceProfiles::bundled().unwrap(), worker);
    session.settle();
    let (comparison, _) = session.answer().unwrap_or_else(|| panic!("{:?}", session.problem()));
    let steps: Vec<(String, Option<usize>)> = measured(comparison);
    assert_eq!(
        steps,
        [
            ("rank0 memory_record: PTA".to_owned(), Some(4)),
            ("rank1 memory_record: PTA".to_owned(), Some(2)),
        ]
    );
}

fn measured(comparison: &Comparison) -> Vec<(String, Option<usize>)> {
    let lanes = comparison.lanes.iter();
    let found = lanes.filter_map(|lane| {
        let recording = comparison.recording(lane.id)?;
        let step = lane.curves.live.iter().position(|bytes| *bytes == Bytes(900 << 20));
        Some((recording.name.clone(), step))
    });
    found.collect()
}

#[test]
fn kernels_give_the_graph_wall_time() {
    let (graph, kernels) = (graph(), kernels("0", &ROWS));
    let session = opened(&[("g.json", &graph), ("kernel_details.csv", &kernels)]);
    let (_, timeline) = session.answer().unwrap_or_else(|| panic!("{:?}", session.problem()));
    let axis = timeline
        .axes
        .get(AxisKind::Wall)
        .expect("kernels state when they began");
    let starts: Vec<u64> = (0..=6).map(|step| axis.time_at(step) / 1_000).collect();
    assert_eq!(starts, [0, 10, 30, 50, 90, 900, 940]);
    assert_eq!((axis.n_stated(), axis.n_timeless()), (6, 0));
    assert!(
        timeline
            .axes
            .name(AxisKind::Wall)
            .starts_with("wall time of kernel_details")
    );
    // Without measured starts there is no such axis.
    let memory = curve("0", 40);
    for (files, why) in [
        (vec![("g.json", &*graph)], "No open recording has clock times."),
        (
            vec![("g.json", &graph), ("memory_record.csv", &memory)],
            "does not state start times",
        ),
        (
            vec![
                ("g.json", &graph),
                ("kernel_details.csv", &kernels.replace("op", "aclnn")),
            ],
            "No op names match between run and graph",
        ),
    ] {
        let session = opened(&files);
        let (_, timeline) = session.answer().unwrap();
        let told = timeline.axes.why_not(AxisKind::Wall).expect("no such axis");
        assert!(told.contains(why), "{told}");
    }
}
