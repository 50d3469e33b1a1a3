"""Runs jobs in worker processes that may crash or hang: a lost worker costs one job, which is recorded as an error."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

Job = list[Any]


def serve(handle: Callable[[Job], Any]) -> None:
    """The worker's side: a job a line on stdin, its result a line on a private copy of stdout."""
    out = os.fdopen(os.dup(1), "w")
    jobs = os.fdopen(os.dup(0))
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a probe that reads stdin gets nothing, not the next job
    for line in jobs:
        job = json.loads(line)
        try:
            result = handle(job)
        except BaseException as error:
            result = {"error": f"{type(error).__name__}: {error}"[:300]}
        out.write(json.dumps(result) + "\n")
        out.flush()
        if isinstance(result, dict) and result.get("fatal"):
            return


class _Worker:
    def __init__(self, command: Sequence[str], start_timeout: float) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        self.start_timeout = start_timeout
        self.fresh = True

    def ask(self, job: Job, timeout: float) -> Any:
        """The result of a job, or None when the worker died or took too long."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
        except OSError:
            return None
        wait = timeout + (self.start_timeout if self.fresh else 0)
        self.fresh = False
        ready, _, _ = select.select([self.process.stdout], [], [], wait)
        line = self.process.stdout.readline() if ready else ""
        return json.loads(line) if line.endswith("\n") else None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def run(
    command: Sequence[str], jobs: Sequence[Job], *, processes: int, timeout: float = 30, start_timeout: float = 120
) -> list[Any]:
    """The result of each job, in order. `command` starts a worker (a script that calls `serve`)."""
    results: list[Any] = [None] * len(jobs)
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(jobs)):
        todo.put(number)
    started = time.monotonic()
    done = 0

    def loop() -> None:
        nonlocal done
        worker: _Worker | None = None
        while True:
            try:
                number = todo.get_nowait()
            except queue.Empty:
                break
            worker = worker or _Worker(command, start_timeout)
            result = worker.ask(jobs[number], timeout)
            if result is None or (isinstance(result, dict) and result.get("fatal")):
                worker.close()
                worker = None
            if isinstance(result, dict):
                result.pop("fatal", None)
            results[number] = result if result is not None else {"error": "worker died or timed out"}
            done += 1
            if done % 100 == 0:
                print(f"  {done}/{len(jobs)} after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        if worker is not None:
            worker.close()

    threads = [threading.Thread(target=loop) for _ in range(max(1, processes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
