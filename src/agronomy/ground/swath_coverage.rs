//! Counts ground once: what each swath covers that no earlier swath covered, as convex pieces.

use crate::ground::convex_clip::{Convex, Cuts, Extent, HalfPlane, Point, area, extent};
use crate::ground::polygon_coverage::first_owner;
use crate::ground::swaths::{Logged, Swaths};
use crate::rows::neighbours::ExtentGrid;

/// Of its swath, the new ground that a row needs for a rate.
const LEAST_FRESH: f64 = 0.25;

/// Pieces smaller than this are dropped, in m2.
const LEAST_AREA: f64 = 1e-9;

/// A smaller share of a polygon is a rounding error, as new ground and as ground that was covered before.
const LEAST_SHARE: f64 = 1e-10;

/// Beyond this many pieces of one swath the smallest half counts as covered before.
const MOST_PIECES: usize = 256;

/// Comparisons of pieces and earlier swaths for one swath; beyond them, the rest of it counts as covered before.
const MOST_COMPARISONS: usize = 50_000;

/// Comparisons for one swath once all swaths together took `MEAN_COMPARISONS` on average.
const FEW_COMPARISONS: usize = 100;
/// Comparisons for one swath on average.
const MEAN_COMPARISONS: usize = 300;
/// Comparisons for few swaths.
const LEAST_COMPARISONS: usize = 1_000_000;

/// Ground that each row covers first.
pub(crate) struct Coverage {
    /// Area of the swath of each row in m2, 0 without a swath.
    pub(crate) full: Vec<f64>,
    /// Area in m2 that no earlier swath covered.
    pub(crate) fresh: Vec<f64>,
    /// Convex pieces that make up `fresh`, unless polygons are logged.
    pieces: Pieces,
    /// Logged polygons of each season, whose pieces are many and are found again when they are needed.
    polygons: Vec<Polygons>,
    /// Number of rows that may lack fresh ground, since too many swaths cross each other to be worth the time.
    pub(crate) limited: usize,
}

/// Rows with polygons of any shape.
struct Polygons {
    logged: Logged,
    /// The rows in order of time, and the places of their polygons.
    rows: Vec<u32>,
    places: Vec<u32>,
    /// Whether earlier polygons are not subtracted.
    is_whole: bool,
}

impl Polygons {
    fn new(logged: &Logged, rows: &[u32]) -> Self {
        let places = rows.iter().filter_map(|row| Some((*row, logged.place(*row as usize)?)));
        let (rows, places) = places.unzip();
        Self { logged: logged.clone(), rows, places, is_whole: false }
    }
}

/// Convex pieces, those of one row one after the other.
#[derive(Default)]
pub(crate) struct Pieces {
    corners: Vec<Point>,
    /// End of the corners of each piece.
    ends: Vec<u32>,
    rows: Vec<u32>,
    /// First piece of each row.
    first: Vec<u32>,
}

impl Pieces {
    /// Anticlockwise corners of the pieces of a row.
    fn pieces(&self, row: u32) -> impl Iterator<Item = &[Point]> {
        let first = self.first.get(row as usize).map_or(usize::MAX, |first| *first as usize);
        (first..self.rows.len()).take_while(move |piece| self.rows[*piece] == row).map(|piece| {
            let start = piece.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
            &self.corners[start..self.ends[piece] as usize]
        })
    }

    fn push(&mut self, row: u32, corners: &[Point]) {
        let first = &mut self.first[row as usize];
        *first = (*first).min(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        grow(&mut self.corners, corners.len());
        grow(&mut self.ends, 1);
        grow(&mut self.rows, 1);
        self.corners.extend_from_slice(corners);
        self.ends.push(u32::try_from(self.corners.len()).unwrap_or(u32::MAX));
        self.rows.push(row);
    }
}

/// Reserves an eighth more for pieces: to double them takes more memory than anything else of a cleaning.
fn grow<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        items.reserve_exact(more.max(items.len() / 8));
    }
}

impl Coverage {
    /// Whether enough of the swath of a row is new ground for a rate.
    pub(crate) fn has_rate(&self, row: usize) -> bool {
        self.fresh[row] > 0.0 && self.fresh[row] >= LEAST_FRESH * self.full[row]
    }

