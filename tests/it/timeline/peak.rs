//! Explained steps: sums against the lanes' curves, rankings and ranges against naive second implementations.

use std::collections::BTreeMap;

use expect_test::expect;
use highwater::analysis::{Comparison, Request, compare};
use highwater::export::{Answer as _, PeakAnswer};
use highwater::graph::{Graph, Id as _, TensorId};
use highwater::progress::{Cancel, Progress};
use highwater::session::{SAMPLES, SourceSpec};
use highwater::timeline::{Attribute, IdleSteps, LeftOut, PeakAt, PeakReport, PeakRequest, Selected, StepRange};
use highwater::units::{Bytes, Step};
use proptest::prelude::*;

use crate::sessions::{session, source};
use crate::workloads::{configuration, workload};

pub(crate) fn compared(text: &str, dims: &[(&str, Vec<u64>)], edits: &[(&str, &str)]) -> Comparison {
    let dims: Vec<(&str, &[u64])> = dims.iter().map(|(name, values)| (*name, &values[..])).collect();
    let workload = workload("net.json", text.as_bytes());
    let request = Request::new(workload, configuration(edits, &dims));
    let cancel = Cancel::new();
    compare(&request, &Progress::silent(&cancel)).unwrap()
}

fn ask(lane: usize, at: PeakAt) -> PeakRequest {
    PeakRequest {
        lane,
        at,
        by: Attribute::Role,
        within: None,
        n_first: 6,
        against: None,
    }
}

/// Invariants of every report of every lane.
#[track_caller]
fn check_sums(comparison: &Comparison, report: &PeakReport) {
    let lane = &comparison.lanes[report.ask.lane];
    let set = &report.set;
    let listed: Bytes = set.members.iter().map(|member| member.bytes).sum();
    assert_eq!(set.live, lane.curves.live[set.step.idx()]);
    assert_eq!(listed + set.unlisted, set.live, "step {}", set.step);
    if let Some(reserved) = set.reserved {
        assert_eq!(reserved, lane.curves.reserved[set.step.idx()]);
        let rest: Bytes = set.rest.iter().map(|(_, bytes)| *bytes).sum();
        assert_eq!(set.live + rest, reserved + set.surplus, "step {}", set.step);
    }
    let in_groups: Bytes = report.groups.iter().map(|group| group.bytes).sum();
    let count: u64 = report.groups.iter().map(|group| group.count).sum();
    assert_eq!((in_groups, count), (listed, set.members.len() as u64));
    for (position, group) in (0_u32..).zip(&report.groups) {
        let largest = report.members_of(position).map(|(_, member)| member.bytes).max();
        assert_eq!(largest, Some(group.largest.1));
    }
    for member in &set.members {
        assert!(
            member.birth <= set.step && set.step <= member.end,
            "{member:?} at {}",
            set.step
        );
    }
}

#[test]
fn sums_are_the_curves_in_every_sample_and_lane() {
    for sample in SAMPLES {
        let session = session(vec![SourceSpec::Sample(sample)]);
        let (comparison, _) = session.answer().expect("samples open");
        let n_steps = comparison.axis.n_steps;
        for lane in 0..comparison.lanes.len() {
            for at in [
                PeakAt::Peak,
                PeakAt::Step(Step(0)),
                PeakAt::Step(Step(n_steps / 3)),
                PeakAt::Step(Step(n_steps - 1)),
                PeakAt::Range(StepRange::between(Step(n_steps / 4), Step(n_steps / 2), n_steps).unwrap()),
            ] {
                let report = PeakReport::new(comparison, ask(lane, at)).unwrap();
                check_sums(comparison, &report);
                let measured = comparison.is_measured_lane(lane);
                assert_eq!(report.uses.is_err(), measured, "{}", sample.name);
            }
            let behind = PeakAt::Step(Step(n_steps));
            assert_eq!(PeakReport::new(comparison, ask(lane, behind)), None);
        }
        let behind = ask(comparison.lanes.len(), PeakAt::Peak);
        assert_eq!(PeakReport::new(comparison, behind), None);
    }
}

/// A random program: each op reads some earlier results.
#[derive(Clone, Debug)]
struct Ops(Vec<(Vec<prop::sample::Index>, Vec<u64>)>, bool);

