//! The device at a step: live, idle and free bytes, by hand-made sessions.

use highwater::sim::{DevicePicture, picture};

use super::*;

fn at(simulation: &Simulation, step: u32) -> DevicePicture {
    picture(simulation, Step(step))
}

#[test]
fn idle_spans_of_a_pool_are_counted_by_size() {
    // 1 MiB, 3 MiB and 1 MiB; the second is freed at step 1.
    let graphs = [graph(false, &[bound(2, &[(0, 2, MIB), (0, 1, 3 * MIB), (0, 2, MIB)])])];
    let (simulation, _) = run(&session(&graphs, &[0]), Dynamic);
    let full = at(&simulation, 0);
    assert_eq!(full.pools.len(), 2, "the device's pool and the graph's");
    assert_eq!(full.pools[1].given, Bytes::mib(5));
    assert_eq!(full.pools[1].idle(), Bytes::ZERO);
    assert_eq!(full.parts.total(), Bytes::mib(5), "two small blocks share 2 MiB");
    let later = at(&simulation, 1);
    assert_eq!(later.pools[1].given, Bytes::mib(2));
    assert_eq!(later.pools[1].idle_spans, [(Bytes::mib(3), 1)]);
    assert_eq!(later.pools[1].largest_idle(), Bytes::mib(3));
    assert_eq!(later.pools[0].idle(), Bytes::ZERO, "all of it was granted");
    assert_eq!(later.available, Bytes::gib(32) - Bytes::mib(5));
}

#[test]
fn the_rest_of_a_device_block_counts_as_idle() {
    let graphs = [graph(false, &[bound(1, &[(0, 1, 64 << 10)])])];
    let (simulation, _) = run(&session(&graphs, &[0]), Dynamic);
    let then = at(&simulation, 0);
    assert_eq!(then.pools[0].given, Bytes::kib(64));
    assert_eq!(then.pools[0].idle_spans, [(Bytes::kib(2048 - 64), 1)]);
}

#[test]
fn pages_are_touched_or_idle() {
    let graphs = [graph(false, &[bound(2, &[(0, 1, 20 * MIB), (0, 2, 8 * MIB)])])];
    let (simulation, _) = run(&session(&graphs, &[0]), DynamicExtend);
    let full = at(&simulation, 0);
    assert_eq!((full.pages.count, full.pages.touched), (4, 4));
    let later = at(&simulation, 1);
    assert_eq!(later.pages.count, 4);
    assert!(later.pages.touched < 4);
    let pool = &later.pools[1];
    assert_eq!(pool.occupied, Bytes::mib(32));
    assert_eq!(pool.given, Bytes::mib(8));
    assert_eq!(pool.idle_pages, Bytes::mib(8 * (4 - later.pages.touched)));
}

#[test]
fn arenas_are_regions_with_live_tensors() {
    let graphs = [graph(true, &[bound(2, &[(0, 1, 4 * MIB), (1, 2, 2 * MIB)])])];
    let (simulation, _) = run(&session(&graphs, &[0]), Dynamic);
    let then = at(&simulation, 1);
    assert_eq!(then.regions.len(), 1);
    assert_eq!(then.regions[0].kind, RegionKind::Arena);
    assert_eq!(
        (then.regions[0].held, then.regions[0].live),
        (Bytes::mib(4), Bytes::mib(2))
    );
    assert_eq!(then.regions[0].n_live, 1);
    assert!(then.pools.is_empty());
}
