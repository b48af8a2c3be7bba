"""Measure a multi-block grid around a blade that another program made, as `gridgen quality` does.

python3 bench/blades.py BLOCKS PITCH FIRST_CELL [WALLS]

BLOCKS is text, .gz or not: the number of blocks, then for each ni, nj and ni x nj lines of x y, j running
fastest. The blade lies on j = 0 of the first WALLS blocks, 2 by default. PITCH and FIRST_CELL, the height
asked for, are in the unit of the grid. Needs NumPy.
"""

import gzip
import sys

import numpy as np


def read(path):
    """Return the blocks as arrays (ni, nj, 2)."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        numbers = np.array(file.read().split(), float)
    blocks, at = [], 1
    for _ in range(int(numbers[0])):
        ni, nj = numbers[at : at + 2].astype(int)
        blocks.append(numbers[at + 2 : at + 2 + 2 * ni * nj].reshape(ni, nj, 2))
        at += 2 + 2 * ni * nj
    return blocks


def cross(a, b):
    """Return the z component of a x b."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def angle(a, b):
    """Return the angle between two directions, degrees."""
    return np.degrees(np.arctan2(np.abs(cross(a, b)), (a * b).sum(-1)))


def cells(block):
    """Return the equiangle skewness of the cells, and whether a corner determinant is not positive."""
    corners = np.stack([block[:-1, :-1], block[1:, :-1], block[1:, 1:], block[:-1, 1:]])
    after = np.roll(corners, -1, 0) - corners
    before = np.roll(corners, 1, 0) - corners
    determinant = cross(after, before)
    determinant *= np.sign(np.median(determinant))
    inner = np.degrees(np.arctan2(determinant, (after * before).sum(-1))) % 360
    skewness = np.maximum((inner.max(0) - 90) / 90, (90 - inner.min(0)) / 90)
    return skewness.ravel(), (determinant.min(0) <= 0).ravel()


def wall(block):
    """Return heights of the first cells, and angles off normal where the wall turns by at most 20 degrees."""
    at, line = block[1:-1, 0], block[1:-1, 1] - block[1:-1, 0]
    before, after = at - block[:-2, 0], block[2:, 0] - at
    length = [np.hypot(*edges.T)[:, None] for edges in (before, after)]
    tangent = before * length[1] / length[0] + after * length[0] / length[1]
    smooth = angle(before, after) <= 20
    return np.hypot(*line.T), np.abs(90 - angle(tangent, line))[smooth]


def kinks(around, blocks, pitch):
    """Return the angles by which lines turn where they leave the blocks around the blade for another."""
    edge, inner = [], []
    for block in blocks:
        for whole in (block, block.transpose(1, 0, 2)):
            for turned in (whole, whole[:, ::-1]):
                edge.append(turned[:, 0])
                inner.append(turned[:, 1])
    edge, inner = np.concatenate(edge), np.concatenate(inner)
    found = []
    for block in around:
        for i in range(1, len(block) - 1):
            for shift in (0.0, pitch, -pitch):
                off = np.hypot(*(edge + np.array([0.0, shift]) - block[i, -1]).T)
                same = np.flatnonzero(off < 1e-4 * pitch)
                if len(same) == 1:
                    onwards = inner[same[0]] - edge[same[0]]
                    found.append(angle(block[i, -1] - block[i, -2], onwards))
    return np.array(found)


def main():
    """Print the measures."""
    path, pitch, first_cell = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    walls = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    blocks = read(path)
    measured = [cells(block) for block in blocks]
    skewness, folded = (np.concatenate([of[k] for of in measured]) for k in (0, 1))
    measured = [wall(block) for block in blocks[:walls]]
    heights, angles = (np.concatenate([of[k] for of in measured]) for k in (0, 1))
    turns = kinks(blocks[:walls], blocks[walls:], pitch)
    print(f"cells {len(skewness)}, folded {folded.sum()}")
    print(f"skewness {skewness.max():.3f} / {np.percentile(skewness, 99):.3f} / {skewness.mean():.4f}")
    print(f"first cell / asked {heights.min() / first_cell:.3f} to {heights.max() / first_cell:.3f}")
    print(f"wall angle off normal {angles.max():.2g} at most, {angles.mean():.2g} mean, degrees")
    print(
        f"{len(turns)} lines turn over the outer line by {turns.mean():.1f} mean, {turns.max():.1f} at most"
    )


main()
