//! What was read, compared under every policy, and the answer in every form.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use highwater::analysis::{AllocatorSetting, Comparison, LogStory, Request, compare, logged_arenas, logged_remarks};
use highwater::diagnostics::Diagnostics;
use highwater::export::{Answer as _, EXPORT_FORMS, ExportAbout, ExportSubject, LogAnswer};
use highwater::import::Imported;
use highwater::progress::{Cancel, Progress};
use highwater::session::Document;
use highwater::timeline::{AxisKind, Coloring, ColoringRequest, Timeline};
use highwater::workload::SchedulePlan;

use super::request::request;
use super::{Readable, texts, workloads};

/// Progress checks until the work is cancelled: damaged files may request very much, which is no fault.
const MOST_LOOKS: u64 = 20_000;

/// `false` after a panic. An error is an answer.
pub(crate) fn compared(readable: Readable) -> bool {
    let cancel = Cancel::new();
    let looks = Cell::new(0_u64);
    let count = |_: &'static str, _: f32| {
        looks.set(looks.get() + 1);
        if looks.get() > MOST_LOOKS {
            cancel.cancel();
        }
    };
    let progress = Progress::new(&cancel, &count);
    let work = || match readable {
        Readable::Workload(imported) => of_workload(imported, &progress),
        Readable::Settings(document) => answer(&of_settings(*document), &progress),
        Readable::Other => {}
    };
    catch_unwind(AssertUnwindSafe(work)).is_ok()
}

fn of_workload(imported: Imported, progress: &Progress<'_>) {
    let workload = workloads::workload("mutated", imported);
    if let Ok(Some(story)) = LogStory::of_workload(&workload, progress) {
        let answer = LogAnswer {
            story: &story,
            import: &Diagnostics::new(),
        };
        drop((answer.page().text(), answer.page().markdown()));
        assert!(serde_json::to_value(answer.json()).is_ok());
    }
    drop(logged_remarks(&logged_arenas(workload.recordings()), progress));
    let workload = workload.with_logged_graphs();
    let mut plan = SchedulePlan::default();
    for symbol in workload.symbols() {
        plan.dims.insert(symbol, vec![2]);
    }
    let mut request = request(workload, plan);
    request.allocator_settings.push(AllocatorSetting {
        conf: "expandable_segments:True".to_owned(),
        version: None,
    });
    answer(&request, progress);
}

/// A small graph under the settings of a document.
fn of_settings(document: Document) -> Request {
    let device = document.device();
    let mut plan = document.plan;
    plan.dims.entry("batch".to_owned()).or_insert_with(|| vec![4]);
    Request {
        options: document.options,
        environment: document.environment,
        device,
        strategies: document.strategies,
        allocator_settings: document.allocator_settings,
        recording_rules: document.recording_rules,
        lanes: document.lanes,
        pins: document.pins,
        ..request(texts::seed(), plan)
    }
}

fn answer(request: &Request, progress: &Progress<'_>) {
    if let Ok(comparison) = compare(request, progress) {
        written(comparison, progress);
    }
}

/// Every file of an answer but its picture, which is drawn from the drawing.
fn written(comparison: Comparison, progress: &Progress<'_>) {
    let timeline = Timeline::new(&comparison);
    for lane in &timeline.lanes {
        lane.ascii(60, 8);
    }
    let look = Coloring::new(&comparison, &timeline, &ColoringRequest::default(), None);
    let subject = ExportSubject {
        comparison: Arc::new(comparison),
        timeline: Arc::new(timeline),
        lanes: None,
        axis: AxisKind::Order,
        look: Arc::new(look),
        about: ExportAbout::default(),
    };
    for row in EXPORT_FORMS {
        drop(subject.file(row.form, Path::new(row.usual), progress));
    }
}