    /// Passes the row and the anticlockwise corners of convex pieces that make up the new ground.
    ///
    /// Pieces of one row follow each other, unless polygons are logged. The areas of those are exact to rounding errors.
    pub(crate) fn visit_pieces(&self, mut visit: impl FnMut(u32, &[Point])) {
        for row in (0_u32..).take(self.fresh.len()) {
            self.pieces.pieces(row).for_each(|piece| visit(row, piece));
        }
        let mut pass = |row: u32, piece: &[Point]| {
            if self.fresh[row as usize] > 0.0 {
                visit(row, piece);
            }
        };
        for Polygons { logged, rows, places, is_whole } in &self.polygons {
            if *is_whole {
                for (row, place) in rows.iter().zip(places) {
                    first_owner(&logged.shapes, &[*place], Some(&mut |_, piece| pass(*row, piece)));
                }
            } else {
                first_owner(&logged.shapes, places, Some(&mut |rank, piece| pass(rows[rank as usize], piece)));
            }
        }
    }

    /// Passes points of which some are at each end of the ground.
    pub(crate) fn visit_corners(&self, mut visit: impl FnMut(Point)) {
        if self.polygons.is_empty() {
            self.visit_pieces(|_, piece| piece.iter().for_each(|point| visit(*point)));
        }
        for Polygons { logged, rows, places, .. } in &self.polygons {
            for (_, place) in rows.iter().zip(places).filter(|(row, _)| self.fresh[**row as usize] > 0.0) {
                logged.shapes.row_vertices(*place).iter().for_each(|point| visit(*point));
            }
        }
    }

    /// Whether the pieces of a row need not follow each other.
    pub(crate) fn is_mixed(&self) -> bool {
        !self.polygons.is_empty()
    }

    /// Appends the rows of another season, whose ground counts for itself.
    pub(crate) fn append(&mut self, mut other: Self) {
        let place = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (rows, pieces, corners) = (self.full.len(), self.pieces.rows.len(), self.pieces.corners.len());
        // Seasons of polygons have no pieces.
        self.pieces.first.resize(rows, u32::MAX);
        other.pieces.first.resize(other.full.len(), u32::MAX);
        self.pieces.first.extend(other.pieces.first.iter().map(|first| first.saturating_add(place(pieces))));
        self.pieces.rows.extend(other.pieces.rows.iter().map(|row| row + place(rows)));
        self.pieces.ends.extend(other.pieces.ends.iter().map(|end| end + place(corners)));
        self.pieces.corners.append(&mut other.pieces.corners);
        self.full.append(&mut other.full);
        self.fresh.append(&mut other.fresh);
        self.limited += other.limited;
        for mut polygons in other.polygons {
            polygons.rows.iter_mut().for_each(|row| *row += place(rows));
            self.polygons.push(polygons);
        }
    }

    /// Swaths without regard to earlier ones, of the rows that `is_used` selects.
    pub(crate) fn whole(swaths: &Swaths, is_used: impl Fn(usize) -> bool) -> Self {
        let rows = (0_u32..).take(swaths.len());
        if !swaths.logged().is_empty() {
            let used: Vec<u32> = rows.filter(|row| is_used(*row as usize)).collect();
            let mut coverage = Self::of_polygons(swaths.logged(), &used, swaths.len());
            coverage.polygons.iter_mut().for_each(|polygons| polygons.is_whole = true);
            for row in coverage.polygons.iter().flat_map(|polygons| &polygons.rows) {
                coverage.fresh[*row as usize] = coverage.full[*row as usize];
            }
            return coverage;
        }
        let mut pieces = Pieces { first: vec![u32::MAX; swaths.len()], ..Pieces::default() };
        let mut full = vec![0.0; swaths.len()];
        for (row, full) in rows.zip(&mut full) {
            let polygon = swaths.polygon(row);
            if is_used(row as usize) && !polygon.is_empty() {
                *full = area(polygon);
                pieces.push(row, polygon);
            }
        }
        Self { fresh: full.clone(), full, pieces, polygons: Vec::new(), limited: 0 }
    }

