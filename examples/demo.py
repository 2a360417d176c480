"""
The demo: every mitigation method on real data, and which one to choose
=======================================================================

Runs ``isonomy benchmark`` as a user would: the unmitigated model and every applicable method on
the same ten splits of German credit, judged against both baselines, with statistics. Ends with
the path of the page.
"""

import subprocess
import sys
import time

from isonomy.data import load
from isonomy.errors import DataUnavailable

REPEATS = 10


def people() -> tuple[str, str]:
    """Name German credit, or data of the same shape that we make, where none can be reached."""
    try:
        return load("german").name, "age"
    except DataUnavailable as error:
        print(f"{error}\nGoing on with generated data.\n")
        return "synthetic(n=1000)", "group"


def main() -> None:
    """Run the demo."""
    data, attribute = people()
    command = ["isonomy", "benchmark", data, "--sensitive", attribute, "--repeats", str(REPEATS)]
    print(f"$ {' '.join(command)}\n", flush=True)
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", *command, "--out", "out/demo"], check=True)
    print(
        f"\n{time.monotonic() - start:.0f} s. The same on your own file:\n"
        "  isonomy benchmark people.csv --label hired --favorable yes --sensitive sex"
    )


if __name__ == "__main__":
    main()
