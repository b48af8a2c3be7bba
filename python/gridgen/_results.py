"""Typed contents of report.json: the results for a grid and for a linear system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .typing import VerdictKind

__all__ = ["NewtonStep", "Quality", "Report", "SystemReport", "Verdict"]

_NAN = float("nan")


class Verdict(NamedTuple):
    """The verdict on a grid; true if the grid may be used."""

    kind: VerdictKind
    """``"good"``, ``"not-converged"``, ``"folded"``, ``"folded-curved"`` or ``"beyond-limit"``; for several
    elements also ``"unfit"``."""
    good: bool
    """Converged, without a folded cell, within the limits of ``[quality]``."""
    reason: str
    """The reason, as a clause."""

    def __bool__(self) -> bool:
        """Return whether the grid may be used."""
        return self.good


class Quality(NamedTuple):
    """Measures of a grid. Angles in degrees, lengths in chords; a measure that is not finite is NaN."""

    folded_cells: int
    """Cells with a corner determinant e_i x e_j that is not positive."""
    min_jacobian: float
    """Smallest corner determinant, chords squared."""
    max_skewness: float
    """Largest equiangle skewness, max((a_max - 90)/90, (90 - a_min)/90) with the angles a of a cell."""
    max_skewness_at: tuple[int, int]
    """The cell (i, j) with the largest skewness."""
    p99_skewness: float
    """99th percentile of the equiangle skewness."""
    mean_skewness: float
    """Mean equiangle skewness."""
    wall_angle_error_max_deg: float
    """Largest angle between the first grid line and the wall normal, corners excluded, degrees."""
    wall_angle_error_mean_deg: float
    """Mean angle between the first grid line and the wall normal, corners excluded, degrees."""
    wall_corners: int
    """Wall points excluded from both, since the wall turns there by more than 20 degrees."""
    first_cell_min: float
    """Smallest distance from the wall to the first node, chords."""
    first_cell_max: float
    """Largest distance from the wall to the first node, chords."""
    max_aspect_ratio: float
    """Largest ratio of a cell's longest to its shortest edge."""
    max_growth: float
    """Largest ratio of consecutive edge lengths in either direction."""
    max_growth_i: float
    """Largest ratio along i only."""
    max_growth_j: float
    """Largest ratio along j only."""
    waves_deg: float
    """Largest turning of a line of constant j against its own sense, minus that of the wall, degrees."""
    wavy_lines: int
    """Number of lines with waves above 1 degree."""
    boundary_layer_cells: int | None
    """Cells within an estimated boundary layer, 0.37 chords/Re^(1/5) from the wall (5 chords/Re^(1/2) below
    5e5), on the line that has fewest; None where the case has no Reynolds number."""
    far_field_min: float
    """Smallest distance of an outer node from (0.5, 0), chords."""
    far_field_max: float
    """Largest distance of an outer node from (0.5, 0), chords."""

    @classmethod
    def _of(cls, numbers: Mapping[str, Any]) -> Quality:
        values = {name: _number(numbers[name]) for name in cls._fields}
        layers = numbers["boundary_layer_cells"]
        place = tuple(numbers["max_skewness_at"])
        return cls(**{**values, "max_skewness_at": place, "boundary_layer_cells": layers})


class NewtonStep(NamedTuple):
    """A Newton step; numbers that are not finite are NaN."""

    step: int
    """Number of the step; 0 is the start."""
    residual: float
    """Scaled rms residual after the step."""
    forcing_term: float
    """Relative residual requested from the linear solve; 0 for the start."""
    linear_iterations: float
    """Linear iterations; BiCGStab counts halves."""
    step_length: float
    """Accepted step length."""
    min_area: float
    """Smallest cell area after the step, chords squared."""
    folded_cells: int
    """Folded cells after the step."""
    setup_seconds: float
    """Seconds in residual, assembly and preconditioner set-up."""
    linear_seconds: float
    """Seconds in the linear solve."""
    linear_residuals: tuple[float, ...]
    """Relative residual of the linear solve after each of its iterations."""

    @classmethod
    def _of(cls, numbers: Mapping[str, Any]) -> NewtonStep:
        values = {name: _number(numbers[name]) for name in cls._fields}
        residuals = tuple(_number(residual) for residual in numbers["linear_residuals"])
        return cls(**{**values, "linear_residuals": residuals})


