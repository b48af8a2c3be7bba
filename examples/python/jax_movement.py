"""The nodes of a grid as a function of its wall points for JAX: jit, and grad by one linear solve.

python examples/python/jax_movement.py
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

import gridgen

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 (JAX has it so)


def movement(reference, tolerance=1e-10):
    """Give the function from wall points (n, 2) to nodes (nj, ni, 2), both in double precision."""

    @lru_cache(maxsize=4)  # the reverse pass finds the movement of the forward pass here
    def moved(wall):
        return reference.move_to(np.frombuffer(wall).reshape(-1, 2))

    def nodes_of(wall):
        grid = moved(np.asarray(wall).tobytes())
        return np.stack([grid.x, grid.y], axis=-1)

    def adjoint_of(wall, weights):
        return moved(np.asarray(wall).tobytes()).adjoint(np.asarray(weights), tolerance=tolerance)[0]

    def call(function, like, *arrays):
        like = jax.ShapeDtypeStruct(like.shape, jnp.float64)
        return jax.pure_callback(function, like, *arrays, vmap_method="sequential")

    move, nodes = jax.custom_vjp(lambda wall: call(nodes_of, nodes, wall)), nodes_of(reference.wall)
    move.defvjp(lambda wall: (move(wall), wall), lambda wall, of: (call(adjoint_of, wall, wall, of),))
    return move


def main(**size):
    """Give the gradient of a measure by thickness, camber and twist of a section, and differences for it."""
    size = {"topology": "O", "ni": 129, "nj": 65, "first_cell": 1e-4, **size}
    reference = gridgen.Reference(gridgen.make(naca="2412", **size))
    move, (x, y) = movement(reference), jnp.asarray(reference.wall).T

    def mean_log_area(parameters):
        thickness, camber, twist = parameters
        points = jnp.stack([x, (1 + thickness) * y + 4 * camber * x * (1 - x)], axis=-1)
        c, s = jnp.cos(twist), jnp.sin(twist)
        nodes = move(points @ jnp.array([[c, -s], [s, c]]))
        (ax, ay), (bx, by) = (nodes[1:, 1:] - nodes[:-1, :-1]).T, (nodes[1:, :-1] - nodes[:-1, 1:]).T
        return jnp.log(0.5 * (ax * by - ay * bx)).mean()

    at, steps = jnp.array([0.1, 0.01, 0.02]), 1e-4 * jnp.eye(3)
    differences = [(mean_log_area(at + by) - mean_log_area(at - by)) / 2e-4 for by in steps]
    return jax.grad(jax.jit(mean_log_area))(at), jnp.array(differences)


if __name__ == "__main__":
    print(*main(), sep="\n")
