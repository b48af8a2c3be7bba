"""Pictures of a grid: its lines by matplotlib, the skewness of its cells by PyVista, off-screen.

python examples/python/pictures.py [FOLDER]

Needs pip install 'gridgen[plot,pyvista]'; without PyVista its picture is left out.
"""

import sys
from pathlib import Path

import matplotlib as mpl

import gridgen


def main(folder="output/python", **size):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    grid = gridgen.make(naca="4412", **{"ni": 161, "nj": 65, "first_cell": 1e-4, **size})

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    views = {"whole": (-15, 16, -15, 15), "section": (-0.2, 1.2, -0.5, 0.5)}
    for ax, (title, view) in zip(panels, views.items(), strict=True):
        grid.plot(ax, colors="tab:blue")
        ax.set(title=title, aspect="equal", xlim=view[:2], ylim=view[2:])
    figure.savefig(folder / "grid.png", dpi=150)
    plt.close(figure)
    print(f"written: {folder / 'grid.png'}")

    try:
        import pyvista
    except ImportError:
        print("left out: the picture by PyVista, which is not installed")
        return
    plotter = pyvista.Plotter(off_screen=True, window_size=(1200, 800))
    plotter.add_mesh(grid.to_pyvista(), scalars="skewness", show_edges=True, cmap="YlOrRd", clim=(0, 0.3))
    plotter.view_xy()
    plotter.camera.focal_point, plotter.camera.position = (0.5, 0, 0), (0.5, 0, 1)
    plotter.camera.parallel_projection, plotter.camera.parallel_scale = True, 0.6
    plotter.screenshot(folder / "skewness.png")
    plotter.close()
    print(f"written: {folder / 'skewness.png'}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