fn programs() -> impl Strategy<Value = Ops> {
    let op = (
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        prop::collection::vec(1..5000_u64, 1..3),
    );
    (prop::collection::vec(op, 1..16), any::<bool>()).prop_map(|(ops, is_dynamic)| Ops(ops, is_dynamic))
}

impl Ops {
    fn text(&self) -> String {
        let mut known = vec!["x".to_owned()];
        let mut nodes = Vec::new();
        for (number, (reads, sizes)) in self.0.iter().enumerate() {
            let inputs: Vec<&String> = reads.iter().map(|read| read.get(&known)).collect();
            let first = if self.1 { "\"seq\"" } else { "3" };
            let name = |output: usize| format!("t{number}_{output}");
            let outputs: Vec<String> = (0..sizes.len())
                .map(|output| {
                    let id = name(output);
                    format!(
                        r#"{{"id": "{id}", "shape": [{first}, {}], "dtype": "float16"}}"#,
                        sizes[output]
                    )
                })
                .collect();
            nodes.push(format!(
                r#"{{"name": "op{number}", "op": "K{}", "inputs": {inputs:?}, "outputs": [{}]}}"#,
                number % 3,
                outputs.join(", ")
            ));
            known.extend((0..sizes.len()).map(name));
        }
        format!(
            r#"{{"highwater_graph": 1, "name": "net", "nodes": [{}],
                "inputs": [{{"id": "x", "shape": [3, 7], "dtype": "float16"}}], "outputs": ["{}"]}}"#,
            nodes.join(", "),
            known[known.len() - 1]
        )
    }

    fn compared(&self) -> Comparison {
        let dims = if self.1 {
            vec![("seq", vec![2, 5, 3])]
        } else {
            Vec::new()
        };
        compared(&self.text(), &dims, &[])
    }
}

/// A live range on the common axis: tensor, start, end, bytes.
type Stay = (Selected, u32, u32, Bytes);

/// The live ranges of a lane in its session.
fn stays(comparison: &Comparison, lane: usize) -> Vec<Stay> {
    let mut stays = Vec::new();
    for (position, run) in (0_u32..).zip(&comparison.session_of(lane).runs) {
        for item in &run.bound.program.lifetimes.items {
            let tensor = Selected {
                run: position,
                graph: run.graph,
                tensor: item.tensor,
            };
            let (start, end) = (run.start.0 + item.birth.0, run.start.0 + item.end.0);
            stays.push((tensor, start, end, item.bytes));
        }
    }
    stays
}

fn live_without(stays: &[Stay], n_steps: u32, without: Option<Selected>) -> Vec<Bytes> {
    let at = |step: u32| {
        let alive = stays.iter().filter(|(_, start, end, _)| *start <= step && step < *end);
        alive
            .filter(|stay| Some(stay.0.key()) != without.map(Selected::key))
            .map(|stay| stay.3)
            .sum()
    };
    (0..n_steps).map(at).collect()
}

fn first_maximum(curve: &[Bytes]) -> (Bytes, Option<Step>) {
    let most = curve.iter().copied().max().unwrap();
    let first = curve.iter().position(|bytes| *bytes == most).unwrap();
    (most, Some(Step(first as u32)))
}

/// The ops that compute or read a tensor of a run, as steps.
fn uses(comparison: &Comparison, graph: &Graph, tensor: Selected) -> Vec<u32> {
    let run = &comparison.axis.runs[tensor.run as usize];
    let touches = |op: &highwater::graph::OpId| {
        let all = graph.operands(*op).iter().chain(graph.results(*op));
        all.copied().any(|one: TensorId| one == tensor.tensor)
    };
    let ops = graph.ops().ids().filter(touches);
    ops.map(|op| run.start.0 + op.idx() as u32).collect()
}

