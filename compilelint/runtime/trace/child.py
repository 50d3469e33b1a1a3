"""The traced process: `python child.py REQUEST.json` runs the program and writes its journal.

Nothing is imported for the program, torch least of all: what watches torch starts once the program has imported it.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NoReturn


def main(path: str) -> None:
    here = Path(__file__).resolve()
    if sys.path and os.path.realpath(sys.path[0]) == str(here.parent):
        del sys.path[0]
    root = str(here.parents[3])
    sys.path.insert(0, root)
    from compilelint.runtime.orphans import end_with_parent
    from compilelint.runtime.trace import program
    from compilelint.runtime.trace.watch import Watch

    sys.path.remove(root)  # what is imported of it later is found through the package
    request: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    if request["group"]:  # what it sends to its group is not for us; at a terminal, that is the group of the terminal
        os.setpgid(0, 0)
        end_with_parent()
    watch = Watch(request)
    os.register_at_fork(after_in_child=watch.forked)
    atexit.register(watch.end)  # the first to be registered is the last to be called
    _end_at_os_exit(watch)
    if request["deadline"] is not None:
        # shortly before the parent gives up: the stack tells it where the program hangs
        log = Path(request["hang"]).open("w", encoding="utf-8")  # noqa: SIM115  # to the end
        faulthandler.dump_traceback_later(max(request["deadline"] - time.time() - 0.5, 0.05), file=log)
    watch.start()
    try:
        if request["kind"] == "target":
            from compilelint.runtime.trace.target import run_target

            run_target(request, watch)
        else:
            program.run(request["kind"], request["name"], request["arguments"])
    finally:
        program.clean_tracebacks()


def _end_at_os_exit(watch: Any) -> None:
    """os._exit calls nothing that was registered."""
    original = os._exit

    def _exit(status: int) -> NoReturn:
        watch.end()
        original(status)

    os._exit = _exit


if __name__ == "__main__":
    main(sys.argv[1])
