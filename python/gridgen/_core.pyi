# The native module. Its functions take checked arguments; the package's modules are what to call.

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NativeGrid",
    "__version__",
    "from_points",
    "keys",
    "library_folders",
    "main",
    "make",
    "read",
    "schema",
    "solve",
]

__version__: str

@final
class NativeGrid:
    @property
    def ni(self) -> int: ...
    @property
    def nj(self) -> int: ...
    @property
    def topology(self) -> str: ...
    @property
    def wall(self) -> tuple[int, int]: ...
    @property
    def x(self) -> NDArray[np.float64]: ...
    @property
    def y(self) -> NDArray[np.float64]: ...
    @property
    def notes(self) -> list[str]: ...
    def cells(self, measure: str) -> NDArray[np.float64]: ...
    def quality(self) -> str: ...
    def report(self) -> str | None: ...
    def history(self) -> str | None: ...
    def case(self) -> str | None: ...
    def verdict(self) -> tuple[str, bool, str] | None: ...
    def hint(self) -> str | None: ...
    def write(
        self,
        path: str,
        *,
        force: bool,
        span_cells: int | None,
        span: float | None,
        plot3d: dict[str, object] | None,
        compression: str | None,
    ) -> list[str]: ...
    def files(self) -> list[Path]: ...
    def dlpack_device(self) -> tuple[int, int] | None: ...
    def dlpack(self, axis: int, stream: int | None, max_version: tuple[int, int] | None) -> object: ...

def library_folders(folders: list[str]) -> None: ...
def main(arguments: Sequence[str]) -> int: ...
def make(
    case: str | list[tuple[str, object]] | None,
    arguments: list[tuple[str, object]],
    *,
    backend: str,
    devices: list[int] | None,
    threads: int | None,
    output: str | None,
    force: bool,
    restart: str | None,
    on_event: Callable[[str, object], None] | None,
) -> NativeGrid: ...
def read(path: str) -> NativeGrid: ...
def from_points(x: NDArray[np.float64], y: NDArray[np.float64]) -> NativeGrid: ...
def solve(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    data: NDArray[np.float64],
    columns: int,
    b: NDArray[np.float64],
    options: list[tuple[str, object]],
    *,
    backend: str,
    devices: list[int] | None,
    threads: int | None,
) -> tuple[NDArray[np.float64], str]: ...
def schema() -> str: ...
def keys() -> list[tuple[str, str, str, str, str]]: ...
