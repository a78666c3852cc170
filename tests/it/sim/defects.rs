//! The brute-force check rejects wrong logs.

use super::*;

/// A log with other events.
fn changed(good: &Simulation, change: &dyn Fn(&mut Vec<Event>)) -> Simulation {
    let mut events: Vec<Event> = good.events.iter().collect();
    change(&mut events);
    Simulation {
        events: events.into_iter().collect(),
        ..good.clone()
    }
}

fn positions(log: &Simulation, kind: EventKind) -> Vec<usize> {
    let events = log.events.iter().enumerate();
    events
        .filter(|(_, event)| event.kind == kind)
        .map(|(position, _)| position)
        .collect()
}

#[test]
fn damaged_logs_are_refused() {
    let graphs = [graph(false, &[bound(2, &[(0, 2, MIB), (0, 2, MIB)])])];
    let session = session(&graphs, &[0]);
    let (good, _) = run(&session, Dynamic);
    let damage = |change: &dyn Fn(&mut Vec<Event>)| verify(&changed(&good, change), &session);
    let allocs = positions(&good, EventKind::Alloc);
    let (first, second) = (allocs[0], allocs[1]);
    assert!(matches!(
        damage(&|events| {
            events[second].region = events[first].region;
            events[second].offset = events[first].offset + 1;
        }),
        Err(SimulationDefect::Overlap { .. } | SimulationDefect::Uncovered { .. })
    ));
    assert!(matches!(
        damage(&|events| events[first].offset = 1 << 40),
        Err(SimulationDefect::Uncovered { .. })
    ));
    assert!(matches!(
        damage(&|events| {
            events.remove(first);
        }),
        Err(SimulationDefect::Unmatched { .. })
    ));
    let mut other = session.clone();
    other.runs.clear();
    assert!(matches!(
        verify(&good, &other),
        Err(SimulationDefect::Tensors { copy: 0 })
    ));
    assert!(matches!(
        damage(&|events| events[0].region.0 = 99),
        Err(SimulationDefect::Malformed { .. })
    ));
    let mut small = good.clone();
    small.device_bytes = Bytes(1);
    assert!(matches!(
        verify(&small, &session),
        Err(SimulationDefect::OverCapacity { .. })
    ));
}

#[test]
fn blocks_on_pages_that_are_not_mapped_are_refused() {
    let session = session(&[graph(false, &[bound(2, &[(0, 2, 20 * MIB)])])], &[0]);
    let (good, _) = run(&session, DynamicExtend);
    let maps = positions(&good, EventKind::Map);
    assert_eq!(maps.len(), 3);
    for map in maps {
        let without = |position: usize| {
            changed(&good, &|events| {
                events.remove(position);
            })
        };
        let answer = verify(&without(map), &session);
        assert!(matches!(answer, Err(SimulationDefect::Uncovered { .. })), "{answer:?}");
        // A page that the driver never allocated cannot be mapped.
        let answer = verify(&without(map - 1), &session);
        assert!(
            matches!(answer, Err(SimulationDefect::LiveAboveReserved { .. })),
            "{answer:?}"
        );
    }
}
