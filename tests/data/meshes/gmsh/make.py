"""Makes the meshes of this folder: python make.py with Gmsh 4.15.2."""

import math

import gmsh

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
gmsh.option.setNumber("Mesh.CgnsExportStructured", 1)
g = gmsh.model.geo
x = [-1, 0.5, 2]
lower = [g.addPoint(a, 0.1 if a == 0.5 else 0, 0) for a in x]
upper = [g.addPoint(a, 1, 0) for a in x]
floor = [g.addLine(lower[k], lower[k + 1]) for k in (0, 1)]
roof = [g.addLine(upper[k], upper[k + 1]) for k in (0, 1)]
rise = [g.addLine(lower[k], upper[k]) for k in (0, 1, 2)]
parts = [g.addPlaneSurface([g.addCurveLoop([floor[k], rise[k + 1], -roof[k], -rise[k]])]) for k in (0, 1)]
for c in floor + roof:
    g.mesh.setTransfiniteCurve(c, 7)
for c in rise:
    g.mesh.setTransfiniteCurve(c, 5)
for s in parts:
    g.mesh.setTransfiniteSurface(s)
    g.mesh.setRecombine(2, s)
g.synchronize()
for curves, name in ((floor, "wall"), (roof, "top"), (rise[:1], "inflow"), (rise[2:], "outflow")):
    gmsh.model.addPhysicalGroup(1, curves, name=name)
gmsh.model.addPhysicalGroup(2, parts, name="channel")
gmsh.model.mesh.generate(2)
gmsh.write("channel.cgns")
gmsh.clear()
c = g.addPoint(0, 0, 0)


def ring(r: float) -> list[int]:
    """Four points on a circle of radius r."""
    quarters = [k * math.pi / 2 for k in range(4)]
    return [g.addPoint(r * math.cos(a), r * math.sin(a), 0) for a in quarters]


p, q = ring(0.5), ring(4)
inner = [g.addCircleArc(p[k], c, p[(k + 1) % 4]) for k in range(4)]
outer = [g.addCircleArc(q[k], c, q[(k + 1) % 4]) for k in range(4)]
rays = [g.addLine(p[k], q[k]) for k in range(4)]
parts = [
    g.addPlaneSurface([g.addCurveLoop([inner[k], rays[(k + 1) % 4], -outer[k], -rays[k]])]) for k in range(4)
]
for a in inner + outer:
    g.mesh.setTransfiniteCurve(a, 6)
for a in rays:
    g.mesh.setTransfiniteCurve(a, 7, "Progression", 1.4)
for s in parts:
    g.mesh.setTransfiniteSurface(s)
    g.mesh.setRecombine(2, s)
g.synchronize()
gmsh.model.addPhysicalGroup(1, inner, name="cylinder")
gmsh.model.addPhysicalGroup(1, outer, name="farfield")
gmsh.model.addPhysicalGroup(2, parts, name="fluid")
gmsh.model.mesh.generate(2)
gmsh.write("cylinder.msh")
