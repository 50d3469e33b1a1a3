"""Finds the rules (built in, from entry points and files that settings name), validates them, and says which are
selected."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from compilelint.errors import ConfigError, RegistryError, did_you_mean
from compilelint.finding import EFFECTS, Applicability, Effect

if TYPE_CHECKING:
    from compilelint.config import Settings
    from compilelint.sdk import Rule, Subscription

FAMILIES: dict[str, set[Effect]] = {  # effects that rules of a family may have
    "CL1": {"graph-break", "sync"},
    "CL2": {"sync", "transfer"},
    "CL3": {"launch", "sync"},
    "CL4": {"transfer", "sync"},
    "CL5": {"graph-break", "launch", "recompile"},
    "CL6": {"recompile"},
}
HEADINGS = ("What it does", "Why it costs", "Example", "Use instead", "Fix safety", "Versions", "References")
GROUP = "compilelint.rules"  # entry points: each names a module that holds `rule`

UNUSED_SUPPRESSION = "CL001"
UNREADABLE_FILE = "CL002"

_TOOL_DOCS = {
    UNUSED_SUPPRESSION: """Unused or malformed suppression

## What it does
Reports a `# compilelint: ignore[…]` comment that suppresses nothing, names no known rule, or can't be read.

## Why it costs
A stale suppression hides the next real finding on its line.

## Example
    x = torch.relu(x)  # compilelint: ignore[CL101]

## Use instead
    x = torch.relu(x)

## Fix safety
Unsafe: a run over more files may find something there, and then the comment was of use. Codes of no use are taken out
of the brackets; where none is left the comment goes, with its reason. One that can't be read is left.

## Versions
All.

## References
Only codes of rules that ran are judged: `--select CL2` says nothing about an `ignore[CL101]`.
""",
    UNREADABLE_FILE: """File that can't be read

## What it does
Reports a file that can't be read as Python: a syntax error, an undecodable byte, an unknown encoding.

## Why it costs
Nothing in the file, nor what other files import from it, is checked.

