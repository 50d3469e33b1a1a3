"""How long an editor waits: for a file that is opened, and after each keystroke in it, beside one `compilelint check`.

    python benchmarks/server_latency.py FILE [--places 10] [--anew 14] [--out benchmarks/results/server_latency.md]

A client speaks to `compilelint server` over stdio and waits, after each keystroke, for the diagnostics of that version.
The server's debounce is set to 0, so that its work alone is measured. Keystrokes are typed in functions all over the
file. CPU time is that of the server's process; where the machine is busy, it and the ratios say more than wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

# what a line becomes, key by key; the last time it goes
KEYS = {
    "a new line": "        _typed = 0  # a\n",
    "in code": "        _typed = 1  # a\n",
    "in a comment": "        _typed = 1  # an\n",
    "leaves no Python": "        _typed = (  # an\n",
    "": "",
}


ANEW = "of lines typed anew"
LIMIT = 0.15  # seconds


@dataclass(frozen=True, slots=True)
class Cost:
    wall: float
    cpu: float


class Client(LanguageClient):
    """Waits for the diagnostics of a version."""

    def __init__(self) -> None:
        super().__init__("benchmark", "1")
        self.version: asyncio.Queue[int | None] = asyncio.Queue()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.version.put_nowait(params.version))

    async def checked(self, version: int) -> None:
        while await self.version.get() != version:
            pass


def cpu(process: int) -> float:
    """Seconds that a process has used (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def places(text: str, count: int) -> list[int]:
    """Lines before which a statement can be typed: of methods, the first ones below what documents them."""
    import ast

    bodies = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.col_offset == 4:
            statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
            bodies += [statement.lineno for statement in statements[:1] if statement.col_offset == 8]
    bodies.sort()
    return [bodies[n * len(bodies) // count] for n in range(count)]


def typed_anew(text: str, count: int) -> list[int]:
    """Lines of functions that can be typed once more: without them the file is Python too. Docstrings among them."""
    import ast

    lines = text.split("\n")
    able = []
    for number in random.Random(count).sample(range(len(lines)), len(lines)):
        line = lines[number]
        if line.startswith("        ") and len(line) < 90:
            try:
                ast.parse("\n".join([*lines[:number], "", *lines[number + 1 :]]))
            except SyntaxError:
                continue
            able.append(number)
        if len(able) == count:
            break
    return able


async def served(path: Path, count: int, anew: int) -> tuple[Cost, dict[str, list[Cost]]]:
    """The cost of opening a file, and of each keystroke by kind."""
    text = path.read_text(encoding="utf-8")
    client = Client()
    await client.start_io(sys.executable, "-m", "compilelint", "server")
    server = client._server
    assert server is not None
    uri = path.as_uri()
    folder = types.WorkspaceFolder(path.parent.as_uri(), path.parent.name)
    await client.initialize_async(
        types.InitializeParams(
            types.ClientCapabilities(), workspace_folders=[folder], initialization_options={"debounce": 0}
        )
    )
    client.initialized(types.InitializedParams())

    async def cost(version: int, before: tuple[float, float]) -> Cost:
        await client.checked(version)
        return Cost(time.perf_counter() - before[0], cpu(server.pid) - before[1])

    before = time.perf_counter(), cpu(server.pid)
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)))
    opened = await cost(1, before)
    costs: dict[str, list[Cost]] = {kind: [] for kind in (*KEYS, ANEW)}
    version = 1

    async def typed(where: types.Range, what: str) -> Cost:
        nonlocal version
        version += 1
        document = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangePartial(where, what)
        before = time.perf_counter(), cpu(server.pid)
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return await cost(version, before)

    for line in places(text, count):
        at, below = types.Position(line - 1, 0), types.Position(line, 0)
        where = types.Range(at, at)
        for kind, what in KEYS.items():
            costs[kind].append(await typed(where, what))
            where = types.Range(at, below)
    for number in typed_anew(text, anew):
        line = text.split("\n")[number]
        start = len(line) - len(line.lstrip())
        await typed(types.Range(types.Position(number, start), types.Position(number, len(line))), "")
        for column in range(start, len(line)):
            at = types.Position(number, column)
            costs[ANEW].append(await typed(types.Range(at, at), line[column]))
    await client.shutdown_async(None)
    client.exit(None)
    await server.wait()
    await client.stop()
    return opened, costs


def checked(path: Path) -> Cost:
    """The cost of one check, started anew and without a cache."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "compilelint", "check", "--no-cache", "--exit-zero", "--jobs", "1", str(path)]
    subprocess.run(command, cwd=path.parent, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def report(path: Path, once: Cost, opened: Cost, costs: dict[str, list[Cost]]) -> str:
    rows = [("`compilelint check`, once", [once]), ("opened", [opened])]
    rows += [(f"a key: {kind}", costs[kind]) for kind in costs if kind and costs[kind]]
    lines = [
        f"`{path.name}`, {len(path.read_text(encoding='utf-8').splitlines())} lines; load {os.getloadavg()[0]:.1f} on "
        f"{len(os.sched_getaffinity(0))} CPUs",
        "",
        "| | wall, median | worst | CPU, median | wall / check | CPU / check |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, taken in rows:
        wall, used = (statistics.median(getattr(cost, kind) for cost in taken) for kind in ("wall", "cpu"))
        worst = max(cost.wall for cost in taken)
        lines.append(
            f"| {name} | {wall * 1000:.0f} ms | {worst * 1000:.0f} ms | {used * 1000:.0f} ms "
            f"| {wall / once.wall:.2f} | {used / once.cpu:.2f} |"
        )
    anew = costs[ANEW]
    quick = sum(cost.cpu <= LIMIT for cost in anew)
    lines += ["", f"Of {len(anew)} keys {ANEW}, {quick} took at most {LIMIT * 1000:.0f} ms of CPU."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--places", type=int, default=10)
    parser.add_argument("--anew", type=int, default=0, help="lines that are typed once more, key by key")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    path = options.file.resolve()
    once = min((checked(path) for _ in range(3)), key=lambda cost: cost.wall)
    opened, costs = asyncio.run(served(path, options.places, options.anew))
    text = report(path, once, opened, costs)
    print(text, end="")
    if options.out is not None:
        options.out.write_text(f"# Latency of the language server\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
