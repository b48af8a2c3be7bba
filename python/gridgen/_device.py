"""Coordinates in the memory of a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from ._core import NativeGrid, NativeNodes

__all__ = ["DeviceArray", "is_on_gpu"]

# DLDeviceType of dlpack.h.
_CPU = 1
_CUDA = 2


def is_on_gpu(array: Any) -> bool:
    """Return whether an array exports memory of a GPU by DLPack."""
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] == _CUDA


class DeviceArray:
    """One coordinate of a grid, (nj, ni), float64, in the memory of a GPU. It must not be written to.

    ``torch.from_dlpack(grid.x)`` and ``cupy.from_dlpack(grid.x)`` use the memory without a copy. It is freed
    only after the grid, this object and all arrays made from it are gone, and the work queued by then on the
    stream of the importing library, or on the default one, is complete. ``numpy.asarray(grid.x)`` and
    indexing copy both coordinates to the host, once.
    """

    __slots__ = ("_axis", "_device", "_native")

    def __init__(self, native: NativeGrid | NativeNodes, axis: int, device: tuple[int, int]) -> None:
        self._native = native
        self._axis = axis
        self._device = device

    @property
    def shape(self) -> tuple[int, int]:
        """(nj, ni)."""
        return self._native.nj, self._native.ni

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Float64."""
        import numpy as np

        return np.dtype(np.float64)

    @property
    def ndim(self) -> int:
        """Number of dimensions, 2."""
        return 2

    @property
    def size(self) -> int:
        """Number of nodes, nj ni."""
        return self._native.nj * self._native.ni

    def __len__(self) -> int:
        return self._native.nj

    def __getitem__(self, key: Any) -> Any:
        """Index the copy on the host."""
        return self._host()[key]

    def __repr__(self) -> str:
        return f"<gridgen.DeviceArray {self.shape}, float64, device {self._device}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the copy on the host."""
        import numpy as np

        return np.array, (self._host(),)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Device type of dlpack.h (2 is CUDA) and number of the device."""
        return self._device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the memory on the device, ready for work on `stream`; a copy if `dl_device` is the CPU.

        The stream waits on the GPU, not on the host. None and 1 are the legacy default stream, 2 is that of
        the calling thread, a greater number is a handle, and -1 requests no ordering. The stream of a handle
        must exist until the memory is released.

        Raises
        ------
        BufferError
            If a copy on a device is requested, or the CPU without a copy, or another device, or if `stream`
            is none of these.
        """
        if dl_device is not None and tuple(dl_device) != self._device:
            if dl_device[0] != _CPU or copy is False:
                message = f"the array is on device {self._device} and cannot be offered on {tuple(dl_device)}"
                raise BufferError(message)
            # A writable copy: NumPy does not export read-only memory to consumers of older DLPack.
            return self._host().copy().__dlpack__(**({"max_version": max_version} if max_version else {}))
        if copy:
            message = "no copy is made on the device: copy what was made of the array"
            raise BufferError(message)
        return self._native.dlpack(self._axis, stream, max_version)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 (NumPy's protocol)
        """Copy to the host."""
        if copy is False:
            message = "the array is on a GPU: numpy needs a copy"
            raise ValueError(message)
        import numpy as np

        return np.array(self._host(), dtype=dtype) if copy else self._host().astype(dtype, copy=False)

    def _host(self) -> NDArray[np.float64]:
        """Return the copy on the host, which the grid keeps."""
        return self._native.y if self._axis else self._native.x
