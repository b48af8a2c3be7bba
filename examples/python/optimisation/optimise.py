"""A section that is given a pressure distribution: OpenMDAO, a mesh that moves, potential flow on it."""

from math import comb

import numpy as np
import openmdao.api as om
from potential_flow import PotentialFlow

import gridgen
from gridgen.openmdao import MeshMovement


def modes(wall, count=6):
    """Displacements in y of the upper and of the lower side by Kulfan's modes (CST), (n, 2 count)."""
    x, upper = np.clip(wall[:, 0], 0, 1), np.arange(len(wall)) > np.argmin(wall[:, 0])
    last = count - 1
    mode = [np.sqrt(x) * (1 - x) * comb(last, k) * x**k * (1 - x) ** (last - k) for k in range(count)]
    return np.stack([m * side for side in (upper, ~upper) for m in mode], axis=1)


class Error(om.ExplicitComponent):
    """The mean square of the difference of the wall's pressure from the one that is asked for."""

    def initialize(self):
        self.options.declare("data")

    def setup(self):
        self.add_input("vol_coords", shape=3 * int(np.prod(self.options["data"]["shape"])))
        self.add_output("error", 0.0)
        self.declare_partials("*", "*")

    def compute(self, inputs, outputs):
        data = self.options["data"]
        self.nodes = inputs["vol_coords"].reshape(*data["shape"], 3)[..., :2]
        self.speeds = data["flow"].speeds(self.nodes)
        outputs["error"] = np.mean((1 - self.speeds**2 - data["target"]) ** 2)
        data["history"].append((outputs["error"].item(), data["mesh"].moved.newton_iterations))

    def compute_partials(self, inputs, partials):
        data, q = self.options["data"], self.speeds
        by_nodes = data["flow"].adjoint(self.nodes, -4 * (1 - q**2 - data["target"]) * q / len(q))
        partials["error", "vol_coords"] = np.pad(by_nodes, [(0, 0), (0, 0), (0, 1)]).reshape(1, -1)


class Shape(om.ExplicitComponent):
    """The surface: where it was, and the modes by their weights."""

    def initialize(self):
        self.options.declare("surface")
        self.options.declare("by")

    def setup(self):
        self.along = np.zeros((self.options["surface"].size, self.options["by"].shape[1]))
        self.along[1::3] = self.options["by"]
        self.add_input("weights", np.zeros(self.along.shape[1]))
        self.add_output("x_aero", self.options["surface"])
        self.declare_partials("x_aero", "weights", val=self.along)

    def compute(self, inputs, outputs):
        outputs["x_aero"] = self.options["surface"] + self.along @ inputs["weights"]


def nodes_of(mesh):
    """The nodes of a mesh, (nj, ni, 2)."""
    return np.stack([np.asarray(mesh.x), np.asarray(mesh.y)], axis=-1)


def main(goal, iterations=100, **case):
    """Take a NACA 0012 to the pressure, at 2 degrees, of the section with the weights `goal`.

    Returns the error and the Newton steps of each evaluation, the wall's pressure at the start, at the end
    and as asked for, and the meshes at the start and at the end.
    """
    reference = gridgen.Reference(gridgen.make(naca="0012", topology="O", first_cell=1e-3, **case))
    by, start = modes(reference.wall), nodes_of(reference.mesh)
    there = reference.move_to(reference.wall + np.outer(by @ goal, [0.0, 1.0]))
    flow = PotentialFlow(start.shape[:2], np.hypot(*(start[1] - start[0]).T)[:-1], angle=2.0)
    pressure = [1 - flow.speeds(nodes) ** 2 for nodes in (start, nodes_of(there))]
    mesh = gridgen.USMesh({"reference": reference, "points": np.pad(start.reshape(-1, 2), [(0, 0), (0, 1)])})
    surface = mesh.getSurfaceCoordinates().ravel()
    data = {"shape": start.shape[:2], "flow": flow, "target": pressure[1], "mesh": mesh, "history": []}

    driver = om.ScipyOptimizeDriver(optimizer="SLSQP", maxiter=iterations, tol=1e-10, disp=False)
    problem = om.Problem(om.Group(), driver, reports=False)
    problem.model.add_subsystem("shape", Shape(surface=surface, by=by), ["*"])
    problem.model.add_subsystem("mesh", MeshMovement(mesh=mesh), ["*"])
    problem.model.add_subsystem("error", Error(data=data), ["*"])
    problem.model.add_design_var("weights", lower=-0.15, upper=0.15)
    problem.model.add_objective("error", scaler=0.01)
    problem.setup(mode="rev")
    problem.run_driver()
    found = 1 - flow.speeds(nodes_of(mesh.moved)) ** 2
    return data["history"], [pressure[0], found, pressure[1]], [reference.mesh, mesh.moved]


if __name__ == "__main__":
    # A NACA 4412, nearly.
    goal = np.array([0.03, 0.06, 0.04, 0.09, 0.06, 0.08, 0.03, 0.06, 0.04, 0.09, 0.06, 0.08])
    for step, (error, newton) in enumerate(main(goal, ni=129, nj=65)[0]):
        print(f"{step:3} error {error:.3e}, the mesh moved in {newton} Newton steps")