/// All figures about uses, computed tensor by tensor.
fn check_uses(comparison: &Comparison, report: &PeakReport) {
    let graph = &comparison.workload.graphs()[0].graph;
    let step = report.set.step.0;
    let known = report.uses.as_ref().unwrap();
    let mut holders: BTreeMap<(u32, u32), (Bytes, u64)> = BTreeMap::new();
    let mut unread = (0, Bytes::ZERO);
    for (member, idle) in report.set.members.iter().zip(&known.idle) {
        let uses = uses(comparison, graph, member.tensor);
        let last = uses.iter().copied().filter(|used| *used <= step).max();
        let next = uses.iter().copied().filter(|used| *used > step).min();
        let n_steps = next.unwrap_or(member.end.0) - last.map_or(member.birth.0, |last| last + 1);
        let weight = u128::from(member.bytes.get()) * u128::from(n_steps);
        assert_eq!(*idle, Some(IdleSteps { n_steps, weight }));
        match next.or(last.filter(|last| *last == step)) {
            Some(by) => {
                let sum = holders.entry((member.tensor.run, by)).or_default();
                *sum = (sum.0 + member.bytes, sum.1 + 1);
            }
            None => unread = (unread.0 + 1, unread.1 + member.bytes),
        }
    }
    assert_eq!(known.unread, unread);
    let mut expected: Vec<(Bytes, u64, u32)> = holders
        .iter()
        .map(|((_, step), held)| (held.0, held.1, *step))
        .collect();
    expected.sort_by_key(|(bytes, _, step)| (std::cmp::Reverse(*bytes), *step));
    expected.truncate(report.ask.n_first);
    let found: Vec<(Bytes, u64, u32)> = known
        .holders
        .iter()
        .map(|held| (held.bytes, held.count, held.by.step.0))
        .collect();
    assert_eq!(found, expected);
    let weights: Vec<u128> = known.longest.iter().map(|row| row.idle.weight).collect();
    let mut all: Vec<u128> = known
        .idle
        .iter()
        .flatten()
        .map(|idle| idle.weight)
        .filter(|weight| *weight > 0)
        .collect();
    all.sort_unstable_by_key(|weight| std::cmp::Reverse(*weight));
    all.truncate(report.ask.n_first);
    assert_eq!(weights, all);
    for row in &known.longest {
        assert_eq!(known.idle[row.member as usize], Some(row.idle));
    }
}

fn check_range(comparison: &Comparison, lane: usize, stays: &[Stay], range: StepRange) {
    let report = PeakReport::new(comparison, ask(lane, PeakAt::Range(range))).unwrap();
    check_sums(comparison, &report);
    let told = report.range.as_ref().unwrap();
    let (a, b) = (range.start.0, range.end.0);
    let tally = |is_in: &dyn Fn(&Stay) -> bool| {
        let all = stays.iter().filter(|stay| is_in(stay));
        all.fold((0, Bytes::ZERO), |(count, bytes), stay| (count + 1, bytes + stay.3))
    };
    let found = |tally: highwater::timeline::Tally| (tally.count, tally.bytes);
    let is_before = |stay: &Stay| stay.1 < a && stay.2 > a - 1;
    let is_born = |stay: &Stay| a <= stay.1 && stay.1 < b;
    // A tensor that lives to the end of the axis is never freed.
    let goes = |stay: &Stay| a <= stay.2 && stay.2 < b;
    assert_eq!(
        found(told.before),
        if a == 0 { (0, Bytes::ZERO) } else { tally(&is_before) }
    );
    assert_eq!(found(told.allocated), tally(&is_born));
    assert_eq!(
        found(told.freed),
        tally(&|stay| goes(stay) && (is_born(stay) || a > 0 && is_before(stay)))
    );
    assert_eq!(
        told.before.bytes + told.allocated.bytes,
        told.after.bytes + told.freed.bytes
    );
    let in_groups: u64 = told.groups.iter().map(|group| group.count).sum();
    assert_eq!(in_groups, told.before.count + told.allocated.count);
    let row = &comparison.lanes[lane].curves;
    for (figures, curve) in [(told.live.unwrap(), &row.live), (told.reserved.unwrap(), &row.reserved)] {
        let values: Vec<Bytes> = (a..b).map(|step| curve[step as usize]).collect();
        let (peak, at) = first_maximum(&values);
        assert_eq!(figures.peak, (peak, Step(a + at.unwrap().0)));
        assert_eq!(figures.minimum.0, values.iter().copied().min().unwrap());
        assert_eq!(curve[figures.minimum.1.idx()], figures.minimum.0);
        assert_eq!(
            figures.sum,
            values.iter().map(|bytes| u128::from(bytes.get())).sum::<u128>()
        );
        assert_eq!(figures.n_steps, b - a);
    }
    let older = report.set.members.iter().filter(|member| member.birth.0 < a).count() as u64;
    assert_eq!(report.alive_before.unwrap().count, older);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reports_equal_a_naive_count(
        ops in programs(), at in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), lane in 0..4_usize
    ) {
        let comparison = ops.compared();
        let n_steps = comparison.axis.n_steps;
        let stays = stays(&comparison, lane);
        let step = Step(at.index(n_steps as usize) as u32);
        let report = PeakReport::new(&comparison, ask(lane, PeakAt::Step(step))).unwrap();
        check_sums(&comparison, &report);
        let mut members: Vec<Stay> = report.set.members.iter()
            .map(|member| (member.tensor, member.birth.0, member.end.0, member.bytes)).collect();
        members.sort_unstable();
        let mut alive: Vec<Stay> = stays.iter().copied().filter(|stay| stay.1 <= step.0 && step.0 < stay.2).collect();
        alive.sort_unstable();
        prop_assert_eq!(members, alive);
        check_uses(&comparison, &report);
        prop_assert_eq!(report.peak, first_maximum(&live_without(&stays, n_steps, None)));
        for row in report.without.as_ref().unwrap() {
            let LeftOut::Member(member) = row.left_out else {
                return Err(TestCaseError::fail("a graph leaves out tensors"));
            };
            let tensor = report.set.members[member as usize].tensor;
            let left = first_maximum(&live_without(&stays, n_steps, Some(tensor)));
            prop_assert_eq!((row.peak, row.step), left);
            prop_assert_eq!(row.lowers_by, report.peak.0 - left.0);
        }
        let other = Step(to.index(n_steps as usize) as u32);
        check_range(&comparison, lane, &stays, StepRange::between(step, other, n_steps).unwrap());
    }
}

