//! The arithmetic of pages (specification 2.1 and 4.1): pure.

/// Records per page where the request does not say.
pub(super) const DEFAULT_PAGE_SIZE: u64 = 20;

/// The page that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// Records per page; 0 asks for the complete set (deprecated, specification 4.1).
    pub(super) size: u64,
    /// The page, counted from 0.
    pub(super) page: u64,
}

/// Where a page lies in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Records before the page.
    pub(super) skip: u64,
    /// Records on the page.
    pub(super) count: u64,
    /// Whether pages exist before it.
    pub(super) is_previous: bool,
    /// Whether pages exist after it.
    pub(super) is_next: bool,
    /// Pages in all; none where the list is empty.
    pub(super) pages: u64,
}

impl Asked {
    /// Where the page lies in a list of `total` records. A page past the end is empty.
    pub(super) fn place(self, total: u64) -> Place {
        let size = if self.size == 0 { total.max(1) } else { self.size };
        let pages = total.div_ceil(size);
        let skip = self.page.saturating_mul(size).min(total);
        Place {
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
    fn the_last_page_is_short_and_the_one_after_it_is_empty() {
        let place = |size, page| Asked { size, page }.place(45);
        assert_eq!(place(20, 2), Place { skip: 40, count: 5, is_previous: true, is_next: false, pages: 3 });
        assert_eq!(place(20, 3), Place { skip: 45, count: 0, is_previous: true, is_next: false, pages: 3 });
        assert_eq!(place(0, 0), Place { skip: 0, count: 45, is_previous: false, is_next: false, pages: 1 });
    }

    proptest! {
        #[test]
        fn following_is_next_gives_every_record_once(total in 0_u64..500, size in 0_u64..60) {
            let mut seen = Vec::new();
            for page in 0..=total {
                let place = Asked { size, page }.place(total);
                prop_assert_eq!(place.is_previous, page > 0);
                seen.extend(place.skip..place.skip + place.count);
                if !place.is_next {
                    prop_assert_eq!(place.pages, if total == 0 { 0 } else { page + 1 });
                    break;
                }
                prop_assert_eq!(place.count, size);
            }
            prop_assert_eq!(seen, (0..total).collect::<Vec<_>>());
        }

        #[test]
        fn no_page_is_too_far(size: u64, page: u64, total: u64) {
            let place = Asked { size, page }.place(total);
            prop_assert!(place.skip <= total && place.count <= total - place.skip);
        }
    }
}
