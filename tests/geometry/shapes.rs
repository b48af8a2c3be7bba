//! Generated contours: wing-body sections, ellipses, Joukowski sections; flaps and edges.

use std::f64::consts::{PI, TAU};

use gridgen::geometry::{
    Airfoil, BoundaryPoints, ClosedContour, CubicSpline, Ellipse, FileProblem, Flap, GeometryError,
    Joukowski, SectionMeasures, Symmetry, TrailingEdge, WingBody, airfoil_from_naca,
    contour_from_file, distribute_closed, set_edge_thickness, turn_about,
};

use support::vectors::{closed_turns, distance, largest_growth, lengths, turn};

use super::file;

/// The proportions of DLR-F6, metres.
const F6: WingBody = WingBody {
    reference_length: 0.1412,
    fuselage_radius: 0.0742,
    half_span: 0.34,
    wing_height: -0.037,
    root_thickness: 0.030,
    tip_thickness: 0.010,
    dihedral: 4.8,
    fillet_radius: 0.015,
};

#[test]
fn a_wing_body_section_has_the_extent_of_its_lengths() {
    let contour = F6.contour().unwrap();
    let scaled = |length: f64| length / 0.1412;
    let extent = |c: usize| {
        let values = || contour.points.iter().map(|p| p[c]);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };

    // The tip's circle ends with the mid line; dihedral tilts its outermost point by 4.8°, which adds ρ (1 −
    // cos 4.8°) = 0.005 · 0.0035.
    let span = extent(0).1;
    assert!((span - scaled(0.34)).abs() < scaled(2e-5), "{span}");
    assert_eq!(extent(1), (-scaled(0.0742), scaled(0.0742)));
    assert_eq!(contour.points[0], [0.0, scaled(0.0742)]);
    assert!(contour.points.contains(&[0.0, -scaled(0.0742)]));
    for [x, y] in &contour.points {
        assert!(contour.points.contains(&[-x, *y]), "{x} {y}");
    }
}

/// The wall makes one turn clockwise in all. The two fillets are concave and turn the other way, by the
/// angles that the circles leave.
#[test]
fn the_wall_of_a_wing_body_section_keeps_the_turn_and_clusters_where_it_bends() {
    let wall = distribute_closed(&F6.contour().unwrap(), 385, 10.0).unwrap();

    let (turns, lengths) = (closed_turns(&wall.line), lengths(&wall.line));
    assert!((turns.iter().sum::<f64>() + TAU).abs() < 1e-9);
    let most = turns.iter().fold(0.0, |a: f64, b| a.max(-b)).to_degrees();
    assert!(most <= 10.0, "{most}");
    let most = turns.iter().fold(0.0, |a: f64, b| a.max(*b)).to_degrees();
    assert!((10.0..20.0).contains(&most), "a concave bend may turn twice as much: {most}");
    let concave: f64 = turns.iter().filter(|turn| **turn > 0.0).sum();
    assert!(concave > PI, "four fillets of more than 45° each: {concave}");
    // One place is the tip, with a radius of 0.005 m, the other the flat part of the wing.
    let tip = (0..385).max_by(|&a, &b| wall.line[a][0].total_cmp(&wall.line[b][0])).unwrap();
    assert!(lengths[tip] < 10_f64.to_radians() * 0.0051 / 0.1412, "{}", lengths[tip]);
    assert!(lengths.iter().copied().fold(0.0, f64::max) > 4.0 * lengths[tip]);
    let growth = largest_growth(&lengths);
    assert!(growth < 1.25, "{growth}");
}

#[test]
fn the_wall_of_a_symmetric_contour_is_symmetric_to_the_last_bit() {
    let wing = distribute_closed(&F6.contour().unwrap(), 386, 10.0).unwrap();
    let ellipse = distribute_closed(&Ellipse { thickness: 0.2 }.contour(), 129, 15.0).unwrap();

    for (i, ([x, y], image)) in wing.line.iter().zip(wing.line.iter().rev()).enumerate() {
        assert_eq!([-x, *y], *image, "{i}");
    }
    for (i, ([x, y], image)) in ellipse.line.iter().zip(ellipse.line.iter().rev()).enumerate() {
        assert_eq!([*x, -y], *image, "{i}");
    }
    assert_eq!((wing.line[0][0], ellipse.line[64][1]), (0.0, 0.0));
}

