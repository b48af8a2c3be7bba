"""Lift of a symmetric NACA section in a tunnel, by a panel method with images of both walls.

Sources of a constant strength on each panel and one vortex strength on all of them (Hess and Smith 1967,
doi:10.1016/0376-0421(67)90003-6). The walls mirror sources with the same sign and vortices with the opposite
one. The lift is the integral of the pressure on the section.

    python bench/tunnel.py [ANGLE] [HEIGHT]
"""

import sys

import numpy as np

PANELS = 600
IMAGES = 200


def section(thickness: float, panels: int) -> np.ndarray:
    """Return points of a section with a closed edge, clockwise from the edge along the lower surface."""
    x = 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, panels // 2 + 1)))
    root = 0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4
    y = 5.0 * thickness * root
    y[-1] = 0.0
    return np.vstack([np.c_[x, -y][::-1], np.c_[x, y][1:]])


def lift(angle: float, height: float | None, thickness: float = 0.12, panels: int = PANELS) -> float:
    """Return the lift coefficient at an angle in degrees, midway between walls of this distance."""
    turn = -np.radians(angle)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    points = (section(thickness, panels) - [0.25, 0.0]) @ turned.T + [0.25, 0.0]
    start, middle = points[:-1], 0.5 * (points[1:] + points[:-1])
    length = np.hypot(*np.diff(points, axis=0).T)
    along = np.diff(points, axis=0) / length[:, None]
    normal = np.c_[-along[:, 1], along[:, 0]]
    way = middle[:, None] - start[None]
    s, h = (way * along).sum(-1), (way * normal).sum(-1)
    log = np.log(np.hypot(s, h) / np.hypot(s - length, h))
    angle_of = np.arctan2(h, s - length) - np.arctan2(h, s)
    np.fill_diagonal(log, 0.0)
    np.fill_diagonal(angle_of, np.pi)
    source = (log[..., None] * along + angle_of[..., None] * normal) / (2.0 * np.pi)
    vortex = (angle_of[..., None] * along - log[..., None] * normal) / (2.0 * np.pi)
    for k in range(-IMAGES, IMAGES + 1) if height else ():
        images = [(middle * [1, -1] + [0, height + 2 * height * k], -1.0)]
        images += [(np.add(middle, [0, 2 * height * k]), 1.0)] if k else []
        for image, sign in images:
            way = middle[:, None] - image[None]
            strength = length[None, :, None] / (2.0 * np.pi * (way**2).sum(-1)[..., None])
            source += strength * way
            vortex += sign * strength * np.stack([way[..., 1], -way[..., 0]], -1)
    across, tangent = [(source * vector[:, None]).sum(-1) for vector in (normal, along)]
    across_vortex, tangent_vortex = [(vortex * vector[:, None]).sum(-1).sum(1) for vector in (normal, along)]
    # No flow through the panels, and the same speed on both sides of the edge.
    ends = tangent[0] + tangent[-1], tangent_vortex[0] + tangent_vortex[-1]
    matrix = np.vstack([np.c_[across, across_vortex], np.r_[ends[0], ends[1]]])
    right = -np.r_[normal[:, 0], along[0, 0] + along[-1, 0]]
    strengths = np.linalg.solve(matrix, right)
    speed = tangent @ strengths[:-1] + tangent_vortex * strengths[-1] + along[:, 0]
    return float(-((1.0 - speed**2) * length * normal[:, 1]).sum())


if __name__ == "__main__":
    incidence = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    walls = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
    print(f"lift {lift(incidence, None):.4f} without walls, {lift(incidence, walls):.4f} between walls")
