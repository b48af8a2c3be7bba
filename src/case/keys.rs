//! The table of all keys of a case file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::defaults::{NEWTON_STEPS, Retry};
use super::schema::{Key, KeyKind, Preset, SIDES, closed, integer, keys, open, real};
use super::{Contour, Frame, PieceOptions, TopologyChoice, WallPoints};
use crate::formats::plot3d::Flavour;
use crate::formats::{Compression, Format, NAMES, Sides};
use crate::geometry::{Cluster, Flap, Heights, Placement, TrailingEdge, Wake};
use crate::grid::initial::InitialMethod;
use crate::grid::{Seam, SideKind};
use crate::solver::linear::{LinearSettings, Precision};
use crate::solver::precond;
use crate::sparse::Schedule;

use Preset::{Derived, Flag, Integer, Real, Unset, Word, Words};

/// Name of the case, the one key at the top of the file.
const NAME: Key = Key {
    path: "name",
    kind: KeyKind::Text,
    default: Derived("the case file's name without `.toml`"),
    unit: "",
    meaning: "Name of the case, used for the output folder and files.",
};

keys! {
    /// Sections of a case file and what they are about.
    SECTIONS,
    /// All keys of a case.
    KEYS, [NAME];
    #[derive(Debug, Clone, PartialEq, Serialize)]
    "geometry" => GeometryOptions {
        /// Source of the contour.
        #[serde(flatten)]
        pub contour: Contour,
        /// Place and size of the section in its file, once that is read.
        #[serde(skip)]
        pub(crate) in_file: Placement,
        /// A deflected flap.
        pub flap: Option<Flap>,
    }:
        "The section. Exactly one of `naca`, `file`, `points`, `section`, `wing_body`, `ellipse` and \
        `joukowski` is needed; the last four are tables, as in `ellipse = { thickness = 0.5 }`." {
        naca = KeyKind::Text, Unset, "";
            "NACA designation, in quotes: `\"2412\"`, `\"23012\"`, `\"63-215\"`, `\"65(3)-218\"`, `\"64A410\"`, \
             `\"66-210 a=0.5\"`.";
        file = KeyKind::Path, Unset, "";
            "File with the section's coordinates. A relative path starts at the case file's folder.";
        points = KeyKind::Points, Unset, "any unit";
            "The section's points themselves, read as those of a file are: `[[1.0, 0.0], [0.98, 0.01], …]`.";
        trailing_edge: TrailingEdge = KeyKind::Word(&["sharp", "blunt", "rounded", "wedge", "extended", "as-given"]),
            Derived("`\"sharp\"` for `naca`, `\"as-given\"` for `file` and `points`"), "";
            "How the trailing edge is closed: in one point, by a straight base, by a smooth cap, by a solid wedge behind \
            the base, by taking a NACA section's formula on to where it closes (scaled back to unit chord), or as the file \
            has it (a gap of at most 1e-3 chord is closed, a larger one becomes a base). Behind a base a C-grid has a \
            second block, or a wedge where the base has no room for four first cells.";
        edge_thickness: Option<f64> = real(closed(0.0), closed(0.1)), Unset, "chords";
            "Thickness of the trailing edge: both surfaces are sheared, linearly in x, until their \
            ends are so far apart. Makes `trailing_edge` \"sharp\" at 0 and \"blunt\" above, unless it is given.";
        smooth: Option<f64> = real(open(0.0), closed(0.01)), Unset, "chords";
            "Distance from each point of `file` or `points` within which the contour is smoothed: the curve of least \
            bending there takes their place, with both ends of the trailing edge kept. For points that are rounded, \
            with the step of the rounding, and for points that scatter, with some three times their scatter.";
        frame: Frame = KeyKind::Word(&["chord", "file"]), Word("chord"), "";
            "Whether the section of `file` or `points` is moved and scaled to its chord (`chord`), or stands in the \
            files written where its coordinates are, `chord` times their unit (`file`). All other lengths of the \
            case are in chords of the section either way.";
        corners: Option<f64> = real(open(0.0), closed(180.0)), Unset, "degrees";
            "Points where the contour turns by this angle or more are corners, such as the lip of a cove: a wall point lies on \
            each, and points gather there as at the trailing edge. A corner turns three times as much as the points beside it, \
            so that a bend with few points has none. Unset, the contour is smooth except at its trailing edge.";
        angle: f64 = real(closed(-180.0), closed(180.0)), Real(0.0), "degrees";
            "Angle of attack: the section is turned nose up about (0.25, 0). Beyond 75 degrees `grid.topology = \"auto\"` is O.";
        chord: f64 = real(closed(1e-6), closed(1e9)), Real(1.0), "your unit";
            "Length of the chord, or of the reference length, in the files written. All lengths of \
            the case and of the report stay in chords.";
    }
    "geometry.flap":
        "A plain flap: what lies behind the hinge is turned about it. The mid line bends over a \
        short way, so that both surfaces stay smooth and cannot cross." {
        hinge = real(closed(0.3), closed(0.95)), Real(0.75), "chords";
            "Place of the hinge along the chord; it lies midway between the surfaces.";
        angle = real(closed(-60.0), closed(60.0)), Real(10.0), "degrees";
            "Deflection, positive with the trailing edge down.";
        radius = real(open(0.0), closed(10.0)),
            Derived("1.5 thicknesses of the section at the hinge"), "chords";
            "Smallest radius of the bent mid line; more than half the thickness there.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize)]
    "geometry.section" => SectionOptions {}:
        "Any smooth closed contour, such as the cross-section of a body. It has no leading or \
        trailing edge; points gather where it bends." {
        file: PathBuf = KeyKind::Path, Unset, "";
            "File with points `x y` of the contour in order, in either direction, from anywhere. A \
            relative path starts at the case file's folder.";
        length: f64 = real(open(0.0), closed(1e9)), Derived("1"), "the file's unit";
            "Reference length: coordinates are divided by it, and it is the chord of all other keys.";
    }
    "geometry.wing_body":
        "Cross-section of a round fuselage with a low wing at constant x, symmetric about x = 0: \
        a circle about (0, 0), wings of linear thickness with round tips, and fillets between. \
        The defaults have the proportions of DLR-F6, lengths in metres." {
        reference_length = real(open(0.0), closed(1e9)), Real(0.1412), "m";
            "Length that all lengths of this table are divided by, the chord of all other keys.";
        fuselage_radius = real(open(0.0), closed(1e9)), Real(0.0742), "m"; "Radius of the fuselage.";
        half_span = real(open(0.0), closed(1e9)), Real(0.34), "m";
            "Distance of the wing tip from the plane of symmetry.";
        wing_height = real(closed(-1e9), closed(1e9)), Real(-0.037), "m";
            "Height of the wing's mid line in the plane of symmetry over the fuselage's axis.";
        root_thickness = real(open(0.0), closed(1e9)), Real(0.030), "m";
            "Thickness of the wing in the plane of symmetry.";
        tip_thickness = real(open(0.0), closed(1e9)), Real(0.010), "m";
            "Thickness of the wing where its tip begins to be round.";
        dihedral = real(closed(-30.0), closed(30.0)), Real(4.8), "degrees";
            "Dihedral of the wing's mid line.";
        fillet_radius = real(open(0.0), closed(1e9)), Real(0.015), "m";
            "Radius of the fillets between wing and fuselage.";
    }
    "geometry.ellipse": "An ellipse of unit chord; by default a circle." {
        thickness = real(closed(0.01), closed(10.0)), Real(1.0), "chords"; "Thickness.";
    }
    "geometry.joukowski":
        "A Joukowski section of unit chord: the image of a circle about (-k t/(1 - k t), 2 f) \
        through (1, 0) under z + 1/z, k = 4/(3 sqrt(3)), t and f being thickness and camber but \
        for terms of higher order. Its trailing edge is a cusp." {
        thickness = real(closed(0.01), closed(0.5)), Real(0.12), "chords";
            "Thickness, but for terms of higher order.";
        camber = real(closed(-0.2), closed(0.2)), Real(0.0), "chords";
            "Camber, but for terms of higher order.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "grid" => GridOptions {
        /// The wake, where the topology may be C.
        #[serde(flatten)]
        pub wake: Option<Wake>,
        /// Heights of the first cells that vary along the wall; `first_cell` is the least of them.
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        pub heights: Option<Heights>,
        /// Layers of a given growth beside the wall.
        pub layers: Option<LayersOptions>,
        /// Treatment of the seam; none where the trailing edge decides.
        #[serde(skip_deserializing)]
        pub seam: Option<Seam>,
    }: "Size of the grid and spacing of its points. Lengths are in chords." {
        topology: TopologyChoice = KeyKind::Word(&["O", "C", "auto", "half"]), Word("auto"), "";
            "Shape of the grid: `O`, whose lines close around the body, or `C`, whose lines begin and end in the \
            outflow, with a cut behind the edge. `auto` is C for a trailing edge that is sharp, and O for one that has a base \
            or is round, for a contour without an edge, for a section turned by more than 75 degrees, and with `reach` or \
            `seam`; keys of the wake are then refused. `half` is the half of an O-grid beside the plane of symmetry of a \
            symmetric section: its upper half, or the right half of a body's cross-section.";
        ni: usize = integer(9, 1_000_000), Integer(257), "points";
            "Points of the line along the wall: at least 17 on an O-grid, 21 on a C-grid, on half a grid 9; without \
            a cut after refinement. O-grid: `ni - 1` cells around the body, the first and the last \
            column coincide. C-grid: the total along the cut, around the body and along the cut again. Half a grid: \
            from one end to the other; the whole that is solved for has `2 ni - 1`.";
        nj: usize = integer(5, 1_000_000), Integer(129), "points";
            "Points from wall to far field, both included. `ni` times `nj` is less than 2^30.";
        growth = real(open(1.0), closed(10.0)), Unset, "";
            "Largest ratio of the heights of neighbouring cells along a line from the wall, in place of `nj`: the \
            fewest points whose heights grow by no more, from the first cell to the far field.";
        far_field: f64 = real(closed(1.0), closed(1e6)), Real(15.0), "chords";
            "Radius of the far-field circle around (0.5, 0); on a C-grid half a circle, continued \
            by straight lines to the outflow.";
        reach: Option<f64> = real(open(0.0), closed(1e6)), Unset, "chords";
            "Distance of the outer line from the wall, everywhere the same but in concave parts, where the line is \
            rounded: in place of the circle of `far_field`. A near-body grid for overset methods; O-grids only. Without \
            it the outer line of a cascade is at 0.05 of its pitch.";
        wake = integer(2, 500_000), Derived("3/14 of `ni - 1`, to a multiple of 8; more with a base"), "cells";
            "Cells of a C-grid along each side of the cut; at most `(ni - 17)/2`. 2 `wake` of the \
            `ni` points lie behind the edge, the others on the section, its edge counted twice. With a base by default \
            as many as grow by 1.2, at most 5/16 of `ni - 1`.";
        wake_spacing = real(open(0.0), closed(1e6)), Unset, "chords";
            "Length of the last cell of the cut, at the outflow, along x; unset, the cells grow by one ratio from \
            `trailing_edge_spacing`.";
        wake_length = real(closed(0.1), closed(1e6)), Derived("`far_field`"), "chords";
            "Distance from the trailing edge to the plane of the outflow of a C-grid, along x.";
        wake_direction = real(closed(-30.0), closed(30.0)), Derived("0"), "degrees";
            "Direction of the cut of a C-grid against the x axis; it leaves the edge on its bisector.";
        refine = integer(1, 1024), Integer(1), "";
            "Refinement factor: multiplies `ni - 1`, `nj - 1`, `wake` and `base_cells`, and divides spacings and \
            first cell, so that the points of the wall, of the cut and of the layers include those of the grid \
            without refinement; with `layers` those of the layers only nearly.";
        first_cell: f64 = KeyKind::Heights, Derived("1e-5, or from `y_plus`"), "chords";
            "Height of the first cell at the wall, less than `far_field/(nj - 1)`. Where it varies: pairs `[[0.0, 1e-5], \
            [1.0, 4e-5]]` of x/c, from 0 at the foremost to 1 at the rearmost point, and height, whose logarithm is linear \
            between them; such a list for each surface in `{ upper = …, lower = … }`, which pass into each other within \
            0.05 of the foremost point and of a sharp edge; or a list of a height for each point of the wall.";
        wake_first_cell: Option<f64> = real(open(0.0), open(1e6)), Unset, "chords";
            "Height of the first cell of a C-grid at the outflow: along the cut it grows with the distance from the \
            trailing edge, and with it lines rise, by about a degree. Unset, it grows only where cells would be longer \
            than 1e6 heights.";
        y_plus = real(closed(1e-6), closed(1000.0)), Unset, "";
            "Height of the first cell in wall units, instead of `first_cell`; needs `reynolds`.";
        reynolds: Option<f64> = real(closed(1.0), closed(1e12)), Unset, "";
            "Reynolds number of the chord, for `y_plus` and for set-ups of OpenFOAM and SU2, which it makes turbulent.";
        reference_length: Option<f64> = real(closed(1e-6), closed(1e3)), Derived("0.5, with `reynolds`"), "chords";
            "Length L in the height of the first cell, y = y⁺ L / (Re √(Cf/2)), as in Construct2D: Cf is that of a flat \
            plate at Re, turbulent from 5e5 on, laminar (Blasius) below. The default gives half the height of \
            a plate as long as the chord.";
        leading_edge_spacing: Option<f64> = real(open(0.0), closed(0.1)),
            Derived("3e-3 * 256/cells around the section; 4e-4 * 128/cells of it on a C-grid"), "chords";
            "Spacing of the wall points at the leading edge.";
        trailing_edge_spacing: Option<f64> = real(open(0.0), closed(0.1)),
            Derived("1e-3 * 256/cells around the section; 3e-3 * 128/cells of it on a C-grid"), "chords";
            "Spacing of the wall points at the trailing edge. Where that is sharp, the default is at least a sixth of the \
            first cell, or all of it with `output.curved_order` above 1, up to 1e-2. At the corners of a base on a C-grid it \
            is the first cell.";
        max_turn: Option<f64> = real(closed(1e-3), closed(180.0)),
            Derived("15, or 15 * 256/cells of the section if that is less"), "degrees";
            "Largest turn of the wall from one cell to the next: points are added where the wall would turn by \
            more, and removed elsewhere. Corners are exempt, and a concave bend of a smooth contour may turn twice \
            as much. With too few points the default is relaxed, with a note; a limit that is given is not.";
        base_cells: Option<usize> = integer(4, 500_000), Unset, "cells";
            "Cells on the base of a blunt or rounded edge, at most `(ni - 1)/2`; of half a grid those of the whole base, at \
            most `ni - 1`; unset, the spacing of the trailing edge decides: at least 8, on a rounded edge 12. On a C-grid \
            those across the block behind the base, which are not among the `ni` points: at most its thickness over \
            `first_cell`, by default as many as grow by 1.3.";
        points_upper: Option<usize> = integer(5, 500_000), Unset, "points";
            "Points of the upper surface, both edges included. With `points_lower` `ni` follows: `points_upper + \
            points_lower - 1`, on a C-grid + `2 wake`, with a base + `base_cells`; an `ni` that is given must agree. \
            With one of the two the other surface has the other points.";
        points_lower: Option<usize> = integer(5, 500_000), Unset, "points";
            "Points of the lower surface, both edges included.";
        clusters: Option<Vec<Cluster>> = KeyKind::Clusters, Unset, "chords";
            "Places where wall points gather: `[{ x = 0.6, spacing = 2e-3, surface = \"upper\" }]`. Each has at most this \
            spacing at x along the chord, on both surfaces unless one is named; it grows with the distance by `wall_growth`.";
        max_spacing: Option<f64> = real(open(0.0), closed(1.0)), Unset, "chords";
            "Largest spacing of the wall points.";
        wall_growth: Option<f64> = real(closed(1.001), closed(10.0)),
            Derived("1.16 with `clusters` or `max_spacing`, or as it follows from the spacings"), "";
            "Largest ratio of neighbouring spacings along a surface. With too few points for it, as for `clusters` \
            and `max_spacing`, the error says how many are needed.";
        wall_points: WallPoints = KeyKind::Word(&["spaced", "as-given"]), Word("spaced"), "";
            "Whether points are spaced along the section (`spaced`), or those of `file` or `points` are the points of \
            the wall (`as-given`), bit for bit where their chord is within 10 % of 0 to 1: it is then neither moved nor \
            scaled. `ni` follows from them.";
        seam = KeyKind::Word(&["auto", "held", "periodic"]), Word("auto"), "";
            "Whether the line at which the grid closes keeps its initial points (`held`) or is solved for like any other \
            (`periodic`); `auto` chooses by the trailing edge.";
    }
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    "grid.layers" => LayersOptions {}:
        "Layers beside the wall whose heights grow by a given ratio. The growth passes within ten cells to the one \
        that the cells beyond have, which follows from `nj`, or is at most `grid.growth`." {
        count: usize = integer(1, 100_000), Integer(30), "cells"; "Number of these layers, at most `nj - 3`.";
        growth: f64 = real(closed(1.0), closed(10.0)), Real(1.15), "";
            "Ratio of the heights of neighbouring cells within them.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "domain" => DomainOptions {
        /// The sides of the box: least and largest x, least and largest y; none with pieces. Unit: chords.
        #[serde(rename = "box")]
        pub bounds: Option<[f64; 4]>,
    }:
        "A line around the section, such as a wind tunnel, in place of the far field: a box, or any line of pieces. Each side is \
        a patch of its name in the files; `grid.far_field`, `grid.reach` and `grid.wake_length` are left out." {
        box = KeyKind::Box, Unset, "chords";
            "The sides: `[x_min, x_max, y_min, y_max]`, from the nose of the section before it is turned; a contour without an \
            edge has its centre at (0.5, 0). Without it there is no box.";
        floor: SideKind = SIDES, Word("slip"), ""; "Condition on the side at `y_min`.";
        roof: SideKind = SIDES, Word("slip"), ""; "Condition on the side at `y_max`.";
        inlet: SideKind = SIDES, Word("inlet"), ""; "Condition on the side at `x_min`.";
        outlet: SideKind = SIDES, Word("outlet"), ""; "Condition on the side at `x_max`.";
        wall_first_cell: Option<f64> = real(closed(1e-12), closed(1.0)), Derived("`grid.first_cell`, or from `wall_y_plus`"), "chords";
            "Height of the first cells at sides that are walls. They stand at right angles to the sides, and the heights on the \
            others grow from there by 1.1 from line to line.";
        floor_curve: Option<Vec<[f64; 2]>> = KeyKind::Points, Unset, "chords";
            "Points of a floor that is a smooth curve, such as a bump: at least four, by x, from `x_min` to `x_max`.";
        roof_curve: Option<Vec<[f64; 2]>> = KeyKind::Points, Unset, "chords";
            "Points of such a roof, such as a contraction.";
        piece: Option<Vec<PieceOptions>> = KeyKind::Pieces, Unset, "chords";
            "Pieces of any line in place of `box`, each below `[[domain.piece]]`, clockwise from the lower end of the outlet: floor, \
            inlet, roof. Each has the `name` of its patch, which several may share, a `kind`, a condition as of `floor`, and \
            `points`, or a `file` of them: two for a straight line, with `through = [x, y]` for an arc through that point; four and \
            more for a smooth curve, or with `curve = \"polyline\"` for straight lines between corners. The last piece is the \
            outlet, vertical on a C-grid; without it a straight `outlet` closes the line.";
        wall_y_plus = real(closed(1e-6), closed(1000.0)), Unset, "";
            "Their height in wall units, instead of `wall_first_cell`; needs `grid.reynolds`, and has its `reference_length`.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "cascade" => CascadeOptions {}:
        "A row of blades that repeats with a pitch along y, such as a stage of a turbine: three blocks around the O-grid of the \
        section, which `geometry.angle` turns to its stagger and `grid.reach` ends. The passage block lies between two blades, \
        the strips ahead and behind close after one pitch." {
        pitch: f64 = real(open(0.0), closed(100.0)), Unset, "chords";
            "Distance of one blade and the next along y. Without it there is one section alone.";
        inlet_x: Option<f64> = real(closed(-1e3), closed(1e3)), Derived("0.4 ahead of the blade"), "chords";
            "Place of the inlet, more than two `grid.reach` ahead of the blade.";
        outlet_x: Option<f64> = real(closed(-1e3), closed(1e3)), Derived("0.4 behind the blade"), "chords";
            "Place of the outlet, more than two `grid.reach` behind the blade.";
        inlet_angle: f64 = real(closed(-80.0), closed(80.0)), Real(0.0), "degrees";
            "Direction of the rows ahead against the x axis. Rows that follow the flow are as oblique as that is.";
        outlet_angle: f64 = real(closed(-80.0), closed(80.0)), Real(0.0), "degrees";
            "Direction of the rows behind against the x axis.";
        passage_cells: Option<usize> = integer(4, 100_000), Derived("1.5 times as high as the last cells of the O-grid"), "cells";
            "Cells of the passage block from blade to blade.";
        inlet_cells: Option<usize> = integer(4, 100_000), Derived("as those of the passage"), "cells";
            "Cells along the rows ahead.";
        outlet_cells: Option<usize> = integer(4, 100_000), Derived("as those of the passage"), "cells";
            "Cells along the rows behind.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "initial" => InitialOptions {}: "The initial grid: first guess, and source of the marched control functions." {
        method: InitialMethod = KeyKind::Word(&["hyperbolic", "normal", "transfinite"]), Word("hyperbolic"), "";
            "Hyperbolic march, march along smoothed normals (the robust fall-back), or transfinite interpolation.";
        dissipation: Option<f64> = real(closed(0.0), closed(10.0)),
            Derived("0.4; 0.2 without an edge, 0.08 on a C-grid, more with a base"), "";
            "Dissipation of the hyperbolic march. On a C-grid with a base by default 1/1000 of the cells of the section, 0.08 \
            to 0.6.";
        volume_smoothing: Option<f64> = real(closed(0.0), closed(10.0)),
            Derived("from the edge, the cells and the first cell"), "";
            "Smoothing of the cell volumes along the body in the hyperbolic march: 0 around an edge, without one \
            0.4 and less \
            under thick first cells; on a C-grid 1.28/cells, or 0.48/`wake` of a shorter wake, and at most 0.01, with a base 3.3e-4 √cells.";
        spread: Option<f64> = real(closed(0.0), closed(1000.0)), Derived("from the edge"), "";
            "Growth of the dissipation away from the wall, which spreads the lines: 0.3 around an edge, 6 of \
            elements and with `grid.reach`, 10 without an edge, 0 on a C-grid.";
    }
    "control": "Control functions P and Q of the grid equations." {
        base = KeyKind::Word(&["laplace", "thomas-middlecoff", "marched"]),
            Derived("\"marched\"; \"laplace\" beside a near floor or roof"), ""; "Control functions without the wall terms: zero, from the boundary spacing, or from the initial grid.";
        wall = KeyKind::Word(&["frozen", "coupled"]), Word("coupled"), "";
            "Whether wall terms that hold the first cell's height and angle are unknowns of the Newton iteration (`coupled`) \
            or there are none (`frozen`).";
        smoothing = real(closed(0.0), closed(0.5)), Real(7e-4), "chords";
            "Length along the wall over which the marched control functions are smoothed, up to 3 columns.";
        smoothing_distance = real(open(0.0), closed(1000.0)), Real(1e-3), "chords";
            "Distance from the wall over which that smoothing sets in.";
        smoothing_columns = real(closed(0.0), closed(1e5)),
            Derived("from the edge, the cells and the march"), "columns";
            "Columns over which they are smoothed besides, beyond 0.05 chord from the wall: 0 around an edge, \
            cells/128 without one, 2.25 on a C-grid, 3.9 without the hyperbolic march; 26 have full effect.";
        clip = real(open(0.0), closed(100.0)), Real(1.0), "";
            "Largest magnitude of the marched control functions.";
        decay = real(open(0.0), closed(1000.0)), Real(3.0), "spacings";
            "Decay length of the wall terms, in local spacings of the wall points.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "quality" => QualityOptions {}:
        "What is asked of the grid, and what is tried when it is not reached: with `retry`, the steps of `ladder` one \
        after the other, each alone, until the grid converges, has no folded cell and keeps the limits. Where `ladder` is \
        not given, a step that would change a key which the case gives is left out. The report says what was tried." {
        max_skewness: Option<f64> = real(open(0.0), closed(1.0)), Unset, "";
            "Largest equiangle skewness of a cell; a corner of the wall forces turn/180 degrees.";
        max_wall_angle: Option<f64> = real(open(0.0), closed(90.0)), Unset, "degrees";
            "Largest angle between the first grid line and the wall normal, corners left out.";
        max_growth: Option<f64> = real(open(1.0), closed(1e3)), Unset, "";
            "Largest ratio of neighbouring edges along i and along j. Unset, more than 2 along i or 1.5 along j is a \
            finding, which a note reports and `--strict` makes an error; of several elements it is none.";
        retry: bool = KeyKind::Flag, Flag(true), "";
            "Whether to try again by the ladder when the grid is not good.";
        ladder: Vec<Retry> = KeyKind::Words(&["march", "decay", "normal", "base"]),
            Words(&["march", "decay", "normal", "base"]), "";
            "What to change: four times dissipation and volume smoothing of the march, half the decay length of the wall \
            terms, the march along normals, the base: thomas-middlecoff, in a box laplace.";
    }
    "newton": "The inexact Newton iteration." {
        tolerance = real(open(0.0), open(1.0)), Real(1e-10), "";
            "Scaled rms residual at which the grid is converged.";
        max_iterations = integer(1, 10_000), Integer(NEWTON_STEPS), "steps"; "Most Newton steps.";
        forcing_initial = real(open(0.0), open(1.0)), Real(0.1), "";
            "Relative residual of the first step's linear solve; between the next two.";
        forcing_min = real(open(0.0), open(1.0)), Real(1e-4), "";
            "Smallest relative residual asked of a linear solve.";
        forcing_max = real(open(0.0), open(1.0)), Real(0.1), "";
            "Largest relative residual asked of a linear solve.";
        max_halvings = integer(0, 60), Integer(10), "";
            "Most halvings of a step before the line search gives up.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "linear" => LinearOptions {
        /// Krylov method and its limits.
        #[serde(flatten)]
        pub krylov: LinearSettings,
    }: "The linear solver within a Newton step." {
        solver = KeyKind::Word(&["bicgstab", "gmres"]), Word("bicgstab"), ""; "Krylov method.";
        preconditioner: precond::Kind = KeyKind::Word(&["none", "jacobi", "dilu", "ilu0", "multigrid"]),
            Word("multigrid"), "";
            "Preconditioner of the Krylov method.";
        schedule: Schedule = KeyKind::Word(&["auto", "levels", "colours", "tiles"]), Word("auto"), "";
            "Order in which DILU and ILU(0) are eliminated on a GPU: in natural order level after \
            level, colour after colour, or within tiles of 32 x 32 points; auto takes tiles for \
            DILU and levels for ILU(0). A CPU keeps to the natural order.";
        restart = integer(1, 1000), Integer(30), "iterations";
            "Iterations of GMRES between restarts.";
        max_iterations = integer(1, 1_000_000), Integer(2000), "iterations";
            "Most linear iterations in one Newton step.";
        precision: Precision = KeyKind::Word(&["single", "double"]), Word("single"), "";
            "Precision of the whole linear solve; residual and update are always double.";
    }
    "multigrid": "The multigrid preconditioner." {
        cycle = KeyKind::Word(&["v", "w"]), Word("v"), "";
            "Shape of the cycle: each coarse level once (v) or twice (w).";
        sweeps = integer(1, 100), Integer(1), "sweeps";
            "Line sweeps before and after each coarse correction; twice as many from the third level on.";
        levels = integer(1, 32), Integer(16), "levels";
            "Most levels; the size of the grid limits them as well. On C-grids of 2049 rows and more the default is 5.";
        coarsening = KeyKind::Word(&["full", "xi"]), Word("full"), "";
            "Coarsening in both directions with lines of both, or in xi only with eta-lines only.";
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    "output" => OutputOptions {
        /// Layout of the Plot3D file.
        #[serde(flatten)]
        pub plot3d: Flavour,
    }: "What is written." {
        formats: Vec<&'static Format> = KeyKind::Words(&NAMES), Words(&["vts", "plot3d"]), "";
            "Grid files to write, in this order; docs/formats.md describes them.";
        compression: Compression = KeyKind::Word(&["none", "zlib"]), Word("none"), "";
            "Compression of the arrays in `mesh.vts`, which VTK reads as it reads the others.";
        span_cells: usize = integer(0, 100_000), Integer(0), "cells";
            "Cells over the span of an extruded grid, for three-dimensional solvers; with 0 the \
            grid is plane. `ni` times `nj` times the planes is less than 2^30.";
        span: f64 = real(open(0.0), closed(1e6)), Real(1.0), "chords";
            "Span of an extruded grid, from z = 0.";
        sides: Sides = KeyKind::Word(&["symmetry", "periodic"]), Word("symmetry"), "";
            "The ends of the span of an extruded grid: planes of symmetry, or periodic to each other.";
        curved_order: usize = integer(1, 4), Integer(1), "";
            "Order of the cells of `mesh.msh`, each of which takes that many cells of the grid in each \
            direction. `ni` - 1, `nj` - 1, `wake` and `span_cells` are multiples of it, and the verdict on \
            the grid is one on these cells too.";
        plot3d_dimensions = integer(2, 3), Integer(3), "";
            "Coordinates per point in the Plot3D file.";
        plot3d_encoding = KeyKind::Word(&["text", "fortran", "stream"]), Word("text"), "";
            "Plot3D as text, as unformatted Fortran records, or as the bytes alone.";
        plot3d_precision = KeyKind::Word(&["single", "double"]), Word("double"), "";
            "4 or 8 bytes a number in the Plot3D file; 9 or 17 digits in text.";
        plot3d_byte_order = KeyKind::Word(&["little", "big"]), Word("little"), "";
            "Byte order of a binary Plot3D file.";
        plot3d_block_count = KeyKind::Flag, Derived("true with 3 dimensions, false with 2"), "";
            "Whether the Plot3D file begins with the number of blocks (multi-block).";
        plot3d_blanking = KeyKind::Flag, Flag(false), "";
            "Whether the Plot3D file has an IBLANK number, 1, for each point.";
        plot3d_axes = KeyKind::Word(&["ijk", "fun3d"]), Word("ijk"), "";
            "Indices of the Plot3D file with 3 dimensions: around, outward, span (`ijk`), or \
            around, span, outward with z upward (`fun3d`).";
        pictures: bool = KeyKind::Flag, Flag(true), ""; "Whether to draw grid and convergence.";
        quality_maps: bool = KeyKind::Flag, Flag(false), "";
            "Whether to draw maps of skewness, non-orthogonality, area and aspect ratio of the cells.";
        report: bool = KeyKind::Flag, Derived("as `pictures`"), "";
            "Whether to write `report.html`: all pictures, measures and the case on one page.";
        reference: bool = KeyKind::Flag, Flag(false), "";
            "Whether to write `reference.grd`, from which `gridgen move` moves the grid with its wall.";
    }
}