#[test]
fn parts_that_do_not_fit_are_refused_with_the_condition() {
    for (section, part) in [
        (WingBody { wing_height: -0.08, ..F6 }, "must meet the fuselage"),
        (WingBody { half_span: 0.08, ..F6 }, "half_span must exceed"),
        (WingBody { fillet_radius: 0.3, ..F6 }, "half_span must exceed"),
    ] {
        let error = section.contour().unwrap_err();

        assert!(error.to_string().contains(part), "{error}");
        assert!(error.hint().is_some());
    }
    let few = distribute_closed(&F6.contour().unwrap(), 129, 10.0).unwrap_err();
    assert!(matches!(few, GeometryError::TooFewForTurns { ni: 129, .. }), "{few}");
}

/// A circle has uniform curvature, so points do not cluster.
#[test]
fn the_points_of_a_circle_are_its_equal_divisions() {
    let wall = distribute_closed(&Ellipse { thickness: 1.0 }.contour(), 65, 15.0).unwrap();

    for i in 0..65 {
        let (sin, cos) = (TAU * i as f64 / 64.0).sin_cos();
        let off = distance(wall.line[i], [0.5 + 0.5 * cos, -0.5 * sin]);
        assert!(off < 1e-10, "{i}: {off:e}");
    }
}

/// |ζ − μ|, with ζ the inverse image of z, is the same at every point of the spline.
#[test]
fn a_joukowski_section_is_the_image_of_its_circle() {
    let (thickness, camber) = (0.12, 0.03);
    let airfoil = Joukowski { thickness, camber }.airfoil().unwrap();
    let measures = SectionMeasures::of(&airfoil).unwrap();
    assert!((measures.thickness - 0.12).abs() < 0.005, "{}", measures.thickness);
    assert!((measures.camber - 0.03).abs() < 0.004, "{}", measures.camber);
    let share = 4.0 * thickness / 27_f64.sqrt();
    let centre = [-share / (1.0 - share), 2.0 * camber];
    let radius = (1.0 - centre[0]).hypot(centre[1]);
    // Scale and shift follow from both ends of the chord: x = 1 is z = 2.
    let front = airfoil.points.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
    assert!(front.abs() < 1e-6);
    let curve = CubicSpline::through(&airfoil.points).unwrap();
    let chord = {
        // z of the foremost point is the smallest x of the image.
        let x = |k: i32| {
            let (sin, cos) = (f64::from(k) * 1e-5).sin_cos();
            let zeta = [
                centre[0] + cos * (1.0 - centre[0]) + sin * centre[1],
                centre[1] + sin * (1.0 - centre[0]) - cos * centre[1],
            ];
            let square = zeta[0] * zeta[0] + zeta[1] * zeta[1];
            zeta[0] * (1.0 + 1.0 / square)
        };
        2.0 - (0..628_318).map(x).fold(f64::INFINITY, f64::min)
    };
    for k in 1..500 {
        let [x, y] = curve.point(curve.length() * f64::from(k) / 500.0);
        let z = [2.0 - chord * (1.0 - x), chord * y];
        // ζ = (z ± √(z² − 4))/2, with the root outside the circle of ζ = 1/ζ.
        let w = [z[0] * z[0] - z[1] * z[1] - 4.0, 2.0 * z[0] * z[1]];
        let size = w[0].hypot(w[1]).sqrt();
        let half = 0.5 * w[1].atan2(w[0]);
        let root = [size * half.cos(), size * half.sin()];
        let off = [1.0, -1.0]
            .map(|sign| [0, 1].map(|c| 0.5 * (z[c] + sign * root[c])))
            .map(|zeta| ((zeta[0] - centre[0]).hypot(zeta[1] - centre[1]) - radius).abs())
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        assert!(off < 1e-6, "{k}: {off:e}");
    }
}

fn naca(designation: &str) -> Airfoil {
    airfoil_from_naca(designation, TrailingEdge::Sharp).unwrap()
}

