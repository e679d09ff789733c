"""The wheel holds the package and nothing else, and runs where nothing else is installed."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from ottla import __version__

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, directory: Path) -> str:
    done = subprocess.run(
        command, cwd=directory, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = done.stdout.decode()
    assert done.returncode == 0, output
    return output


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", target)
    run(*build, directory=ROOT)
    (built,) = target.glob("*.whl")
    return built


def test_the_wheel_holds_only_the_package_and_that_it_is_typed(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    folders = {name.split("/")[0] for name in names}
    assert folders == {"ottla", f"ottla-{__version__}.dist-info"}
    assert "ottla/py.typed" in names


def test_the_wheel_runs_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=True)
    programs = tmp_path / "clean" / "bin"
    install = (programs / "python", "-m", "pip", "--disable-pip-version-check", "install")
    run(*install, "--quiet", "-c", ROOT / "constraints.txt", wheel, directory=tmp_path)
    version = run(programs / "ottla", "--version", directory=tmp_path)
    assert version == f"ottla {__version__}\n"
