//! Wall points.

use gridgen::geometry::{
    Airfoil, BaseCells, BoundaryPoints, GeometryError, SurfaceSettings, TrailingEdge,
    airfoil_from_file, airfoil_from_naca, distribute,
};
use support::vectors::{closed_turns, distance, largest_growth, lengths};

use crate::{data, settings};

fn naca_0012(edge: TrailingEdge) -> Airfoil {
    airfoil_from_naca("0012", edge).unwrap()
}

/// Turn of the wall at each point in degrees, clockwise positive, including the first point.
fn turns(wall: &BoundaryPoints) -> Vec<f64> {
    closed_turns(&wall.line).iter().map(|turn| -turn.to_degrees()).collect()
}

/// Largest ratio of neighbouring segments, across the start too, at points where the wall turns by less than
/// 30°.
fn largest_jump(wall: &BoundaryPoints) -> f64 {
    let (d, turn) = (lengths(&wall.line), turns(wall));
    let pairs = (0..d.len()).filter(|&i| turn[i].abs() < 30.0);
    pairs.map(|i| largest_growth(&[d[(i + d.len() - 1) % d.len()], d[i]])).fold(1.0, f64::max)
}

#[test]
fn wall_points_agree_with_an_independent_construction() {
    // SciPy 1.17's CubicSpline through the same contour (1001 cosine points a side for the NACA sections),
    // nose by brentq on (r − r_edge)·r′, Vinokur's function by bisection; ni = 129, spacings 4e-3 and 3e-3.
    let s1223 = airfoil_from_file(data("s1223.dat")).unwrap();
    let naca = |name| airfoil_from_naca(name, TrailingEdge::Sharp).unwrap();
    for (airfoil, reference) in [
        (
            naca("0012"),
            [
                (1, 0.995836084483, -0.000603592382),
                (32, 0.456489235291, -0.055414665117),
                (63, 0.000315001073, -0.003137841681),
                (65, 0.000315001073, 0.003137841681),
                (90, 0.291148778802, 0.059990980222),
                (127, 0.995836084483, 0.000603592382),
            ],
        ),
        (
            naca("4412"),
            [
                (1, 0.995793575865, -0.000044713895),
                (32, 0.457602257551, -0.015689809247),
                (63, 0.000010380128, -0.000051449105),
                (65, 0.000015620317, 0.006225501230),
                (90, 0.285777794077, 0.096815271800),
                (127, 0.995948837935, 0.001142210277),
            ],
        ),
        (
            s1223,
            [
                (1, 0.996476897096, 0.002300974544),
                (32, 0.460755394036, 0.047272579004),
                (63, 0.000154696389, -0.003443231205),
                (65, 0.000158014619, 0.002868901222),
                (90, 0.270654736728, 0.134554896968),
                (127, 0.996724424211, 0.002648047795),
            ],
        ),
    ] {
        let wall = distribute(&airfoil, &settings(129, 4e-3, TrailingEdge::Sharp)).unwrap();

        for (i, x, y) in reference {
            let off = distance(wall.line[i], [x, y]);
            assert!(off < 2e-8, "{} point {i}: off by {off}", airfoil.name);
        }
    }
}

#[test]
fn the_wall_runs_clockwise_and_closes_bit_for_bit() {
    for edge in
        [TrailingEdge::Sharp, TrailingEdge::Blunt, TrailingEdge::Rounded, TrailingEdge::AsGiven]
    {
        for ni in [17, 128, 129, 251] {
            let wall = distribute(&naca_0012(edge), &settings(ni, 4e-3, edge)).unwrap();

            let n = ni - 1;
            let triangle = |w: &[[f64; 2]]| 0.5 * (w[0][0] * w[1][1] - w[1][0] * w[0][1]);
            let area: f64 = wall.line.windows(2).map(triangle).sum();
            assert_eq!(wall.line.len(), ni);
            assert_eq!(wall.line[0].map(f64::to_bits), wall.line[n].map(f64::to_bits));
            assert!(area < 0.0, "{edge:?} {ni}");
            assert!(lengths(&wall.line).iter().all(|d| *d > 0.0));
            assert_eq!(wall.base_cells > 0, edge != TrailingEdge::Sharp);
        }
    }
}