## Example
    def forward(self, x:

## Use instead
    def forward(self, x): ...

## Fix safety
Not fixed.

## Versions
Files are parsed by the Python that runs the tool: syntax newer than that is reported too.

## References
PEP 263 says how a source file declares its encoding.
""",
}


@lru_cache(maxsize=1)
def tool_rules() -> tuple[Rule, ...]:
    """The codes that the tool itself reports, CL0xx."""
    from compilelint.sdk import Rule

    unsafe = Applicability.UNSAFE
    return (
        Rule(
            UNUSED_SUPPRESSION, "unused-suppression", (), fixable=unsafe, documentation=_TOOL_DOCS[UNUSED_SUPPRESSION]
        ),
        Rule(UNREADABLE_FILE, "unreadable-file", (), documentation=_TOOL_DOCS[UNREADABLE_FILE]),
    )


@dataclass(frozen=True)
class Extensions:
    """Rules that are not built in: entry points by name, and files or folders of files. Their code is run."""

    plugins: tuple[str, ...] = ()
    local_rules: tuple[Path, ...] = ()


_extensions = Extensions()  # what the settings in force name


def extend(plugins: tuple[str, ...], local_rules: tuple[Path, ...]) -> None:
    """From here on these rules are there too, and no others that are not built in."""
    global _extensions  # noqa: PLW0603  # as the modules of rules are, for a process
    if (wanted := Extensions(plugins, local_rules)) != _extensions:
        _extensions = wanted
        _load.cache_clear()
        known_codes.cache_clear()


def load_rules(settings: Settings | None = None) -> tuple[Rule, ...]:
    """The rules that `settings` select (without settings: all), sorted by code. Raises RegistryError, ConfigError."""
    if settings is None:
        return _load()
    extend(settings.plugins, settings.local_rules)
    rules = _load()
    chosen = selected_codes(settings)
    return tuple(rule for rule in rules if rule.code in chosen)


def all_rules() -> tuple[Rule, ...]:
    """Every code there is, those of the tool itself included."""
    return tool_rules() + _load()


@lru_cache(maxsize=1)
def known_codes() -> tuple[str, ...]:
    """The codes of all rules. Those built in are not imported for it: their files are named by them."""
    if _extensions != Extensions():
        return tuple(rule.code for rule in all_rules())
    built_in = (module.rpartition(".")[2].partition("_")[0].upper() for module in _built_in())
    return (UNUSED_SUPPRESSION, UNREADABLE_FILE, *sorted(built_in))


def _built_in() -> list[str]:
    """The modules of the rules that are built in."""
    package = importlib.import_module("compilelint.rules")
    names = (info.name for info in pkgutil.iter_modules(package.__path__))
    return [f"{package.__name__}.{name}" for name in names if not name.startswith("_")]


def find_rule(text: str) -> Rule:
    """The rule of that code or name, whatever the case. Raises ConfigError."""
    wanted = text.strip().lower()
    rules = all_rules()
    for rule in rules:
        if wanted in (rule.code.lower(), rule.name):
            return rule
    names = [name for rule in rules for name in (rule.code, rule.name)]
    near = did_you_mean(wanted.upper(), names) or did_you_mean(wanted, names) or _with_word(wanted, rules)
    raise ConfigError(f'no rule "{text}"{near}')


def _with_word(wanted: str, rules: Iterable[Rule]) -> str:
    """The rules that have a word of their names in common with what was asked for, or nearly; else where to look."""
    words = {word for rule in rules for word in rule.name.split("-") if len(word) > 2}
    near = {match for word in wanted.split("-") for match in get_close_matches(word, words, n=1, cutoff=0.75)}
    found = [rule for rule in rules if near & set(rule.name.split("-"))]
    if not found:
        return " (`compilelint rules` lists them)"
    return f" (did you mean {' or '.join(f'{rule.code} {rule.name}' for rule in found[:3])}?)"


def code_of(selector: str) -> str | None:
    """The code, beginning of one or `ALL` that a selector means, in any case or as a rule's name; None: no rule."""
    upper = selector.upper()
    if upper == "ALL" or any(code.startswith(upper) for code in known_codes()):
        return upper
    return next((rule.code for rule in all_rules() if rule.name == selector.lower()), None)


def resolve(selector: str, where: str) -> str:
    """Like `code_of`; raises ConfigError for what is no rule. `where`: the file and key, or the option."""
    code = code_of(selector)
    if code is None:
        near = did_you_mean(selector.upper(), known_codes())
        near = near or did_you_mean(selector.lower(), [rule.name for rule in all_rules()])
        raise ConfigError(f'{where}: unknown rule "{selector}"{near}')
    return code


def selected_codes(settings: Settings) -> frozenset[str]:
    """The codes that `select` and `ignore` leave, of the tool's own codes too.

    The more specific selector wins; in a tie, `ignore`. A selector is a code, the beginning of one (`CL1`), or `ALL`.
    Raises ConfigError on one that matches nothing.
    """
    extend(settings.plugins, settings.local_rules)
    codes = known_codes()
    for origin, selectors in (("select", settings.select), ("ignore", settings.ignore), *_per_file(settings)):
        _validate(origin, selectors, codes)
    return frozenset(
        code
        for code in codes
        if _specificity(code, settings.select or ("ALL",)) > _specificity(code, settings.ignore)
        or (code == UNREADABLE_FILE and _specificity(code, settings.ignore) < 0)  # on unless ignored
    )


def matches(code: str, selectors: Iterable[str]) -> bool:
    return any(selector == "ALL" or code.startswith(selector) for selector in selectors)


def _per_file(settings: Settings) -> list[tuple[str, tuple[str, ...]]]:
    return [(f'per-file-ignores."{glob}"', codes) for glob, codes in settings.per_file_ignores]


def _specificity(code: str, selectors: Iterable[str]) -> int:
    """How precisely the best selector names the code; -1 where none does."""
    return max((0 if s == "ALL" else len(s) for s in selectors if s == "ALL" or code.startswith(s)), default=-1)


def _validate(origin: str, selectors: Iterable[str], codes: Iterable[str]) -> None:
    for selector in selectors:
        if not any(matches(code, (selector,)) for code in codes):
            raise ConfigError(f'{origin}: unknown rule "{selector}"{did_you_mean(selector, codes)}')


@lru_cache(maxsize=1)
def _load() -> tuple[Rule, ...]:
    ours = {module: _rule_of(module) for module in _built_in()}
    for module, rule in ours.items():
        if not module.rpartition(".")[2].startswith(f"{rule.code.lower()}_"):  # files are found by it
            raise RegistryError(f"rule module {module}: its name does not begin with its code, {rule.code.lower()}_")
    found = [*ours.values(), *(_rule_of(module) for module in _extension_modules())]
    by_code: dict[str, Rule] = {rule.code: rule for rule in tool_rules()}
    names = {rule.name for rule in tool_rules()}
    for rule in found:
        if rule.code in by_code:
            raise RegistryError(f"rule {rule.code} ({rule.name}): the code is taken by {by_code[rule.code].name}")
        if rule.name in names:
            raise RegistryError(f"rule {rule.code}: the name {rule.name} is taken")
        by_code[rule.code] = rule
        names.add(rule.name)
    return tuple(sorted(found, key=lambda rule: rule.code))


def _extension_modules() -> Iterator[str | Path]:
    from importlib.metadata import entry_points

    installed = {entry.name: entry.module for entry in entry_points(group=GROUP)} if _extensions.plugins else {}
    for name in _extensions.plugins:
        if name not in installed:
            raise RegistryError(f'plugins: "{name}" is not installed{did_you_mean(name, sorted(installed))}')
        yield installed[name]
    yield from extension_files(_extensions.local_rules)


def extension_files(places: Iterable[Path]) -> Iterator[Path]:
    """The files of local rules: those named, and those in the folders named. Raises RegistryError."""
    for place in places:
        if place.is_dir():
            yield from sorted(path for path in place.glob("*.py") if not path.name.startswith("_"))
        elif place.is_file():
            yield place
        else:
            raise RegistryError(f"local-rules: {place}: no such file or folder")


def _local_module(path: Path) -> ModuleType:
    """The module in a file, run anew: its name is of no package."""
    name = f"_compilelint_local_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _rule_of(place: str | Path) -> Rule:
    """The rule of a module by name, or of a file. Raises RegistryError."""
    from compilelint.sdk import Rule

    module_name = str(place)
    try:
        module = importlib.import_module(place) if isinstance(place, str) else _local_module(place)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a plug-in raises is its fault, and the user must learn whose
        raise RegistryError(f"rule module {module_name}: {type(error).__name__}: {error}") from error
    rule = getattr(module, "rule", None)
    if rule is None:
        raise RegistryError(f"rule module {module_name}: has no `rule` (in a folder, a helper's name begins with `_`)")
    if not isinstance(rule, Rule):
        raise RegistryError(f"rule module {module_name}: `rule` is {type(rule).__name__}, not compilelint.sdk.Rule")
    rule.documentation = _documentation(module)
    if faults := defects(rule):
        raise RegistryError(f"rule module {module_name}: {'; '.join(faults)}")
    return rule


def _documentation(module: ModuleType) -> str:
    import inspect

    return inspect.cleandoc(module.__doc__ or "")


def defects(rule: Rule) -> list[str]:
    """What is wrong with a rule's declaration, in words; empty when nothing is."""
    faults = []
    if not re.fullmatch(r"[A-Z]{2,4}\d{3}", rule.code):
        faults.append(f'code "{rule.code}" is not letters and three digits')
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name):
        faults.append(f'name "{rule.name}" is not words-with-hyphens')
    faults += _defects_of_effects(rule)
    if not rule.subscriptions:
        faults.append("subscribes to no event")
    faults += [fault for subscription in rule.subscriptions for fault in _wrong_targets(subscription)]
    missing = [heading for heading in HEADINGS if not _has_heading(rule.documentation, heading)]
    if missing:
        faults.append(f"the docstring lacks the heading{'s' * (len(missing) > 1)} {', '.join(missing)}")
    return faults