    /// The polygons of some of `count` rows, which are in order of time. No ground is counted yet.
    fn of_polygons(logged: &[Logged], rows: &[u32], count: usize) -> Self {
        let area = |row: usize| {
            let place = logged.iter().find_map(|logged| Some((logged, logged.place(row)?)));
            place.map_or(0.0, |(logged, place)| logged.shapes.area(place as usize))
        };
        Self {
            full: (0..count).map(area).collect(),
            fresh: vec![0.0; count],
            pieces: Pieces::default(),
            polygons: logged.iter().map(|logged| Polygons::new(logged, rows)).collect(),
            limited: 0,
        }
    }

    /// Counts the ground of polygons once, in their order.
    fn subtract_earlier(&mut self) {
        for Polygons { logged, rows, places, .. } in &self.polygons {
            let owned = first_owner(&logged.shapes, places, None);
            for (row, own) in rows.iter().zip(owned.areas) {
                let full = self.full[*row as usize];
                let least = LEAST_SHARE * full;
                let fresh = if own < least { 0.0 } else { own };
                self.fresh[*row as usize] = if (full - fresh).abs() < least { full } else { fresh };
            }
            self.limited += owned.is_limited.iter().filter(|is_limited| **is_limited).count();
        }
    }
}

/// Subtracts from each swath all earlier ones of its group; without groups, all.
///
/// `by_time` lists the rows of all machines in order of time, each once. Rows that are `excluded` cover nothing and
/// have no fresh ground. Time is limited: where hundreds of swaths cross each other, ground can be lost (`limited`), but
/// none is counted twice.
pub(crate) fn cover(swaths: &Swaths, by_time: &[u32], excluded: &[bool], groups: &[u32]) -> Coverage {
    let rows = swaths.len();
    let group = |row: &u32| groups.get(*row as usize);
    let is_excluded = |row: u32| excluded.get(row as usize).copied().unwrap_or(false);
    if !swaths.logged().is_empty() {
        let mut used: Vec<u32> = by_time.iter().copied().filter(|row| !is_excluded(*row)).collect();
        used.sort_by_key(group);
        let mut coverage = Coverage::of_polygons(swaths.logged(), &[], rows);
        let of_group =
            |rows: &[u32]| swaths.logged().iter().map(|logged| Polygons::new(logged, rows)).collect::<Vec<_>>();
        coverage.polygons = used.chunk_by(|a, b| group(a) == group(b)).flat_map(of_group).collect();
        coverage.subtract_earlier();
        return coverage;
    }
    let mut coverage = Coverage {
        full: (0_u32..).take(rows).map(|row| area(swaths.polygon(row))).collect(),
        fresh: vec![0.0; rows],
        pieces: Pieces { first: vec![u32::MAX; rows], ..Pieces::default() },
        polygons: Vec::new(),
        limited: 0,
    };
    let covers = |row: &&u32| !is_excluded(**row) && !swaths.polygon(**row).is_empty();
    let used: Vec<u32> = by_time.iter().filter(covers).copied().collect();
    coverage.pieces.reserve(used.len());
    let extents: Vec<Extent> = used.iter().map(|row| extent(swaths.polygon(*row))).collect();
    let mut grid = ExtentGrid::new(&extents);
    let comparisons = used.len().saturating_mul(MEAN_COMPARISONS).saturating_add(LEAST_COMPARISONS);
    let mut cutter = Cutter { comparisons, ..Cutter::default() };
    let mut earlier: Vec<u32> = Vec::new();
    for (item, row) in (0_u32..).zip(&used) {
        grid.near_item(item, &mut earlier);
        let most = cutter.most_comparisons();
        if earlier.len() > most {
            // Later ones are not reached, so they need not be sorted.
            earlier.select_nth_unstable(most);
            earlier.truncate(most + 1);
        }
        earlier.sort_unstable();
        let swath = swaths.polygon(*row);
        let covering = earlier.iter().map(|other| used[*other as usize]).filter(|other| group(other) == group(row));
        let covering = covering.map(|other| swaths.polygon(other));
        let fresh = if cutter.subtract_all(swath, covering) {
            cutter.pieces.iter().map(Convex::area).sum()
        } else {
            coverage.full[*row as usize]
        };
        coverage.limited += usize::from(cutter.is_limited);
        // The ground of a swath without fresh ground is covered by others, so later swaths need not be compared to it.
        if fresh > 0.0 {
            coverage.fresh[*row as usize] = fresh;
            cutter.pieces.iter().for_each(|piece| coverage.pieces.push(*row, piece.points()));
            grid.insert(item);
        }
    }
    coverage
}