/// Behind the bend the section is the given one turned about the hinge; ahead of it nothing changes.
#[test]
fn a_flap_turns_the_part_behind_the_hinge() {
    for angle in [15.0_f64, -25.0] {
        let given = naca("2412");
        let mut deflected = given.clone();
        Flap { hinge: 0.7, angle, radius: Some(0.12) }.deflect(&mut deflected).unwrap();

        let hinge = {
            let y = |upper: bool| {
                let half = given.points.len() / 2;
                let side = if upper { &given.points[..half] } else { &given.points[half..] };
                let near = |p: &&[f64; 2]| (p[0] - 0.7).abs();
                side.iter().min_by(|a, b| near(a).total_cmp(&near(b))).unwrap()[1]
            };
            [0.7, 0.5 * (y(true) + y(false))]
        };
        let (sin, cos) = angle.to_radians().sin_cos();
        let turned = |[x, y]: [f64; 2]| {
            let (dx, dy) = (x - hinge[0], y - hinge[1]);
            [hinge[0] + cos * dx + sin * dy, hinge[1] - sin * dx + cos * dy]
        };
        let has =
            |p: [f64; 2], within: f64| deflected.points.iter().any(|q| distance(*q, p) < within);
        for p in &given.points {
            if p[0] < 0.6 {
                assert!(has(*p, 1e-12), "{p:?} moved");
            }
            if p[0] > 0.8 {
                // The hinge computed above is only accurate to the nearest stations.
                assert!(has(turned(*p), 1e-4), "{angle}: {p:?}");
            }
        }
        assert!(deflected.notes[0].contains("was turned by"), "{:?}", deflected.notes);
    }
}

/// Neither surface has a kink or a crossing, since the radius of the bend exceeds half the thickness.
#[test]
fn the_surfaces_of_a_flap_are_smooth() {
    for (section, angle) in [("0012", 30.0), ("23012", 50.0), ("4412", -40.0)] {
        let mut airfoil = naca(section);
        Flap { hinge: 0.75, angle, radius: None }.deflect(&mut airfoil).unwrap();

        let curve = CubicSpline::through(&airfoil.points).unwrap();
        let direction = |k: usize| curve.derivative(curve.length() * k as f64 / 40_000.0);
        // The samples go from the upper to the lower trailing edge, without the nose.
        for k in (40..16_000).chain(24_000..39_960) {
            let turn = turn(direction(k), direction(k + 1)).to_degrees();
            assert!(turn.abs() < 0.2, "{section} {k}: {turn}");
        }
    }
}

#[test]
fn a_bend_that_does_not_fit_is_refused_with_the_range() {
    // One bend is too tight for a thickness of 0.063; the second ends behind the edge; the others begin ahead of the nose,
    // the last one of them alone.
    for (hinge, angle, radius, thickest) in [
        (0.75, 10.0, 0.01, 0.037),
        (0.95, 60.0, 0.2, 0.037),
        (0.75, 20.0, 6.0, 0.037),
        (0.4, 60.0, 0.8, 0.07),
    ] {
        let mut flap = Flap { hinge, angle, radius: Some(radius) };

        let error = flap.deflect(&mut naca("0012")).unwrap_err();

        let GeometryError::FlapRadius { least, most, .. } = error else { panic!("{error}") };
        assert!(radius < least || radius > most, "{error}");
        assert!((0.032..thickest).contains(&least), "{error}");
    }
}

#[test]
fn an_edge_has_the_requested_thickness() {
    for (edge, thickness) in
        [(TrailingEdge::Sharp, 0.004), (TrailingEdge::Blunt, 0.0), (TrailingEdge::Blunt, 0.01)]
    {
        let mut airfoil = airfoil_from_naca("4412", edge).unwrap();
        let nose = airfoil.points[airfoil.points.len() / 2];

        set_edge_thickness(&mut airfoil, thickness);

        let gap = SectionMeasures::of(&airfoil).unwrap().edge_gap;
        assert!((gap - thickness).abs() < 1e-12, "{gap}");
        // The foremost point stays; the end of the chord line is 5e-4 behind it.
        let [x, y] = airfoil.points[airfoil.points.len() / 2];
        assert!((x - nose[0]).hypot(y - nose[1]) < 5e-6);
    }
}

