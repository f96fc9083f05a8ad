//! Multi-pattern search that skips most bytes (Wu and Manber, TR 94-17, University of Arizona, 1994).

/// The shift table: how far the search may skip, by the last two bytes of the window.
#[derive(Clone, Default)]
pub(super) struct ShiftTable {
    /// The length of the shortest secret, which is the length of the window.
    pub(super) shortest: usize,
    /// By the two bytes, in lower case; 0 at the end of a window that may begin a secret.
    shifts: Vec<u8>,
}

impl ShiftTable {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let shortest = texts.clone().map(<[u8]>::len).min().unwrap_or(0);
        let max_shift = u8::try_from(shortest.saturating_sub(1)).unwrap_or(u8::MAX);
        let mut shifts = vec![max_shift; 1 << 16];
        for text in texts {
            let window = text.get(..shortest).unwrap_or_default();
            for (position, pair) in window.windows(2).enumerate() {
                let rest = u8::try_from(shortest.saturating_sub(position.saturating_add(2))).unwrap_or(u8::MAX);
                if let (&[first, second], true) = (pair, rest < u8::MAX)
                    && let Some(shift) = shifts.get_mut(Self::index(first, second))
                {
                    *shift = rest.min(*shift);
                }
            }
        }
        Self { shortest, shifts }
    }

    fn index(first: u8, second: u8) -> usize {
        usize::from(first.to_ascii_lowercase()) << 8 | usize::from(second.to_ascii_lowercase())
    }

    /// Positions where a secret may begin.
    pub(super) fn candidates(&self, body: &[u8]) -> impl Iterator<Item = usize> {
        let mut start = 0_usize;
        std::iter::from_fn(move || {
            loop {
                let end = start.checked_add(self.shortest)?;
                let [first, second] = *body.get(end.checked_sub(2)?..end)? else { return None };
                let shift = self.shifts.get(Self::index(first, second)).copied()?;
                let position = start;
                start = start.saturating_add(usize::from(shift).max(1));
                if shift == 0 {
                    return Some(position);
                }
            }
        })
    }
}
