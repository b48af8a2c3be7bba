"""Movements within PyTorch's automatic differentiation.

`move` is a function of tensors that autograd can differentiate. If the reference is on one GPU, the nodes and
the derivatives by them stay in its memory, and tensors on that GPU are used without a copy:

    >>> from gridgen.torch import move
    >>> wall = torch.tensor(reference.wall, requires_grad=True)
    >>> nodes = move(reference, wall)  # (nj, ni, 2)
    >>> loss(nodes).backward()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._device import is_on_gpu
from ._support import optional_import

if TYPE_CHECKING:
    from ._movement import Reference

__all__ = ["move"]


# The autograd function, after it has been made.
_made: list[Any] = []


def _movement() -> Any:
    """Return the autograd function. It is made late, since PyTorch takes seconds to import."""
    if _made:
        return _made[0]
    import numpy as np

    torch = optional_import("torch", "torch")

    def array(tensor: Any) -> Any:
        return tensor.detach().to("cpu", torch.float64).contiguous().numpy()

    def stacked(x: Any, y: Any) -> Any:
        # Coordinates on a GPU are used without a copy.
        own = [torch.from_dlpack(c) if is_on_gpu(c) else torch.from_numpy(np.array(c)) for c in (x, y)]
        return torch.stack(own, dim=-1)

    def forward(ctx: Any, reference: Reference, wall: Any, tolerance: float) -> Any:
        ctx.moved = reference.move_to(array(wall))
        ctx.tolerance, ctx.like = tolerance, wall.detach()[:0]
        return stacked(ctx.moved.x, ctx.moved.y).to(wall)

    def backward(ctx: Any, nodes: Any) -> Any:
        if is_on_gpu(ctx.moved.x):
            # Derivatives on the GPU of the grid are read without a copy.
            device = torch.device("cuda", ctx.moved.x.__dlpack_device__()[1])
            given = nodes.detach().to(device, torch.float64)
        else:
            given = array(nodes)
        wall, _ = ctx.moved.adjoint(given, tolerance=ctx.tolerance)
        return None, torch.from_numpy(wall).to(ctx.like), None

    def jvp(ctx: Any, _reference: Any, wall: Any, _tolerance: Any) -> Any:
        if is_on_gpu(ctx.moved.x):
            nodes = stacked(*ctx.moved.device_derivative(array(wall), tolerance=ctx.tolerance))
        else:
            nodes = torch.from_numpy(ctx.moved.derivative(array(wall), tolerance=ctx.tolerance))
        return nodes.to(ctx.like)

    methods = {
        "forward": staticmethod(forward),
        "backward": staticmethod(torch.autograd.function.once_differentiable(backward)),
        "jvp": staticmethod(jvp),
    }
    _made.append(type("Movement", (torch.autograd.Function,), methods))
    return _made[0]


def move(reference: Reference, wall: Any, *, tolerance: float = 1e-10) -> Any:
    """Move a grid to wall points given as a tensor; differentiable once, in forward and reverse mode.

    Parameters
    ----------
    reference : Reference
        The grid to move.
    wall : Tensor, (n, 2)
        The wall points, in number and order those of ``reference.wall``; on any device, in any precision. If
        the wall is closed, its first and its last point must be the same.
    tolerance : float
        Relative residual of the linear solves of derivatives.

    Returns
    -------
    Tensor, (nj, ni, 2)
        The nodes, on the device and in the precision of `wall`.

    Raises
    ------
    NotConverged, GeometryError
        See `Reference.move_to`.
    ImportError
        Without PyTorch: ``pip install 'gridgen[torch]'``.
    """
    return _movement().apply(reference, wall, tolerance)
