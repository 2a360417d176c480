"""A Ray that is started here listens on loopback only."""

import os
from pathlib import Path

import pytest

from isonomy.study.backends import make_backend
from isonomy.study.isolation import started_by
from tests.unit.study.engines import engine, importable, workloads

__all__ = ["importable"]

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks at sockets")

LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")


def listening() -> dict[str, str]:
    """Return the addresses at which processes started by this one listen, by socket."""
    sockets = set()
    for pid in started_by(os.getpid()):
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(str(link.readlink()))
            except OSError:
                continue
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found[words[9]] = words[1].partition(":")[0]
    return found


@pytest.mark.slow
def test_nobody_outside_can_connect() -> None:
    pytest.importorskip("ray")
    with engine("ray"):
        stream = make_backend("ray", workers=1).run(workloads().work, [("ok", 1), ("ok", 2)])
        next(stream)
        addresses = listening()
        list(stream)
    assert addresses
    assert set(addresses.values()) <= set(LOOPBACK)
