//! The outer line of a case, `[[domain.piece]]`: its pieces in order.

use super::entries::Given;
use super::piece::{PieceOptions, SAME};
use super::schema::shown;
use super::sections::existing_file;
use super::{CaseError, TopologyChoice};
use crate::geometry::vector::{between, distance};
use crate::geometry::{Enclosure, GeometryError, first_contact, points_from_file, polygon_area};
use crate::grid::SideKind;
use crate::grid::boundary::Patch;

/// The key of the list.
pub(super) const PIECE: &str = "domain.piece";

/// The name of an outlet that is not given.
const OUTLET: &str = "outlet";

/// The outer line of a case, clockwise and closed: of a C-grid the outlet is the last piece.
#[derive(Debug, Clone)]
pub(super) struct PieceLine(pub(super) Vec<PieceOptions>);

impl PieceLine {
    /// The points by which the line is known, those of [`PieceOptions::outlined`].
    pub(super) fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.0.iter().flat_map(PieceOptions::outlined)
    }

    /// The largest x, where a C-grid has its outlet.
    pub(super) fn outlet(&self) -> f64 {
        self.points().fold(f64::NEG_INFINITY, |most, [x, _]| most.max(x))
    }

    /// The least distance in y of these points from the line.
    pub(super) fn room(&self, points: impl IntoIterator<Item = [f64; 2]>) -> f64 {
        let lines: Vec<_> = self.0.iter().map(PieceOptions::outlined).collect();
        let parts = || lines.iter().flat_map(|line| line.windows(2));
        let from_part = |ends: &[[f64; 2]], [x, y]: [f64; 2]| {
            let (a, b) = (ends[0], ends[1]);
            let [[x0, y0], [x1, y1]] = if a[0] <= b[0] { [a, b] } else { [b, a] };
            let height = || y0 + (x - x0) / (x1 - x0) * (y1 - y0);
            (x0 <= x && x < x1).then(|| (y - height()).abs())
        };
        let distances = points
            .into_iter()
            .flat_map(|point| parts().filter_map(move |ends| from_part(ends, point)));
        distances.fold(f64::INFINITY, f64::min)
    }

    /// The line through all pieces, and the patch of each of its sides.
    pub(super) fn line(&self) -> Result<(Enclosure, Vec<Patch>), GeometryError> {
        let (mut sides, mut patches) = (Vec::new(), Vec::new());
        for piece in &self.0 {
            let own = piece.sides()?;
            patches.extend(own.iter().map(|_| piece.patch()));
            sides.extend(own);
        }
        Ok((Enclosure::of_sides(&sides), patches))
    }
}

/// The pieces of a case, with the points of their files, as one closed line.
pub(super) fn pieces(
    entries: &Given,
    topology: TopologyChoice,
) -> Result<Vec<PieceOptions>, CaseError> {
    let mut pieces: Vec<PieceOptions> = entries.get(PIECE)?;
    let refuse = |expected: String, remedy: &str| Err(entries.refuse(&[PIECE], expected, remedy));
    for (number, piece) in pieces.iter_mut().enumerate() {
        let Some(file) = &piece.file else { continue };
        let path = existing_file(entries, PIECE, file)?;
        let points = points_from_file(&path).map_err(|error| {
            let remedy = "give a file of points x y in chords, clockwise along the piece";
            let expected = format!("points of {}: {error}", called(number, piece));
            entries.refuse(&[PIECE], expected, remedy)
        })?;
        (piece.points, piece.file) = (points, Some(path));
        if let Err(problem) = piece.is_line() {
            let expected = format!("a line of {}: {problem}", called(number, piece));
            return refuse(expected, "correct the points of its file");
        }
    }
    for (number, pair) in pieces.windows(2).enumerate() {
        let ([_, end], [begin, _]) = (pair[0].ends(), pair[1].ends());
        if distance(end, begin) > SAME {
            let [before, after] = [0, 1].map(|k| called(number + k, &pair[k]));
            let [end, begin] = [end, begin].map(point);
            return refuse(
                format!("{after} to begin at {end}, where {before} ends, not at {begin}"),
                "give pieces and their points in order, clockwise from the lower end of the outlet; or add a piece between",
            );
        }
    }
    let (begin, end) = (pieces[0].ends()[0], pieces[pieces.len() - 1].ends()[1]);
    if distance(begin, end) > SAME {
        if (begin[0] - end[0]).abs() > SAME {
            let [begin, end] = [begin, end].map(point);
            return refuse(
                format!(
                    "the last piece to end at {begin}, where the first begins, or above it, for a vertical outlet between, \
                     not at {end}"
                ),
                "end both at one x, or add the piece that closes the line",
            );
        }
        pieces.push(PieceOptions::straight(OUTLET, SideKind::Outlet, [end, begin]));
    }
    join(&mut pieces);
    for (number, piece) in pieces.iter().enumerate() {
        let other =
            pieces[..number].iter().position(|o| o.name == piece.name && o.kind != piece.kind);
        if let Some(other) = other {
            let [before, own] = [other, number].map(|k| called(k, &pieces[k]));
            return refuse(
                format!("one kind for all pieces of a name, not two for {before} and {own}"),
                "give both the same kind, or one of them another name; an outlet that is not given is named \"outlet\"",
            );
        }
    }
    let line = PieceLine(pieces);
    check_line(entries, topology, &line)?;
    Ok(line.0)
}

