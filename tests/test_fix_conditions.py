"""What must hold of the values at hand before a fix is made: a test for each condition."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from compilelint import api
from compilelint.config import Settings


def fixed(path: Path, code: str, *, unsafe: bool = True) -> str:
    """The code after all its fixes, `import torch` put before."""
    path.write_text("import torch\n\n\n" + textwrap.dedent(code).strip("\n") + "\n", encoding="utf-8")
    run = api.fix([path], Settings(unsafe_fixes=unsafe), apply=True)
    assert not run.errors and not run.result.problems
    return path.read_text(encoding="utf-8")


def test_a_branch_that_other_calls_take_on_a_number_stays(tmp_path: Path) -> None:
    code = """
    def check(total, limit):
        if total > limit:
            raise ValueError("too much")


    @torch.compile
    def f(x: torch.Tensor, n: int):
        check(x.sum(), n)
        {other}
        return x
    """
    path = tmp_path / "m.py"
    assert "_assert_async" in fixed(path, code.format(other="check(x.mean(), n)"))
    assert "_assert_async" not in fixed(path, code.format(other="check(x.shape[0], n)"))


def test_the_list_of_a_tensor_is_passed_only_where_every_caller_has_it(tmp_path: Path) -> None:
    code = """

    def spread(shapes, x):
        total = x
        for h, w in shapes:
            total = total + torch.linspace(0, w, h).sum()
        return total


    @torch.compile
    def f(x: torch.Tensor, sizes: list[tuple[int, int]]):
        shapes = torch.tensor([(1, 2)] + sizes, dtype=torch.long)
        known = torch.tensor(sizes, dtype=torch.long)
        return spread({given}, x)
    """
    path = tmp_path / "m.py"
    assert "return spread(sizes, x)" in fixed(path, code.format(given="known"))
    assert "return spread(shapes, x)" in fixed(path, code.format(given="shapes"))


def test_a_list_changed_after_the_copy_is_not_read(tmp_path: Path) -> None:
    code = """
    @torch.compile
    def f(x: torch.Tensor):
        sizes = [2, 3]
        lengths = torch.tensor(sizes, device=x.device)
        {between}
        return x[: lengths.max().item()]
    """
    path = tmp_path / "m.py"
    assert "x[: max(sizes)]" in fixed(path, code.format(between="x = x + 1"), unsafe=False)
    for change in (
        "sizes.append(9)",
        "sizes[0] = 9",
        "sizes = [9]",
        "sizes += [9]",
        "other = sizes; other.append(9)",
        "keep(sizes)",
        "lengths[0] = 9",
        "lengths.add_(1)",
        "lengths += 1",
        "other = lengths; other += 1",
        "v = lengths.view(-1); v += 1",
        "v = lengths[:1]; v += 1",
        "keep(lengths)",
        "torch.add(lengths, 1, out=lengths)",
    ):
        assert "max(sizes)" not in fixed(path, code.format(between=change)), change


@pytest.mark.parametrize(
    ("made", "safe"),
    [
        ("sizes = [2, 3]; counts = torch.tensor(sizes)", True),
        ("sizes = [2]; sizes.append(3); counts = torch.tensor(sizes).to(x.device)", True),
        ("sizes = [2, 3]; counts = torch.tensor(sizes).to(torch.uint8)", False),
        ("sizes = [True, 3]; counts = torch.tensor(sizes)", False),
        ("sizes = self.sizes; counts = torch.tensor(sizes)", False),
        ("sizes = given; counts = torch.tensor(sizes)", False),
    ],
)
def test_a_list_stands_safely_for_its_tensor_where_it_is_written_out(tmp_path: Path, made: str, safe: bool) -> None:
    indented = made.replace("; ", "\n            ")
    code = f"""
    class M(torch.nn.Module):
        def forward(self, x: torch.Tensor, given: list[int]):
            {indented}
            return torch.repeat_interleave(x, counts, dim=0), x * counts.max().item()
    """
    after = fixed(tmp_path / "m.py", code, unsafe=False)
    assert ("max(sizes)" in after) is ("output_size=sum(sizes)" in after) is safe


@pytest.mark.parametrize("change", ["counts[0] = 9", "other = sizes; other.append(9)", "v = counts.view(-1); v += 1"])
def test_a_size_of_a_result_is_not_told_by_a_list_that_may_differ(tmp_path: Path, change: str) -> None:
    code = f"""
    @torch.compile
    def f(x: torch.Tensor):
        sizes = [2, 3]
        counts = torch.tensor(sizes)
        {change}
        return torch.repeat_interleave(x, counts, dim=0)
    """
    assert "output_size" not in fixed(tmp_path / "m.py", code)


SELECTED = """
@torch.compile
def f(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor, n: int, scale: float):
    h = torch.relu(x.float() @ w.float())
    {before}
    if {test}:
        h = {value}
    return h