#[test]
fn a_blunt_base_keeps_its_corners_and_has_at_least_eight_cells() {
    let airfoil = naca_0012(TrailingEdge::Blunt);
    let wall = distribute(&airfoil, &settings(251, 1e-3, TrailingEdge::Blunt)).unwrap();

    let last = airfoil.points[airfoil.points.len() - 1];
    let corner = wall.line.iter().position(|point| *point == last).expect("the lower corner");

    assert_eq!(corner, 4, "half of eight cells");
    assert_eq!(wall.line[246], airfoil.points[0]);
    assert_eq!(wall.line[0], [1.0, 0.0], "the wall starts in the middle of the base");
    // The base turns by 90° minus the slope of the surface there, 7.97°.
    assert!((turns(&wall)[4] - 82.0).abs() < 0.3, "{}", turns(&wall)[4]);
    assert!(largest_jump(&wall) < 1.3, "{}", largest_jump(&wall));
}

#[test]
fn the_number_of_cells_on_the_base_follows_the_spacing_or_the_user() {
    let airfoil = naca_0012(TrailingEdge::Blunt);
    let cells = |settings: &SurfaceSettings| {
        let wall = distribute(&airfoil, settings).unwrap();
        wall.line.iter().filter(|[x, _]| *x == 1.0).count() - 2
    };
    let blunt = |edge| settings(251, edge, TrailingEdge::Blunt);

    // gap 0.00252: 0.00252/0.0001/2 = 12.6 → 26
    assert_eq!(cells(&blunt(1e-4)), 26);
    assert_eq!(cells(&blunt(4e-3)), 8);
    assert_eq!(cells(&SurfaceSettings { base_cells: BaseCells::Exactly(10), ..blunt(1e-3) }), 10);
}

#[test]
fn a_rounded_edge_turns_evenly_and_continues_the_spacing() {
    let airfoil = naca_0012(TrailingEdge::Rounded);
    for (edge, ni) in [(4e-3, 129), (1e-3, 251), (1e-4, 251)] {
        let wall = distribute(&airfoil, &settings(ni, edge, TrailingEdge::Rounded)).unwrap();

        let near = |i: usize| i < 20 || i > ni - 20;
        let turn = turns(&wall).into_iter().enumerate().filter(|(i, _)| near(*i));
        let largest = turn.map(|(_, t)| t).fold(0.0, f64::max);
        assert!(largest < 18.0, "{largest} degrees for {edge}");
        assert!(largest_jump(&wall) < 1.3, "{} for {edge}", largest_jump(&wall));
        // The half circle on the gap would extend to 1 + 0.00126; it is shorter because the surfaces taper.
        let [x, y] = wall.line[0];
        assert!((1.001..1.00126).contains(&x) && y.abs() < 1e-12, "{x} {y}");
    }
}

#[test]
fn as_given_closes_small_gaps_and_keeps_large_ones() {
    // The gap is 0.021 t: 0.00084 for four per cent, 0.00126 for six.
    for (name, base) in [("0004", false), ("0006", true)] {
        let airfoil = airfoil_from_naca(name, TrailingEdge::AsGiven).unwrap();

        let wall = distribute(&airfoil, &settings(129, 4e-3, TrailingEdge::AsGiven)).unwrap();

        assert_eq!(wall.base_cells > 0, base, "{name}");
    }
}

#[test]
fn a_sharp_edge_is_made_in_the_middle_of_the_gap() {
    // goe797.dat ends at y = 0.008 and 0, kc135winglet.dat at -0.0020 and -0.0067. A shear linear in x would
    // make the surfaces of the second cross, since it is no thicker slightly ahead of its edge.
    for (name, y) in [("goe797.dat", 0.004), ("kc135winglet.dat", -0.00435)] {
        let airfoil = airfoil_from_file(data(name)).unwrap();

        let wall = distribute(&airfoil, &settings(129, 4e-3, TrailingEdge::Sharp)).unwrap();

        assert!(distance(wall.line[0], [1.0, y]) < 1e-15, "{name}");
    }
}

