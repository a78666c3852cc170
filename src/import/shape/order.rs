//! The order in which a graph's nodes are visited: the file's where every producer comes before its readers, else found by
//! walking back from each node. Cycles stay in file order.

/// `before` lists the producers that a node waits for. Linear in nodes and what they wait for.
pub(crate) fn producers_first<I: Iterator<Item = u32>>(n_nodes: usize, before: impl Fn(u32) -> I) -> Vec<u32> {
    let nodes = 0..u32::try_from(n_nodes).unwrap_or(u32::MAX);
    if nodes.clone().all(|node| before(node).all(|other| other < node)) {
        return nodes.collect();
    }
    let mut order = Vec::with_capacity(n_nodes);
    let mut was_seen = vec![false; n_nodes];
    let mut stack: Vec<(u32, I)> = Vec::new();
    for start in nodes {
        if std::mem::replace(&mut was_seen[start as usize], true) {
            continue;
        }
        stack.push((start, before(start)));
        while let Some((node, waiting)) = stack.last_mut() {
            match waiting.next() {
                Some(next) if !was_seen[next as usize] => {
                    was_seen[next as usize] = true;
                    stack.push((next, before(next)));
                }
                Some(_) => {}
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order
}
