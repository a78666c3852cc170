//! Recordings in the answer of `compare` for people: their peaks, and the error of each simulated peak.

use highwater_analysis::{AllocatorSums, Comparison, Lane, LaneKind, off_by};
use highwater_export::Table;
use highwater_model::units::{Bytes, Step};

const NOT_RECORDED: &str = "not recorded";

pub(super) fn measured_table(comparison: &Comparison) -> Table {
    let event_or_step = if comparison.lane_kind() == LaneKind::Recordings {
        ">at event"
    } else {
        ">at step"
    };
    let sums = |lane: &Lane| Some(lane.recorded.as_ref()?.fragmentation.at_peak?.1);
    let has_sums = comparison.lanes.iter().any(|lane| sums(lane).is_some());
    let mut headings = vec![
        "recording",
        ">peak reserved",
        ">exact",
        event_or_step,
        ">peak live",
        ">exact",
        event_or_step,
        ">fragmentation",
    ];
    if has_sums {
        headings.extend([">inactive split", ">largest free"]);
    }
    headings.push("fits");
    let mut table = Table::new(&headings);
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let Some(recording) = comparison.recording(lane.id) else {
            continue;
        };
        let summary = &lane.summary;
        let step = |step: Option<Step>| {
            let own = step.map(|step| comparison.shown_step(position, step));
            own.map_or(String::new(), |step| step.to_string())
        };
        let sign = comparison.bound_sign(position);
        let when = |is_stated: bool, text: String| if is_stated { text } else { NOT_RECORDED.to_owned() };
        let (reserved, live) = (recording.states_reserved(), recording.states_live());
        let share = comparison.fragmentation(position);
        let sums = sums(lane);
        let at_most = |of: fn(&AllocatorSums) -> Bytes| {
            sums.as_ref().map_or_else(
                || NOT_RECORDED.to_owned(),
                |sums| format!("{}{}", sums.at_most(), of(sums)),
            )
        };
        let mut cells = vec![
            comparison.lane_title(lane.id),
            when(reserved, format!("{sign}{}", comparison.least_reserved(position))),
            when(reserved, comparison.least_reserved(position).exact()),
            when(reserved, step(summary.peak_reserved_step.filter(|_| sign.is_empty()))),
            when(live, summary.peak_live.to_string()),
            when(live, summary.peak_live.exact()),
            when(live, step(summary.peak_live_step)),
            when(share.is_some(), format!("{:.1} %", share.unwrap_or_default() * 100.0)),
        ];
        if has_sums {
            cells.extend([at_most(|sums| sums.inactive_split), at_most(|sums| sums.largest_free)]);
        }
        cells.push(comparison.fit(position).text());
        table.strings(cells);
    }
    table
}

/// The errors of the simulated peaks, a table per recording; none where a recording states no peak.
pub(super) fn errors(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (position, measured) in comparison.lanes.iter().enumerate() {
        if !comparison.is_measured_lane(position) {
            continue;
        }
        let (states_reserved, states_live) = comparison.states(position);
        let real = &measured.summary;
        let stated = |is_stated: bool, peak: Bytes| (is_stated && peak > Bytes::ZERO).then_some(peak);
        let reserved = stated(states_reserved, real.peak_reserved);
        let live = stated(states_live, real.peak_live);
        if reserved.is_none() && live.is_none() {
            continue;
        }
        let off = |simulated: Bytes, real: Option<Bytes>| {
            real.map_or_else(|| NOT_RECORDED.to_owned(), |real| off_by(simulated, real))
        };
        let title = format!("than {}", comparison.lane_title(measured.id));
        let mut table = Table::new(&[&title, ">peak reserved", ">off by", ">peak live", ">off by"]);
        for lane in comparison.simulated_lanes() {
            let summary = &lane.summary;
            table.row(&[
                &comparison.lane_title(lane.id),
                &summary.peak_reserved,
                &off(summary.peak_reserved, reserved),
                &summary.peak_live,
                &off(summary.peak_live, live),
            ]);
        }
        out.push_str(&format!(
            "\nsimulated, with the difference from the measurement\n{}",
            table.text()
        ));
    }
    out
}
