//! The ground of groups of rows of a job that applies something, counted once in each of them.

use std::collections::HashMap;

use crate::cleaning::clean_rows::CleanRows;
use crate::cleaning::reasons::{DUPLICATE, POSITION};
use crate::columns::canonical::JobKind;
use crate::ground::seasons::Seasons;
use crate::ground::swath_coverage::{Coverage, cover};

/// Ground of groups.
pub(crate) struct GroupGround {
    pub(crate) coverage: Coverage,
    /// Whether the groups are products of an as-applied job, each of which covers all ground that it is applied on. Varieties
    /// share one ground.
    pub(crate) are_products: bool,
}

impl GroupGround {
    /// `None` for harvests, and for one group. `group_of` is in the order of the tracks.
    pub(crate) fn find(rows: &CleanRows, group_of: &[u32], seasons: &Seasons) -> Option<Self> {
        if rows.kind == JobKind::Yield || group_of.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let season = |k: usize| seasons.of_row.get(rows.rows.row[k]).copied().unwrap_or(0);
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let number = |k: usize| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry((group_of[k], season(k))).or_insert(next)
        };
        let groups: Vec<u32> = (0..group_of.len()).map(number).collect();
        let excluded: Vec<bool> = rows.reasons.iter().map(|bits| bits & (DUPLICATE | POSITION) != 0).collect();
        let time = &rows.rows.time;
        let mut by_time: Vec<u32> = (0_u32..).take(time.len()).collect();
        by_time.sort_by(|a, b| time[*a as usize].total_cmp(&time[*b as usize]));
        let coverage = cover(&rows.ground.swaths, &by_time, &excluded, &groups);
        // The product of each group, as long as it has one.
        let mut products: Vec<Option<u32>> = vec![None; group_of.iter().max().map_or(0, |most| *most as usize + 1)];
        let is_mixed = (0..group_of.len()).filter(|k| coverage.fresh[*k] > 0.0).any(|k| {
            let product = rows.rows.product[k];
            *products[group_of[k] as usize].get_or_insert(product) != product
        });
        let mut known: Vec<u32> = products.into_iter().flatten().collect();
        known.sort_unstable();
        known.dedup();
        Some(Self { coverage, are_products: rows.kind == JobKind::AsApplied && !is_mixed && known.len() > 1 })
    }
}
