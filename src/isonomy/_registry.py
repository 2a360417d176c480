"""Registries of named things, the plug-ins that add to them, and rooms that are called by name.

A package adds to the registries by naming a module in the entry-point group ``isonomy.plugins``;
importing that module registers what it brings. Plug-ins are imported once, when a registry is
listed or a name is not found, so that what comes with the lower rooms never waits for them. The
papers of this package are found the same way. A registry may belong to a room whose files are
imported just as late.
"""

import importlib
import inspect
import pkgutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

from isonomy._validate import unknown_name
from isonomy.errors import IsonomyWarning

T = TypeVar("T")

PLUGINS = "isonomy.plugins"
"""The entry-point group of plug-ins."""

_lock = threading.RLock()
_loaded: set[str] = set()


def load_plugins() -> None:
    """Import every installed plug-in, once; one that fails is warned of and left out."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    with _lock:
        for entry in entry_points(group=PLUGINS) if not _loaded else ():
            _loaded.add(entry.name)  # first: a plug-in may look into a registry itself
            try:
                entry.load()
            except Exception as error:
                warnings.warn(
                    f"Plug-in {entry.name!r} ({entry.value}) could not be loaded: {error}",
                    IsonomyWarning,
                    stacklevel=2,
                )


def files_of(room: str) -> list[str]:
    """Return the names of the files of a room that are not private, in order."""
    found = pkgutil.iter_modules(importlib.import_module(room).__path__)
    return sorted(file.name for file in found if not file.name.startswith("_"))


class Registry(Mapping[str, T], Generic[T]):
    """Names mapped to objects; a duplicate is an error, an unknown name gets a did-you-mean.

    What plug-ins register is found too: see :func:`load_plugins`.

    Parameters
    ----------
    kind : str
        What the registry holds, in the singular; used in messages.
    room : str, optional
        The package whose files register what comes with this one. A file is imported when its
        name is asked for, all are when the registry is listed or a name is not found; names are
        then listed in their order.

    Examples
    --------
    >>> fruits = Registry("fruit")
    >>> _ = fruits.add("apple", 1, aliases=("pomme",))
    >>> fruits["pomme"]
    1
    >>> list(fruits)
    ['apple']
    """

    def __init__(self, kind: str, *, room: str = "") -> None:
        self.kind = kind
        self._room = room
        self._items: dict[str, T] = {}
        self._aliases: dict[str, str] = {}

    def add(self, name: str, item: T, *, aliases: Iterable[str] = ()) -> T:
        """Register ``item`` under its name and return it."""
        for key in (name, *aliases):
            if key in self._items or key in self._aliases:
                raise RuntimeError(f"{self.kind} {key!r} is registered twice")
        self._items[name] = item
        self._aliases.update(dict.fromkeys(aliases, name))
        return item

    def register(self, name: str, *, aliases: Iterable[str] = ()) -> Callable[[T], T]:
        """Register the decorated object; a class is given its name as ``name``."""

        def decorate(item: T) -> T:
            if isinstance(item, type):
                item.name = name  # type: ignore[attr-defined]
            return self.add(name, item, aliases=aliases)

        return decorate

    def add_alias(self, alias: str, name: str) -> None:
        """Register another name for what is registered as ``name``."""
        if alias in self._items or alias in self._aliases:
            raise RuntimeError(f"{self.kind} {alias!r} is registered twice")
        self._aliases[alias] = self.resolve(name)

    def resolve(self, name: str) -> str:
        """Return the registered name behind ``name`` or one of its aliases."""
        if name not in self:
            raise unknown_name(self.kind, name, [*self._items, *self._aliases])
        return self._aliases.get(name, name)

    def so_far(self) -> list[T]:
        """Return what is registered already; nothing is imported for it."""
        return list(self._items.values())

    def __getitem__(self, name: str) -> T:
        return self._items[self.resolve(name)]

    def __contains__(self, name: object) -> bool:
        if name in self._items or name in self._aliases:
            return True
        with _lock:
            if self._room and name in files_of(self._room):  # what is called like its file
                importlib.import_module(f"{self._room}.{name}")
            if name not in self._items:
                self._load()
        return name in self._items or name in self._aliases

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._items)

    def __len__(self) -> int:
        self._load()
        return len(self._items)

    def _load(self) -> None:
        """Import the files of the room, if there is one, and then the plug-ins."""
        with _lock:
            if self._room:
                room, self._room = self._room, ""  # first: a file may look into the registry itself
                try:
                    for file in files_of(room):
                        importlib.import_module(f"{room}.{file}")
                except BaseException:
                    self._room = room  # interrupted or broken: the next look tries again
                    raise
                self._items = dict(sorted(self._items.items()))  # whatever was imported first
        load_plugins()


class _CallableRoom(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function that has the room's name."""
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **options)


def callable_room(name: str) -> None:
    """Let a room be called like the function of the same name in it.

    ``isonomy.audit`` is a room and a function. Importing a file of the room, first or later, puts
    the room in the function's place, so the room answers the call.

    Examples
    --------
    >>> import isonomy
    >>> import isonomy.audit.judge
    >>> result = isonomy.audit([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=list("aabb"))
    >>> type(result).__name__
    'Audit'
    """
    room = sys.modules[name]
    room.__class__ = _CallableRoom
    # what an editor and a notebook show before the brackets are closed
    room.__signature__ = inspect.signature(getattr(room, name.rpartition(".")[2]))  # type: ignore[attr-defined]
