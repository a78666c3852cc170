//! Bands along the step axis: runs, iterations, phases, recomputed steps. All ranges are half-open.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use highwater_analysis::{Comparison, LaneKind};
use highwater_model::graph::{Bindings, Id as _, Phase};
use highwater_model::units::Step;
use highwater_model::workload::{AxisRun, GraphIdx, SlotOp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunBand {
    pub start: Step,
    pub end: Step,
    pub graph: GraphIdx,
    /// Graph, iteration and bindings: `train · iteration 0 · batch=8`.
    pub label: String,
    /// The difference from other runs: the changed values, else the graph's name.
    pub short: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationBand {
    pub start: Step,
    pub end: Step,
    pub iteration: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseBand {
    pub start: Step,
    pub end: Step,
    /// Never unknown.
    pub phase: Phase,
}

/// A phase of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationBand {
    pub start: Step,
    pub end: Step,
    /// Names that occur several times are numbered: `forward (2)`.
    pub name: Box<str>,
    /// Alternates along a row.
    pub shade: u8,
}

/// Ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bands {
    /// Only where there are several and one of them has more than one run.
    pub iterations: Vec<IterationBand>,
    pub runs: Vec<RunBand>,
    /// Where the source states them.
    pub phases: Vec<PhaseBand>,
    /// Phases of the first recording that states any: rows of bands that do not overlap, outer phases first.
    pub annotations: Vec<Vec<AnnotationBand>>,
    /// The lane of that recording.
    pub annotated_lane: usize,
    /// Ranges of steps on which some lane recomputes.
    pub recomputed: Vec<(Step, Step)>,
}

impl Bands {
    pub(super) fn new(comparison: &Comparison) -> Self {
        let names = names(comparison);
        let many = comparison.axis.runs.iter().any(|run| run.run.iteration > 0);
        let changing = changing_symbols(&comparison.axis.runs);
        let runs = comparison.axis.runs.iter().map(|run| {
            let name = names.get(run.run.graph.idx()).cloned().unwrap_or_default();
            let changing = changing_values(run, &changing);
            RunBand {
                start: run.start,
                end: Step(run.start.0 + run.n_steps),
                graph: run.run.graph,
                label: label(&name, run, many),
                short: if changing.is_empty() { name } else { changing },
            }
        });
        let mut phases = Vec::new();
        for run in &comparison.axis.runs {
            if let Some(entry) = comparison.workload.graphs().get(run.run.graph.idx()) {
                let ops = entry.graph.ops();
                match &run.slots {
                    None => add_phases(&mut phases, run, ops.iter().map(|op| op.phase)),
                    Some(slots) => {
                        let of_slot = |slot: &SlotOp| ops.get(slot.op).map_or(Phase::Unknown, |op| op.phase);
                        add_phases(&mut phases, run, slots.iter().map(of_slot));
                    }
                }
            }
        }
        let (annotated_lane, annotations) = annotations(comparison);
        Self {
            iterations: iterations(&comparison.axis.runs),
            runs: runs.collect(),
            phases,
            annotations,
            annotated_lane,
            recomputed: comparison.axis.runs.iter().flat_map(recomputed).collect(),
        }
    }

    pub fn recomputed_within(&self, t0: f64, t1: f64) -> &[(Step, Step)] {
        within(&self.recomputed, |band| *band, t0, t1)
    }

    /// The rows of a ruler from top to bottom; of annotations the outermost.
    pub fn rows(&self) -> impl Iterator<Item = BandRow> {
        let annotations = (0..self.annotations.len().min(ANNOTATION_ROWS)).map(BandRow::Annotations);
        let rows = [
            (BandRow::Iterations, self.iterations.is_empty()),
            (BandRow::Runs, false),
            (BandRow::Phases, self.phases.is_empty()),
        ];
        let rows = rows.into_iter().filter(|(_, is_empty)| !is_empty);
        rows.map(|(row, _)| row).chain(annotations)
    }

    /// The bands of a row that meet the steps `t0..t1`.
    pub fn within(&self, row: BandRow, t0: f64, t1: f64) -> Vec<Band<'_>> {
        macro_rules! met {
            ($bands:expr, $kind:expr) => {
                within($bands, |band| (band.start, band.end), t0, t1)
                    .iter()
                    .map($kind)
                    .collect()
            };
        }
        match row {
            BandRow::Iterations => met!(&self.iterations, Band::Iteration),
            BandRow::Runs => met!(&self.runs, Band::Run),
            BandRow::Phases => met!(&self.phases, Band::Phase),
            BandRow::Annotations(row) => met!(
                self.annotations.get(row).map_or(&[][..], Vec::as_slice),
                Band::Annotation
            ),
        }
    }
}

