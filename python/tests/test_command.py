"""The command `gridgen` that is part of the package."""

import shutil
import signal
import subprocess
import sys
import time

import pytest

import gridgen
from gridgen import __main__
from gridgen._support import packaged_libraries
from support import command


def test_the_version_is_that_of_the_package():
    said = command("--version")

    assert said.returncode == 0
    assert said.stdout == f"gridgen {gridgen.__version__}\n"


def test_exit_codes_are_those_of_the_program(tmp_path):
    (tmp_path / "wing.toml").write_text(
        "geometry.naca = '0012'\n[grid]\nni = 65\nnj = 33\n[output]\npictures = false\n"
    )

    good = command("wing.toml", "--backend", "cpu", cwd=tmp_path)
    bad = command(
        "wing.toml", "--set", "newton.max_iterations=1", "--set", "quality.retry=false", cwd=tmp_path
    )
    wrong = command("wing.toml", "--set", "grid.ni=3", cwd=tmp_path)
    usage = command("--no-such-option", cwd=tmp_path)

    assert [run.returncode for run in (good, bad, wrong, usage)] == [0, 1, 2, 2]
    assert (tmp_path / "output" / "wing" / "mesh.failed.vts").exists()
    assert "hint: " in wrong.stderr


def test_main_returns_the_exit_code(monkeypatch, capfd):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "argv", ["gridgen", "--version"])

    try:
        assert __main__.main() == 0
    finally:
        signal.signal(signal.SIGINT, before)

    assert gridgen.__version__ in capfd.readouterr().out


def test_the_script_is_installed():
    script = shutil.which("gridgen", path=str(sys.prefix) + "/bin")
    if script is None:
        pytest.skip("the package is not installed")

    said = subprocess.run([script, "--version"], capture_output=True, text=True, check=True, timeout=60)

    assert said.stdout.startswith("gridgen ")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_the_program_with_130(tmp_path):
    (tmp_path / "wing.toml").write_text("geometry.naca = '0012'\n[grid]\nni = 1025\nnj = 513\n")
    line = [sys.executable, "-m", "gridgen", "wing.toml", "--backend", "cpu", "-v"]

    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as run:
        # After the first words on the terminal the program is at work.
        run.stderr.read(1)
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        run.stderr.read()
        assert run.wait(60) == 130


def test_libraries_from_pypi_are_found_in_every_place_of_the_interpreter(tmp_path, monkeypatch):
    (tmp_path / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)

    assert str(tmp_path / "nvidia" / "cu13" / "lib") in packaged_libraries()
