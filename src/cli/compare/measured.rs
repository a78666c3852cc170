//! Recordings in the answer of `compare` for people: their peaks, and the error of each simulated peak.

use highwater_analysis::{AllocatorSums, BY_CONSTRUCTION, Comparison, Lane, LaneKind, off_by};
use highwater_export::Table;
use highwater_model::units::{Bytes, Step, grouped, signed_percent_text};
use highwater_model::workload::AllocatorSimulation;

const NOT_RECORDED: &str = "not recorded";

/// Which lanes of recordings a table lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    All,
    Measured,
    Simulated,
}

impl Listed {
    fn has(self, simulation: Option<&AllocatorSimulation>) -> bool {
        match self {
            Self::All => true,
            Self::Measured => simulation.is_none(),
            Self::Simulated => simulation.is_some(),
        }
    }
}

pub(super) fn measured_table(comparison: &Comparison, listed: Listed) -> Table {
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
    let is_simulated = comparison
        .lanes
        .iter()
        .any(|lane| listed != Listed::Measured && comparison.simulation(lane.id).is_some());
    if is_simulated {
        headings.extend([">against measured", ">retries", ">failed", ">device calls"]);
    }
    headings.push("fits");
    let mut table = Table::new(&headings);
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let recording = comparison.recording(lane.id);
        let Some(recording) = recording.filter(|one| listed.has(one.simulation.as_ref())) else {
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
        if is_simulated {
            cells.extend(simulation_cells(comparison.simulation(lane.id)));
        }
        cells.push(comparison.fit(position).text());
        table.strings(cells);
    }
    table.remove_columns_of(&[NOT_RECORDED]);
    table
}

/// Against the measured peak, retries, failed requests, device calls; empty for what was measured.
fn simulation_cells(simulation: Option<&AllocatorSimulation>) -> [String; 4] {
    simulation.map_or_else(Default::default, |simulation| {
        [
            against(simulation),
            grouped(simulation.retries),
            grouped(simulation.failures),
            grouped(simulation.device_calls),
        ]
    })
}

/// Empty where nothing was measured; a run whose requests failed has no comparable peak.
fn against(simulation: &AllocatorSimulation) -> String {
    match (simulation.measured_peak, simulation.failures) {
        (Bytes::ZERO, _) => String::new(),
        (measured, 0) => signed_percent_text(simulation.peak.percent_above(measured)),
        _ => "incomplete".to_owned(),
    }
}

/// What the figures of simulated allocators are; empty without any.
pub(super) fn simulation_note(comparison: &Comparison) -> String {
    let mut simulations = comparison
        .lanes
        .iter()
        .filter_map(|lane| comparison.simulation(lane.id));
    let Some(first) = simulations.next() else {
        return String::new();
    };
    if first.is_of_graph() {
        return "An estimate: an eager program that allocates and frees what the graph shows.\n".to_owned();
    }
    let error = match first.measured_peak {
        Bytes::ZERO => String::new(),
        measured => format!(
            " The recorded settings, simulated, differ from the measured peak by {}.",
            signed_percent_text(first.replayed_peak.percent_above(measured))
        ),
    };
    format!(
        "Simulated lanes are an estimate: the recorded requests under {}.{error}\n",
        first.version
    )
}

/// The errors of the simulated peaks, a table per recording; none where a recording states no peak.
pub(super) fn errors(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (position, measured) in comparison.lanes.iter().enumerate() {
        if !comparison.is_measured_lane(position) || comparison.simulation(measured.id).is_some() {
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
        let is_learned_from = measured
            .recorded
            .as_ref()
            .is_some_and(|recorded| recorded.is_learned_from);
        let by_construction = if is_learned_from {
            format!("; {BY_CONSTRUCTION}")
        } else {
            String::new()
        };
        out.push_str(&format!(
            "\nsimulated, with the difference from the measurement{by_construction}\n{}",
            table.text()
        ));
    }
    out
}
