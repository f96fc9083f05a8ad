//! Disjoint groups of numbered parts, joined pair by pair.

/// Groups of numbers, each with its least number as the root.
#[derive(Debug)]
pub(super) struct Groups(Vec<usize>);

impl Groups {
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The least number of the group.
    pub(super) fn root(&mut self, number: usize) -> usize {
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

    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(parent) = self.0.get_mut(one.max(other)) {
            *parent = one.min(other);
        }
    }
}
