"""
The demo: every mitigation method on real data, and which one to choose
=======================================================================

Runs ``isonomy benchmark`` as a user would: the unmitigated model and every applicable method on
the same ten splits of German credit, judged against both baselines, with statistics. Ends with
the path of the page. Run it again and it goes on from what is there: at once.
"""

import subprocess
import sys

from isonomy.data import load
from isonomy.errors import DataUnavailable


def people() -> tuple[str, str]:
    """Name German credit, or data of the same size that we make, where none can be reached."""
    try:
        return load("german").name, "age"
    except DataUnavailable as error:
        print(f"{error}\nGoing on with generated data.\n")
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
