//! Tests of graph pools: what a search passes over.

use super::super::test_support::device;
use super::*;

#[test]
fn larger_spans_of_blocks_are_held_back_untested_like_those_of_the_range() {
    let mut device = device(Bytes::gib(1));
    let rules = PoolRules {
        threshold: Bytes::mib(900).get(),
    };
    let mut lower = DevicePool::new(rules);
    let mut pool = GraphPool::new(PoolKey(0), rules);
    pool.expand(&mut device);
    let base = pool.spans.find(1).expect("the range is idle");
    assert!(!pool.hold_untested(base), "the span at the base is always tested");
    let mut below = Below {
        pool: &mut lower,
        device: &mut device,
    };
    let block = pool.new_block(200, &mut below).expect("room");
    pool.spans.free(block);
    let exact = pool.spans.find(200).expect("the block is idle");
    assert!(!pool.hold_untested(exact));
    let larger = pool.spans.find(1).expect("the block is idle");
    assert_eq!((larger.id, larger.is_larger), (block, true));
    assert!(pool.hold_untested(larger));
    assert_eq!(pool.spans.find(1), Some(base));
    let expandable = pool.expandable.as_mut().expect("the pool has a range");
    assert_eq!(expandable.free_held(&mut pool.spans), 1);
    assert!(
        !pool.spans.may_take(larger, 1),
        "holding back counted no try of a split"
    );
    assert!(pool.spans.may_take(larger, 2));
}
