"""Movements as components of OpenMDAO and mphys.

`MeshMovement` connects the surface computed by a model to the solver that needs the volume:

    >>> import openmdao.api as om
    >>> from gridgen.openmdao import MeshMovement
    >>> problem = om.Problem()
    >>> mesh = gridgen.USMesh({"reference": gridgen.Reference(grid), "spanCells": 1})
    >>> problem.model.add_subsystem("mesh", MeshMovement(mesh=mesh))
"""

from __future__ import annotations

from typing import Any

from ._support import optional_import

__all__ = ["MeshMovement", "MovementBuilder"]

_om = optional_import("openmdao.api", "openmdao")


class MeshMovement(_om.ExplicitComponent):  # type: ignore[misc, name-defined]
    """The volume coordinates of a mesh as a function of its surface coordinates, both flat.

    Products with the derivatives are matrix-free, forward and reverse: one linear solve each.

    Options
    -------
    mesh : USMesh
        The mesh.
    surface, volume : str
        Names of input and output; ``x_aero`` and ``vol_coords``.
    """

    def initialize(self) -> None:
        """Declare the options."""
        self.options.declare("mesh", recordable=False, desc="a gridgen.USMesh")
        self.options.declare("surface", default="x_aero", desc="name of the input")
        self.options.declare("volume", default="vol_coords", desc="name of the output")

    def setup(self) -> None:
        """Declare input and output."""
        mesh, distributed = self.options["mesh"], self.comm.size > 1
        tags = ["mphys_coupling"]
        surface = mesh.getSurfaceCoordinates().ravel()
        self.add_input(self.options["surface"], val=surface, distributed=distributed, tags=tags)
        volume = mesh.getSolverGrid()
        self.add_output(self.options["volume"], val=volume, distributed=distributed, tags=tags)

    def compute(self, inputs: Any, outputs: Any) -> None:
        """Move the mesh."""
        mesh = self.options["mesh"]
        self._move(inputs)
        outputs[self.options["volume"]] = mesh.getSolverGrid()

    def compute_jacvec_product(self, inputs: Any, d_inputs: Any, d_outputs: Any, mode: str) -> None:
        """Add the products with the derivatives."""
        mesh, surface, volume = (self.options[name] for name in ("mesh", "surface", "volume"))
        if volume not in d_outputs or surface not in d_inputs:
            return
        self._move(inputs)
        if mode == "fwd":
            d_outputs[volume] += mesh.warpDerivFwd(d_inputs[surface])
        else:
            mesh.warpDeriv(d_outputs[volume])
            d_inputs[surface] += mesh.getdXs().ravel()

    def _move(self, inputs: Any) -> None:
        """Move the mesh, unless it is already at this surface."""
        mesh, surface = self.options["mesh"], inputs[self.options["surface"]].reshape(-1, 3)
        if (mesh.getSurfaceCoordinates() != surface).any() or self._first:
            mesh.setSurfaceCoordinates(surface)
            self._first = True
            try:
                mesh.warpMesh()
            except Exception as error:
                message = f"{type(error).__name__}: {error}"
                raise _om.AnalysisError(message) from error
            self._first = False

    # True until the mesh has been moved to its surface.
    _first = True


class MovementBuilder:
    """A builder for a scenario of mphys, with the movement before the coupling.

    It has the methods of ``mphys.Builder``, which need not be installed. Use ``MovementBuilder(mesh=mesh)``.
    """

    def __init__(self, mesh: Any, *, surface: str = "x_aero", volume: str = "vol_coords") -> None:
        self._arguments = {"mesh": mesh, "surface": surface, "volume": volume}

    def initialize(self, comm: Any) -> None:
        """Do nothing, since the mesh exists already."""

    def get_coupling_group_subsystem(self, scenario_name: str | None = None) -> None:
        """Return None, since the movement comes before the coupling."""

    def get_pre_coupling_subsystem(self, scenario_name: str | None = None) -> MeshMovement:  # noqa: ARG002
        """Return the movement."""
        return MeshMovement(**self._arguments)

    def get_post_coupling_subsystem(self, scenario_name: str | None = None) -> None:
        """Return None."""

    def get_mesh_coordinate_subsystem(self, scenario_name: str | None = None) -> Any:  # noqa: ARG002
        """Return a component with the current surface coordinates as its output ``x_aero0``."""
        outputs = _om.IndepVarComp()
        surface = self._arguments["mesh"].getSurfaceCoordinates().ravel()
        outputs.add_output(f"{self._arguments['surface']}0", val=surface, tags=["mphys_coordinates"])
        return outputs

    def get_number_of_nodes(self) -> int:
        """Return the number of surface nodes."""
        return len(self._arguments["mesh"].getSurfaceCoordinates())

    def get_ndof(self) -> int:
        """Return the number of coordinates of a node."""
        return 3
