"""The process of a sandbox; it starts in no time, as it needs the standard library only.

What the work itself needs is imported when the work is unpickled.
"""

import os
import pickle
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["one_thread", "receive", "send_bytes", "serve", "watch_parent", "words"]

_HEAD = struct.Struct("!Q")


def one_thread(work: Callable[[Any], Iterable[Any]], item: Any) -> list[Any]:
    """Run a trial with BLAS on one thread: equal results everywhere, and no crowd of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return list(work(item))


def words(error: BaseException) -> str:
    """Say in one line what was raised."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def send_bytes(pipe: Any, data: bytes) -> None:
    """Write a message."""
    pipe.write(_HEAD.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: Any) -> bytes | None:
    """Read a message; None where the other side is gone."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size = _HEAD.unpack(head)[0]
    data: bytes = pipe.read(size)
    return data if len(data) == size else None


def watch_parent() -> None:
    """End this process when its parent is gone: nobody would take the results."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def serve() -> None:
    """Do one trial after the other until the supervisor is gone."""
    # what a library prints must not get between the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    watch_parent()
    given = receive(questions)
    if given is None:
        return
    try:
        work = pickle.loads(given)
    except Exception as error:  # told like any other failure of a trial
        broken = error

        def work(item: Any) -> Any:
            raise broken

    send_bytes(answers, pickle.dumps(("ready",)))
    while (data := receive(questions)) is not None:
        try:
            answer = pickle.dumps(("done", one_thread(work, pickle.loads(data))))
        except Exception as error:
            answer = pickle.dumps(("raised", words(error), traceback.format_exc()))
        send_bytes(answers, answer)


if __name__ == "__main__":
    serve()
