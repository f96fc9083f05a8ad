//! Builds the ground that a row worked: its logged polygons, else a convex polygon behind the cutter bar, joined to those
//! before and after it.

use std::sync::Arc;

use crate::columns::derived::GAP;
use crate::columns::row_ratios::median;
use crate::ground::convex_clip::{Point, area};
use crate::ground::logged_shapes::{LARGEST_COORDINATE, Shapes};
use crate::ground::polygon_coverage::owned_area;
use headland_reader::layer::Polygons;

/// Rows whose headings differ by less are joined.
const LARGEST_TURN: f64 = 15.0 * std::f64::consts::PI / 180.0;

/// Ends of swaths that follow each other are at most this share of the distance apart along the track; a row that is
/// missing between them leaves a whole distance.
const LARGEST_STEP: f64 = 0.75;

/// Ends of swaths that follow each other are at most this share of the width apart across the track.
const LARGEST_SHIFT: f64 = 0.5;

/// No machine works a swath of this length in metres in one row.
const LARGEST_DISTANCE: f64 = 1_000.0;

/// Swaths smaller than this are none, in m2.
const LEAST_AREA: f64 = 1e-6;

const NONE: u32 = u32::MAX;

/// Columns of the rows whose swaths are built, all of one length. Not a number stands for null.
pub(crate) struct SwathRows<'a> {
    /// Metres east in a local plane.
    pub(crate) x: &'a [f64],
    /// Metres north in a local plane.
    pub(crate) y: &'a [f64],
    /// Radians anticlockwise from east.
    pub(crate) heading: &'a [f64],
    /// Metres worked since the row before.
    pub(crate) distance: &'a [f64],
    /// Metres.
    pub(crate) width: &'a [f64],
    /// Metres beyond half the width on the left and on the right, empty for none.
    pub(crate) extra: &'a [[f64; 2]],
    /// Machine and section of a row. Rows are sorted by track, then time.
    pub(crate) track: &'a [u32],
    /// Number of the pass, 0 outside every pass.
    pub(crate) pass: &'a [i32],
    /// Seconds.
    pub(crate) time: &'a [f64],
    /// Metres forward from the position to the cutter bar.
    pub(crate) antenna: f64,
    /// Larger widths are wrong, in metres.
    pub(crate) most_width: f64,
    /// Logged polygons, and the place of each row among them.
    pub(crate) shapes: Option<(&'a Arc<Shapes>, &'a [usize])>,
}

/// The ground of each row, or none: a convex polygon, or polygons of any shape.
pub(crate) struct Swaths {
    /// Start of the corners of each row, and the end of the last one.
    starts: Vec<u32>,
    corners: Vec<Point>,
    /// Logged polygons of each season; empty if no row has any.
    logged: Vec<Logged>,
    /// Rows in passes whose width or distance no machine has, so that they have no ground, and the first of them.
    pub(crate) implausible: Vec<u32>,
}

/// Ground of any shape: all of a layer in which some rows have polygons.
#[derive(Clone)]
pub(crate) struct Logged {
    pub(crate) shapes: Arc<Shapes>,
    /// The first of its rows.
    first: usize,
    /// Place of each row among the shapes; `NONE` without ground.
    places: Vec<u32>,
}

impl Logged {
    /// The place of a row among the shapes, if it has ground.
    pub(crate) fn place(&self, row: usize) -> Option<u32> {
        self.places.get(row.checked_sub(self.first)?).copied().filter(|place| *place != NONE)
    }
}

impl Swaths {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The polygons of all rows by season, if some are logged.
    pub(crate) fn logged(&self) -> &[Logged] {
        &self.logged
    }

    /// Appends the rows of another season.
    pub(crate) fn append(&mut self, mut other: Self) {
        let (rows, corners) = (self.len(), self.corners.len());
        let place = |count: usize| u32::try_from(count).unwrap_or(NONE);
        self.starts.pop();
        self.starts.extend(other.starts.iter().map(|start| start + place(corners)));
        self.corners.append(&mut other.corners);
        self.implausible.extend(other.implausible.iter().map(|row| row + place(rows)));
        self.logged.extend(other.logged.into_iter().map(|logged| Logged { first: logged.first + rows, ..logged }));
    }

