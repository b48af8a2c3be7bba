"""Random movements of one reference, by up to 5 % of the chord and 3 degrees, as an optimiser begins."""

import numpy as np
from optimise import modes

import gridgen


def main(count=500, seed=0, **case):
    """Move a NACA 2412 `count` times; returns the good grids' Newton steps and the reasons of the others."""
    reference = gridgen.Reference(gridgen.make(naca="2412", **{"topology": "O", "ni": 129, "nj": 65, **case}))
    wall, rng = reference.wall, np.random.default_rng(seed)
    by, steps, reasons, worn = modes(wall), [], [], 0
    for _ in range(count):
        lift = by @ rng.normal(size=by.shape[1])
        lift *= rng.uniform(0.0, 0.05) / abs(lift).max()
        angle = np.radians(rng.uniform(-3.0, 3.0))
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        moved = (wall + np.outer(lift, [0.0, 1.0]) - [0.25, 0.0]) @ turn + [0.25, 0.0]
        moved[-1] = moved[0]
        try:
            grid = reference.move_to(moved)
        except gridgen.GridgenError as error:
            reasons.append(error.message)
        else:
            # A grid that is given out is never folded.
            assert grid.quality.folded_cells == 0
            steps.append(grid.newton_iterations)
            worn += grid.worn is not None
    return steps, reasons, worn


if __name__ == "__main__":
    steps, reasons, worn = main()
    print(
        f"{len(steps)} good in {np.mean(steps):.1f} Newton steps, at most {max(steps)}; {worn} of them worn"
    )
    crossing = sum("crosses" in reason for reason in reasons)
    print(f"{len(reasons)} refused, {crossing} of them since the wall crosses itself")
