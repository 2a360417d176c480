"""What we change: flat, one file per method; the stage is a class attribute."""

__all__: list[str] = []
