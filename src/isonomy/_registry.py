"""A shelf of named things: metrics, mitigators, datasets; and rooms that are called by name."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

from isonomy._validate import unknown_name

T = TypeVar("T")

__all__ = ["Registry", "callable_room"]


class Registry(Mapping[str, T], Generic[T]):
    """Names mapped to objects; a duplicate is an error, an unknown name gets a did-you-mean.

    Parameters
    ----------
    kind : str
        What the shelf holds, in the singular; used in messages.

    Examples
    --------
    >>> fruits = Registry("fruit")
    >>> _ = fruits.add("apple", 1, aliases=("pomme",))
    >>> fruits["pomme"]
    1
    >>> list(fruits)
    ['apple']
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T] = {}
        self._aliases: dict[str, str] = {}

    def add(self, name: str, item: T, *, aliases: Iterable[str] = ()) -> T:
        """Put ``item`` on the shelf and return it."""
        for key in (name, *aliases):
            if key in self._items or key in self._aliases:
                raise RuntimeError(f"{self.kind} {key!r} is registered twice")
        self._items[name] = item
        self._aliases.update(dict.fromkeys(aliases, name))
        return item

    def register(self, name: str, *, aliases: Iterable[str] = ()) -> Callable[[T], T]:
        """Put the decorated object on the shelf."""

        def decorate(item: T) -> T:
            return self.add(name, item, aliases=aliases)

        return decorate

    def resolve(self, name: str) -> str:
        """Give the registered name behind ``name`` or one of its aliases."""
        if name in self._items:
            return name
        if name in self._aliases:
            return self._aliases[name]
        raise unknown_name(self.kind, name, [*self._items, *self._aliases])

    def __getitem__(self, name: str) -> T:
        return self._items[self.resolve(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._items or name in self._aliases

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


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
    >>> found = isonomy.audit([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=list("aabb"))
    >>> type(found).__name__
    'Audit'
    """
    sys.modules[name].__class__ = _CallableRoom