    /// The polygons of a row, without the closing vertices; empty if it has none.
    pub(crate) fn polygons(&self, row: usize) -> Polygons {
        let index = u32::try_from(row).unwrap_or(NONE);
        if self.logged.is_empty() {
            let corners = self.polygon(index);
            return if corners.is_empty() { Vec::new() } else { vec![vec![corners.to_vec()]] };
        }
        let place = self.logged.iter().find_map(|logged| Some((logged, logged.place(row)?)));
        place.map_or_else(Vec::new, |(logged, place)| logged.shapes.polygons(place))
    }

    /// Anticlockwise corners of the swath of a row that is not logged; empty if it has none.
    #[inline]
    pub(crate) fn polygon(&self, row: u32) -> &[Point] {
        let row = row as usize;
        match (self.starts.get(row), self.starts.get(row + 1)) {
            (Some(start), Some(end)) => &self.corners[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// Swaths with the given corners, which must be convex and anticlockwise.
    #[cfg(test)]
    pub(crate) fn from_polygons(polygons: &[Vec<Point>]) -> Self {
        let mut swaths = Self { starts: vec![0], corners: Vec::new(), logged: Vec::new(), implausible: Vec::new() };
        for polygon in polygons {
            swaths.corners.extend(polygon);
            swaths.starts.push(u32::try_from(swaths.corners.len()).unwrap());
        }
        swaths
    }
}

/// A rectangle behind the cutter bar.
#[derive(Clone, Copy)]
struct Frame {
    front: Point,
    back: Point,
    /// Unit vector forward.
    forward: Point,
    /// Metres to the left and to the right.
    sides: [f64; 2],
}

impl Frame {
    fn width(&self) -> f64 {
        self.sides[0] + self.sides[1]
    }
}

/// Where a frame meets the one before or after it: a line across the track.
#[derive(Clone, Copy)]
struct Joint {
    centre: Point,
    /// To the left along the line, as long as one metre across the track.
    left: Point,
}

/// Builds the swaths of rows.
///
/// Rows outside every pass have none. Rows without a positive width and distance, a heading and a position have one
/// only if they have a logged polygon.
pub(crate) fn build_swaths(rows: &SwathRows<'_>) -> Swaths {
    let frames: Vec<Option<Frame>> = (0..rows.x.len()).map(|row| frame(rows, row)).collect();
    let mut links = Links::new(rows, &frames);
    let mut swaths = Swaths {
        starts: Vec::with_capacity(frames.len() + 1),
        corners: Vec::with_capacity(if rows.shapes.is_some() { 0 } else { frames.len().saturating_mul(4) }),
        logged: Vec::new(),
        implausible: (0_u32..).take(frames.len()).filter(|row| is_implausible(rows, *row as usize)).collect(),
    };
    let mut bent = Vec::new();
    for (row, frame) in (0_u32..).zip(&frames) {
        swaths.starts.push(u32::try_from(swaths.corners.len()).unwrap_or(NONE));
        if let Some(frame) = frame.as_ref().filter(|_| logged(rows, row as usize).is_none()) {
            let quadrilateral = quadrilateral(frame, &links.joints(row, &frames));
            if !is_convex(&quadrilateral) {
                bent.push(row);
            }
            swaths.corners.extend_from_slice(&quadrilateral);
        }
    }
    swaths.starts.push(u32::try_from(swaths.corners.len()).unwrap_or(NONE));
    separate(&mut swaths, &mut links, &frames, &bent);
    swaths.logged = rows.shapes.iter().map(|(shapes, _)| with_logged(rows, shapes, &swaths)).collect();
    swaths
}

/// Puts the swaths of rows without a logged polygon beside the logged ones.
fn with_logged(rows: &SwathRows<'_>, shapes: &Arc<Shapes>, swaths: &Swaths) -> Logged {
    let mut shapes = Arc::clone(shapes);
    let mut places: Vec<u32> = (0..swaths.len()).map(|row| logged(rows, row).unwrap_or(NONE)).collect();
    for (row, place) in (0_u32..).zip(&mut places) {
        let corners = swaths.polygon(row);
        if !corners.is_empty() {
            let index = u32::try_from(shapes.len()).unwrap_or(NONE);
            if Arc::make_mut(&mut shapes).push(&vec![vec![corners.to_vec()]], owned_area) {
                *place = index;
            }
        }
    }
    Logged { shapes, first: 0, places }
}

/// Makes plain rectangles of rows that are not convex, and straightens the ends that others shared with them.
fn separate(swaths: &mut Swaths, links: &mut Links, frames: &[Option<Frame>], bent: &[u32]) {
    let mut changed = Vec::new();
    for row in bent {
        changed.extend([*row, links.before[*row as usize], links.after[*row as usize]]);
        links.cut(*row);
    }
    for row in changed {
        let Some(Some(frame)) = frames.get(row as usize) else { continue };
        let mut corners = quadrilateral(frame, &links.joints(row, frames));
        if !is_convex(&corners) {
            corners = quadrilateral(frame, &[None, None]);
        }
        let start = swaths.starts[row as usize] as usize;
        if let Some(old) = swaths.corners.get_mut(start..start + corners.len()) {
            old.copy_from_slice(&corners);
        }
    }
}

/// The rows that a row is joined to.
struct Links {
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Links {
    fn new(rows: &SwathRows<'_>, frames: &[Option<Frame>]) -> Self {
        let mut links = Self { before: vec![NONE; frames.len()], after: vec![NONE; frames.len()] };
        let order: Vec<u32> = (0_u32..).take(frames.len()).collect();
        let track = |row: &u32| rows.track.get(*row as usize);
        for track in order.chunk_by(|one, next| track(one) == track(next)) {
            let longest_gap = GAP * interval(rows, track);
            for pair in track.windows(2) {
                let [one, next] = [pair[0], pair[1]];
                let (Some(Some(frame)), Some(Some(following))) = (frames.get(one as usize), frames.get(next as usize))
                else {
                    continue;
                };
                let time = |row: u32| rows.time.get(row as usize).copied().unwrap_or(f64::NAN);
                let gap = time(next) - time(one);
                let is_one_pass = rows.pass.get(one as usize) == rows.pass.get(next as usize);
                let is_framed = logged(rows, one as usize).is_none() && logged(rows, next as usize).is_none();
                // Rows without times are joined by their positions alone.
                let is_late = gap > longest_gap;
                if is_one_pass && is_framed && !is_late && follows(frame, following) {
                    links.after[one as usize] = next;
                    links.before[next as usize] = one;
                }
            }
        }
        links
    }

    /// The joints at the back and at the front of a row.
    fn joints(&self, row: u32, frames: &[Option<Frame>]) -> [Option<Joint>; 2] {
        let joint = |one: u32, next: u32| {
            let (one, next) = (frames.get(one as usize)?.as_ref()?, frames.get(next as usize)?.as_ref()?);
            Some(joint(one, next))
        };
        [joint(self.before[row as usize], row), joint(row, self.after[row as usize])]
    }

    /// Separates a row from those before and after it.
    fn cut(&mut self, row: u32) {
        let before = std::mem::replace(&mut self.before[row as usize], NONE);
        let after = std::mem::replace(&mut self.after[row as usize], NONE);
        if let Some(link) = self.after.get_mut(before as usize) {
            *link = NONE;
        }
        if let Some(link) = self.before.get_mut(after as usize) {
            *link = NONE;
        }
    }
}

/// Median time between rows of a track in one pass; not a number if there is none.
fn interval(rows: &SwathRows<'_>, track: &[u32]) -> f64 {
    let mut steps: Vec<f64> = Vec::with_capacity(track.len());
    for pair in track.windows(2) {
        let at = |row: u32| Some((*rows.time.get(row as usize)?, *rows.pass.get(row as usize)?));
        if let (Some((time, pass)), Some((next_time, next_pass))) = (at(pair[0]), at(pair[1]))
            && pass == next_pass
            && next_time > time
        {
            steps.push(next_time - time);
        }
    }
    median(steps)
}

/// The place of the logged polygons of a row in a pass, if they are ground.
fn logged(rows: &SwathRows<'_>, row: usize) -> Option<u32> {
    let (shapes, places) = rows.shapes?;
    let place = *places.get(row)?;
    (shapes.area(place) > 0.0 && *rows.pass.get(row)? != 0).then(|| u32::try_from(place).ok()).flatten()
}

/// Whether a row in a pass has a distance or width that no machine has, and no logged polygon.
fn is_implausible(rows: &SwathRows<'_>, row: usize) -> bool {
    let is_above = |column: &[f64], most: f64| column.get(row).is_some_and(|value| *value > most);
    let is_wrong = is_above(rows.width, rows.most_width) || is_above(rows.distance, LARGEST_DISTANCE);
    is_wrong && rows.pass.get(row).is_some_and(|pass| *pass != 0) && logged(rows, row).is_none()
}

fn frame(rows: &SwathRows<'_>, row: usize) -> Option<Frame> {
    if *rows.pass.get(row)? == 0 {
        return None;
    }
    let [x, y, heading, distance, width] =
        [rows.x, rows.y, rows.heading, rows.distance, rows.width].map(|column| column.get(row).copied());
    let (x, y, heading, distance, width) = (x?, y?, heading?, distance?, width?);
    let antenna = rows.antenna;
    let sides = rows.extra.get(row).copied().unwrap_or_default().map(|extra| width / 2.0 + extra);
    let is_swath = distance > 0.0 && width > 0.0 && distance * width >= LEAST_AREA && heading.is_finite();
    if !is_swath || is_implausible(rows, row) {
        return None;
    }
    let (sine, cosine) = heading.sin_cos();
    let front = [x + antenna * cosine, y + antenna * sine];
    if front.iter().any(|coordinate| coordinate.is_nan() || coordinate.abs() > LARGEST_COORDINATE) {
        return None;
    }
    let back = [front[0] - distance * cosine, front[1] - distance * sine];
    Some(Frame { front, back, forward: [cosine, sine], sides })
}

/// Whether a frame begins about where another one ends.
fn follows(one: &Frame, next: &Frame) -> bool {
    if one.forward[0] * next.forward[0] + one.forward[1] * next.forward[1] <= LARGEST_TURN.cos() {
        return false;
    }
    let step = [next.back[0] - one.front[0], next.back[1] - one.front[1]];
    let along = step[0] * one.forward[0] + step[1] * one.forward[1];
    let across = step[1] * one.forward[0] - step[0] * one.forward[1];
    let distance = |frame: &Frame| {
        (frame.front[0] - frame.back[0]) * frame.forward[0] + (frame.front[1] - frame.back[1]) * frame.forward[1]
    };
    along.abs() <= LARGEST_STEP * (distance(one) + distance(next)) / 2.0
        && across.abs() <= LARGEST_SHIFT * one.width().min(next.width())
}

/// The joint of two frames: across the bisector of their headings.
///
/// It lies in the middle of the front of one and the back of the next, so the lengths of joined swaths add up to the
/// track that was driven, and an error of one position or distance moves ground between two rows but adds none.
fn joint(one: &Frame, next: &Frame) -> Joint {
    let sum = [one.forward[0] + next.forward[0], one.forward[1] + next.forward[1]];
    // The sum is 2 cos(turn/2) long, and a metre across either track takes 1 / cos(turn/2) along the joint.
    let scale = 2.0 / (sum[0] * sum[0] + sum[1] * sum[1]);
    Joint {
        centre: [0.5 * (one.front[0] + next.back[0]), 0.5 * (one.front[1] + next.back[1])],
        left: [-sum[1] * scale, sum[0] * scale],
    }
}

/// Corners from the right back anticlockwise. An end without a joint is square.
fn quadrilateral(frame: &Frame, joints: &[Option<Joint>; 2]) -> [Point; 4] {
    let square = [-frame.forward[1], frame.forward[0]];
    let [back, front] = joints;
    let back = back.unwrap_or(Joint { centre: frame.back, left: square });
    let front = front.unwrap_or(Joint { centre: frame.front, left: square });
    let corner = |joint: &Joint, by: f64| [joint.centre[0] + by * joint.left[0], joint.centre[1] + by * joint.left[1]];
    let [left, right] = frame.sides;
    [corner(&back, -right), corner(&front, -right), corner(&front, left), corner(&back, left)]
}

/// Whether a quadrilateral turns left at each corner.
fn is_convex(corners: &[Point; 4]) -> bool {
    let [a, b, c, d] = corners;
    let turns_left = |a: &Point, b: &Point, c: &Point| area(&[*a, *b, *c]) > LEAST_AREA / 4.0;
    turns_left(a, b, c) && turns_left(b, c, d) && turns_left(c, d, a) && turns_left(d, a, b)
}
