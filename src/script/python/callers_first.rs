//! An order in which callers come before what they call.

use std::collections::{BTreeMap, BTreeSet};

/// Indices of functions, where names may repeat: each time the first that no other remaining function calls, and in a cycle of calls
/// the first that remains. O((functions + calls) log functions).
pub(super) fn callers_first<'a>(names: &[&'a str], callees: impl Fn(&'a str) -> Vec<&'a str>) -> Vec<usize> {
    let mut groups: BTreeMap<&'a str, Group<'a>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        groups.entry(name).or_default().remaining.insert(at);
    }
    for name in groups.keys().copied().collect::<Vec<_>>() {
        let distinct: BTreeSet<&'a str> = callees(name).into_iter().collect();
        let (own, others): (Vec<&'a str>, Vec<&'a str>) = distinct.into_iter().partition(|called| *called == name);
        for called in &others {
            if let Some(group) = groups.get_mut(called) {
                group.n_callers += 1;
            }
        }
        if let Some(group) = groups.get_mut(name) {
            group.calls_itself = !own.is_empty();
            group.callees = others;
        }
    }
    let mut ready: BTreeSet<usize> = groups.values_mut().flat_map(Group::become_ready).collect();
    let mut remaining: BTreeSet<usize> = (0..names.len()).collect();
    let mut order = Vec::with_capacity(names.len());
    while let Some(at) = ready.pop_first().or_else(|| remaining.first().copied()) {
        remaining.remove(&at);
        order.push(at);
        let Some(group) = groups.get_mut(names[at]) else {
            continue;
        };
        group.remaining.remove(&at);
        ready.extend(group.become_ready());
        if group.remaining.is_empty() {
            for called in std::mem::take(&mut group.callees) {
                if let Some(group) = groups.get_mut(called) {
                    group.n_callers -= 1;
                    ready.extend(group.become_ready());
                }
            }
        }
    }
    order
}

/// The remaining functions of a name.
#[derive(Debug, Default)]
struct Group<'a> {
    remaining: BTreeSet<usize>,
    /// Other names with remaining functions that call this one.
    n_callers: usize,
    calls_itself: bool,
    is_ready: bool,
    callees: Vec<&'a str>,
}

impl Group<'_> {
    /// The functions that no other remaining one calls, when that comes to hold: it holds for all of the name, and until they are taken.
    fn become_ready(&mut self) -> Vec<usize> {
        let is_called = self.n_callers > 0 || (self.calls_itself && self.remaining.len() > 1);
        if is_called || self.is_ready {
            return Vec::new();
        }
        self.is_ready = true;
        self.remaining.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::callers_first;

    /// By definition: at each step all pairs.
    fn by_definition<'a>(names: &[&'a str], callees: impl Fn(&'a str) -> Vec<&'a str>) -> Vec<usize> {
        let mut remaining: Vec<usize> = (0..names.len()).collect();
        let mut order = Vec::new();
        while !remaining.is_empty() {
            let is_called = |one: &usize| {
                let mut others = remaining.iter().filter(|other| *other != one);
                others.any(|other| callees(names[*other]).contains(&names[*one]))
            };
            let at = remaining.iter().position(|one| !is_called(one)).unwrap_or(0);
            order.push(remaining.remove(at));
        }
        order
    }

    #[test]
    fn the_order_is_that_of_the_definition() {
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
        let mut state = 7_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits") % bound
        };
        for _ in 0..20_000 {
            let names: Vec<&str> = (0..below(8)).map(|_| NAMES[below(5)]).collect();
            let density = below(8);
            let calls: Vec<Vec<&str>> = NAMES
                .iter()
                .map(|_| NAMES.into_iter().filter(|_| below(8) < density).collect())
                .collect();
            let callees = |name: &str| calls[NAMES.iter().position(|own| *own == name).expect("known")].clone();
            assert_eq!(
                callers_first(&names, callees),
                by_definition(&names, callees),
                "{names:?} {calls:?}"
            );
        }
    }
}
