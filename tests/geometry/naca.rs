//! NACA sections from their designations.

use std::f64::consts::PI;

use gridgen::geometry::{
    CubicSpline, GeometryError, NacaSection, SectionMeasures, TrailingEdge, airfoil_from_file,
    airfoil_from_naca,
};

use support::vectors::turns;

use crate::{data, distance_from};

#[test]
fn naca_23021_agrees_with_the_published_table() {
    // naca23021.dat is the table of NACA Report 610, with four decimals; in its third upper row two digits
    // are exchanged (0.0641 for 0.0614).
    let ours = airfoil_from_naca("NACA 23021", TrailingEdge::Blunt).unwrap();
    let table = airfoil_from_file(data("naca23021.dat")).unwrap();

    let rows: Vec<[f64; 2]> =
        table.points.iter().copied().filter(|p| (p[1] - 0.0641).abs() > 1e-9).collect();

    assert_eq!(rows.len(), 34);
    assert!(distance_from(&ours, &rows) < 3e-4);
}

#[test]
fn the_reflexed_camber_line_has_no_moment_about_the_quarter_chord() {
    // Thin-airfoil theory: A₁ = A₂. The published constants of 221 to 251 have three digits.
    for (name, tolerance) in
        [("21112", 1e-5), ("22112", 3e-4), ("23112", 3e-4), ("24112", 3e-4), ("25112", 3e-4)]
    {
        let mean = mean_line(name);

        let moment = fourier(&mean, 1.0) - fourier(&mean, 2.0);

        assert!(moment.abs() < 20.0 * tolerance, "{name}: A1 - A2 = {moment}");
        assert!((PI * fourier(&mean, 1.0) - 0.3).abs() < 0.01, "{name}: lift");
    }
}

/// Points of the camber line: the upper and the lower point of a station are symmetric about it.
fn mean_line(designation: &str) -> Vec<[f64; 2]> {
    let points = airfoil_from_naca(designation, TrailingEdge::Sharp).unwrap().points;
    let n = points.len();
    let middle = |k: usize| [0, 1].map(|c| 0.5 * (points[k][c] + points[n - 1 - k][c]));
    (0..=n / 2).rev().map(middle).collect()
}

/// Aₘ = 2/π ∫ y′ cos mθ dθ of a camber line, x = ½ (1 − cos θ).
fn fourier(mean: &[[f64; 2]], m: f64) -> f64 {
    let n = 4000;
    (0..n).fold(0.0, |sum, k| {
        let theta = PI * (f64::from(k) + 0.5) / f64::from(n);
        sum + slope(mean, 0.5 * (1.0 - theta.cos())) * (m * theta).cos() * 2.0 / f64::from(n)
    })
}

/// The opening of the trailing edge of a section that is closed so.
fn gap(designation: &str, edge: TrailingEdge) -> f64 {
    let points = airfoil_from_naca(designation, edge).unwrap().points;
    points[0][1] - points[points.len() - 1][1]
}

fn slope(line: &[[f64; 2]], x: f64) -> f64 {
    let k = line.partition_point(|p| p[0] <= x).clamp(1, line.len() - 1);
    (line[k][1] - line[k - 1][1]) / (line[k][0] - line[k - 1][0])
}

#[test]
fn the_edge_is_closed_only_for_a_sharp_one() {
    assert!(gap("0012", TrailingEdge::Sharp).abs() < f64::EPSILON);
    // 2 · 5 · 0.12 · (0.2969 − 0.1260 − 0.3516 + 0.2843 − 0.1015) = 0.00252
    for edge in [TrailingEdge::Blunt, TrailingEdge::Rounded, TrailingEdge::AsGiven] {
        assert!((gap("0012", edge) - 0.00252).abs() < 1e-15);
    }
}

#[test]
fn designations_may_be_written_as_is_usual() {
    for (texts, name) in [
        (&["0012", "NACA0012", "naca 0012", " NACA-0012 ", "n0012", "N 0012"][..], "NACA 0012"),
        (&["63-215", "63215", "n63215", "naca63-215", "63-215 a=1"], "NACA 63-215"),
        (&["65(3)-218", "65,3-218", "653-218", "naca653218", "65_3-218"], "NACA 65(3)-218"),
        (&["64A410", "64a410", "64-410A", "NACA 64A410 a=0.8"], "NACA 64A410"),
        (&["64(1)A212", "641A212"], "NACA 64(1)A212"),
        (&["66-210 a=0.5", "66-210a=.5", "66-210, a=0.5"], "NACA 66-210 a=0.5"),
    ] {
        for text in texts {
            let airfoil = airfoil_from_naca(text, TrailingEdge::Sharp).unwrap();
            assert_eq!(airfoil.name, name, "{text}");
        }
    }
}

#[test]
fn sections_agree_with_published_ordinates() {
    let tables = include_str!("../data/tables/naca-ordinates.txt");
    for table in tables.split("\n\n").skip(1) {
        let mut lines = table.lines();
        let (name, tolerance) = lines.next().unwrap().split_once(' ').unwrap();
        let row = |line: &str| -> [f64; 2] {
            let numbers = line.split(' ').map(|word| word.parse().unwrap());
            numbers.collect::<Vec<_>>().try_into().unwrap()
        };
        let rows: Vec<[f64; 2]> = lines.map(row).collect();
        let ours = airfoil_from_naca(name, TrailingEdge::AsGiven).unwrap();

        let error = distance_from(&ours, &rows);

        assert!(error < tolerance.parse().unwrap(), "{name}: {error:e}");
    }
}