#[test]
fn an_angle_of_attack_lifts_the_nose() {
    let line = [1.0, 0.25, 0.0, 1.0].map(|x| [x, 0.0]).to_vec();
    let mut wall = BoundaryPoints { line, base_cells: 0 };

    turn_about([0.25, 0.0], &mut wall, 30.0);

    let expected = [[0.25 + 0.75 * 0.75_f64.sqrt(), -0.375], [0.25, 0.0]];
    for (i, expected) in expected.into_iter().enumerate() {
        assert!(distance(wall.line[i], expected) < 1e-15, "{i}");
    }
    assert!((wall.line[2][1] - 0.125).abs() < 1e-15);
    assert_eq!(wall.line[0], wall.line[3]);
}

/// Points of a rounded square, counter-clockwise, as text.
fn squircle(points: usize) -> String {
    let at = |k: usize| {
        let (sin, cos) = (TAU * k as f64 / points as f64).sin_cos();
        let size = 3.0 / (sin.powi(4) + cos.powi(4)).powf(0.25);
        format!("{} {}\n", 5.0 + size * cos, 2.0 + size * sin)
    };
    (0..points).map(at).collect()
}

#[test]
fn a_closed_contour_is_read_scaled_and_turned_clockwise() {
    let contour = contour_from_file(file(squircle(80)).path(), 2.0).unwrap();

    assert_eq!((contour.points.len(), contour.symmetry), (80, Some(Symmetry::LeftRight)));
    assert!((contour.centre[0] - 2.5).abs() < 1e-12 && (contour.centre[1] - 1.0).abs() < 1e-12);
    assert!(contour.notes[0].contains("counter-clockwise"), "{:?}", contour.notes);
    let wall = distribute_closed(&contour, 97, 15.0).unwrap();
    let turns = closed_turns(&wall.line);
    assert!((turns.iter().sum::<f64>() + TAU).abs() < 1e-9);
    assert!(turns.iter().all(|turn| turn.abs() <= 15_f64.to_radians()));
}

#[test]
fn a_closing_point_may_be_given_or_omitted() {
    let open = squircle(60);
    let closed = format!("{open}{}", open.lines().next().unwrap());

    let [open, closed] = [open, closed].map(|text| contour_from_file(file(text).path(), 1.0));

    assert_eq!(open.unwrap().points, closed.unwrap().points);
}

#[test]
fn contours_that_are_not_closed_are_refused() {
    let half = squircle(80).lines().take(40).collect::<Vec<_>>().join("\n");
    let crossing = "0 0\n1 1\n2 2\n3 1\n4 0\n3 -1\n2 -2\n1 0\n0 2\n-1 3\n-2 2\n-1 1\n";

    let refused = |text: &str| match contour_from_file(file(text).path(), 1.0) {
        Err(GeometryError::File { line, problem, .. }) => (line, problem),
        other => panic!("{other:?}"),
    };

    let open = refused(&half);
    let crossed = refused(crossing);
    assert!(matches!(open, (Some(1), FileProblem::OpenContour { last: 40, .. })), "{open:?}");
    assert!(matches!(crossed.1, FileProblem::ContourCrosses { .. }), "{crossed:?}");
}

#[test]
fn few_points_of_a_smooth_contour_are_followed_without_a_seam() {
    // The contour has 24 points of a circle. The closed spline is as accurate at its start as elsewhere.
    let at = |k: i32| {
        let (sin, cos) = (-TAU * f64::from(k) / 24.0).sin_cos();
        [cos, sin]
    };
    let contour = ClosedContour {
        name: "circle".into(),
        points: (0..24).map(at).collect(),
        centre: [0.0; 2],
        symmetry: Some(Symmetry::UpDown),
        notes: Vec::new(),
    };

    let radii: Vec<f64> =
        contour.outline(10).unwrap().iter().map(|[x, y]| x.hypot(*y) - 1.0).collect();

    let worst =
        |range: std::ops::Range<usize>| radii[range].iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!(worst(0..240) < 3e-5);
    assert!((worst(0..10) - worst(110..120)).abs() < 1e-9);
}
