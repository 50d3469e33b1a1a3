"""Rules: selection, validation, documentation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from compilelint import registry
from compilelint.config import Settings
from compilelint.errors import ConfigError, RegistryError
from compilelint.sdk import Branch, Call, Context, Effect, Event, Report, Rule

RULES = tuple(
    Rule(code, name, ("sync",), documentation=f"{name} in a line.\n")
    for code, name in (("CL101", "one-thing"), ("CL102", "two-things"), ("CL201", "three"))
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_load", lambda: RULES)
    monkeypatch.setattr(registry, "known_codes", lambda: tuple(rule.code for rule in registry.all_rules()))


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), ["CL101", "CL102", "CL201"]),
        (("ALL",), (), ["CL101", "CL102", "CL201"]),
        (("CL1",), (), ["CL101", "CL102"]),
        (("CL1",), ("CL101",), ["CL102"]),
        (("CL101",), ("CL1",), ["CL101"]),  # the more specific wins
        (("CL101",), ("CL101",), []),
        (("ALL",), ("CL1",), ["CL201"]),
        ((), ("ALL",), []),
    ],
)
def test_selection(few: None, select: tuple[str, ...], ignore: tuple[str, ...], expected: list[str]) -> None:
    assert [rule.code for rule in registry.load_rules(Settings(select=select, ignore=ignore))] == expected


def test_unreadable_files_are_told_whatever_is_selected(few: None) -> None:
    assert registry.selected_codes(Settings(select=("CL1",))) == {"CL002", "CL101", "CL102"}
    assert "CL002" not in registry.selected_codes(Settings(select=("CL1",), ignore=("CL002",)))
    assert "CL001" in registry.selected_codes(Settings())


@pytest.mark.parametrize("settings", [Settings(select=("CL103",)), Settings(per_file_ignores=(("x", ("CL103",)),))])
def test_unknown_selectors_are_refused(few: None, settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r'unknown rule "CL103" \(did you mean "CL10[12]"\?\)'):
        registry.selected_codes(settings)


def test_find_rule(few: None) -> None:
    assert registry.find_rule("cl101").name == "one-thing"
    assert registry.find_rule("two-things").code == "CL102"
    with pytest.raises(ConfigError, match=r'no rule "CL110" \(did you mean "CL10'):
        registry.find_rule("CL110")
    with pytest.raises(ConfigError, match=r'no rule "two-thing" \(did you mean "two-things"\?\)'):
        registry.find_rule("two-thing")


def test_every_rule_there_is_is_sound() -> None:
    rules = registry.load_rules()
    assert list(rules) == sorted(rules, key=lambda rule: rule.code)
    assert [registry.defects(rule) for rule in rules] == [[] for _ in rules]
    for rule in registry.all_rules():
        assert registry.summary(rule), rule.code
        assert all(heading in rule.documentation for heading in registry.HEADINGS), rule.code


def test_defects_are_told_in_words() -> None:
    assert registry.defects(Rule("C1", "Bad Name", ("slow",))) == [  # type: ignore[arg-type]  # what is tested
        'code "C1" is not letters and three digits',
        'name "Bad Name" is not words-with-hyphens',
        'unknown effect "slow"',
        "subscribes to no event",
        "the docstring lacks the headings " + ", ".join(registry.HEADINGS),
    ]
    sound = replace(RULES[0], documentation="\n".join(f"## {heading}" for heading in registry.HEADINGS))
    assert registry.defects(sound) == ["subscribes to no event"]

    @sound.on(Call)
    def check(event: Call, ctx: Context) -> Iterator[Report]:
        yield from ()

    assert registry.defects(sound) == []


def sound(code: str = "XX101", effects: tuple[Effect, ...] = ("sync",), gb_types: tuple[str, ...] = ()) -> Rule:
    documentation = "\n".join(f"## {heading}" for heading in registry.HEADINGS)
    rule = Rule(code, "a-rule", effects, gb_types, documentation=documentation)
    assert registry.defects(rule)[-1:] == ["subscribes to no event"]
    return rule


def nothing(event: Event, ctx: Context) -> Iterator[Report]:
    yield from ()


@pytest.mark.parametrize(
    ("target", "right"),
    [
        ("torch.nn.Module.zero_grad", "Module.zero_grad"),
        ("torch.nn.modules.module.Module.zero_grad", "Module.zero_grad"),
        ("torch.Tensor.item", "Tensor.item"),
        ("torch.Tensor.*", "Tensor.*"),
        ("torch.nn.Parameter.item", "Tensor.item"),
        ("torch.optim.SGD.zero_grad", "torch.optim.Optimizer.zero_grad"),
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("builtins.print", "print"),
        ("np.zeros", "numpy.zeros"),
    ],
)
def test_targets_that_no_call_has(target: str, right: str) -> None:
    rule = sound()
    rule.on(Call, target)(nothing)
    assert registry.defects(rule) == [f"no call is told as `{target}`: write `{right}`"]
    both = sound()
    both.on(Call, target, right)(nothing)
    assert registry.defects(both) == []


@pytest.mark.parametrize(
    "target",
    ["torch.optim.SGD", "torch.optim.*", "torch.nn.Linear.__call__", "torch.nn.Module.__call__", "torch.*", "print"],
)
def test_targets_that_calls_have(target: str) -> None:
    rule = sound()
    rule.on(Call, target)(nothing)
    assert registry.defects(rule) == []


def test_events_without_a_target_are_subscribed_to_whole() -> None:
    rule = sound()
    rule.on(Branch, "Tensor.item")(nothing)
    assert registry.defects(rule) == ["Branch has no target: subscribe to it without `Tensor.item`"]


@pytest.mark.parametrize(
    ("code", "effects", "gb_types", "fault"),
    [
        ("XX101", "launch", (), 'effects is a string: write effects=("launch",)'),
        ("XX101", ("graph-break",), "A", 'gb_types is a string: write gb_types=("A",)'),
        (
            "XX101",
            ("graph-break",),
            (),
            "the effect graph-break wants gb_types, the names under which Dynamo reports such a break",
        ),
        ("XX101", ("sync",), ("A",), "gb_types without the effect graph-break"),
        ("CL301", ("transfer",), (), "CL3xx rules have no effect transfer, only sync, launch"),
    ],
)
def test_effects_that_do_not_fit(code: str, effects: tuple[Effect, ...], gb_types: tuple[str, ...], fault: str) -> None:
    assert registry.defects(sound(code, effects, gb_types))[0] == fault


def test_a_check_is_a_generator_function() -> None:
    def check(event: Call, ctx: Context) -> Iterator[Report]:
        return iter(())

    with pytest.raises(TypeError, match="`check` is not a generator function: a check yields its reports, or nothing"):
        sound().on(Call)(check)


def test_a_module_that_fails_to_import_is_named() -> None:
    with pytest.raises(RegistryError, match=r"rule module no_such_module_here: ModuleNotFoundError"):
        registry._rule_of("no_such_module_here")


def test_a_file_that_is_named_otherwise_than_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would never run: which codes there are is told by the files."""
    module = "compilelint.rules.cl101_branch_on_tensor"
    rule = replace(registry._rule_of(module), code="CL102")
    monkeypatch.setattr(registry, "_built_in", lambda: (module,))
    monkeypatch.setattr(registry, "_rule_of", lambda _: rule)
    registry._load.cache_clear()
    with pytest.raises(RegistryError, match="cl101_branch_on_tensor: its name does not begin with its code, cl102_"):
        registry._load()
    registry._load.cache_clear()


def test_rules_are_known_by_the_names_of_their_files() -> None:
    assert registry.known_codes() == tuple(rule.code for rule in registry.all_rules())


def test_what_is_selected_is_known_without_the_rules() -> None:
    """To import all of them takes longer than what a cache spares a check."""
    script = (
        "import sys; from compilelint import registry; from compilelint.config import Settings\n"
        "assert 'CL101' in registry.selected_codes(Settings(select=('CL1',)))\n"
        "print([name for name in sys.modules if name.startswith(('compilelint.rules.', 'compilelint.sdk'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
