"""Modules that several parts of a run import: parsed once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from compilelint.source.module import Module

MOST = 12_000_000  # characters of source; a syntax tree takes about thirty times the memory of its source


class Parsed:
    """The modules used last, up to MOST characters in all. What is dropped is taken apart, so that it goes at once."""

    def __init__(self) -> None:
        self._modules: dict[tuple[Path, str, str], Module] = {}
        self._size = 0
        self.in_use: Collection[Module] = ()  # not to be taken apart: an analysis that is kept goes by them

    def take(self, path: Path, name: str, content: str) -> Module | None:
        """The module of that import name, if a file of this content (its digest) was parsed before."""
        key = (path, name, content)
        module = self._modules.pop(key, None)
        if module is not None:
            self._modules[key] = module  # the last used stands last
        return module

    def holds(self, module: Module, content: str) -> bool:
        return (module.path, module.name, content) in self._modules

    def keep(self, modules: Mapping[Module, str]) -> None:
        """Takes modules by their content, the last used ones."""
        for module, content in modules.items():
            key = (module.path, module.name, content)
            if key not in self._modules:
                self._modules[key] = module
                self._size += len(module.text)
        self._shrink(MOST)

    def release(self) -> None:
        self._shrink(0)

    def _shrink(self, most: int) -> None:
        while self._size > most:
            oldest = self._modules.pop(next(iter(self._modules)))
            self._size -= len(oldest.text)
            if oldest not in self.in_use:
                oldest.release()
