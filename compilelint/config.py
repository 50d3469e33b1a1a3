"""Settings: the defaults, `[tool.compilelint]` in the nearest pyproject.toml, and what the command line overrides."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from compilelint.errors import ConfigError, did_you_mean
from compilelint.finding import Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Version = tuple[int, int]
Compiled = Literal["auto", "modules", "all"]
PYTHONS: tuple[Version, ...] = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
SECTION = "[tool.compilelint]"


@dataclass(frozen=True)
class Settings:
    """What a run goes by. `base` is the folder of the configuration: globs in it are relative to that."""

    select: tuple[str, ...] = ()  # empty: every rule
    ignore: tuple[str, ...] = ()
    torch: Version = (2, 13)
    python: Version = (sys.version_info[0], sys.version_info[1])
    compiled: Compiled = "auto"
    exclude: tuple[str, ...] = ()  # on top of the default exclusions
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: Severity = Severity.NOTE  # the least that is shown
    jobs: int = 1  # 0: one process for each core
    roots: tuple[str, ...] = ()  # further compile roots, `module:Qual.name`
    follow_imports: bool | tuple[str, ...] = False  # into which installed packages, by import name; True: all
    unsafe_fixes: bool = False
    plugins: tuple[str, ...] = ()  # entry points whose rules are used
    local_rules: tuple[Path, ...] = ()  # files, and folders of files, that hold a rule each
    force_exclude: bool = False  # `exclude` also for files named on the command line
    respect_gitignore: bool = True
    baseline: Path | None = None  # the findings that are known, and not shown
    cache: Path | None = None  # the folder that caches are kept in; None: nothing is remembered between runs
    base: Path = Path()
    source: Path | None = None  # the file that the settings came from


def load_settings(
    cwd: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    config: Path | None = None,
    isolated: bool = False,
    jobs: int = Settings.jobs,
    local_rules: bool = True,
) -> Settings:
    """The settings for a run in `cwd`: of `config`, or else of the nearest pyproject.toml with the section.

    `overrides` holds values by field name, as the command line gives them, and wins; None means not given. A `select`
    there replaces the file's `select` and `ignore`; `ignore` and `exclude` add to the file's. `jobs` counts where
    neither says how many. Without `local_rules` the files that hold rules are left out: reading codes runs them. Raises
    ConfigError.
    """
    cwd = (cwd or _here()).resolve()
    settings = Settings(torch=default_torch(), jobs=jobs, base=cwd)
    registry = sys.modules.get("compilelint.registry")
    if registry is not None:  # what earlier settings named
        registry.extend((), ())
    if config is not None:
        settings = _apply_file(settings, config, _section(config, required=True) or {}, local_rules)
    elif not isolated:
        for folder in (cwd, *cwd.parents):
            path = folder / "pyproject.toml"
            if path.is_file() and (table := _section(path)) is not None:
                settings = _apply_file(settings, path, table, local_rules)
                break
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    changes = {key: _READERS[key](value, f"--{key.replace('_', '-')}") for key, value in given.items()}
    if "select" not in changes and "ignore" in changes:
        changes["ignore"] = settings.ignore + changes["ignore"]
    elif "select" in changes:
        changes.setdefault("ignore", ())
    if "exclude" in changes:
        changes["exclude"] = settings.exclude + changes["exclude"]
    return replace(settings, **changes)


def _section(path: Path, *, required: bool = False) -> dict[str, Any] | None:
    """The tool's table in a TOML file. One not named pyproject.toml may hold the keys at its top level."""
    try:
        if path.exists() and not path.is_file():  # to open a named pipe would wait for ever
            raise ConfigError(f"{path}: can't be read: not a regular file")
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of too many digits
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: not valid TOML: nested too deeply") from None
    tool = data.get("tool", {})
    if isinstance(tool, dict) and "compilelint" in tool:
        table = tool["compilelint"]
        if isinstance(table, dict):
            return dict(table)
        raise ConfigError(f"{path}: `tool.compilelint` must be a table")
    if not required:
        return None
    if path.name == "pyproject.toml":
        raise ConfigError(f"{path}: has no {SECTION} section")
    return dict(data)


