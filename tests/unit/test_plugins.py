"""Registries find what plug-ins bring, once, and go on where one is broken."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from isonomy import _registry
from isonomy._registry import PLUGINS, Registry
from isonomy.data.splits import SPLITTERS
from isonomy.errors import IsonomyWarning, UnknownName

FRUITS: Registry[int] = Registry("fruit")
TREES: Registry[int] = Registry("tree", room="orchard_room")


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "plugin_orchard.py").write_text(
        "import sys\nsys.modules['fruits'].FRUITS.add('apple', 1)\n"
    )
    (tmp_path / "plugin_broken.py").write_text("raise OSError('no rain')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "fruits", sys.modules[__name__])
    entries = [
        importlib.metadata.EntryPoint(name, f"plugin_{name}", PLUGINS)
        for name in ("orchard", "broken")
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)
    monkeypatch.setattr(_registry, "_loaded", set())


def test_a_plug_in_is_imported_on_the_first_miss(plugins: None) -> None:
    with pytest.warns(IsonomyWarning, match="'broken' .* could not be loaded: no rain"):
        assert FRUITS["apple"] == 1
    assert list(FRUITS) == ["apple"]
    with pytest.raises(UnknownName, match="did you mean 'apple'"):
        FRUITS["aple"]


def test_the_papers_come_in_by_the_same_door() -> None:
    assert {"chen", "evt", "evt_joined"} <= set(SPLITTERS)
    assert SPLITTERS.resolve("fairea") == "aif360"


def test_a_room_fills_its_registry_and_tries_again_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    room = tmp_path / "orchard_room"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "_shared.py").write_text("raise RuntimeError('private files are not imported')\n")
    (room / "plum.py").write_text("import sys\nsys.modules['fruits'].TREES.add('plum', 2)\n")
    (room / "pear.py").write_text("import sys\nsys.modules['fruits'].TREES.add('pear', 1)\n")
    (room / "quince.py").write_text("raise KeyboardInterrupt\n")
    (room / "cherry.py").write_text("import sys\nsys.modules['fruits'].TREES.add('cherry', 3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "fruits", sys.modules[__name__])
    assert TREES["cherry"] == 3  # no other file is imported for what is called like its file
    assert "orchard_room.pear" not in sys.modules
    assert TREES.so_far() == [3]
    for _ in range(2):  # half a registry is never taken for the whole
        with pytest.raises(KeyboardInterrupt):
            list(TREES)
    (room / "quince.py").unlink()
    TREES.add("apple", 0)
    assert list(TREES.items()) == [("apple", 0), ("cherry", 3), ("pear", 1), ("plum", 2)]