#[test]
fn a_base_is_refused_where_the_edge_is_closed() {
    let airfoil = airfoil_from_file(data("s1223.dat")).unwrap();

    for edge in [TrailingEdge::Blunt, TrailingEdge::Rounded] {
        let error = distribute(&airfoil, &settings(129, 4e-3, edge)).unwrap_err();

        assert!(matches!(error, GeometryError::NoBase { .. }));
        assert!(error.to_string().contains("the trailing edge is closed"));
        assert!(error.hint().unwrap().contains("`sharp`"));
    }
}

#[test]
fn settings_out_of_range_are_refused_with_the_range() {
    type Change = fn(&mut SurfaceSettings);
    let airfoil = naca_0012(TrailingEdge::Blunt);
    let rows: [(Change, &str); 8] = [
        (|of| of.ni = 16, "ni = 16: between 17 and 1000000"),
        (
            |of| of.leading_edge_spacing = 0.0,
            "leading_edge_spacing = 0: a length between 1e-9 and 0.2 chord",
        ),
        (|of| of.trailing_edge_spacing = f64::NAN, "trailing_edge_spacing = NaN: a length"),
        (|of| of.max_turn_deg = 0.0, "max_turn_deg = 0: an angle between 1e-3 and 180 degrees"),
        (|of| of.max_turn_deg = -15.0, "max_turn_deg = -15: an angle"),
        (|of| of.base_cells = BaseCells::Exactly(5), "base_cells = 5: an even number from 4 to 64"),
        (|of| of.base_cells = BaseCells::Exactly(66), "base_cells = 66"),
        (|of| of.base_cells = BaseCells::Exactly(2), "base_cells = 2"),
    ];
    for (change, message) in rows {
        let mut settings = settings(129, 4e-3, TrailingEdge::Blunt);
        change(&mut settings);

        let error = distribute(&airfoil, &settings).unwrap_err();

        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn contours_made_by_hand_are_checked_too() {
    let with = |points: Vec<[f64; 2]>| Airfoil { name: String::new(), points, notes: Vec::new() };
    let sharp = settings(33, 4e-3, TrailingEdge::Sharp);
    let bow_tie =
        [[1.0, 0.0], [0.7, 0.1], [0.3, -0.1], [0.0, 0.0], [0.3, 0.1], [0.7, -0.1], [1.0, 0.0]];

    assert!(matches!(distribute(&with(Vec::new()), &sharp), Err(GeometryError::Contour { .. })));
    assert!(matches!(
        distribute(&with(bow_tie.to_vec()), &sharp),
        Err(GeometryError::WallCrosses { .. })
    ));
}

/// Half the thickness is 1.4e-4 chord at the last station and slightly less at the one before. A shear that
/// extends far ahead of the edge would remove more than there is.
#[test]
fn an_edge_no_thicker_at_the_last_station_is_closed_without_crossing() {
    let half = |x: f64| {
        if x > 0.9999 { 1.425e-4 } else { x.sqrt() * (1.0 - x) * (0.05 + 0.2 * (1.0 - x)) }
    };
    let point = |k: i32| {
        let x = 0.5 * (1.0 + (std::f64::consts::PI * f64::from(k) / 30.0).cos());
        [x, if k < 30 { half(x) } else { -half(x) }]
    };
    let points = (0..=60).map(point).collect();
    let airfoil = Airfoil { name: "thin".to_owned(), points, notes: Vec::new() };

    for ni in [161, 257, 513, 1025] {
        let wall = distribute(&airfoil, &settings(ni, 0.5 / ni as f64, TrailingEdge::AsGiven));

        assert!(wall.is_ok(), "{ni}: {wall:?}");
    }
}