def _apply_file(settings: Settings, path: Path, table: Mapping[str, Any], local_rules: bool) -> Settings:
    from compilelint.registry import extend

    changes: dict[str, Any] = {}
    where = f"{path}: {SECTION}"
    plugins = _strings(table.get("plugins", ()), f"{where} plugins")
    folder = path.resolve().parent
    local = tuple(folder / name for name in _strings(table.get("local-rules", ()), f"{where} local-rules"))
    local = local if local_rules else ()
    extend(plugins, local)  # before codes are read: these may be theirs
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in _READERS or (key != name.replace("_", "-")):
            known = sorted(reader.replace("_", "-") for reader in _READERS)
            raise ConfigError(f'{path}: {SECTION} unknown key "{key}"{did_you_mean(key, known)}')
        changes[name] = _READERS[name](value, f"{path}: {SECTION} {key}")
    if "baseline" in changes:
        changes["baseline"] = folder / changes["baseline"]
    changes["local_rules"] = local
    return replace(settings, **changes, base=path.resolve().parent, source=path)


def _strings(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{where}: expected a list of strings, got {_shown(value)}")


def _patterns(value: object, where: str) -> tuple[str, ...]:
    patterns = _strings(value, where)
    for pattern in patterns:
        _pattern(pattern, where)
    return patterns


def _pattern(pattern: str, where: str) -> str:
    from compilelint.source.files import is_pattern

    if not is_pattern(pattern):
        raise ConfigError(f"{where}: not a pattern as in .gitignore: {pattern!r}")
    return pattern


def _codes(value: object, where: str) -> tuple[str, ...]:
    from compilelint.registry import resolve

    items = [code.strip() for item in _strings(value, where) for code in item.split(",")]
    return tuple(resolve(code, where) for code in items if code)


def _boolean(value: object, where: str) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{where}: expected true or false, got {_shown(value)}")


def _count(value: object, where: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ConfigError(f"{where}: expected a whole number, 0 for one process a core, got {_shown(value)}")


def _version(value: object, where: str) -> Version:
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, int) for part in value):
        return value[0], value[1]
    if isinstance(value, str) and (match := re.match(r"(\d+)\.(\d+)(?![\d])", value)):
        return int(match[1]), int(match[2])
    raise ConfigError(f'{where}: expected a version in quotes such as "2.13", got {_shown(value)}')


def _torch(value: object, where: str) -> Version:
    version = _version(value, where)
    known = known_torch_versions()
    if known and version not in known:
        names = ", ".join(show_version(each) for each in known)
        raise ConfigError(f"{where}: nothing is known of torch {show_version(version)}; choose one of {names}")
    return version


def _python(value: object, where: str) -> Version:
    version = _version(value, where)
    if version not in PYTHONS:
        names = ", ".join(show_version(each) for each in PYTHONS)
        raise ConfigError(f"{where}: Python {show_version(version)} is not supported; choose one of {names}")
    return version


def _compiled(value: object, where: str) -> Compiled:
    for name in get_args(Compiled):
        if value == name:
            return name  # type: ignore[no-any-return]  # get_args is untyped
    raise ConfigError(f"{where}: expected one of auto, modules, all, got {_shown(value)}")


def _severity(value: object, where: str) -> Severity:
    try:
        return Severity(value)
    except ValueError:
        raise ConfigError(f"{where}: expected one of note, warning, error, got {_shown(value)}") from None


def _roots(value: object, where: str) -> tuple[str, ...]:
    roots = _strings(value, where)
    for root in roots:
        if not re.fullmatch(r"[\w.]+:[\w.<>]+", root):
            raise ConfigError(f'{where}: expected "package.module:Qualified.name", got "{root}"')
    return roots


