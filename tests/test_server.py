"""The language server, driven by a client over stdio."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from editing import Editor, capabilities, with_editor
from lsprotocol import types

from compilelint import api

BRANCH = """import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    s = x.sum()
    if s > 0:
        x = -x
    return x
"""
CLEAN = BRANCH.replace("    if s > 0:\n        x = -x\n", "    x = -x\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPILELINT_CACHE_DIR", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    return project


def test_findings_come_and_go(folder: Path) -> None:
    path = folder / "model.py"
    path.write_text(CLEAN, encoding="utf-8")

    async def session(editor: Editor) -> None:
        uri = editor.open(path, BRANCH)  # not what is on disk
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.source) == ("CL101", "compilelint")
        assert found.severity is types.DiagnosticSeverity.Error
        assert found.range == types.Range(types.Position(6, 7), types.Position(6, 12))
        assert found.related_information
        assert found.related_information[0].location.uri == uri
        assert "`x" in found.related_information[0].message
        assert found.code_description is not None
        page = Path(found.code_description.href.removeprefix("file://"))
        assert page.read_text(encoding="utf-8").startswith("# CL101 branch-on-tensor\n")
        editor.type(uri, "if s > 0:\n        x = -x\n", "x = -x\n")
        assert await editor.diagnostics(uri) == []
        editor.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await editor.until(lambda: True if editor.published[-1].version is None else None)
        assert not editor.published[-1].diagnostics
        assert not editor.messages

    assert with_editor(folder, session) == 0


def test_columns_are_in_the_units_of_the_client(folder: Path) -> None:
    line = "    return '😀', x.item()  # 😀"
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n{line}\n"
    before = line[: line.index("x.item()")]

    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", text)
        (found,) = await editor.diagnostics(uri)
        assert found.range.start == types.Position(5, len(before.encode("utf-16-le")) // 2)
        editor.type(uri, ".item()  # 😀", ".tolist()  # 😀😀 and more")
        (found,) = await editor.diagnostics(uri)
        assert found.code == "CL104"
        assert found.range.end.character - found.range.start.character == len("x.tolist()")

    assert with_editor(folder, session) == 0

    async def in_bytes(editor: Editor) -> None:
        (found,) = await editor.diagnostics(editor.open(folder / "a.py", text))
        assert found.range.start.character == len(before.encode())

    as_utf8 = capabilities(general=types.GeneralClientCapabilities(position_encodings=["utf-8"]))
    assert with_editor(folder, in_bytes, can=as_utf8) == 0


def test_what_ends_a_line_only_for_python_strings(folder: Path) -> None:
    """A form feed or U+2028 ends no line, in the protocol or in Python."""

    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", BRANCH.replace("    s =", '    note = "\u2028 \x0c"\n    s ='))
        (found,) = await editor.diagnostics(uri)
        assert found.range.start.line == 7
        editor.type(uri, "s > 0", "s > 10")
        (found,) = await editor.diagnostics(uri)
        assert found.range == types.Range(types.Position(7, 7), types.Position(7, 13))

    assert with_editor(folder, session) == 0


def test_the_newest_text_wins(folder: Path) -> None:
    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", BRANCH)
        for number in range(20):
            editor.type(uri, f"s > {number}", f"s > {number + 1}")
        editor.type(uri, "s > 20", "s > 20000")
        (found,) = await editor.diagnostics(uri)
        assert found.range.end.character == 7 + len("s > 20000")
        newest = editor.versions[uri]
        assert [p.version for p in editor.published if p.version is not None][-1] == newest
        assert len(editor.published) < 20  # most were never checked

    assert with_editor(folder, session) == 0


def test_findings_stay_while_the_text_does_not_parse(folder: Path) -> None:
    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", BRANCH)
        await editor.diagnostics(uri)
        editor.type(uri, "import torch\n", "import torch\nimport (\n")
        found = await editor.diagnostics(uri)
        assert [(d.code, d.range.start.line) for d in found] == [("CL002", 1), ("CL101", 7)]
        editor.type(uri, "    return x", "    return x)")
        found = await editor.diagnostics(uri)
        assert [(d.code, d.range.start.line) for d in found] == [("CL002", 1), ("CL101", 7)]
        editor.type(uri, "import (\n", "")
        editor.type(uri, "return x)", "return x")
        found = await editor.diagnostics(uri)
        assert [(d.code, d.range.start.line) for d in found] == [("CL101", 6)]

    assert with_editor(folder, session) == 0


def test_other_open_documents_and_files_count(folder: Path) -> None:
    helper, model = folder / "helper.py", folder / "model.py"
    helper.write_text("def size(x):\n    return 3\n", encoding="utf-8")
    text = BRANCH.replace("import torch\n", "import torch\nfrom helper import size\n").replace("x.sum()", "size(x)")

    async def session(editor: Editor) -> None:
        uri = editor.open(model, text)
        assert await editor.diagnostics(uri) == []
        other = editor.open(helper)
        await editor.diagnostics(other)
        editor.type(other, "return 3", "return x.sum()")  # in the editor alone
        editor.type(uri, "x = -x", "x = x + 1")
        assert [d.code for d in await editor.diagnostics(uri)] == ["CL101"]
        editor.type(other, "x.sum()", "4")
        await editor.diagnostics(other)
        seen = len(editor.published)
        editor.save(other, helper)  # has all open documents checked
        await editor.until(lambda: True if any(p.uri == uri for p in editor.published[seen:]) else None)
        assert await editor.diagnostics(uri) == []

    assert with_editor(folder, session) == 0


def test_settings_and_exclusions(folder: Path) -> None:
    settings = folder / "pyproject.toml"
    settings.write_text('[tool.compilelint]\nexclude = ["made/"]\nignore = ["CL101"]\n', encoding="utf-8")
    (folder / "made").mkdir()

    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", BRANCH)
        assert await editor.diagnostics(uri) == []
        assert await editor.diagnostics(editor.open(folder / "made" / "a.py", "def f(:\n")) == []
        settings.write_text("[tool.compilelint]\n", encoding="utf-8")
        seen = len(editor.published)
        change = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        await editor.until(lambda: next((p for p in editor.published[seen:] if p.diagnostics), None))
        settings.write_text("[tool.compilelint]\ncompield = 1\n", encoding="utf-8")
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        message = await editor.until(lambda: editor.messages[0] if editor.messages else None)
        assert 'unknown key "compield"' in message
        assert await editor.diagnostics(uri) is not None

    assert with_editor(folder, session) == 0


FIXABLE = """import torch


