"""``python -m isonomy`` is the command."""

from isonomy.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
