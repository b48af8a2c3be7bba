"""Plane potential flow on an O-grid, and derivatives of what it gives by the nodes.

Linear triangles for the stream function psi: psi = y cos(a) - x sin(a) on the outer line, a constant on the
wall that makes the speeds on both sides of the trailing edge equal (Kutta). The speed on the wall is
(psi_1 - psi_0)/height.
"""

import numpy as np
from scipy.sparse import bmat, csc_array
from scipy.sparse.linalg import splu


class PotentialFlow:
    """Of an O-grid of (nj, ni) nodes whose first cells have these heights, (ni - 1,), which stay."""

    def __init__(self, shape, heights, angle):
        (nj, ni), self.heights, self.angle = shape, heights, np.radians(angle)
        node = np.arange(nj * ni).reshape(nj, ni)
        node[:, -1] = node[:, 0]
        a, b, c, d = node[:-1, :-1], node[:-1, 1:], node[1:, 1:], node[1:, :-1]
        self.triangles = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
        self.wall, self.first, self.outer = node[0, :-1], node[1, :-1], node[-1, :-1]
        self.inner = node[1:-1, :-1].ravel()

    def gradients(self, nodes):
        """Area and gradients of the three hat functions of each triangle."""
        r = nodes.reshape(-1, 2)[self.triangles]
        edges = np.roll(r, -2, axis=1) - np.roll(r, -1, axis=1)  # opposite each corner
        area = 0.5 * (edges[:, 2, 0] * -edges[:, 1, 1] + edges[:, 2, 1] * edges[:, 1, 0])
        return area, np.stack([-edges[..., 1], edges[..., 0]], axis=-1) / (2 * area)[:, None, None]

    def speeds(self, nodes):
        """The speed at each wall point, clockwise positive."""
        area, hats = self.gradients(nodes)
        values = area[:, None, None] * np.einsum("tkc,tlc->tkl", hats, hats)
        rows, columns = (np.repeat(self.triangles, 3, axis=1), np.tile(self.triangles, 3))
        size = nodes.size // 2
        stiffness = csc_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()
        x, y = nodes.reshape(-1, 2)[self.outer].T
        self.psi = np.zeros(size)
        self.psi[self.outer] = y * np.cos(self.angle) - x * np.sin(self.angle)
        of_inner = stiffness[self.inner]
        by_wall = of_inner[:, self.wall].sum(axis=1)
        # Speeds beside the trailing edge: psi_1/height - c/height, of opposite signs.
        edge = np.array([1, len(self.wall) - 1])
        kutta = np.zeros(len(self.inner))
        kutta[edge] = 1.0 / self.heights[edge]  # the first row is the first of the inner nodes
        border = -kutta.sum()
        matrix = bmat([[of_inner[:, self.inner], by_wall[:, None]], [kutta[None, :], [[border]]]]).tocsc()
        self.factors = splu(matrix)
        solution = self.factors.solve(np.append(-(of_inner @ self.psi), 0.0))
        self.psi[self.inner], self.psi[self.wall] = solution[:-1], solution[-1]
        return (self.psi[self.first] - self.psi[self.wall]) / self.heights

    def adjoint(self, nodes, speeds):
        """dJ/d(nodes), (nj, ni, 2), for these dJ/d(speeds), after `speeds` of the same nodes."""
        right = np.zeros(len(self.inner) + 1)
        right[: len(self.wall)] = speeds / self.heights
        right[-1] = -right[:-1].sum()
        multiplier = np.zeros(len(self.psi))
        multiplier[self.inner] = -self.factors.solve(right, trans="T")[:-1]
        area, hats = self.gradients(nodes)
        of = lambda f: np.einsum("tk,tkc->tc", f[self.triangles], hats)  # noqa: E731
        a, b = of(self.psi), of(multiplier)
        along = lambda f: np.einsum("tkc,tc->tk", hats, f)[..., None]  # noqa: E731
        by = hats * (a * b).sum(axis=1)[:, None, None] - along(b) * a[:, None] - along(a) * b[:, None]
        result = np.zeros((len(self.psi), 2))
        np.add.at(result, self.triangles, area[:, None, None] * by)
        return result.reshape(nodes.shape)
