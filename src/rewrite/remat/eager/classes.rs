//! Union-find classes of adjacent evicted tensors with the cost of recomputing a whole class.
//!
//! Invariants: node i is tensor i. A recomputed tensor becomes a root with its own cost, but its descendants stay below
//! it, so its class follows it. The shape of the trees therefore matters: every look-up attaches all nodes of its path
//! directly to the root, and the caller decides which root wins a merge.

/// Parents and, at roots, costs.
#[derive(Debug)]
pub(super) struct Classes {
    parents: Vec<u32>,
    costs: Vec<f64>,
}

impl Classes {
    pub(super) fn new(n_tensors: usize) -> Self {
        Self {
            parents: (0..u32::try_from(n_tensors).unwrap_or(u32::MAX)).collect(),
            costs: vec![0.0; n_tensors],
        }
    }

    /// Finds the root and attaches the path to it.
    fn root(&mut self, node: u32) -> u32 {
        let mut root = node;
        while self.parents[root as usize] != root {
            root = self.parents[root as usize];
        }
        let mut below = node;
        while below != root {
            below = std::mem::replace(&mut self.parents[below as usize], root);
        }
        root
    }

    pub(super) fn cost(&mut self, tensor: u32) -> f64 {
        let root = self.root(tensor);
        self.costs[root as usize]
    }

    pub(super) fn begin(&mut self, tensor: u32, cost: f64) {
        self.costs[tensor as usize] = cost;
    }

    /// Merges two classes; the root of `into` becomes the root.
    pub(super) fn join(&mut self, from: u32, into: u32) {
        let (from, into) = (self.root(from), self.root(into));
        if from != into {
            self.costs[into as usize] += self.costs[from as usize];
            self.parents[from as usize] = into;
        }
    }

    /// Removes a tensor from its class with its own cost; where it was the root, the cost of the others is lost.
    pub(super) fn leave(&mut self, tensor: u32, cost: f64) {
        let root = self.root(tensor);
        self.costs[root as usize] -= cost;
        self.parents[tensor as usize] = tensor;
        self.costs[tensor as usize] = cost;
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of small whole numbers are exact")]
mod tests {
    use super::Classes;

    fn three() -> Classes {
        let mut classes = Classes::new(3);
        for (tensor, cost) in [(0, 1.0), (1, 10.0), (2, 100.0)] {
            classes.begin(tensor, cost);
        }
        classes
    }

    #[test]
    fn a_root_that_leaves_takes_those_below_it_along() {
        let mut classes = three();
        classes.join(0, 1);
        classes.join(2, 1);
        assert_eq!(classes.cost(0), 111.0);
        classes.leave(1, 10.0);
        assert_eq!([0, 1, 2].map(|tensor| classes.cost(tensor)), [10.0; 3]);
    }

    #[test]
    fn what_leaves_otherwise_costs_the_class_its_own() {
        let mut classes = three();
        classes.join(0, 1);
        classes.join(1, 2);
        assert_eq!(classes.cost(0), 111.0, "the look-up hangs 0 below 2");
        classes.leave(1, 10.0);
        assert_eq!([0, 1, 2].map(|tensor| classes.cost(tensor)), [101.0, 10.0, 101.0]);
    }
}
