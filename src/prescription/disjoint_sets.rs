//! Disjoint sets (union-find) of numbered parts: which zones or rings are connected.

/// Sets of numbers, each with its least number as the root.
#[derive(Debug)]
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The root of the set of a number.
    pub(super) fn find(&mut self, number: usize) -> usize {
        let mut root = number;
        while let Some(parent) = self.0.get(root).copied().filter(|parent| *parent != root) {
            root = parent;
        }
        let mut here = number;
        while let Some(parent) = self.0.get_mut(here).filter(|parent| **parent != root) {
            here = std::mem::replace(parent, root);
        }
        root
    }

    /// Joins the sets of two numbers.
    pub(super) fn union(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        if let Some(parent) = self.0.get_mut(one.max(other)) {
            *parent = one.min(other);
        }
    }
}