/// A piece in messages, by its number from 0.
fn called(number: usize, piece: &PieceOptions) -> String {
    format!("piece {} (\"{}\")", number + 1, piece.name)
}

/// A point in messages.
fn point([x, y]: [f64; 2]) -> String {
    format!("[{}, {}]", shown(x), shown(y))
}

/// Makes neighbouring ends one point bit for bit.
fn join(pieces: &mut [PieceOptions]) {
    for k in 0..pieces.len() {
        let next = (k + 1) % pieces.len();
        let [begin, _] = pieces[next].ends();
        if let Some(end) = pieces[k].points.last_mut() {
            *end = begin;
        }
    }
}

/// Refuses a line that crosses itself or runs counter-clockwise, and one without the outlet of a C-grid.
fn check_line(
    entries: &Given,
    topology: TopologyChoice,
    line: &PieceLine,
) -> Result<(), CaseError> {
    let refuse = |expected: String, remedy: &str| Err(entries.refuse(&[PIECE], expected, remedy));
    let (mut all, mut piece_of_point) = (Vec::new(), Vec::new());
    for (number, piece) in line.0.iter().enumerate() {
        for side in piece.sides().unwrap_or_default() {
            all.extend_from_slice(&side.points()[1..]);
        }
        piece_of_point.resize(all.len(), number);
    }
    if let Some((first, second)) = first_contact(&all) {
        let of = |segment: usize| {
            // Segment k ends at point k + 1 of the list, whose first point ends the first segment of the line.
            let number = piece_of_point[(segment + 1) % all.len()];
            called(number, &line.0[number])
        };
        let at = between(all[second], all[(second + 1) % all.len()], 0.5);
        let [first, second] = [of(first), of(second)];
        return refuse(
            format!("a line that does not meet itself: {first} meets {second} near {}", point(at)),
            "move the points of one of them; pieces that follow each other meet in one point",
        );
    }
    if polygon_area(&all) >= 0.0 {
        return refuse(
            "pieces clockwise around the section, not counter-clockwise".into(),
            "reverse the list of pieces and the points of each: floor, inlet, roof, outlet",
        );
    }
    let last = line.0.len() - 1;
    let outlet = &line.0[last];
    let [[x, top], [below, bottom]] = outlet.ends();
    let straight = outlet.points.len() == 2 && outlet.through.is_none();
    let upright = straight && (x - below).abs() <= SAME;
    if topology != TopologyChoice::O && !(upright && top > bottom && line.outlet() <= x + SAME) {
        return refuse(
            format!(
                "a straight vertical outlet behind everything else as last piece, where the cut of a C-grid ends, not {}",
                called(last, outlet)
            ),
            "begin with the piece at the lower end of the outlet, or set grid.topology = \"O\"",
        );
    }
    Ok(())
}