/// A small training step: `a` waits from the forward to the backward part.
const STEP: &str = r#"{"highwater_graph": 1, "name": "step", "nodes": [
    {"name": "fc1", "op": "mm", "phase": "forward", "inputs": ["x"],
     "outputs": [{"id": "a", "shape": [1024, 1024], "dtype": "float32"}]},
    {"name": "fc2", "op": "mm", "phase": "forward", "inputs": ["a"],
     "outputs": [{"id": "b", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "act", "op": "relu", "phase": "forward", "inputs": ["b"],
     "outputs": [{"id": "c", "shape": [512, 1024], "dtype": "float32"}]},
    {"name": "loss", "op": "sum", "phase": "forward", "inputs": ["c"],
     "outputs": [{"id": "l", "shape": [1], "dtype": "float32"}]},
    {"name": "grad", "op": "mm_backward", "phase": "backward", "inputs": ["l", "a"],
     "outputs": [{"id": "g", "shape": [256, 1024], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [1024, 64], "dtype": "float32"}],
  "outputs": ["g"]}"#;

fn text_of(comparison: &Comparison, at: PeakAt, by: Attribute) -> String {
    let report = PeakReport::new(comparison, PeakRequest { by, ..ask(0, at) }).unwrap();
    let text = PeakAnswer::new(comparison, &report, 10).page().text();
    text.replace('\u{a0}', " ")
}

#[test]
fn a_report_reads_well() {
    let comparison = compared(STEP, &[], &[]);
    expect![[r#"
        net.json, policy 0: the live peak, step 2, relu act

                                    bytes        exact
        live                    8.000 MiB  8 388 608 B
        live, in 3 tensors      8.000 MiB  8 388 608 B
        rounding by allocators       96 B         96 B
        reserved, unused        1.406 KiB      1 440 B
        inputs and outputs      1.251 MiB  1 311 744 B
        reserved                9.252 MiB  9 701 888 B

        by op type  tensors       live   share  largest
        mm                2  6.000 MiB  75.0 %  a
        relu              1  2.000 MiB  25.0 %  c

        largest       live        exact   share  from step  to step
        a        4.000 MiB  4 194 304 B  50.0 %          0        4
        b        2.000 MiB  2 097 152 B  25.0 %          1        2
        c        2.000 MiB  2 097 152 B  25.0 %          2        3

        longest idle       live  idle steps  last used  next used
        a             4.000 MiB           2  1 mm fc2   4 mm_backward grad

        kept for          step       live  tensors
        mm_backward grad     4  4.000 MiB        1
        relu act             2  2.000 MiB        1
        sum loss             3  2.000 MiB        1

        savings if removed   lower by        exact  peak live  at step
        a                   4.000 MiB  4 194 304 B  4.000 MiB        2
        b                   2.000 MiB  2 097 148 B  6.000 MiB        3
        c                   2.000 MiB  2 097 152 B  6.000 MiB        1

        Figures are lower bounds: kernel scratch not included.
    "#]]
    .assert_eq(&text_of(&comparison, PeakAt::Peak, Attribute::OpType));
    let range = StepRange::between(Step(3), Step(1), 5).unwrap();
    expect![[r#"
        net.json, policy 0: steps 1 to 3, highest at step 2, relu act

                                      bytes        exact
        live                      8.000 MiB  8 388 608 B
        live, in 3 tensors        8.000 MiB  8 388 608 B
        rounding by allocators         96 B         96 B
        reserved, unused          1.406 KiB      1 440 B
        inputs and outputs        1.251 MiB  1 311 744 B
        reserved                  9.252 MiB  9 701 888 B
        live before the range: 1  4.000 MiB  4 194 304 B

        range                 bytes        exact
        live peak         8.000 MiB  8 388 608 B  step 2
        live mean         6.667 MiB  6 990 508 B  3 steps
        live minimum      6.000 MiB  6 291 456 B  step 1
        reserved peak     9.252 MiB  9 701 888 B  step 1
        reserved mean     9.252 MiB  9 701 888 B  3 steps
        reserved minimum  9.252 MiB  9 701 888 B  step 1
        live before       4.000 MiB  4 194 304 B  1 tensor
        allocated inside  4.000 MiB  4 194 308 B  3 tensors
        freed inside      2.000 MiB  2 097 152 B  1 tensor
        live after        6.000 MiB  6 291 460 B  3 tensors

        by phase  tensors       live    share  largest
        forward         3  8.000 MiB  100.0 %  a

        largest       live        exact   share  from step  to step
        a        4.000 MiB  4 194 304 B  50.0 %          0        4
        b        2.000 MiB  2 097 152 B  25.0 %          1        2
        c        2.000 MiB  2 097 152 B  25.0 %          2        3

        longest idle       live  idle steps  last used  next used
        a             4.000 MiB           2  1 mm fc2   4 mm_backward grad

        kept for          step       live  tensors
        mm_backward grad     4  4.000 MiB        1
        relu act             2  2.000 MiB        1
        sum loss             3  2.000 MiB        1

        savings if removed   lower by        exact  peak live  at step
        a                   4.000 MiB  4 194 304 B  4.000 MiB        2
        b                   2.000 MiB  2 097 148 B  6.000 MiB        3
        c                   2.000 MiB  2 097 152 B  6.000 MiB        1

        Figures are lower bounds: kernel scratch not included.
    "#]]
    .assert_eq(&text_of(&comparison, PeakAt::Range(range), Attribute::Phase));
}

#[test]
fn under_a_budget_recomputations_count_as_uses() {
    let comparison = compared(STEP, &[], &[("dtr.eviction_threshold", "6000000")]);
    for lane in 0..comparison.lanes.len() {
        for step in 0..comparison.axis.n_steps {
            let report = PeakReport::new(&comparison, ask(lane, PeakAt::Step(Step(step)))).unwrap();
            check_sums(&comparison, &report);
            let uses = report.uses.as_ref().unwrap();
            for (member, idle) in report.set.members.iter().zip(&uses.idle) {
                let idle = idle.expect("its run is known");
                assert!(idle.n_steps < member.n_steps(), "{member:?} {idle:?}");
            }
        }
    }
}

#[test]
fn problems_and_traces_say_that_uses_are_not_known() {
    for (name, text, why, live) in [
        (
            "two.csv",
            "id,lower,upper,size\nb1,0,3,4\nb2,1,9,8\n",
            "placement problem",
            12,
        ),
        (
            "two.trace",
            "a x 3M\na y 20M\nf x\na z 2M\n",
            "allocation trace",
            23 << 20,
        ),
    ] {
        let session = session(vec![source(name, text)]);
        let (comparison, _) = session.answer().expect(name);
        for lane in 0..comparison.lanes.len() {
            let report = PeakReport::new(comparison, ask(lane, PeakAt::Peak)).unwrap();
            check_sums(comparison, &report);
            assert_eq!(report.set.live, Bytes(live));
            assert!(report.uses.as_ref().unwrap_err().contains(why), "{name}");
            let first = report.without.as_ref().unwrap()[0];
            assert_eq!(first.peak + first.lowers_by, Bytes(live));
            assert!(first.lowers_by > Bytes::ZERO);
        }
    }
}
