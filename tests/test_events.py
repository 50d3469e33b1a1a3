"""docs/events.md is what its script makes of the code, and tells of every event and all that the sdk offers."""

from __future__ import annotations

import pytest
from fixturefiles import ROOT, load

from compilelint import sdk
from compilelint.engine.events import Event

PAGES = load(ROOT / "scripts" / "events.py")
TEXT = PAGES.PAGE.read_text(encoding="utf-8")


def test_page_is_fresh() -> None:
    assert PAGES.page() == TEXT, "run `python scripts/events.py`"


@pytest.mark.parametrize("event", Event.__subclasses__(), ids=lambda event: event.__name__)
def test_every_event_has_an_example(event: type[Event]) -> None:
    assert event.__name__ in PAGES.LINES and event.__name__ in sdk.__all__


def test_every_name_is_in_a_group_and_says_what_it_is() -> None:
    groups = PAGES.groups()
    names = [name for group in groups.values() for name in group]
    assert names == sdk.__all__
    assert all(
        group == sorted(group, key=lambda name: (not name.isupper(), name[0].islower(), name))
        for group in groups.values()
    )
    for name in names:
        item = getattr(sdk, name)
        assert not callable(item) or PAGES.get_args(item) or PAGES.text_of(item), f"{name} has no docstring"
