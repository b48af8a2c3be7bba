"""Measures a multi-block grid around a blade of a row that another program made, by the definitions of `gridgen quality`.

python3 bench/blades.py BLOCKS PITCH FIRST_CELL [WALLS]

BLOCKS is text, .gz or not: the number of blocks, then for each ni, nj and ni × nj lines of x y, j running fastest. The
blade lies on j = 0 of the first WALLS blocks, 2 by default. PITCH and FIRST_CELL, the height asked for, are in the unit of the grid. Needs NumPy.
"""

import gzip
import sys

import numpy as np


def read(path):
    """The blocks as arrays (ni, nj, 2)."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        numbers = np.array(file.read().split(), float)
    blocks, at = [], 1
    for _ in range(int(numbers[0])):
        ni, nj = numbers[at : at + 2].astype(int)
        blocks.append(numbers[at + 2 : at + 2 + 2 * ni * nj].reshape(ni, nj, 2))
        at += 2 + 2 * ni * nj
    return blocks


def cross(a, b):
    """The z component of a × b."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def angle(a, b):
    """The angle between two directions, degrees, as an array."""
    return np.degrees(np.arctan2(np.abs(cross(a, b)), (a * b).sum(-1)))


def cells(block):
    """Equiangle skewness of the cells, and whether a corner determinant is not positive."""
    corners = np.stack([block[:-1, :-1], block[1:, :-1], block[1:, 1:], block[:-1, 1:]])
    after = np.roll(corners, -1, 0) - corners
    before = np.roll(corners, 1, 0) - corners
    determinant = cross(after, before)
    sign = np.sign(np.median(determinant))
    inner = np.degrees(np.arctan2(sign * determinant, (after * before).sum(-1))) % 360
    skewness = np.maximum((inner.max(0) - 90) / 90, (90 - inner.min(0)) / 90)
    return skewness, (sign * determinant).min(0) <= 0


def wall(block):
    """Heights of the first cells, and angles of the first lines off normal where the wall turns by at most 20 degrees."""
    at, line = block[1:-1, 0], block[1:-1, 1] - block[1:-1, 0]
    before, after = at - block[:-2, 0], block[2:, 0] - at
    length = [np.hypot(*edges.T)[:, None] for edges in (before, after)]
    tangent = before * length[1] / length[0] + after * length[0] / length[1]
    smooth = angle(before, after) <= 20
    return np.hypot(*line.T), np.abs(90 - angle(tangent, line))[smooth]


def kinks(around, blocks, pitch):
    """Angles by which lines of the blocks around the blade turn at their last row, where one other block goes on."""
    sides = []
    for block in blocks:
        for turned in (block, block[:, ::-1], block.transpose(1, 0, 2), block.transpose(1, 0, 2)[:, ::-1]):
            sides.append((turned[:, 0], turned[:, 1]))
    edge, inner = (np.concatenate([side[k] for side in sides]) for k in (0, 1))
    found = []
    for block in around:
        for i in range(1, len(block) - 1):
            for shift in (0.0, pitch, -pitch):
                off = np.hypot(*(edge + [0.0, shift] - block[i, -1]).T)
                same = np.flatnonzero(off < 1e-6 * pitch)
                if len(same) == 1:
                    onwards = inner[same[0]] - edge[same[0]]
                    found.append(angle(block[i, -1] - block[i, -2], onwards))
    return np.array(found)


def main():
    path, pitch, first_cell = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    walls, blocks = int(sys.argv[4]) if len(sys.argv) > 4 else 2, read(path)
    skewness, folded = (np.concatenate([m.ravel() for m in all]) for all in zip(*map(cells, blocks)))
    heights, angles = (np.concatenate(all) for all in zip(*map(wall, blocks[:walls])))
    turns = kinks(blocks[:walls], blocks[walls:], pitch)
    print(f"cells {len(skewness)}, folded {folded.sum()}")
    print(f"skewness {skewness.max():.3f} / {np.percentile(skewness, 99):.3f} / {skewness.mean():.4f}")
    print(f"first cell / asked {heights.min() / first_cell:.3f} to {heights.max() / first_cell:.3f}")
    print(f"wall angle off normal {angles.max():.2f} at most, {angles.mean():.2f} mean, degrees")
    print(f"turn of {len(turns)} lines over the outer line {turns.mean():.1f} mean, {turns.max():.1f} at most, degrees")


main()
