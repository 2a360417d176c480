"""
The demo: every mitigation method on real data, and which one to choose
=======================================================================

This runs ``isonomy benchmark`` as a user would: the unmitigated model and every applicable method on
the same ten splits of German credit, compared with both baselines, with statistics. It ends with
the path of the page. A second run reuses the stored results and is immediate.
"""

import subprocess
import sys

from isonomy.data import load
from isonomy.errors import DataUnavailable


def people() -> tuple[str, str]:
    """Return German credit, or generated data of the same size where it is unavailable."""
    try:
        return load("german").name, "age"
    except DataUnavailable as error:
        print(f"{error}\nContinuing with generated data.\n")
        return "synthetic(n=1000)", "group"


def main() -> None:
    """Run the demo."""
    data, attribute = people()
    command = ["isonomy", "benchmark", data, "--sensitive", attribute]
    print(f"$ {' '.join(command)}", flush=True)
    print(
        "On your own: isonomy benchmark people.csv --label hired --favorable yes --sensitive sex",
        flush=True,
    )
    sys.exit(subprocess.run([sys.executable, "-m", *command], check=False).returncode)


if __name__ == "__main__":
    main()