/// Rows of annotations that are drawn.
const ANNOTATION_ROWS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandRow {
    Iterations,
    Runs,
    Phases,
    /// A row of annotations by position.
    Annotations(usize),
}

impl BandRow {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Iterations => "iteration",
            Self::Runs => "run",
            Self::Phases => "phase",
            Self::Annotations(_) => "annotation",
        }
    }
}

/// A band of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band<'a> {
    Iteration(&'a IterationBand),
    Run(&'a RunBand),
    Phase(&'a PhaseBand),
    Annotation(&'a AnnotationBand),
}

/// How a band is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// The first or the second of two colours.
    Alternating(usize),
    Phase(Phase),
}

impl<'a> Band<'a> {
    /// Start and end.
    pub const fn steps(self) -> (Step, Step) {
        match self {
            Self::Iteration(band) => (band.start, band.end),
            Self::Run(band) => (band.start, band.end),
            Self::Phase(band) => (band.start, band.end),
            Self::Annotation(band) => (band.start, band.end),
        }
    }

    pub fn shade(self) -> Shade {
        match self {
            Self::Iteration(band) => Shade::Alternating(band.iteration as usize % 2),
            Self::Run(band) => Shade::Alternating(band.graph.0 as usize % 2),
            Self::Phase(band) => Shade::Phase(band.phase),
            Self::Annotation(band) => Shade::Alternating(usize::from(band.shade)),
        }
    }

    /// From long to short. The long name of a run contains the iteration.
    pub fn names(self) -> Vec<Cow<'a, str>> {
        match self {
            Self::Iteration(band) => vec![
                Cow::Owned(format!("iteration {}", band.iteration)),
                Cow::Owned(band.iteration.to_string()),
            ],
            Self::Run(band) => vec![Cow::Borrowed(band.label.as_str()), Cow::Borrowed(band.short.as_str())],
            Self::Phase(band) => vec![Cow::Borrowed(band.phase.name())],
            Self::Annotation(band) => vec![Cow::Borrowed(&*band.name)],
        }
    }

    /// The names for a drawing of this width in points. A run is named in short where it is narrow, or where iterations
    /// have a row.
    pub fn names_within(self, width: f64, bands: &Bands) -> Vec<Cow<'a, str>> {
        let mut names = self.names();
        if matches!(self, Self::Run(_)) && (width < LEAST_LABEL || !bands.iterations.is_empty()) {
            names.remove(0);
        }
        names
    }
}

/// Narrower runs show only what differs from other runs.
const LEAST_LABEL: f64 = 150.0;

/// The lane of the annotations, and their rows.
fn annotations(comparison: &Comparison) -> (usize, Vec<Vec<AnnotationBand>>) {
    let lanes = comparison.lanes.iter().enumerate();
    let mut recorded =
        lanes.filter_map(|(position, lane)| Some((position, lane.recorded.as_ref()?, comparison.recording(lane.id)?)));
    let Some((position, lane, recording)) = recorded.find(|(_, _, recording)| !recording.phases.is_empty()) else {
        return (0, Vec::new());
    };
    let mut rows: Vec<Vec<AnnotationBand>> = Vec::new();
    let mut names = numbered(recording.phases.iter().map(|phase| recording.text(phase.name))).into_iter();
    for (phase, row) in recording.phases.iter().zip(recording.phase_rows()) {
        let name = names.next().unwrap_or_default();
        let Some(row) = row.map(|row| row as usize) else {
            continue;
        };
        if rows.len() <= row {
            rows.resize_with(row + 1, Vec::new);
        }
        let (start, end) = lane.steps_of(phase.start, phase.end);
        // Phases of several events may share one step.
        let is_free = rows[row].last().is_none_or(|last| last.end <= start);
        if is_free {
            let shade = u8::from(rows[row].len() % 2 == 1);
            rows[row].push(AnnotationBand {
                start,
                end,
                name: name.into(),
                shade,
            });
        }
    }
    (position, rows)
}

/// Names, of which equal ones are numbered.
fn numbered<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for name in names.clone() {
        counts.entry(name).or_default().0 += 1;
    }
    let numbered = names.map(|name| match counts.get_mut(name) {
        Some((count, number)) if *count > 1 => {
            *number += 1;
            format!("{name} ({number})")
        }
        _ => name.to_owned(),
    });
    numbered.collect()
}

