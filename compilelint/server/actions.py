"""Code actions: this fix, all of its rule, all safe ones, ignore here, explain the rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability

from compilelint import api
from compilelint.api import Applicability, Finding
from compilelint.server import show
from compilelint.server.checks import Checks, Document
from compilelint.server.pages import Pages
from compilelint.server.texts import Text

FIX_ALL = types.CodeActionKind.SourceFixAll.value + ".compilelint"
EXPLAIN = "compilelint.explainRule"
KINDS = [types.CodeActionKind.QuickFix, FIX_ALL]


class Actions:
    """What is offered depends on what the client can do: it may resolve actions, and show why one is not possible."""

    def __init__(self, checks: Checks, pages: Pages, client: types.ClientCapabilities) -> None:
        self._checks = checks
        self._pages = pages
        resolved = get_capability(client, "text_document.code_action.resolve_support.properties", None) or ()
        self._lazy = "edit" in resolved
        self._disabled = bool(get_capability(client, "text_document.code_action.disabled_support", False))
        self._versioned = bool(get_capability(client, "workspace.workspace_edit.document_changes", False))

    async def of(self, document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
        await self._checks.newest(document)
        text = document.text
        here = show.at(document.findings, text.inside(params.text_document.uri, params.range), text)
        actions: list[types.CodeAction] = []
        if _asked(types.CodeActionKind.QuickFix, params):
            built = (await self._checks.fixes(document))[1] if any(finding.fix for finding in here) else []
            for finding in here:
                actions += self._of_finding(document, text, finding, built)
            for code in dict.fromkeys(finding.code for finding in here if finding.fix):
                if sum(finding.code == code for finding in document.findings) > 1:
                    actions.append(
                        _later(document, f"Fix all {code} in this file", types.CodeActionKind.QuickFix, code)
                    )
            for code in dict.fromkeys(finding.code for finding in here):
                command = types.Command(f"Explain {code}", EXPLAIN, arguments=[code])
                actions.append(types.CodeAction(command.title, kind=types.CodeActionKind.QuickFix, command=command))
        if _asked(FIX_ALL, params) and any(_safe(finding) for finding in document.findings):
            actions.append(_later(document, "compilelint: make all safe fixes", FIX_ALL, ""))
        if not self._lazy:
            actions = [await self.resolve(action) for action in actions]
        return actions

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The action with its edit, where that was left for later."""
        data: Any = action.data
        document = self._checks.documents.get(data["uri"]) if isinstance(data, dict) else None
        if document is None or action.edit is not None:
            return action
        code = data["code"]
        text, after = await self._checks.fixed(
            document, lambda finding: not code or finding.code == code, unsafe=bool(code)
        )
        action.edit = self._edit(document, text.rewritten(after))
        return action

    def _of_finding(
        self, document: Document, text: Text, finding: Finding, built: list[Finding]
    ) -> Iterator[types.CodeAction]:
        shown = [show.diagnostic(finding, text, document.uri, self._pages)]
        kind = types.CodeActionKind.QuickFix
        plan = next((f.fix for f in built if (f.code, f.span) == (finding.code, finding.span)), None)
        if plan is not None:
            safe = plan.applicability is Applicability.SAFE
            title = (
                plan.title
                if safe
                else f"{plan.title} ({plan.applicability.value}{f': {plan.why}' if plan.why else ''})"
            )
            edit = self._edit(document, text.edits(plan.edits)) if plan.edits else None
            if edit is not None:
                yield types.CodeAction(title, kind=kind, diagnostics=shown, is_preferred=safe, edit=edit)
            elif self._disabled:
                why = "it touches lines that are no Python" if plan.edits else plan.refused or plan.why
                reason = types.CodeActionDisabled(f"can't be rewritten here: {why or 'do it by hand'}")
                yield types.CodeAction(title, kind=kind, diagnostics=shown, disabled=reason)
        comment = api.ignore(text.content, finding)
        if comment is not None:
            edit = self._edit(document, text.edits([comment]))
            if edit is not None:
                yield types.CodeAction(f"Ignore {finding.code} here", kind=kind, diagnostics=shown, edit=edit)

    def _edit(self, document: Document, edits: list[types.TextEdit]) -> types.WorkspaceEdit | None:
        """The edit of a document, or of a notebook's cells; None where some can't be made."""
        targets = document.text.targets(document.uri, document.version, edits)
        if targets is None:
            return None
        if not self._versioned:
            return types.WorkspaceEdit(changes={target.uri: target.edits for target in targets})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(target.uri, target.version), list(target.edits)
                )
                for target in targets
            ]
        )


def _later(document: Document, title: str, kind: str, code: str) -> types.CodeAction:
    return types.CodeAction(title, kind=kind, data={"uri": document.uri, "code": code})


def _safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def _asked(kind: str, params: types.CodeActionParams) -> bool:
    """Whether actions of a kind are wanted: `source.fixAll` wants `source.fixAll.compilelint`."""
    only = params.context.only
    return only is None or any(kind == wanted or kind.startswith(f"{wanted}.") or not wanted for wanted in only)