def _follow_imports(value: object, where: str) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f"{where}: expected true, false or a list of import names, got {_shown(value)}")
    from compilelint.source.installed import MODELLED

    names = _strings(value, where)
    for name in names:
        if not name.isidentifier():
            raise ConfigError(f'{where}: expected the import name of a package, got "{name}"')
        if name in MODELLED or name in sys.stdlib_module_names:
            raise ConfigError(f"{where}: {name} is never followed: compilelint knows what it does")
    return names


def _per_file(value: object, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: expected a table of glob = [codes], got {_shown(value)}")
    return tuple((_pattern(str(glob), where), _codes(codes, f'{where}."{glob}"')) for glob, codes in value.items())


def _path(value: object, where: str) -> Path:
    if isinstance(value, (str, Path)) and str(value):
        return Path(value)
    raise ConfigError(f"{where}: expected a path, got {_shown(value)}")


def _shown(value: object) -> str:
    kinds = {bool: "a boolean", str: "a string", list: "a list", dict: "a table", int: "a number", float: "a number"}
    kind = kinds.get(type(value), type(value).__name__)
    return f"{kind} ({value!r})" if isinstance(value, (str, int, float)) else kind


_READERS: dict[str, Callable[[object, str], Any]] = {
    "select": _codes,
    "ignore": _codes,
    "torch": _torch,
    "python": _python,
    "compiled": _compiled,
    "exclude": _patterns,
    "per_file_ignores": _per_file,
    "severity": _severity,
    "jobs": _count,
    "roots": _roots,
    "follow_imports": _follow_imports,
    "unsafe_fixes": _boolean,
    "force_exclude": _boolean,
    "respect_gitignore": _boolean,
    "baseline": _path,
    "plugins": _strings,
    "local_rules": _strings,
}


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ConfigError("the working folder is gone") from None


def show_version(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


@lru_cache(maxsize=1)
def known_torch_versions() -> tuple[Version, ...]:
    """The torch releases that there are tables for, oldest first."""
    folder = Path(__file__).parent / "models" / "tables"
    found = (re.search(r"(\d+)[._](\d+)", path.stem) for path in folder.glob("*.json"))
    return tuple(sorted({(int(match[1]), int(match[2])) for match in found if match}))


def default_torch() -> Version:
    """The installed torch's release, from its metadata alone, if there is a table for it; else the newest table's."""
    from importlib.metadata import PackageNotFoundError, version

    known = known_torch_versions()
    try:
        match = re.match(r"(\d+)\.(\d+)", version("torch"))
    except PackageNotFoundError:
        match = None
    if match and (installed := (int(match[1]), int(match[2]))) in known:
        return installed
    return known[-1] if known else Settings.torch


def origins(settings: Settings) -> dict[str, str]:
    """Where each setting comes from, by its name in the configuration file: that file, or what a default is made of."""
    given = _section(settings.source, required=True) if settings.source is not None else None
    made = {
        "torch": "the installed torch, or the newest release with a table",
        "python": "the Python that runs compilelint",
        "jobs": "the number of cores",
    }
    found = {}
    for name in (reader.replace("_", "-") for reader in _READERS):
        default = f"default: {made[name]}" if name in made else "default"
        found[name] = str(settings.source) if given and name in given else default
    return found


def describe(settings: Settings) -> dict[str, object]:
    """The settings by the names of the configuration file, ready for JSON or TOML."""

    def plain(value: object) -> object:
        match value:
            case Severity():
                return value.value
            case Path():
                return value.as_posix()
            case tuple():
                return [plain(item) for item in value]
            case _:
                return value

    shown = {
        field.name.replace("_", "-"): plain(getattr(settings, field.name))
        for field in fields(settings)
        if field.name != "cache"
    }
    shown |= {"torch": show_version(settings.torch), "python": show_version(settings.python)}
    shown["per-file-ignores"] = {glob: list(codes) for glob, codes in settings.per_file_ignores}
    return shown