/// One band per iteration; none where there is one iteration or one run in each.
fn iterations(runs: &[AxisRun]) -> Vec<IterationBand> {
    let together = runs.chunk_by(|one, next| one.run.iteration == next.run.iteration);
    let bands = together.filter_map(|runs| {
        let (first, last) = runs.first().zip(runs.last())?;
        Some(IterationBand {
            start: first.start,
            end: Step(last.start.0 + last.n_steps),
            iteration: first.run.iteration,
        })
    });
    let bands: Vec<IterationBand> = bands.collect();
    if bands.len() > 1 && bands.len() < runs.len() {
        bands
    } else {
        Vec::new()
    }
}

/// The names of graphs. Recordings share one axis without the name of any.
fn names(comparison: &Comparison) -> Vec<String> {
    if comparison.lane_kind() == LaneKind::Recordings && comparison.lanes.len() > 1 {
        return vec![format!("{} recordings", comparison.lanes.len())];
    }
    let graphs = comparison.session.graphs.iter();
    graphs.map(|graph| graph.name.clone()).collect()
}

/// Ranges of steps on which an op is recomputed.
fn recomputed(run: &AxisRun) -> Vec<(Step, Step)> {
    let slots = run.slots.as_deref().unwrap_or(&[]);
    let steps = (run.start.0..).zip(slots).filter(|(_, slot)| slot.is_recomputed);
    consecutive(steps.map(|(step, _)| Step(step)))
}

pub(super) fn consecutive(steps: impl Iterator<Item = Step>) -> Vec<(Step, Step)> {
    let mut ranges: Vec<(Step, Step)> = Vec::new();
    for step in steps {
        let next = Step(step.0 + 1);
        match ranges.last_mut() {
            Some((_, end)) if *end == step => *end = next,
            _ => ranges.push((step, next)),
        }
    }
    ranges
}

/// The bands that meet the steps `t0..t1`; bands are ascending and disjoint.
pub(super) fn within<T>(bands: &[T], steps: impl Fn(&T) -> (Step, Step), t0: f64, t1: f64) -> &[T] {
    let low = bands.partition_point(|band| f64::from(steps(band).1.0) <= t0);
    let high = bands.partition_point(|band| f64::from(steps(band).0.0) < t1);
    bands.get(low..high).unwrap_or(&[])
}

/// By graph: the dimensions with different values in its runs. O(runs x dimensions).
fn changing_symbols(runs: &[AxisRun]) -> BTreeMap<GraphIdx, BTreeSet<&str>> {
    let mut first: BTreeMap<GraphIdx, &Bindings> = BTreeMap::new();
    let mut changing: BTreeMap<GraphIdx, BTreeSet<&str>> = BTreeMap::new();
    for run in runs.iter().map(|run| &run.run) {
        let reference = *first.entry(run.graph).or_insert(&run.bindings);
        let differs = run
            .bindings
            .iter()
            .filter(|(symbol, value)| reference.get(*symbol) != Some(value));
        changing
            .entry(run.graph)
            .or_default()
            .extend(differs.map(|(symbol, _)| symbol.as_str()));
    }
    changing
}

/// The values that change, such as `seq=128`.
fn changing_values(run: &AxisRun, changing: &BTreeMap<GraphIdx, BTreeSet<&str>>) -> String {
    let of_graph = changing.get(&run.run.graph);
    let changes = |symbol: &String| of_graph.is_some_and(|symbols| symbols.contains(symbol.as_str()));
    let values = run.run.bindings.iter().filter(|(symbol, _)| changes(symbol));
    values
        .map(|(symbol, value)| format!("{symbol}={value}"))
        .collect::<Vec<_>>()
        .join(" · ")
}

fn label(name: &str, run: &AxisRun, has_iterations: bool) -> String {
    let mut parts = vec![name.to_owned()];
    if has_iterations {
        parts.push(format!("iteration {}", run.run.iteration));
    }
    parts.extend(
        run.run
            .bindings
            .iter()
            .map(|(symbol, value)| format!("{symbol}={value}")),
    );
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn add_phases(bands: &mut Vec<PhaseBand>, run: &AxisRun, phases: impl Iterator<Item = Phase>) {
    let first = bands.len();
    for (step, phase) in (run.start.0..run.start.0 + run.n_steps).zip(phases) {
        if phase == Phase::Unknown {
            continue;
        }
        match bands.get_mut(first..).and_then(<[PhaseBand]>::last_mut) {
            Some(band) if band.phase == phase && band.end.0 == step => band.end = Step(step + 1),
            _ => bands.push(PhaseBand {
                start: Step(step),
                end: Step(step + 1),
                phase,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn equal_names_are_numbered() {
        let names = ["forward", "backward", "forward", "step#1", "forward"];
        let found = numbered(names.into_iter());
        assert_eq!(
            found,
            ["forward (1)", "backward", "forward (2)", "step#1", "forward (3)"]
        );
    }
}