"""


def test_a_selection_is_safe_where_it_preserves_everything(tmp_path: Path) -> None:
    path = tmp_path / "m.py"

    def is_safe(test: str, value: str, before: str = "pass") -> bool:
        return "torch.where" in fixed(path, SELECTED.format(test=test, value=value, before=before), unsafe=False)

    assert is_safe("torch.isnan(h).any()", "torch.nan_to_num(h)")
    assert is_safe("h.max() > 3", "h.clamp(max=3) * 0.5 - 2")
    assert is_safe("h.max() > 3", "h * 2", before="top = h.max() + h.shape[0]")
    assert is_safe("not (h > 1).any() and h.sum() > 0", "-h / 2")
    assert not is_safe("h.max() > 3", "h + t")  # another shape or dtype
    assert not is_safe("h.max() > 3", "h * h")  # the derivative of an infinity
    assert not is_safe("h.max() > 3", "h / n")  # by zero
    assert not is_safe("h > 3", "h * 2")  # more than one element raises
    assert not is_safe("torch.rand(()) > 0.5", "h * 2")
    assert not is_safe("h.max() > 3", "h * 2", before="h.add_(1)")
    assert not is_safe("h.max() > 3", "h * 2", before="h = x")  # the caller's own tensor
    assert not is_safe("h.max() > 3", "h * 2", before="h = t.long()")  # an int tensor becomes float
    assert not is_safe("h.max() > 3", "h.detach()")  # would need a gradient all the same
    for number in ("True", "1e6", "-1e9", "1e400", "10**400", "2**70", "n", "scale", "float('inf')"):
        assert not is_safe("h.max() > 3", f"h.clamp(max={number})"), number
        assert not is_safe("h.max() > 3", f"h - {number}"), number
    assert not is_safe("h.max() > 3", "h / 1e-300")  # nought in half precision


def test_a_selection_is_unsafe_where_somebody_else_may_hold_the_tensor(tmp_path: Path) -> None:
    path = tmp_path / "m.py"

    def is_safe(before: str, value: str = "torch.nan_to_num(h)") -> bool:
        code = f"""
        class M(torch.nn.Module):
            def forward(self, h: torch.Tensor, w: torch.Tensor):
                h = h.float()
                {before}
                if torch.isnan(h).any():
                    h = {value}
                return h
        """
        return "torch.where" in fixed(path, code, unsafe=False)

    assert is_safe("h = torch.relu(h)")
    assert is_safe("h = h * 2; n = h.shape[0]; m = h.mean()")
    assert not is_safe("pass")  # `float` gives the argument itself
    assert not is_safe("h = torch.nn.functional.relu(h, inplace=True)")
    assert not is_safe("h = h * 2; self.last = h")
    assert not is_safe("h = h * 2; v = h.view(-1)")
    assert not is_safe("h = h * 2; seen = [h]")
    assert not is_safe("h = h * 2; self.keep(h)")
    assert not is_safe("other = h = h * 2")

    def fills(before: str, value: str = "0.0") -> bool:
        code = f"""
        @torch.compile
        def f(h: torch.Tensor):
            {before}
            if (h > 3).any():
                h = h.masked_fill(h > 3, {value})
            return h
        """
        return "if (" not in fixed(path, code, unsafe=False)

    assert fills("h = h.float() * 2")
    assert not fills("h = h.float()")
    assert not fills("h = h.half() * 2", "-1e9")  # fails in half precision
    assert not fills("h = h.half() * 2", "1e39")


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ("return h * 2 if h.max() > 3 else h / 2", True),
        ("return h * 2 if h.max() > 3 else h", False),
        ("y = h * 2 if h.max() > 3 else h\n    return y, h", False),
        ("h = torch.relu(h)\n    return h * 2 if h.max() > 3 else h", True),
        ("h = torch.relu(h)\n    y = h * 2 if h.max() > 3 else h\n    return y, h", False),
        ("h = torch.relu(h)\n    return [h, h * 2 if h.max() > 3 else h]", False),
    ],
)
def test_a_conditional_expression_that_is_the_tensor_itself(tmp_path: Path, body: str, safe: bool) -> None:
    code = f"@torch.compile\ndef f(x: torch.Tensor):\n    h = x.float()\n    {body}\n"
    assert ("torch.where" in fixed(tmp_path / "m.py", code, unsafe=False)) is safe


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h = x * 2", "h = h.masked_fill(h < 0.5, 0.0)"),  # nobody else has it
        ("h = x.exp()", "h = h.masked_fill(h < 0.5, 0.0)"),
        ("h = x * 2\n        y = h * h", "h = h.masked_fill(h < 0.5, 0.0)"),
        ("h = x", "h[h < 0.5] = 0.0"),
        ("h = x\n        y = h + h.sum()", "h[h < 0.5] = 0.0"),
        ("h = x.exp().view(-1)", None),  # backward reads what it was
        ("h = x\n        y = h * h", None),
        ("h = x\n        y = torch.sin(h)", None),
        ("h = act(x)", None),
    ],
)
def test_what_backward_reads_is_not_written_to(tmp_path: Path, before: str, after: str | None) -> None:
    code = f"""
    act = torch.nn.Sigmoid()


    @torch.compile
    def f(x: torch.Tensor):
        {before}
        if (h < 0.5).any():
            h[h < 0.5] = 0.0
        return h
    """
    text = fixed(tmp_path / "m.py", code)
    assert ("if (h < 0.5)" in text) is (after is None)
    assert after is None or f"\n    {after}\n" in text


def test_what_a_loop_reads_later_is_not_written_to(tmp_path: Path) -> None:
    code = """
    @torch.compile
    def f(x: torch.Tensor):
        total = 0
        for _ in range(3):
            if (x < 0.5).any():
                x[x < 0.5] = 0.0
            total = total + {read}
        return total
    """
    assert "if (" in fixed(tmp_path / "m.py", code.format(read="x * x"))
    assert "if (" not in fixed(tmp_path / "m.py", code.format(read="x.sum()"))


def test_another_shape_is_not_selected(tmp_path: Path) -> None:
    code = """
    @torch.compile
    def f(x: torch.Tensor, n: torch.Tensor):
        h = {made}
        if n.sum() > 0:
            h = {given}
        return h
    """
    path = tmp_path / "m.py"
    for made, given, selected in [
        ("x * 2", "x", True),
        ("torch.repeat_interleave(x, torch.tensor([2] * len(x)))", "x", False),
        ("torch.repeat_interleave(x, torch.tensor([2] * len(x)))", "h * 2", True),
        ("torch.repeat_interleave(x, torch.tensor([2] * len(x)))", "h + x", False),
        ("torch.repeat_interleave(x, torch.tensor([2] * len(x)))", "h + 1", True),
        ("torch.cat([x, x])", "x", False),
    ]:
        assert ("torch.where" in fixed(path, code.format(made=made, given=given))) is selected


def test_a_row_name_that_is_built_up_is_not_worked_on_whole(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, out: torch.Tensor):\n    mask = x > 0\n"
        "    rows = x[mask]\n    rows = (rows - 1) * 2\n    out[mask] = rows + 1\n    return out\n"
    )
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    result = api.fix([path], Settings(unsafe_fixes=True))
    assert not result.errors


@pytest.mark.parametrize(
    "body",
    [
        "y = x[mask]\n    y = y * 2\n    out[mask] = y + x[mask]",
        "y = x[mask].cumsum(0)\n    out[mask] = y * x[mask]",
        "w = torch.arange(int(mask.sum()))\n    out[mask] = w * x[mask]",
        "y = x[mask]\n    y = y * 2\n    out[mask] = out[mask] * y",
        "y = x[mask]\n    x = x * 3\n    out[mask] = y + 1",
        "p = torch.stack([x, x])\n    out[mask] = x[mask] * p[1, mask].abs()",
    ],
)
def test_what_is_as_long_as_the_picked_rows_is_not_mixed_with_all_rows(tmp_path: Path, body: str) -> None:
    text = (
        f"import torch\n\n\ndef f(x: torch.Tensor, out: torch.Tensor):\n    mask = x > 0\n    {body}\n    return out\n"
    )
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    api.fix([path], Settings(unsafe_fixes=True), apply=True)
    x = torch.tensor([1.0, -2.0, 3.0, 4.0, -5.0])
    results = []
    for code in (text, path.read_text(encoding="utf-8")):
        space: dict[str, Any] = {}
        exec(compile(code, "m.py", "exec"), space)
        results.append(space["f"](x.clone(), torch.zeros(5)))
    assert torch.equal(*results)


def test_a_tensor_is_not_stacked_as_a_list(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return [float(v) for v in x]\n", encoding="utf-8")
    api.fix([path], Settings(unsafe_fixes=True), apply=True)
    assert path.read_text(encoding="utf-8").endswith("    return x.tolist()\n")


def test_an_entry_that_is_compared_with_a_shape_is_no_tensor_for_sure(tmp_path: Path) -> None:
    """What is annotated as a tensor may be a `torch.Size`, of which an assertion on the device would raise."""
    code = """
    @torch.compile
    def f(x: torch.Tensor, sizes: torch.Tensor):
        if not x.shape[0] == {given}:
            raise ValueError("no")
        return x
    """
    assert "_assert_async" not in fixed(tmp_path / "m.py", code.format(given="sizes[0]"))
    assert "_assert_async" in fixed(tmp_path / "m.py", code.format(given="sizes.sum()"))


@pytest.mark.parametrize("then", ["raise ValueError('no')", "x = x * 2"])
def test_what_another_path_makes_a_number_is_no_condition_for_a_tensor(tmp_path: Path, then: str) -> None:
    code = """
    def f(x: torch.Tensor, limits: list[int], flag: bool):
        bad = (x <= 0).any()
        if flag:
            bad = {other}
        if bad:
            {then}
        return x
    """
    path = tmp_path / "m.py"
    assert "if bad:" in fixed(path, code.format(then=then, other="any(limit > 2 for limit in limits)"))
    assert "if bad:" not in fixed(path, code.format(then=then, other="(x > 2).any()"))


def test_an_element_is_filled_safely_where_the_order_of_place_and_number_is_free(tmp_path: Path) -> None:
    code = """
    def f(self, todo: list[int], n: int, x: torch.Tensor):
        y = torch.zeros(4, device=x.device)
        {write}
        return y
    """
    path = tmp_path / "m.py"
    for write, safe in [
        ("y[n] = n / 2", True),
        ("y[n + 1] = float(todo.pop())", True),
        ("y[len(todo)] = 2", True),
        ("y[len(todo)] = float(todo.pop())", False),
        ("y[n] = (n := 3)", False),
    ]:
        assert ("fill_" in fixed(path, code.format(write=write), unsafe=False)) is safe, write
        assert "fill_" in fixed(path, code.format(write=write))


def test_the_shape_of_a_number_is_made_a_tensor_of_integers(tmp_path: Path) -> None:
    code = """
    @torch.compile
    def f(x: torch.Tensor):
        return torch._shape_as_tensor(x)
    """
    after = fixed(tmp_path / "m.py", code, unsafe=False)
    space: dict[str, Any] = {}
    exec(after.replace("@torch.compile\n", ""), space)
    scalar = torch.tensor(1.0)
    assert space["f"](scalar).dtype == torch._shape_as_tensor(scalar).dtype == torch.int64


def test_views_are_no_results_of_cond(tmp_path: Path) -> None:
    """torch.cond refuses what shares memory with its inputs."""
    path = tmp_path / "m.py"
    text = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    h = x * 1.0\n"
        "    if h.max() > 0:\n        h = h.clamp(max=0)\n    else:\n        h = h.view(-1)\n    return h\n"
    )
    path.write_text(text, encoding="utf-8")
    api.fix([path], api.load_settings(isolated=True, overrides={"unsafe_fixes": True}), apply=True)
    assert path.read_text(encoding="utf-8") == text


def test_a_name_that_one_side_binds_twice_has_its_last_value(tmp_path: Path) -> None:
    code = """
    @torch.compile
    def f(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
        if x.sum() > 0:
            x = a + b
        else:
            x = a
            if b.sum() > 0:
                x = b
        return x
    """
    after = fixed(tmp_path / "m.py", code)
    for x, b in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        values = []
        for text in (f"import torch\n{textwrap.dedent(code)}", after):
            names: dict[str, Any] = {}
            exec(text.replace("@torch.compile", ""), names)
            values.append(float(names["f"](torch.tensor(x), torch.tensor(5.0), torch.tensor(b))))
        assert values[0] == values[1], (x, b, after)


def test_a_branch_in_which_nothing_is_done(tmp_path: Path) -> None:
    code = """
    def f(x: torch.Tensor):
        if x:
            if x:
                pass
        else:
            x = torch.randn(6, 4)
        return x
    """
    assert "torch.randn" in fixed(tmp_path / "m.py", code)