def _number(value: Any) -> Any:
    """Return NaN for null, which represents numbers that are not finite in JSON."""
    return _NAN if value is None else value


class NewtonReport(TypedDict):
    """The Newton solve."""

    iterations: int
    initial_residual: float | None
    residual: float | None
    tolerance: float


class LinearReport(TypedDict):
    """The linear solves."""

    iterations: float
    solver: str
    preconditioner: str


class VerdictReport(TypedDict):
    """The verdict on the grid."""

    kind: str
    good: bool
    reason: str


class QualityReport(TypedDict):
    """The fields of `Quality`; a measure that is not finite is None."""

    folded_cells: int
    min_jacobian: float | None
    max_skewness: float | None
    max_skewness_at: list[int]
    p99_skewness: float | None
    mean_skewness: float | None
    wall_angle_error_max_deg: float | None
    wall_angle_error_mean_deg: float | None
    wall_corners: int
    first_cell_min: float | None
    first_cell_max: float | None
    max_aspect_ratio: float | None
    max_growth: float | None
    max_growth_i: float | None
    max_growth_j: float | None
    waves_deg: float | None
    wavy_lines: int
    boundary_layer_cells: int | None
    far_field_min: float | None
    far_field_max: float | None


class _GridReport(TypedDict):
    ni: int
    nj: int
    topology: str


class GrowthReport(TypedDict):
    """Growth of neighbouring edges: the largest ratio, its node i, j and place, and the 99th percentile."""

    largest: float | None
    node: list[int]
    at: list[float]
    p99: float | None


class BlockReport(TypedDict):
    """A block of a cascade; `share` of the way that its first nodes went to the lines of the O-grid."""

    name: str
    ni: int
    nj: int
    newton_iterations: int
    linear_iterations: float
    share: float


class GridReport(_GridReport, total=False):
    """Size and shape of the grid; `seam` for an O-grid, `wake` for a C-grid; growth along i and along j."""

    seam: str
    wake: int
    behind: list[int]
    blocks: list[BlockReport]
    growth: list[GrowthReport]


class Report(TypedDict):
    """The report of a grid, the contents of report.json. Seconds in `timing`, lengths in chords."""

    name: str
    version: str
    verdict: VerdictReport
    converged: bool
    stop_reason: str
    newton: NewtonReport
    linear: LinearReport
    quality: QualityReport
    grid: GridReport
    timing: dict[str, float]
    geometry: dict[str, Any]
    backend: str
    threads: int
    fingerprint: str
    coordinates_digest: str | None
    notes: list[str]


class MatrixReport(TypedDict):
    """Facts about a matrix."""

    file: str
    rows: int
    entries: int
    longest_row: int
    empty_rows: int
    missing_diagonals: int
    duplicates: int
    symmetric: bool


class _MethodReport(TypedDict):
    solver: str
    restart: int
    preconditioner: str
    format: str
    reorder: str


class MethodReport(_MethodReport, total=False):
    """The method of a solve; `shift` and `schedule` for factors, `blocks` on several GPUs."""

    shift: float
    schedule: str
    blocks: int


class ColumnReport(TypedDict):
    """The result for one of several right-hand sides."""

    converged: bool
    stop_reason: str
    iterations: float
    relative_residual: float | None
    true_relative_residual: float | None


class _SystemReport(TypedDict, total=False):
    columns: list[ColumnReport]


class SystemReport(_SystemReport):
    """The report of a linear system. Seconds in `timing`; numbers that are not finite are None.

    For several right-hand sides `columns` has the result of each. The residuals describe the worst of
    them, and the iterations are summed.
    """

    name: str
    version: str
    converged: bool
    stop_reason: str
    matrix: MatrixReport
    right_side: str
    method: MethodReport
    iterations: float
    relative_residual: float | None
    true_relative_residual: float | None
    tolerance: float
    timing: dict[str, float]
    backend: str
    threads: int
    notes: list[str]
