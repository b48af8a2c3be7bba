"""The keyword arguments of `gridgen.make`, for editors and type checkers.

Written from the table of keys in src/case/keys.rs. To write it again:
UPDATE_DOCS=1 python -m pytest python/tests/test_keys.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from .typing import Backend


class Keys(TypedDict, total=False):
    """Keys of a case by name, and sections as mappings.

    A name that several sections have stands for the key that is least nested.
    """

    name: str | None
    """case: Name of the case, used for the output folder and files. (default the case file's name without
    ``.toml``)"""
    geometry: Mapping[str, Any] | None
    """Section ``[geometry]``."""
    naca: str | None
    """geometry: NACA designation, in quotes: ``"2412"``, ``"23012"``, ``"63-215"``, ``"65(3)-218"``,
    ``"64A410"``, ``"66-210 a=0.5"``. (default not set)"""
    file: str | os.PathLike[str] | None
    """geometry: File with the section's coordinates. A relative path starts at the case file's folder.
    (default not set)"""
    points: ArrayLike | None
    """geometry: The section's points themselves, read as those of a file are: ``[[1.0, 0.0], [0.98,
    0.01], …]``. (any unit, default not set)"""
    trailing_edge: Literal["sharp", "blunt", "rounded", "wedge", "extended", "as-given"] | None
    """geometry: How the trailing edge is closed: in one point, by a straight base, by a smooth cap, by a
    solid wedge behind the base, by taking a NACA section's formula on to where it closes (scaled back to
    unit chord), or as the file has it (a gap of at most 1e-3 chord is closed, a larger one becomes a
    base). Behind a base a C-grid has a second block, or a wedge where the base has no room for four first
    cells. (default ``"sharp"`` for ``naca``, ``"as-given"`` for ``file`` and ``points``)"""
    edge_thickness: float | None
    """geometry: Thickness of the trailing edge: both surfaces are sheared, linearly in x, until their
    ends are so far apart. Makes ``trailing_edge`` "sharp" at 0 and "blunt" above, unless it is given.
    (chords, default not set)"""
    smooth: float | None
    """geometry: Distance from each point of ``file`` or ``points`` within which the contour is smoothed:
    the curve of least bending there takes their place, with both ends of the trailing edge kept. For
    points that are rounded, with the step of the rounding, and for points that scatter, with some three
    times their scatter. (chords, default not set)"""
    frame: Literal["chord", "file"] | None
    """geometry: Whether the section of ``file`` or ``points`` is moved and scaled to its chord
    (``chord``), or stands in the files written where its coordinates are, ``chord`` times their unit
    (``file``). All other lengths of the case are in chords of the section either way. (default
    "chord")"""
    corners: float | None
    """geometry: Points where the contour turns by this angle or more are corners, such as the lip of a
    cove: a wall point lies on each, and points gather there as at the trailing edge. A corner turns three
    times as much as the points beside it, so that a bend with few points has none. Unset, the contour is
    smooth except at its trailing edge. (degrees, default not set)"""
    angle: float | None
    """geometry: Angle of attack: the section is turned nose up about (0.25, 0). Beyond 75 degrees
    ``grid.topology = "auto"`` is O. (degrees, default 0)"""
    chord: float | None
    """geometry: Length of the chord, or of the reference length, in the files written. All lengths of the
    case and of the report stay in chords. (your unit, default 1)"""
    flap: Mapping[str, Any] | None
    """Section ``[geometry.flap]``."""
    hinge: float | None
    """geometry.flap: Place of the hinge along the chord; it lies midway between the surfaces. (chords,
    default 0.75)"""
    radius: float | None
    """geometry.flap: Smallest radius of the bent mid line; more than half the thickness there. (chords,
    default 1.5 thicknesses of the section at the hinge)"""
    section: Mapping[str, Any] | None
    """Section ``[geometry.section]``."""
    length: float | None
    """geometry.section: Reference length: coordinates are divided by it, and it is the chord of all other
    keys. (the file's unit, default 1)"""
    wing_body: Mapping[str, Any] | None
    """Section ``[geometry.wing_body]``."""
    fuselage_radius: float | None
    """geometry.wing_body: Radius of the fuselage. (m, default 0.0742)"""
    half_span: float | None
    """geometry.wing_body: Distance of the wing tip from the plane of symmetry. (m, default 0.34)"""
    wing_height: float | None
    """geometry.wing_body: Height of the wing's mid line in the plane of symmetry over the fuselage's
    axis. (m, default -0.037)"""
    root_thickness: float | None
    """geometry.wing_body: Thickness of the wing in the plane of symmetry. (m, default 0.03)"""
    tip_thickness: float | None
    """geometry.wing_body: Thickness of the wing where its tip begins to be round. (m, default 0.01)"""
    dihedral: float | None
    """geometry.wing_body: Dihedral of the wing's mid line. (degrees, default 4.8)"""
    fillet_radius: float | None
    """geometry.wing_body: Radius of the fillets between wing and fuselage. (m, default 0.015)"""
    ellipse: Mapping[str, Any] | None
    """Section ``[geometry.ellipse]``."""
    joukowski: Mapping[str, Any] | None
    """Section ``[geometry.joukowski]``."""
    camber: float | None
    """geometry.joukowski: Camber, but for terms of higher order. (chords, default 0)"""
    grid: Mapping[str, Any] | None
    """Section ``[grid]``."""
    topology: Literal["O", "C", "auto", "half"] | None
    """grid: Shape of the grid: ``O``, whose lines close around the body, or ``C``, whose lines begin and
    end in the outflow, with a cut behind the edge. ``auto`` is C for a trailing edge that is sharp, and O
    for one that has a base or is round, for a contour without an edge, for a section turned by more than
    75 degrees, and with ``reach`` or ``seam``; keys of the wake are then refused. ``half`` is the half of
    an O-grid beside the plane of symmetry of a symmetric section: its upper half, or the right half of a
    body's cross-section. (default "auto")"""
    ni: int | None
    """grid: Points of the line along the wall: at least 17 on an O-grid, 21 on a C-grid, on half a grid
    9; without a cut after refinement. O-grid: ``ni - 1`` cells around the body, the first and the last
    column coincide. C-grid: the total along the cut, around the body and along the cut again. Half a
    grid: from one end to the other; the whole that is solved for has ``2 ni - 1``. (points, default
    257)"""
    nj: int | None
    """grid: Points from wall to far field, both included. ``ni`` times ``nj`` is less than 2^30. (points,
    default 129)"""
    growth: float | None
    """grid: Largest ratio of the heights of neighbouring cells along a line from the wall, in place of
    ``nj``: the fewest points whose heights grow by no more, from the first cell to the far field.
    (default not set)"""
    far_field: float | None
    """grid: Radius of the far-field circle around (0.5, 0); on a C-grid half a circle, continued by
    straight lines to the outflow. (chords, default 15)"""
    reach: float | None
    """grid: Distance of the outer line from the wall, everywhere the same but in concave parts, where the
    line is rounded: in place of the circle of ``far_field``. A near-body grid for overset methods;
    O-grids only. Without it the outer line of a cascade is at 0.05 of its pitch. (chords, default not
    set)"""
    wake: int | None
    """grid: Cells of a C-grid along each side of the cut; at most ``(ni - 17)/2``. 2 ``wake`` of the
    ``ni`` points lie behind the edge, the others on the section, its edge counted twice. With a base by
    default as many as grow by 1.2, at most 5/16 of ``ni - 1``. (cells, default 3/14 of ``ni - 1``, to a
    multiple of 8; more with a base)"""
    wake_spacing: float | None
    """grid: Length of the last cell of the cut, at the outflow, along x; unset, the cells grow by one
    ratio from ``trailing_edge_spacing``. (chords, default not set)"""
    wake_length: float | None
    """grid: Distance from the trailing edge to the plane of the outflow of a C-grid, along x. (chords,
    default ``far_field``)"""
    wake_direction: float | None
    """grid: Direction of the cut of a C-grid against the x axis; it leaves the edge on its bisector.
    (degrees, default 0)"""
    refine: int | None
    """grid: Refinement factor: multiplies ``ni - 1``, ``nj - 1``, ``wake`` and ``base_cells``, and
    divides spacings and first cell, so that the points of the wall, of the cut and of the layers include
    those of the grid without refinement; with ``layers`` those of the layers only nearly. (default 1)"""
    first_cell: float | ArrayLike | Mapping[str, ArrayLike] | None
    """grid: Height of the first cell at the wall, less than ``far_field/(nj - 1)``. Where it varies:
    pairs ``[[0.0, 1e-5], [1.0, 4e-5]]`` of x/c, from 0 at the foremost to 1 at the rearmost point, and
    height, whose logarithm is linear between them; such a list for each surface in ``{ upper = …, lower =
    … }``, which pass into each other within 0.05 of the foremost point and of a sharp edge; or a list of
    a height for each point of the wall. (chords, default 1e-5, or from ``y_plus``)"""
    wake_first_cell: float | None
    """grid: Height of the first cell of a C-grid at the outflow: along the cut it grows with the distance
    from the trailing edge, and with it lines rise, by about a degree. Unset, it grows only where cells
    would be longer than 1e6 heights. (chords, default not set)"""
    y_plus: float | None
    """grid: Height of the first cell in wall units, instead of ``first_cell``; needs ``reynolds``.
    (default not set)"""
    reynolds: float | None
    """grid: Reynolds number of the chord, for ``y_plus`` and for set-ups of OpenFOAM and SU2, which it
    makes turbulent. (default not set)"""
    reference_length: float | None
    """grid: Length L in the height of the first cell, y = y⁺ L / (Re √(Cf/2)), as in Construct2D: Cf is
    that of a flat plate at Re, turbulent from 5e5 on, laminar (Blasius) below. The default gives half the
    height of a plate as long as the chord. (chords, default 0.5, with ``reynolds``)"""
    leading_edge_spacing: float | None
    """grid: Spacing of the wall points at the leading edge. (chords, default 3e-3 * 256/cells around the
    section; 4e-4 * 128/cells of it on a C-grid)"""
    trailing_edge_spacing: float | None
    """grid: Spacing of the wall points at the trailing edge. Where that is sharp, the default is at least
    a sixth of the first cell, or all of it with ``output.curved_order`` above 1, up to 1e-2. At the
    corners of a base on a C-grid it is the first cell. (chords, default 1e-3 * 256/cells around the
    section; 3e-3 * 128/cells of it on a C-grid)"""
    max_turn: float | None
    """grid: Largest turn of the wall from one cell to the next: points are added where the wall would
    turn by more, and removed elsewhere. Corners are exempt, and a concave bend of a smooth contour may
    turn twice as much. With too few points the default is relaxed, with a note; a limit that is given is
    not. (degrees, default 15, or 15 * 256/cells of the section if that is less)"""
    base_cells: int | None
    """grid: Cells on the base of a blunt or rounded edge, at most ``(ni - 1)/2``; of half a grid those of
    the whole base, at most ``ni - 1``; unset, the spacing of the trailing edge decides: at least 8, on a
    rounded edge 12. On a C-grid those across the block behind the base, which are not among the ``ni``
    points: at most its thickness over ``first_cell``, by default as many as grow by 1.3. (cells, default
    not set)"""
    points_upper: int | None
    """grid: Points of the upper surface, both edges included. With ``points_lower`` ``ni`` follows:
    ``points_upper + points_lower - 1``, on a C-grid + ``2 wake``, with a base + ``base_cells``; an ``ni``
    that is given must agree. With one of the two the other surface has the other points. (points, default
    not set)"""
    points_lower: int | None
    """grid: Points of the lower surface, both edges included. (points, default not set)"""
    clusters: Sequence[Mapping[str, Any]] | None
    """grid: Places where wall points gather: ``[{ x = 0.6, spacing = 2e-3, surface = "upper" }]``. Each
    has at most this spacing at x along the chord, on both surfaces unless one is named; it grows with the
    distance by ``wall_growth``. (chords, default not set)"""
    max_spacing: float | None
    """grid: Largest spacing of the wall points. (chords, default not set)"""
    wall_growth: float | None
    """grid: Largest ratio of neighbouring spacings along a surface. With too few points for it, as for
    ``clusters`` and ``max_spacing``, the error says how many are needed. (default 1.16 with ``clusters``
    or ``max_spacing``, or as it follows from the spacings)"""
    wall_points: Literal["spaced", "as-given"] | None
    """grid: Whether points are spaced along the section (``spaced``), or those of ``file`` or ``points``
    are the points of the wall (``as-given``), bit for bit where their chord is within 10 % of 0 to 1: it
    is then neither moved nor scaled. ``ni`` follows from them. (default "spaced")"""
    seam: Literal["auto", "held", "periodic"] | None
    """grid: Whether the line at which the grid closes keeps its initial points (``held``) or is solved
    for like any other (``periodic``); ``auto`` chooses by the trailing edge. (default "auto")"""
    layers: Mapping[str, Any] | None
    """Section ``[grid.layers]``."""
    count: int | None
    """grid.layers: Number of these layers, at most ``nj - 3``. (cells, default 30)"""
    domain: Mapping[str, Any] | None
    """Section ``[domain]``."""
    box: Sequence[float] | None
    """domain: The sides: ``[x_min, x_max, y_min, y_max]``, from the nose of the section before it is
    turned; a contour without an edge has its centre at (0.5, 0). Without it there is no box. (chords,
    default not set)"""
    floor: Literal["far-field", "inlet", "outlet", "slip", "symmetry", "wall"] | None
    """domain: Condition on the side at ``y_min``. (default "slip")"""
    roof: Literal["far-field", "inlet", "outlet", "slip", "symmetry", "wall"] | None
    """domain: Condition on the side at ``y_max``. (default "slip")"""
    inlet: Literal["far-field", "inlet", "outlet", "slip", "symmetry", "wall"] | None
    """domain: Condition on the side at ``x_min``. (default "inlet")"""
    outlet: Literal["far-field", "inlet", "outlet", "slip", "symmetry", "wall"] | None
    """domain: Condition on the side at ``x_max``. (default "outlet")"""
    wall_first_cell: float | None
    """domain: Height of the first cells at sides that are walls. They stand at right angles to the sides,
    and the heights on the others grow from there by 1.1 from line to line. (chords, default
    ``grid.first_cell``, or from ``wall_y_plus``)"""
    floor_curve: ArrayLike | None
    """domain: Points of a floor that is a smooth curve, such as a bump: at least four, by x, from
    ``x_min`` to ``x_max``. (chords, default not set)"""
    roof_curve: ArrayLike | None
    """domain: Points of such a roof, such as a contraction. (chords, default not set)"""
    piece: Sequence[Mapping[str, Any]] | None
    """domain: Pieces of any line in place of ``box``, each below ``[[domain.piece]]``, clockwise from the
    lower end of the outlet: floor, inlet, roof. Each has the ``name`` of its patch, which several may
    share, a ``kind``, a condition as of ``floor``, and ``points``, or a ``file`` of them: two for a
    straight line, with ``through = [x, y]`` for an arc through that point; four and more for a smooth
    curve, or with ``curve = "polyline"`` for straight lines between corners. The last piece is the
    outlet, vertical on a C-grid; without it a straight ``outlet`` closes the line. (chords, default not
    set)"""
    wall_y_plus: float | None
    """domain: Their height in wall units, instead of ``wall_first_cell``; needs ``grid.reynolds``, and
    has its ``reference_length``. (default not set)"""
    cascade: Mapping[str, Any] | None
    """Section ``[cascade]``."""
    pitch: float | None
    """cascade: Distance of one blade and the next along y. Without it there is one section alone.
    (chords, default not set)"""
    inlet_x: float | None
    """cascade: Place of the inlet, more than two ``grid.reach`` ahead of the blade. (chords, default 0.4
    ahead of the blade)"""
    outlet_x: float | None
    """cascade: Place of the outlet, more than two ``grid.reach`` behind the blade. (chords, default 0.4
    behind the blade)"""
    inlet_angle: float | None
    """cascade: Direction of the rows ahead against the x axis. Rows that follow the flow are as oblique
    as that is. (degrees, default 0)"""
    outlet_angle: float | None
    """cascade: Direction of the rows behind against the x axis. (degrees, default 0)"""
    passage_cells: int | None
    """cascade: Cells of the passage block from blade to blade. (cells, default 1.5 times as high as the
    last cells of the O-grid)"""
    inlet_cells: int | None
    """cascade: Cells along the rows ahead. (cells, default as those of the passage)"""
    outlet_cells: int | None
    """cascade: Cells along the rows behind. (cells, default as those of the passage)"""
    initial: Mapping[str, Any] | None
    """Section ``[initial]``."""
    method: Literal["hyperbolic", "normal", "transfinite"] | None
    """initial: Hyperbolic march, march along smoothed normals (the robust fall-back), or transfinite
    interpolation. (default "hyperbolic")"""
    dissipation: float | None
    """initial: Dissipation of the hyperbolic march. On a C-grid with a base by default 1/1000 of the
    cells of the section, 0.08 to 0.6. (default 0.4; 0.2 without an edge, 0.08 on a C-grid, more with a
    base)"""
    volume_smoothing: float | None
    """initial: Smoothing of the cell volumes along the body in the hyperbolic march: 0 around an edge,
    without one 0.4 and less under thick first cells; on a C-grid 1.28/cells, or 0.48/``wake`` of a
    shorter wake, and at most 0.01, with a base 3.3e-4 √cells. (default from the edge, the cells and the
    first cell)"""
    spread: float | None
    """initial: Growth of the dissipation away from the wall, which spreads the lines: 0.3 around an edge,
    6 of elements and with ``grid.reach``, 10 without an edge, 0 on a C-grid. (default from the edge)"""
    control: Mapping[str, Any] | None
    """Section ``[control]``."""
    base: Literal["laplace", "thomas-middlecoff", "marched"] | None
    """control: Control functions without the wall terms: zero, from the boundary spacing, or from the
    initial grid. (default "marched"; "laplace" beside a near floor or roof)"""
    wall: Literal["frozen", "coupled"] | None
    """control: Whether wall terms that hold the first cell's height and angle are unknowns of the Newton
    iteration (``coupled``) or there are none (``frozen``). (default "coupled")"""
    smoothing: float | None
    """control: Length along the wall over which the marched control functions are smoothed, up to 3
    columns. (chords, default 7e-4)"""
    smoothing_distance: float | None
    """control: Distance from the wall over which that smoothing sets in. (chords, default 0.001)"""
    smoothing_columns: float | None
    """control: Columns over which they are smoothed besides, beyond 0.05 chord from the wall: 0 around an
    edge, cells/128 without one, 2.25 on a C-grid, 3.9 without the hyperbolic march; 26 have full effect.
    (columns, default from the edge, the cells and the march)"""
    clip: float | None
    """control: Largest magnitude of the marched control functions. (default 1)"""
    decay: float | None
    """control: Decay length of the wall terms, in local spacings of the wall points. (spacings, default
    3)"""
    quality: Mapping[str, Any] | None
    """Section ``[quality]``."""
    max_skewness: float | None
    """quality: Largest equiangle skewness of a cell; a corner of the wall forces turn/180 degrees.
    (default not set)"""
    max_wall_angle: float | None
    """quality: Largest angle between the first grid line and the wall normal, corners left out. (degrees,
    default not set)"""
    max_growth: float | None
    """quality: Largest ratio of neighbouring edges along i and along j. Unset, more than 2 along i or 1.5
    along j is a finding, which a note reports and ``--strict`` makes an error; of several elements it is
    none. (default not set)"""
    retry: bool | None
    """quality: Whether to try again by the ladder when the grid is not good. (default true)"""
    ladder: Sequence[Literal["march", "decay", "normal", "base"]] | None
    """quality: What to change: four times dissipation and volume smoothing of the march, half the decay
    length of the wall terms, the march along normals, the base: thomas-middlecoff, in a box laplace.
    (default ["march", "decay", "normal", "base"])"""
    newton: Mapping[str, Any] | None
    """Section ``[newton]``."""
    tolerance: float | None
    """newton: Scaled rms residual at which the grid is converged. (default 1e-10)"""
    forcing_initial: float | None
    """newton: Relative residual of the first step's linear solve; between the next two. (default 0.1)"""
    forcing_min: float | None
    """newton: Smallest relative residual asked of a linear solve. (default 1e-4)"""
    forcing_max: float | None
    """newton: Largest relative residual asked of a linear solve. (default 0.1)"""
    max_halvings: int | None
    """newton: Most halvings of a step before the line search gives up. (default 10)"""
    linear: Mapping[str, Any] | None
    """Section ``[linear]``."""
    solver: Literal["bicgstab", "gmres"] | None
    """linear: Krylov method. (default "bicgstab")"""
    preconditioner: Literal["none", "jacobi", "dilu", "ilu0", "multigrid"] | None
    """linear: Preconditioner of the Krylov method. (default "multigrid")"""
    schedule: Literal["auto", "levels", "colours", "tiles"] | None
    """linear: Order in which DILU and ILU(0) are eliminated on a GPU: in natural order level after level,
    colour after colour, or within tiles of 32 x 32 points; auto takes tiles for DILU and levels for
    ILU(0). A CPU keeps to the natural order. (default "auto")"""
    precision: Literal["single", "double"] | None
    """linear: Precision of the whole linear solve; residual and update are always double. (default
    "single")"""
    multigrid: Mapping[str, Any] | None
    """Section ``[multigrid]``."""
    cycle: Literal["v", "w"] | None
    """multigrid: Shape of the cycle: each coarse level once (v) or twice (w). (default "v")"""
    sweeps: int | None
    """multigrid: Line sweeps before and after each coarse correction; twice as many from the third level
    on. (sweeps, default 1)"""
    levels: int | None
    """multigrid: Most levels; the size of the grid limits them as well. On C-grids of 2049 rows and more
    the default is 5. (levels, default 16)"""
    coarsening: Literal["full", "xi"] | None
    """multigrid: Coarsening in both directions with lines of both, or in xi only with eta-lines only.
    (default "full")"""
    formats: Sequence[Literal["vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"]] | None
    """output: Grid files to write, in this order; docs/formats.md describes them. (default ["vts",
    "plot3d"])"""
    compression: Literal["none", "zlib"] | None
    """output: Compression of the arrays in ``mesh.vts``, which VTK reads as it reads the others. (default
    "none")"""
    span_cells: int | None
    """output: Cells over the span of an extruded grid, for three-dimensional solvers; with 0 the grid is
    plane. ``ni`` times ``nj`` times the planes is less than 2^30. (cells, default 0)"""
    span: float | None
    """output: Span of an extruded grid, from z = 0. (chords, default 1)"""
    sides: Literal["symmetry", "periodic"] | None
    """output: The ends of the span of an extruded grid: planes of symmetry, or periodic to each other.
    (default "symmetry")"""
    curved_order: int | None
    """output: Order of the cells of ``mesh.msh``, each of which takes that many cells of the grid in each
    direction. ``ni`` - 1, ``nj`` - 1, ``wake`` and ``span_cells`` are multiples of it, and the verdict on
    the grid is one on these cells too. (default 1)"""
    plot3d_dimensions: int | None
    """output: Coordinates per point in the Plot3D file. (default 3)"""
    plot3d_encoding: Literal["text", "fortran", "stream"] | None
    """output: Plot3D as text, as unformatted Fortran records, or as the bytes alone. (default "text")"""
    plot3d_precision: Literal["single", "double"] | None
    """output: 4 or 8 bytes a number in the Plot3D file; 9 or 17 digits in text. (default "double")"""
    plot3d_byte_order: Literal["little", "big"] | None
    """output: Byte order of a binary Plot3D file. (default "little")"""
    plot3d_block_count: bool | None
    """output: Whether the Plot3D file begins with the number of blocks (multi-block). (default true with
    3 dimensions, false with 2)"""
    plot3d_blanking: bool | None
    """output: Whether the Plot3D file has an IBLANK number, 1, for each point. (default false)"""
    plot3d_axes: Literal["ijk", "fun3d"] | None
    """output: Indices of the Plot3D file with 3 dimensions: around, outward, span (``ijk``), or around,
    span, outward with z upward (``fun3d``). (default "ijk")"""
    pictures: bool | None
    """output: Whether to draw grid and convergence. (default true)"""
    quality_maps: bool | None
    """output: Whether to draw maps of skewness, non-orthogonality, area and aspect ratio of the cells.
    (default false)"""
    report: bool | None
    """output: Whether to write ``report.html``: all pictures, measures and the case on one page. (default
    as ``pictures``)"""
    reference: bool | None
    """output: Whether to write ``reference.grd``, from which ``gridgen move`` moves the grid with its
    wall. (default false)"""


class Options(Keys, total=False):
    """Arguments of `gridgen.make` for all cases of `gridgen.make_many`."""

    backend: Backend
    devices: int | Sequence[int] | None
    output: str | os.PathLike[str] | Mapping[str, Any] | None
    force: bool
    restart: str | os.PathLike[str] | None
