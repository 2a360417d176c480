"""``python -m isonomy`` is the command."""

from isonomy.cli import main

if __name__ == "__main__":
    main()