def _defects_of_effects(rule: Rule) -> Iterator[str]:
    for name in ("effects", "gb_types"):
        if isinstance(text := getattr(rule, name), str):
            yield f'{name} is a string: write {name}=("{text}",)'
            return
    yield from (f'unknown effect "{effect}"' for effect in rule.effects if effect not in EFFECTS)
    if not rule.effects:
        yield "no effects"
    if "graph-break" in rule.effects and not rule.gb_types:
        yield "the effect graph-break wants gb_types, the names under which Dynamo reports such a break"
    if rule.gb_types and "graph-break" not in rule.effects:
        yield "gb_types without the effect graph-break"
    family = FAMILIES.get(rule.code[:3], set(EFFECTS))
    if strange := [effect for effect in rule.effects if effect in EFFECTS and effect not in family]:
        allowed = ", ".join(effect for effect in EFFECTS if effect in family)
        yield f"{rule.code[:3]}xx rules have no effect {', '.join(strange)}, only {allowed}"


def _wrong_targets(subscription: Subscription) -> Iterator[str]:
    """Targets that no event has, beside none that stands for them."""
    from compilelint.engine.events import Call, Enter, Load, Store
    from compilelint.models.names import told_as

    event, targets = subscription.event, subscription.targets
    if targets and not issubclass(event, (Call, Load, Store, Enter)):
        yield f"{event.__name__} has no target: subscribe to it without `{targets[0]}`"
        return
    for target in targets if event is Call else ():
        right = told_as(target)
        if right != target and right not in targets:
            yield f"no call is told as `{target}`: write `{right}`"


def _has_heading(text: str, heading: str) -> bool:
    return re.search(rf"^(?:#+ )?{re.escape(heading)}\b", text, re.MULTILINE) is not None


def summary(rule: Rule) -> str:
    """The first line of the documentation."""
    return rule.documentation.partition("\n")[0].strip().rstrip(".")