#[test]
fn mean_lines_of_the_6_series_have_their_design_lift() {
    // Thin-airfoil theory at the ideal angle: the lift is π A₁.
    for (name, lift) in
        [("63-410", 0.4), ("65-606 a=0.5", 0.6), ("66-210 a=0", 0.2), ("64A410", 0.4)]
    {
        let found = PI * fourier(&mean_line(name), 1.0);

        assert!((found / lift - 1.0).abs() < 0.03, "{name}: {found}");
    }
    // Report 824 for a = 1, Report 903 for a = 0.8 (modified), with a design lift of 1: per cent.
    for (name, x, published) in [
        ("63-904", 0.05, 1.580),
        ("63-904", 0.5, 5.515),
        ("64A904", 0.05, 1.803),
        ("64A904", 0.5, 6.651),
        ("64A904", 0.85, 3.607),
    ] {
        let mean = mean_line(name);
        let k = mean.partition_point(|p| p[0] <= x);
        let y = mean[k - 1][1] + (x - mean[k - 1][0]) * slope(&mean, x);

        assert!((y / 0.9 - 0.01 * published).abs() < 2e-5, "{name} at {x}: {y}");
    }
}

#[test]
fn surfaces_of_the_6_series_have_no_corner_and_keep_their_thickness() {
    for name in ["63-215", "64-006", "65(3)-618", "66-440", "67-215 a=0.3", "63A010", "65A610"] {
        let airfoil = airfoil_from_naca(name, TrailingEdge::Sharp).unwrap();

        let turns: Vec<f64> = turns(&airfoil.points).into_iter().map(f64::to_degrees).collect();
        // At the nose each point turns by some degrees, as many as its neighbours.
        let change = turns.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
        let thickness = SectionMeasures::of(&airfoil).unwrap().thickness;

        assert!(change < 0.4, "{name}: {change}");
        let per_cent: f64 = name.split_whitespace().next().unwrap()
            [name.find(['-', 'A']).unwrap() + 2..]
            .parse()
            .unwrap();
        assert!((100.0 * thickness - per_cent).abs() < 0.02, "{name}: {thickness}");
        let ends = [airfoil.points[0], airfoil.points[airfoil.points.len() - 1]];
        assert!(ends[0] == ends[1] && ends[0] == [1.0, 0.0], "{name}: {ends:?}");
    }
    assert!((gap("64A010", TrailingEdge::Blunt) - 0.00042).abs() < 1e-9);
    assert!(gap("64A010", TrailingEdge::Extended).abs() < 1e-15);
}

#[test]
fn designations_without_a_section_are_refused_with_the_rule_they_break() {
    for (text, part) in [
        ("", "no digits"),
        ("NACA", "no digits"),
        ("12", "four or five digits"),
        ("63-2", "family, design lift and thickness"),
        ("6é3215", "family, design lift and thickness"),
        ("65(318)-217", "family, design lift and thickness"),
        ("6A3215", "family, design lift and thickness"),
        ("62-215", "families 63 to 67"),
        ("66A210", "families 63 to 67"),
        ("63-200", "1 to 40 %"),
        ("63-241", "1 to 40 %"),
        ("63-215 a=1.5", "uniform load"),
        ("63-215 a=", "uniform load"),
        ("64A210 a=0.5", "a=0.8 (modified)"),
        ("64A210 a=1", "a=0.8 (modified)"),
        ("001234", "four or five digits"),
        ("0012-34", "only digits"),
        ("00é2", "only digits"),
        ("2400", "thickness"),
        ("4012", "cannot be 0"),
        ("0412", "must be 0"),
        ("23212", "third of five digits"),
        ("27012", "second of five digits"),
        ("03012", "design lift"),
    ] {
        let error = airfoil_from_naca(text, TrailingEdge::Sharp).unwrap_err();

        assert!(matches!(error, GeometryError::Designation { .. }));
        assert!(error.to_string().contains(part), "{text}: {error}");
        assert!(error.hint().unwrap().contains("accepted: four digits"));
    }
}

/// Largest distance of the spline's points between its knots from the exact surface, measured along the
/// normal of the spline.
fn spline_error(designation: &str) -> f64 {
    let airfoil = airfoil_from_naca(designation, TrailingEdge::Sharp).unwrap();
    let section = NacaSection::named(designation).unwrap();
    let curve = CubicSpline::through(&airfoil.points).unwrap();
    let upper = &airfoil.points[..=airfoil.points.len() / 2];
    let nose: f64 = support::vectors::lengths(upper).iter().sum();
    let n = 20_011;
    (0..=n).fold(0.0, |worst: f64, k| {
        let s = curve.length() * f64::from(k) / f64::from(n);
        let (r, t) = (curve.point(s), curve.derivative(s));
        let sign = if s < nose { 1.0 } else { -1.0 };
        // The station whose surface point lies on the spline's normal at s, by the secant method in √x, in
        // which the surface is smooth at the nose.
        let along = |root: f64| {
            let p = section.at(root * root, -0.1036, sign);
            let (dx, dy) = (p[0] - r[0], p[1] - r[1]);
            (dx * t[0] + dy * t[1], (dx * t[1] - dy * t[0]).abs())
        };
        let (mut a, mut b) = (r[0].max(0.0).sqrt(), r[0].max(0.0).sqrt() * 0.999 + 1e-4);
        for _ in 0..40 {
            let (fa, fb) = (along(a).0, along(b).0);
            if (fa - fb).abs() < f64::MIN_POSITIVE {
                break;
            }
            (a, b) = (b, (b - fb * (b - a) / (fb - fa)).clamp(0.0, 1.0));
        }
        worst.max(along(b).1)
    })
}

#[test]
fn the_spline_is_within_1e_9_of_the_section() {
    for designation in ["0012", "0030", "4412", "6409", "23012", "21012", "22112"] {
        let error = spline_error(designation);

        assert!(error < 1e-9, "{designation}: {error:e}");
    }
}
