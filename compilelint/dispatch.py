"""Which rule's checks want which events."""

from __future__ import annotations

from collections.abc import Iterable

from mypy_extensions import mypyc_attr

from compilelint.engine.events import Call, Enter, Event, Load, Store
from compilelint.sdk import Check, Rule


@mypyc_attr(allow_interpreted_subclasses=True)
class Dispatch:
    """Which checks want which events: exact targets, prefixes (`time.*`), or all of a type."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._all: dict[type[Event], list[tuple[Rule, Check]]] = {}
        self._exact: dict[type[Event], dict[str, list[tuple[Rule, Check]]]] = {}
        self._prefix: dict[type[Event], list[tuple[str, Rule, Check]]] = {}
        self._known: dict[tuple[type[Event], str], list[tuple[Rule, Check]]] = {}
        for rule in rules:
            for subscription in rule.subscriptions:
                entry = (rule, subscription.check)
                if not subscription.targets:
                    self._all.setdefault(subscription.event, []).append(entry)
                for target in subscription.targets:
                    if target.endswith("*"):
                        self._prefix.setdefault(subscription.event, []).append((target[:-1], *entry))
                    else:
                        self._exact.setdefault(subscription.event, {}).setdefault(target, []).append(entry)

    def wants(self, event: type[Event], target: str = "") -> bool:
        return bool(self._checks(event, target))

    def checks(self, event: Event) -> list[tuple[Rule, Check]]:
        target = event.target if isinstance(event, (Call, Load, Store, Enter)) else ""
        return self._checks(type(event), target)

    def _checks(self, event: type[Event], target: str) -> list[tuple[Rule, Check]]:
        known = self._known.get((event, target))
        if known is None:
            known = self._known[event, target] = self._find(event, target)
        return known

    def _find(self, event: type[Event], target: str) -> list[tuple[Rule, Check]]:
        found = list(self._all.get(event, ()))
        if target:
            found += self._exact.get(event, {}).get(target, ())
            found += [(rule, check) for prefix, rule, check in self._prefix.get(event, ()) if target.startswith(prefix)]
        return found