def f(x: torch.Tensor) -> torch.Tensor:
    scale = torch.tensor(0.5, device=x.device)
    shift = torch.tensor(0.1, device=x.device)
    return x * scale + shift


@torch.compile
def g(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = -x
    return x
"""


def by_title(actions: list[types.CodeAction], start: str) -> types.CodeAction:
    (found,) = [action for action in actions if action.title.startswith(start)]
    return found


def test_code_actions(folder: Path) -> None:
    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", FIXABLE)
        first, second, branch = await editor.diagnostics(uri)
        assert [first.code, second.code, branch.code] == ["CL401", "CL401", "CL101"]

        actions = await editor.actions(uri, first.range)
        fix = next(action for action in actions if action.is_preferred)
        assert fix.diagnostics and [d.code for d in fix.diagnostics] == ["CL401"]
        await editor.make(uri, fix)
        assert editor.texts[uri] == FIXABLE.replace(
            "torch.tensor(0.5, device=x.device)", "torch.full((), 0.5, device=x.device)"
        )
        assert [d.code for d in await editor.diagnostics(uri)] == ["CL401", "CL101"]

        editor.apply(uri, [types.TextEdit(types.Range(types.Position(0, 0), types.Position(99, 0)), FIXABLE)])
        await editor.make(uri, by_title(await editor.actions(uri, first.range), "Fix all CL401"))
        assert editor.texts[uri].count("torch.full(()") == 2
        assert "if x.sum() > 0:" in editor.texts[uri]

        editor.apply(uri, [types.TextEdit(types.Range(types.Position(0, 0), types.Position(99, 0)), FIXABLE)])
        everywhere = types.Range(types.Position(0, 0), types.Position(0, 0))
        (safe,) = await editor.actions(uri, everywhere, only=["source.fixAll"])
        assert safe.kind == "source.fixAll.compilelint"
        await editor.make(uri, safe)
        assert editor.texts[uri].count("torch.full(()") == 2
        assert "if x.sum() > 0:" in editor.texts[uri]  # its fix is unsafe
        assert await editor.actions(uri, everywhere, only=["source.organizeImports"]) == []

        (branch,) = await editor.diagnostics(uri)
        actions = await editor.actions(uri, branch.range)
        unsafe = next(action for action in actions if "(unsafe" in action.title)
        assert not unsafe.is_preferred
        before = editor.texts[uri]
        await editor.make(uri, unsafe)
        assert "torch.where" in editor.texts[uri]
        assert await editor.diagnostics(uri) == []

        editor.apply(uri, [types.TextEdit(types.Range(types.Position(0, 0), types.Position(99, 0)), before)])
        await editor.diagnostics(uri)
        await editor.make(uri, by_title(await editor.actions(uri, branch.range), "Ignore CL101 here"))
        assert "    if x.sum() > 0:  # compilelint: ignore[CL101]\n" in editor.texts[uri]
        assert await editor.diagnostics(uri) == []

    assert with_editor(folder, session) == 0


def test_code_actions_of_a_plain_client(folder: Path) -> None:
    """One that neither resolves actions nor knows versions of documents."""

    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", FIXABLE)
        first, *_ = await editor.diagnostics(uri)
        for action in await editor.actions(uri, first.range):
            assert action.command is not None or (action.edit is not None and action.edit.changes), action.title
        (safe,) = await editor.actions(uri, first.range, only=["source.fixAll.compilelint"])
        assert safe.edit is not None and safe.edit.changes is not None
        editor.apply(uri, safe.edit.changes[uri])
        assert editor.texts[uri].count("torch.full(()") == 2

    assert with_editor(folder, session, can=types.ClientCapabilities()) == 0


def test_the_rule_and_the_trace_are_shown(folder: Path) -> None:
    async def session(editor: Editor) -> None:
        uri = editor.open(folder / "a.py", BRANCH)
        where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(6, 8))
        found = await editor.text_document_hover_async(where)
        assert found is not None and isinstance(found.contents, types.MarkupContent)
        assert found.contents.value.startswith("**CL101** ")
        assert "- a.py:6: `x.sum()` " in found.contents.value
        assert "# CL101 branch-on-tensor" in found.contents.value
        nothing = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(8, 8))
        assert await editor.text_document_hover_async(nothing) is None

        (branch,) = await editor.diagnostics(uri)
        explain = by_title(await editor.actions(uri, branch.range), "Explain CL101")
        assert explain.command is not None
        command = types.ExecuteCommandParams(explain.command.command, explain.command.arguments)
        await editor.workspace_execute_command_async(command)
        assert branch.code_description is not None
        assert editor.shown == [branch.code_description.href]

    assert with_editor(folder, session) == 0


def test_the_whole_workspace(folder: Path) -> None:
    closed, opened = folder / "closed.py", folder / "opened.py"
    closed.write_text(BRANCH, encoding="utf-8")
    opened.write_text(BRANCH, encoding="utf-8")

    async def session(editor: Editor) -> None:
        uri = editor.open(opened, CLEAN)
        assert await editor.diagnostics(uri) == []
        (found,) = await editor.diagnostics(closed.as_uri())
        assert (found.code, found.range.start) == ("CL101", types.Position(6, 7))
        assert await editor.diagnostics(uri) == []  # its text counts, not what is on disk
        seen = len(editor.published)
        closed.write_text(CLEAN, encoding="utf-8")
        editor.save(uri, opened)
        await editor.until(lambda: True if any(p.uri == closed.as_uri() for p in editor.published[seen:]) else None)
        assert await editor.diagnostics(closed.as_uri()) == []

    assert with_editor(folder, session, options={"workspace": True, "debounce": 10}) == 0


def test_folders_that_come_and_go(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    path = other / "model.py"
    path.write_text(BRANCH, encoding="utf-8")
    named = types.WorkspaceFolder(other.as_uri(), "other")

    async def session(editor: Editor) -> None:
        event = types.WorkspaceFoldersChangeEvent([named], [])
        editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        (found,) = await editor.diagnostics(path.as_uri())
        assert found.code == "CL101"
        event = types.WorkspaceFoldersChangeEvent([], [named])
        editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await editor.until(lambda: True if not editor.published[-1].diagnostics else None)

    assert with_editor(folder, session, options={"workspace": True}) == 0


def test_a_crash_is_told_and_ends_nothing(folder: Path) -> None:
    """In one rule, and in the check of a document itself."""
    broken = """
from pathlib import Path
from compilelint import session
from compilelint.cli import main
check = session.Session.check
def crashing(self, path, texts, settings, **more):
    if path.name == "bad.py":
        raise RuntimeError("no luck")
    return check(self, path, texts, settings, **more)
session.Session.check = crashing
main()
"""
    script = folder.parent / "broken.py"
    script.write_text(broken, encoding="utf-8")

    async def session(editor: Editor) -> None:
        bad = editor.open(folder / "bad.py", BRANCH)
        message = await editor.until(lambda: editor.messages[0] if editor.messages else None)
        assert message.endswith("bad.py: internal error: RuntimeError: no luck")
        uri = editor.open(folder / "good.py", BRANCH)
        assert [d.code for d in await editor.diagnostics(uri)] == ["CL101"]
        editor.type(bad, "s > 0", "s > 1")
        editor.type(uri, "s > 0", "s > 1")
        assert [d.code for d in await editor.diagnostics(uri)] == ["CL101"]
        assert len(editor.messages) == 1  # the same is told once

    assert with_editor(folder, session, command=(str(script), "server")) == 0


def test_a_function_that_is_cut_short_is_told(folder: Path) -> None:
    script = folder.parent / "short.py"
    script.write_text(
        "from compilelint.cli import main\nfrom compilelint.engine import run\nrun.MAX_STATEMENTS = 0\nmain()\n",
        encoding="utf-8",
    )

    async def session(editor: Editor) -> None:
        editor.open(folder / "m.py", BRANCH)
        message = await editor.until(lambda: next((m for m in editor.messages if "module" not in m), None))
        assert "too long to be followed to its end: findings may be missing there" in message

    assert with_editor(folder, session, command=(str(script), "server")) == 0


def test_nothing_of_the_user_is_run(folder: Path) -> None:
    """Not even where `python -m` puts the working folder on the path."""
    ran = folder / "ran"
    for name in ("pygls", "lsprotocol", "pathspec", "libcst", "tempfile", "helper"):
        (folder / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n", encoding="utf-8")

    (folder / "other.py").write_text(BRANCH, encoding="utf-8")

    async def session(editor: Editor) -> None:
        (folder / "pyproject.toml").write_text('[tool.compilelint]\nexclude = ["x/"]\n', encoding="utf-8")
        uri = editor.open(folder / "a.py", FIXABLE + "\nimport helper\n")
        first, *_ = await editor.diagnostics(uri)
        await editor.actions(uri, first.range)
        assert [d.code for d in await editor.diagnostics((folder / "other.py").as_uri())] == ["CL101"]

    assert with_editor(folder, session, options={"workspace": True}) == 0
    assert not ran.exists()


def test_rules_of_the_project(folder: Path) -> None:
    """Files of the project: run only where the editor says so."""
    page = (Path(__file__).parent.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    rule = page.partition("```python\n")[2].partition("```")[0]
    (folder / "double.py").write_text(f"{rule}\nopen({str(folder / 'ran')!r}, 'w')\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.compilelint]\nlocal-rules = ["double.py"]\n', encoding="utf-8")
    text = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.double()\n"
    (folder / "closed.py").write_text(text, encoding="utf-8")

    def session(wanted: list[str]) -> Callable[[Editor], Awaitable[None]]:
        async def opened(editor: Editor) -> None:
            uri = editor.open(folder / "a.py", text)
            found = await editor.diagnostics(uri)
            assert [d.code for d in found] == wanted
            for each in found:
                closed = await editor.diagnostics((folder / "closed.py").as_uri())
                assert [d.code for d in closed] == wanted
                assert await editor.actions(uri, each.range)

        return opened

    assert with_editor(folder, session([]), options={"workspace": True}) == 0
    assert not (folder / "ran").exists()
    assert with_editor(folder, session(["XX101"]), options={"workspace": True, "localRules": True}) == 0


def test_the_baseline(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.compilelint]\nbaseline = "known.json"\n', encoding="utf-8")
    path = folder / "a.py"
    path.write_text(BRANCH, encoding="utf-8")
    api.write_baseline([path], api.load_settings(folder))

    async def session(editor: Editor) -> None:
        uri = editor.open(path)
        assert await editor.diagnostics(uri) == []
        editor.type(uri, "import torch\n", "import torch\n\n")
        assert await editor.diagnostics(uri) == []
        editor.type(uri, "s > 0", "s > 1")
        assert [d.code for d in await editor.diagnostics(uri)] == ["CL101"]

    assert with_editor(folder, session) == 0


def test_without_the_extra(folder: Path) -> None:
    script = folder / "run.py"
    script.write_text(
        "import sys\nsys.modules['pygls'] = None\nsys.modules['lsprotocol'] = None\n"
        "from compilelint.cli import main\nmain()\n",
        encoding="utf-8",
    )
    import subprocess

    done = subprocess.run([sys.executable, script, "server"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'python -m pip install "compilelint[server]"' in done.stderr
    assert "Traceback" not in done.stderr
