//! Page arithmetic (specification 2.1 and 4.1), without I/O.

/// Default number of records per page.
pub(super) const DEFAULT_PAGE_SIZE: u64 = 20;

/// Requested page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageRequest {
    /// Records per page; 0 requests the complete list (deprecated, specification 4.1).
    pub(super) size: u64,
    /// Page index from 0.
    pub(super) page: u64,
}

/// Bounds of a page in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageBounds {
    pub(super) asked: PageRequest,
    /// Records of the list.
    pub(super) total: u64,
    /// Records before the page.
    pub(super) skip: u64,
    /// Records on the page.
    pub(super) count: u64,
    /// Whether pages exist before it.
    pub(super) is_previous: bool,
    /// Whether pages exist after it.
    pub(super) is_next: bool,
    /// Number of pages; 0 for an empty list.
    pub(super) pages: u64,
}

impl PageRequest {
    /// Returns the bounds of the page in a list of `total` records. A page past the end is empty.
    pub(super) fn bounds(self, total: u64) -> PageBounds {
        let size = if self.size == 0 { total.max(1) } else { self.size };
        let pages = total.div_ceil(size);
        let skip = self.page.saturating_mul(size).min(total);
        PageBounds {
            asked: self,
            total,
            skip,
            count: size.min(total.saturating_sub(skip)),
            is_previous: self.page > 0 && pages > 0,
            is_next: self.page.saturating_add(1) < pages,
            pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn last_page_is_short_and_next_page_is_empty() {
        let expect = |size, page, (skip, count), is_previous, pages| {
            let asked = PageRequest { size, page };
            let expected = PageBounds { asked, total: 45, skip, count, is_previous, is_next: false, pages };
            assert_eq!(asked.bounds(45), expected);
        };
        expect(20, 2, (40, 5), true, 3);
        expect(20, 3, (45, 0), true, 3);
        expect(0, 0, (0, 45), false, 1);
    }

    proptest! {
        #[test]
        fn following_is_next_returns_each_record_once(total in 0_u64..500, size in 0_u64..60) {
            let mut seen = Vec::new();
            for page in 0..=total {
                let bounds = PageRequest { size, page }.bounds(total);
                prop_assert_eq!(bounds.is_previous, page > 0);
                seen.extend(bounds.skip..bounds.skip + bounds.count);
                if !bounds.is_next {
                    prop_assert_eq!(bounds.pages, if total == 0 { 0 } else { page + 1 });
                    break;
                }
                prop_assert_eq!(bounds.count, size);
            }
            prop_assert_eq!(seen, (0..total).collect::<Vec<_>>());
        }

        #[test]
        fn page_past_the_end_is_empty(size: u64, page: u64, total: u64) {
            let bounds = PageRequest { size, page }.bounds(total);
            prop_assert!(bounds.skip <= total && bounds.count <= total - bounds.skip);
        }
    }
}
