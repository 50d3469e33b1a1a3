"""What docstrings say of types, in the three usual styles: where nothing is annotated, that is where a type stands."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

_NAME = r"^[ \t]*\*{0,2}`{0,2}(?P<name>\w+)`{0,2}"
_ENTRY = re.compile(
    rf"{_NAME}[ \t]*\((?P<google>[^\n]*?)\)[ \t]*:"  # x (Tensor): the input
    rf"|{_NAME.replace('name', 'name2')}[ \t]*:[ \t]*(?P<plain>[^\n]+)"  # x : Tensor (NumPy), x: a tensor of shape …
    r"|^[ \t]*:type[ \t]+(?P<name3>\w+):[ \t]*(?P<sphinx>[^\n]+)"
    r"|^[ \t]*:param[ \t]+(?P<short>[^\n:]+?)[ \t]+(?P<name4>\w+):",
    re.MULTILINE,
)
_RETURNS = re.compile(r"^[ \t]*Returns?:?[ \t]*\n(?:[ \t]*-+[ \t]*\n)?", re.MULTILINE)
_RTYPE = re.compile(r"^[ \t]*:rtype:[ \t]*(?P<type>[^\n]+)", re.MULTILINE)
_ROLE = re.compile(r":\w+:(?=`)|[`*~]")
_KIND = r"(?:torch\.)?(?:cuda\.)?(?P<kind>Float|Double|Half|BFloat16|Long|Int|Short|Byte|Bool)?[Tt]ensor"
_SORT = r"\S*[\dN]-?[dD]|\S+-dim(?:ensional)?|float\d\d|int\d\d|scalar|input|float|bool"
_TENSOR = re.compile(
    rf"^(?:Optional\[)?(?:an?\s|the\s)?\s*(?:(?:{_SORT})\s+)*(?P<type>{_KIND})\b(?P<rest>.*)$", re.IGNORECASE
)
_HELD = re.compile(
    rf"^(?P<held>list|tuple|sequence)(?:\[|\(|\s+of\s+(?:\d+\s+)?)(?P<type>{_KIND})s?\b(?P<rest>.*)$", re.IGNORECASE
)
_OR_NONE = re.compile(r"\s*\|\s*None\b|,?\s*or\s+None\b|(?:,\s*|\s)optional\b", re.IGNORECASE)
_NOT_TEXT = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# what may follow a type without taking anything of it back
_GOES_ON = re.compile(
    r"^[\s\])]*$|^\s*[,.:;(\[\]]"
    r"|^\s+(?:of|with|in|that|which|containing|holding|giving|representing|is|from|for|to)\b",
)
_IS_NO_TYPE = re.compile(  # `Tensor names`: what follows a type that is capitalized, in plain text
    r"^\s*[-_]|^\s+(?:and|names?|types?|keys?|lists?|shapes?|dtypes?|sizes?|dim\w*|cores?|rank|products?|operat\w+|parallel\w*)\b"
)
_OTHERS = re.compile(
    r"\bor\b|\||\bunion\b|\b(?:nd)?array\b|,\s*(?:torch\.|np\.|numpy|list|tuple|dict|str\b|int\b|float\b)",
    re.IGNORECASE,
)
_OF_NUMBERS = re.compile(r"(?:^|_)(?:shapes?|sizes?)(?:_|$)")  # the size of a tensor is easily called a tensor
_DTYPES = {"bool": "bool"} | dict.fromkeys(("float", "double", "half", "bfloat16"), "float")
_DTYPES |= dict.fromkeys(("long", "int", "short", "byte"), "int")


@dataclass(frozen=True, slots=True)
class Documented:
    """A tensor, or a `held` ("list", "tuple") of tensors; `optional`: or None."""

    dtype: str | None = None
    held: str = ""
    optional: bool = False


def documented(docstring: str) -> dict[str, Documented]:
    """The parameters that a docstring calls tensors, by name."""
    found: dict[str, Documented] = {}
    for entry in _ENTRY.finditer(docstring):
        groups = entry.groupdict()
        name = next(n for key in ("name", "name2", "name3", "name4") if (n := groups[key]))
        text = next(t for key in ("google", "plain", "sphinx", "short") if (t := groups[key]) is not None)
        if "ensor" in text and not _OF_NUMBERS.search(name) and (type_ := _read(text)) is not None:
            found.setdefault(name, type_)
    return found


def returned(docstring: str) -> Documented | None:
    """What a docstring says is returned, where that is one tensor, or a list of tensors."""
    if (typed := _RTYPE.search(docstring)) is not None:
        return _read(typed["type"])
    section = _RETURNS.search(docstring)
    if section is None:
        return None
    first, *others = docstring[section.end() :].partition("\n\n")[0].splitlines() or [""]
    indent = len(first) - len(first.lstrip())
    if any(line.strip() and len(line) - len(line.lstrip()) <= indent for line in others):
        return None  # more than one value, or a text of several lines
    named = re.match(r"\s*\w+\s+:\s+(?P<type>.+)", first)  # NumPy's `name : type`
    return _read(named["type"] if named is not None else re.split(r":\s", first)[0])


def of(node: ast.AST) -> str:
    """The docstring of a function or class, as it stands; "" for none."""
    match getattr(node, "body", None):
        case [ast.Expr(value=ast.Constant(value=str(text))), *_]:
            return text
    return ""


def _read(text: str) -> Documented | None:
    text = _ROLE.sub("", text).strip()
    plain = _OR_NONE.sub("", text)
    found = _TENSOR.match(plain) or _HELD.match(plain)
    if found is None or _OTHERS.search(found["rest"].partition(". ")[0]):
        return None
    rest = _NOT_TEXT.sub("()", found["rest"])
    named = found["type"].endswith("Tensor") and not _IS_NO_TYPE.match(rest)
    if "/" in rest.partition(".")[0] or not (named or _GOES_ON.match(rest)):
        return None
    held = found.groupdict().get("held") or ""
    dtype = _DTYPES.get((found["kind"] or "").lower())
    optional = plain != text or plain.startswith("Optional")
    return Documented(dtype, {"": "", "tuple": "tuple"}.get(held.lower(), "list"), optional)
