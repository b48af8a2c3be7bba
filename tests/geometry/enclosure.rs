//! Outer lines of sides.

use gridgen::geometry::{Enclosure, OuterSide};

#[test]
fn an_arc_lies_on_its_circle_on_the_side_of_the_third_point() {
    let ends = [[3.0, 1.0], [1.0, -1.0]];
    // A quarter of the circle of radius 2 about (1, 1), and the rest of it.
    let diagonal = 2.0_f64.sqrt();
    for (through, quarters) in
        [([1.0 + diagonal, 1.0 - diagonal], 1.0), ([1.0 - diagonal, 1.0 + diagonal], 3.0)]
    {
        let side = OuterSide::arc(ends, through).unwrap();

        let line = Enclosure::of_sides(std::slice::from_ref(&side));
        assert_eq!([side.points()[0], side.points()[side.points().len() - 1]], ends);
        let length = quarters * std::f64::consts::PI;
        assert!((line.length() / length - 1.0).abs() < 1e-5, "{}", line.length());
        for k in 0..=777 {
            let t = line.length() * f64::from(k) / 777.0;
            let ([x, y], tangent) = (line.point(t), line.tangent(t));
            assert!(((x - 1.0).hypot(y - 1.0) - 2.0).abs() < 1e-11, "{x} {y}");
            let along = ((x - 1.0) * tangent[0] + (y - 1.0) * tangent[1]).abs();
            assert!(along < 1e-5, "{along:e}");
        }
    }
    assert!(OuterSide::arc(ends, [2.0, 0.0]).is_none());
}

/// A square about the origin, clockwise from its lower right corner.
fn square() -> Enclosure {
    let corners = [[1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    let side = |k: usize| OuterSide::straight([corners[k], corners[(k + 1) % 4]]);
    Enclosure::of_sides(&[0, 1, 2, 3].map(side))
}

#[test]
fn a_closed_line_begins_where_a_line_meets_it() {
    for (slope, start, side, sides) in [
        (0.0, [1.0, 0.0], 3, 5),
        (-0.5, [1.0, -0.5], 3, 5),
        (2.0, [0.5, 1.0], 2, 5),
        // At a corner it has as many sides as before.
        (-1.0, [1.0, -1.0], 3, 4),
    ] {
        let (line, found) = square().begun_at(0.0, |x| slope * x).unwrap();

        assert_eq!((found, line.corners().len() - 1), (side, sides), "{slope}");
        for end in [0.0, line.length()] {
            let [x, y] = line.point(end);
            assert!((x - start[0]).hypot(y - start[1]) < 1e-12, "{slope}: {x} {y}");
        }
        assert!((line.length() - 8.0).abs() < 1e-12);
        for corner in &line.corners()[1..sides] {
            assert!(line.point(*corner).iter().all(|c| c.abs() == 1.0), "{slope}");
        }
    }
}

#[test]
fn a_line_holds_what_is_inside_of_it() {
    let line = square();

    for (point, inside) in [
        ([0.0, 0.0], true),
        ([0.9, -0.9], true),
        ([1.1, 0.0], false),
        ([0.3, 1.0], false),
        ([-1.0, -1.0], false),
    ] {
        assert_eq!(line.holds(point), inside, "{point:?}");
    }
}