impl Pieces {
    /// Allocates at once for a number of swaths of which few are cut.
    fn reserve(&mut self, swaths: usize) {
        self.corners.reserve(swaths.saturating_mul(5));
        self.ends.reserve(swaths);
        self.rows.reserve(swaths);
    }
}

/// Memory and limits of the subtraction, used again for each swath.
#[derive(Default)]
struct Cutter {
    pieces: Vec<Convex>,
    made: Vec<Convex>,
    cuts: Cuts,
    /// Whether a part of the swath was dropped since it took too long.
    is_limited: bool,
    /// Comparisons that are left for all swaths.
    comparisons: usize,
}

impl Cutter {
    /// Largest number of comparisons for the next swath.
    fn most_comparisons(&self) -> usize {
        if self.comparisons > 0 { MOST_COMPARISONS } else { FEW_COMPARISONS }
    }

    /// Sets `pieces` to a swath without earlier ones, and returns whether any of it was covered.
    fn subtract_all<'a>(&mut self, swath: &[Point], earlier: impl Iterator<Item = &'a [Point]>) -> bool {
        self.is_limited = false;
        self.pieces.clear();
        self.pieces.push(Convex::from_points(swath));
        let mut limit = self.most_comparisons();
        let mut is_cut = false;
        for other in earlier {
            if self.pieces.is_empty() {
                break;
            }
            let comparisons = self.pieces.len();
            self.comparisons = self.comparisons.saturating_sub(comparisons);
            let Some(rest) = limit.checked_sub(comparisons) else {
                self.pieces.clear();
                self.is_limited = true;
                return true;
            };
            limit = rest;
            is_cut |= self.subtract(other);
        }
        is_cut
    }

    /// Subtracts one swath from all pieces, and returns whether any was covered.
    fn subtract(&mut self, other: &[Point]) -> bool {
        let mut at = 0;
        let mut is_cut = false;
        self.made.clear();
        while let Some(piece) = self.pieces.get(at) {
            let start = self.made.len();
            let cuts = self.cuts.find(other, piece.points());
            if cuts.is_some_and(|cuts| push_outside(piece, cuts, &mut self.made)) {
                self.pieces.swap_remove(at);
                is_cut = true;
            } else {
                self.made.truncate(start);
                at += 1;
            }
        }
        if self.pieces.is_empty() {
            std::mem::swap(&mut self.pieces, &mut self.made);
        } else {
            self.pieces.append(&mut self.made);
        }
        if self.pieces.len() > MOST_PIECES {
            self.pieces.sort_unstable_by(|a, b| b.area().total_cmp(&a.area()));
            self.pieces.truncate(MOST_PIECES / 2);
            self.is_limited = true;
        }
        is_cut
    }
}

/// Appends the convex parts of a piece outside a polygon, and returns whether some of the piece is inside.
///
/// The polygon is the common part of half-planes.
fn push_outside(piece: &Convex, polygon: &[(f64, HalfPlane)], made: &mut Vec<Convex>) -> bool {
    let mut parts = [Convex::EMPTY; 2];
    let [mut inside, mut spare] = parts.each_mut();
    let mut is_first = true;
    for (position, (_, half_plane)) in polygon.iter().enumerate() {
        let rest = if is_first { piece } else { &*spare };
        is_first = false;
        if rest.is_full() {
            // The part is inside the half-planes so far, so its halves are cut by the others alone.
            let mut is_inside = false;
            for half in rest.split() {
                let start = made.len();
                if push_outside(&half, &polygon[position..], made) {
                    is_inside = true;
                } else {
                    made.truncate(start);
                    made.push(half);
                }
            }
            return is_inside;
        }
        made.push(Convex::EMPTY);
        if let Some(outside) = made.last_mut() {
            rest.cut(half_plane, outside, inside);
            if outside.area() < LEAST_AREA {
                made.pop();
            }
        }
        std::mem::swap(&mut inside, &mut spare);
    }
    let rest = if is_first { piece } else { &*spare };
    rest.area() >= LEAST_AREA
}
