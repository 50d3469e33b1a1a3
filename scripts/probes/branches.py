"""Branches, loops and tests on a tensor's value, in the forms Python has for them; `_ok` marks a near twin."""

from __future__ import annotations

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

# fmt: off


class _Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.threshold = nn.Parameter(torch.tensor(0.5))
        self.register_buffer("count", torch.zeros(()))
        self.limit = 0.5
        self.steps = 3


class _Config:
    flag = True
    eps = 1e-6


_CONFIG = _Config()


def _positive(t): return (t > 0).all()
def _is_square(t): return t.shape[0] == t.shape[1]


# -- if ---
def if_comparison_eq(x, y):
    if (x == y).all(): x = x + 1
    return x
def if_comparison_eq_ok(x, y):
    if x.shape == y.shape: x = x + 1
    return x
def if_zero_dim_param(x, s):
    if s > 1: x = x + 1
    return x
def if_zero_dim_param_ok(x, s):
    if s.dim() == 0: x = x + 1
    return x
def if_count_nonzero(x):
    if torch.count_nonzero(x) > 3: x = x + 1
    return x
def if_argmax(x):
    if x.argmax() == 3: x = x + 1
    return x
def if_argmax_ok(x):
    if x.argmax().ndim == 0: x = x + 1
    return x
def if_norm_of_index(x):
    if x[0].norm() > 1e9: x = x + 1
    return x
def if_helper_result(x):
    if _positive(x): x = x + 1
    return x
def if_helper_result_ok(x):
    if _is_square(x): x = x + 1
    return x
def if_local_name(x):
    bad = torch.isinf(x).any()
    if bad: x = torch.zeros_like(x)
    return x + 1
def if_local_name_ok(x):
    bad = torch.isinf(x).any()
    x = torch.where(bad, torch.zeros_like(x), x)
    return x + 1
def if_tuple_member(x):
    best, where = x.max(dim=0)
    if best[0] > 0: x = x + where
    return x
def if_tuple_member_ok(x):
    best, where = x.max(dim=0)
    if len(where) > 0: x = x + best
    return x
def if_dict_member(x):
    stats = {"mean": x.mean(), "n": x.shape[0]}
    if stats["mean"] > 0: x = x + 1
    return x
def if_dict_member_ok(x):
    stats = {"mean": x.mean(), "n": x.shape[0]}
    if stats["n"] > 0: x = x + 1
    return x
def if_nested_list_member(x):
    rows = [[r.sum() for r in x]]
    if rows[0][1] > 0: x = x + 1
    return x
def if_nested_list_member_ok(x):
    rows = [[r.sum() for r in x]]
    if rows[0]: x = x + 1
    return x
def if_partial_result(x):
    total = functools.partial(torch.sum, dim=0)
    if total(x)[0] > 0: x = x + 1
    return x
def if_lambda_result(x):
    big = lambda t: t.max() > 1
    if big(x): x = x + 1
    return x
def if_lambda_result_ok(x):
    big = lambda t: t.numel() > 1
    if big(x): x = x + 1
    return x
def if_closure_result(x):
    limit = x.mean()
    def over(): return limit > 0
    if over(): x = x + 1
    return x
def if_elif_else_only_last(x):
    if x.dim() == 3: x = x + 1
    elif x.dtype == torch.float16: x = x + 2
    elif x.mean() > 0: x = x + 3
    return x
def if_elif_decided_before_ok(x):
    if isinstance(x, torch.Tensor): x = x + 1
    elif x.mean() > 0: x = x + 3
    return x
def if_pass(x):
    if x.mean() > 0: pass
    return x + 1
def if_nested_in_python_if(x):
    if x.dim() == 2:
        if x.mean() > 0: x = x + 1
    return x
def if_after_return_ok(x):
    if _CONFIG is not None: return x + 1
    if x.mean() > 0: x = x * 2
    return x
def if_in_dead_branch_ok(x):
    if not _CONFIG.flag:
        if x.mean() > 0: x = x * 2
    return x + 1
def if_bool_dtype_of_mask_ok(m, x):
    if m.dtype == torch.bool: x = x.masked_fill(m, 0.0)
    return x + 1
def if_mask_param_itself(x, w):
    if w[0]: x = x + 1
    return x
def if_mask_param_itself_ok(x, w):
    if w is not None: x = x + 1
    return x
def if_xor_of_tensors(x):
    if (x.mean() > 0) ^ (x.sum() > 0): x = x + 1
    return x
def if_invert(x):
    if ~(x.mean() > 0): x = x + 1
    return x
def if_invert_ok(x): return torch.where(~(x.mean() > 0), x, x + 1)
def if_logical_function(x):
    if torch.logical_or(x.mean() > 0, x.sum() > 1): x = x + 1
    return x
def if_isclose(x, y):
    if torch.isclose(x, y).all(): x = x + 1
    return x
def if_is_nonzero(x, s):
    if torch.is_nonzero(s): x = x + 1
    return x
def if_size_of_view_ok(x):
    if x.view(-1).size(0) == 16: x = x + 1
    return x
def if_len_of_split_ok(x):
    if len(x.split(2)) == 2: x = x + 1
    return x
def if_stride_ok(x):
    if x.stride(0) == 4 and x.is_contiguous(): x = x + 1
    return x
def if_is_leaf_ok(g):
    if g.requires_grad and torch.is_grad_enabled(): return g * 2
    return g + 1
def if_comparison_of_devices_ok(x, y):
    if x.device == y.device: x = x + y
    return x
def if_math_isnan_of_scalar(x, s):
    if math.isnan(s): x = x + 1
    return x
def if_math_isnan_of_python_ok(x):
    if math.isnan(_CONFIG.eps): x = x + 1
    return x * 2
def if_python_float_times_shape_ok(x):
    if x.shape[0] * 0.5 > 1: x = x + 1
    return x
def if_tensor_or_none_ok(x):
    cached = None
    if cached is None or cached.sum() > 0: x = x + 1
    return x
def if_tensor_after_none(x):
    cached = x
    if cached is not None and cached.sum() > 0: x = x + 1
    return x
def if_tensor_default_dict_get(x):
    d = {"a": x.sum()}
    if d.get("a") > 0: x = x + 1
    return x
def if_tensor_truth_of_tuple_ok(x):
    if (x.sum() > 0,): x = x + 1
    return x
def if_tensor_eq_none_ok(x):
    if x == None: x = x * 2
    return x + 1

# -- conditional expressions ---
def ternary_in_call_argument(x): return F.leaky_relu(x, 0.1 if x.mean() > 0 else 0.2)
def ternary_in_call_argument_ok(x): return F.leaky_relu(x, 0.1 if x.dim() > 1 else 0.2)
def ternary_in_keyword(x): return torch.sum(x, dim=0 if x.mean() > 0 else 1)
def ternary_in_keyword_ok(x): return torch.sum(x, dim=0 if x.size(0) > 3 else 1)
def ternary_in_index(x): return x[0 if x.mean() > 0 else 1]
def ternary_in_index_ok(x): return x[0 if len(x) > 3 else 1]
def ternary_in_return_tuple(x): return x + 1, (x if x.min() > 0 else -x)
def ternary_in_list(x): return torch.stack([x if x.min() > 0 else -x, x])
def ternary_in_dict(x): return {"a": x if x.min() > 0 else -x}
def ternary_in_fstring(x): return x * len(f"{'a' if x.min() > 0 else 'bc'}")
def ternary_in_lambda(x): return (lambda t: t if t.min() > 0 else -t)(x)
def ternary_in_default(x):
    def scaled(t, factor=2 if x.min() > 0 else 3): return t * factor
    return scaled(x)
def ternary_nested(x): return x if x.dim() == 3 else (x + 1 if x.max() > 0 else x - 1)
def ternary_nested_ok(x): return x if x.dim() == 3 else (x + 1 if x.ndim == 2 else x - 1)
def ternary_where_ok(x): return torch.where(x.max() > 0, x + 1, x - 1)

# -- and, or, not ---
def and_value_used(x): return x + (x.mean() > 0 and 1)
def or_default(x, s): return x + (s or 1.0)
def or_default_ok(x):
    scale = None
    return x + (scale or 1.0)
def and_of_two_tensors(x):
    flag = (x.mean() > 0) and (x.max() < 9)
    return torch.where(flag, x, -x)
def and_of_two_tensors_ok(x):
    flag = (x.mean() > 0) & (x.max() < 9)
    return torch.where(flag, x, -x)
def not_in_assignment(x):
    empty = not (x > 0).any()
    return x + 1 if empty else x
def not_in_assignment_ok(x):
    empty = ~(x > 0).any()
    return torch.where(empty, x + 1, x)
def not_python_ok(x):
    empty = not x.shape[0]
    return x + 1 if empty else x
def not_item_equal(x, n): return x if not n == 3 else x + 1
def and_short_circuit_ok(x): return x + 1 if (x is None and x.mean() > 0) else x
def or_short_circuit_ok(x): return x + 1 if (x is not None or x.mean() > 0) else x
def bool_negated_mask_ok(x, m): return x * ~m
def not_tensor_attribute_ok(x): return x + 1 if not x.is_complex() else x

# -- comparisons ---
def chained_compare_in_if(x):
    if 0 < x.mean() < 1: x = x + 1
    return x
def chained_compare_shapes_ok(x):
    if 0 < x.shape[0] < 9: x = x + 1
    return x
def chained_compare_elementwise_ok(x): return x * ((0 < x) & (x < 1))
def chained_compare_mixed(x):
    if 0 < x.shape[0] < x.sum(): x = x + 1
    return x
def in_list_of_numbers(x, n): return x + 1 if n in [1, 3] else x
def in_range(x, n): return x + 1 if n in range(5) else x
def in_tuple_of_tensors(x, s): return x + 1 if 2.5 in (s, s + 1) else x
def in_set_of_numbers(x, n): return x + 1 if n in {1, 3} else x
def in_tensor(x, i): return x + 1 if 2 in i else x
def in_tensor_operand(x, i, n): return x + 1 if n in i else x
def in_shape_ok(x): return x + 1 if 4 in x.shape else x
def in_dict_of_tensors_ok(x): return x + 1 if "a" in {"a": x} else x
def not_in_list(x, n): return x + 1 if n not in [7, 8] else x
def isin_ok(x, i): return x * torch.isin(i, torch.tensor([1, 2]))
def equal_operator_of_lists(x, s): return x + 1 if [s] == [2.5] else x
def equal_operator_of_tuples_ok(x): return x + 1 if (x.shape[0], 4) == (4, 4) else x
def compare_scalar_item(x, s):
    if s.item() >= 2: x = x + 1
    return x
def compare_float_of_tensor(x):
    if float(x.mean()) > 0: x = x + 1
    return x
def compare_bool_call(x):
    if bool((x > 0).any()): x = x + 1
    return x
def compare_bool_call_ok(x):
    if bool(x.shape): x = x + 1
    return x
def compare_dunder_bool(x):
    if (x.mean() > 0).__bool__(): x = x + 1
    return x
def compare_int_of_shape_ok(x):
    if int(x.shape[0]) > 2: x = x + 1
    return x

# -- builtins that test ---
def any_generator_tensor(x): return x + 1 if any(r.sum() > 0 for r in x) else x
def any_generator_shapes_ok(x): return x + 1 if any(r.shape[0] > 3 for r in x) else x
def all_generator_tensor(x): return x + 1 if all(r.sum() > -99 for r in x) else x
def all_generator_types_ok(x, y): return x + 1 if all(t.dtype == torch.float32 for t in (x, y)) else x
def any_list_of_tests(x): return x + 1 if any([x.mean() > 9, x.max() > 9]) else x
def any_method_ok(x): return torch.where((x > 9).any(), x + 1, x)
def all_map(x): return x + 1 if all(map(lambda r: r.sum() > -99, x)) else x
def all_map_ok(x): return x + 1 if all(map(torch.is_tensor, [x, x])) else x
def filter_lambda_tensor(x): return torch.stack([*filter(lambda r: r.sum() > -99, x)])
def filter_lambda_shape_ok(x): return torch.stack([*filter(lambda r: r.shape[0] == 4, x)])
def filter_none_tensors(x): return torch.stack([*filter(None, [s for s in x[:, 0]])])
def takewhile_tensor(x):
    import itertools
    return torch.stack(list(itertools.takewhile(lambda r: r.sum() > -99, x)))
def next_generator_condition(x): return next(r for r in x if r.sum() > -99) + 1
def next_generator_condition_ok(x): return next(r for r in x if r.shape[0] == 4) + 1
def sum_of_comparisons(x): return x + sum(r.mean() > 0 for r in x)
def sum_of_conditions(x): return x + sum(1 for r in x if r.mean() > 0)
def sum_of_shapes_ok(x): return x + sum(1 for r in x if r.numel() > 0)
def max_of_list(x): return max([x.mean(), x.max()]) + x
def max_of_two_tensors(x): return max(x.mean(), x.max()) + x
def max_with_key(x): return max([x[0], x[1]], key=lambda r: r.mean()) + 1
def max_with_key_of_sizes(x): return max([x[0], x[1:]], key=lambda r: r.numel()) + 1
def max_tensor_default(x): return max(x[0], default=0) + x
def min_of_three(x): return min(x.mean(), x.max(), x.min()) + x
def min_shape_ok(x): return x[: min(x.shape[0], 3)] + 1
def max_generator(x): return x + max(r.mean() for r in x)
def max_generator_shapes_ok(x): return x + max(r.shape[0] for r in x)
def sorted_tensor(x, v): return x + sorted(v)[0]
def sorted_by_key(x): return torch.stack(sorted(x, key=lambda r: r.mean()))
def sorted_by_python_ok(x): return torch.stack(sorted([x, x + 1], key=lambda r: r.shape[0]))
def sorted_torch_ok(x, v): return x + torch.sort(v)[0]
def list_sort_items(x):
    scores = [r.mean() for r in x]
    scores.sort(reverse=True)
    return x + scores[0]
def list_index_of_tensor(x, s): return x + [1.0, 2.5].index(s)
def list_count_of_tensor(x, s): return x + [1.0, 2.5].count(s)
def list_remove_of_tensor(x, s):
    rows = [2.5, 1.0]
    rows.remove(s)
    return x + len(rows)
def bisect_tensor(x, s):
    import bisect
    return x + bisect.bisect_left([1.0, 2.0, 3.0], s)
def reduce_with_branch(x): return functools.reduce(lambda a, b: a if a.mean() > b.mean() else b, list(x)) + 1
def reduce_with_where_ok(x): return functools.reduce(lambda a, b: torch.where(a.mean() > b.mean(), a, b), list(x)) + 1

# -- comprehensions ---
def list_comprehension_condition(x): return torch.stack([r for r in x if r.mean() > -99])
def list_comprehension_condition_ok(x): return torch.stack([r for r in x if r.dim() == 1])
def list_comprehension_ternary(x): return torch.stack([r if r.mean() > 0 else -r for r in x])
def list_comprehension_ternary_ok(x): return torch.stack([torch.where(r.mean() > 0, r, -r) for r in x])
def dict_comprehension_condition(x): return {k: r for k, r in enumerate(x) if r.mean() > -99}[0] + 1
def dict_comprehension_condition_ok(x): return {k: r for k, r in enumerate(x) if k > 1}[2] + 1
def set_comprehension_condition(x): return x + len({k for k, r in enumerate(x) if r.mean() > -99})
def generator_condition(x): return torch.stack(tuple(r for r in x if r.mean() > -99))
def comprehension_two_conditions(x): return torch.stack([r for k, r in enumerate(x) if k > 0 if r.mean() > -99])
def comprehension_nested_condition(x): return sum([s for r in x for s in r if s > 0]) + x
def comprehension_walrus(x): return torch.stack([t for r in x if (t := r.mean()) > -99])

# -- while ---
def while_else(x):
    while x.mean() > 99: x = x / 2
    else: x = x + 1
    return x
def while_counter_and_tensor(x):
    n = 0
    while n < 3 and x.mean() < 99:
        x = x + 1
        n += 1
    return x
def while_counter_ok(x):
    n = 0
    while n < 3:
        x = x + 1
        n += 1
    return x
def while_not_done(x):
    done = torch.zeros((), dtype=torch.bool)
    while not done:
        x = x + 1
        done = x.mean() > 2
    return x
def while_walrus(x):
    while (err := (x - 1).abs().max()) > 2: x = x / 2 + err * 0
    return x
def while_shape_ok(x):
    while x.shape[0] > 1: x = x[: x.shape[0] // 2]
    return x
def while_true_return(x):
    while True:
        x = x * 0.5
        if x.abs().max() < 1: return x
def while_true_python_ok(x):
    n = 0
    while True:
        x = x * 0.5
        n += 1
        if n > 3: return x
def while_list_nonempty_ok(x):
    todo = [x, x + 1]
    while todo: x = x + todo.pop()
    return x
def while_item(x):
    while x.abs().max().item() > 1: x = x / 2
    return x

# -- for ---
def for_early_return(x):
    for r in x:
        if r.mean() > 99: return r
    return x + 1
def for_early_return_ok(x):
    for r in x:
        if r.shape[0] > 99: return r
    return x + 1
def for_else_break(x):
    for r in x:
        if r.mean() > 99: break
    else: x = x + 1
    return x
def for_break_python_ok(x):
    for k, r in enumerate(x):
        if k == 2: break
        x = x + r
    return x
def for_convergence(x):
    last = x
    for _ in range(3):
        x = x / 2
        if (x - last).norm() < 1e-6: break
        last = x
    return x
def for_convergence_masked_ok(x):
    done = torch.zeros((), dtype=torch.bool)
    for _ in range(3):
        x = torch.where(done, x, x / 2)
        done = done | (x.norm() < 1e-6)
    return x
def for_range_of_tensor_max(x, i):
    for k in range(i.max()): x = x + k
    return x
def for_range_of_len_ok(x, i):
    for k in range(len(i)): x = x + k
    return x
def for_condition_on_loop_int_ok(x):
    for k in range(3):
        if k % 2 == 0: x = x + k
    return x
def for_over_bool_mask(x, w):
    for flag, r in zip(w, x):
        if flag: x = x + r
    return x
def for_over_bool_mask_ok(x, w):
    for flag, r in zip(w, x): x = x + r * flag
    return x
def for_over_dict_tensor_test(x):
    for name, t in {"a": x, "b": x + 1}.items():
        if t.abs().max() > 99: x = x + len(name)
    return x
def for_continue_condition(x):
    total = x.new_zeros(4)
    for r in x:
        if r.sum() == 0: continue
        total = total + r
    return total
def for_inner_function_test(x):
    def step(t):
        if t.norm() > 1: t = t / 2
        return t
    for _ in range(2): x = step(x)
    return x
def for_inner_function_test_ok(x):
    def step(t):
        if t.shape[0] > 1: t = t / 2
        return t
    for _ in range(2): x = step(x)
    return x

# -- match ---
def match_scalar_value(x, n):
    match n:
        case 3: x = x + 1
        case _: x = x - 1
    return x
def match_guard(x):
    match x.dim():
        case 2 if x.mean() > 0: x = x + 1
        case _: x = x - 1
    return x
def match_guard_ok(x):
    match x.dim():
        case 2 if x.shape[0] > 1: x = x + 1
        case _: x = x - 1
    return x
def match_item(x, n):
    match n.item():
        case 3: x = x + 1
        case _: x = x - 1
    return x
def match_shape_ok(x):
    match tuple(x.shape):
        case (a, b): x = x + a * b
        case (a,): x = x + a
    return x
def match_mapping_value(x, s):
    match {"kind": s}:
        case {"kind": 2.5}: x = x + 1
        case _: x = x - 1
    return x
def match_mapping_ok(x):
    match {"kind": "a", "value": x}:
        case {"kind": "a", "value": t}: x = t + 1
        case _: x = x - 1
    return x
def match_string_ok(x):
    mode = "sum"
    match mode:
        case "sum" | "total": return x.sum()
        case _: return x

# -- assert and raise by data ---
def assert_isfinite_fstring(x):
    assert torch.isfinite(x).all(), f"not finite: {x.shape}"
    return x + 1
def assert_isfinite_ok(x):
    assert torch.isfinite(x).all(), "not finite"
    return x + 1
def assert_bool_call(x):
    assert bool(torch.isfinite(x).all()), "not finite"
    return x + 1
def assert_tensor_and_tensor(x):
    assert (x < 99).all() and (x > -99).all()
    return x + 1
def assert_or_tensor(x):
    assert (x < 99).all() or (x > -99).all()
    return x + 1
def assert_chained(x):
    assert -99 < x.mean() < 99
    return x + 1
def assert_in_loop_ok(x):
    for r in x: assert r.sum() < 99
    return x + 1
def assert_in_loop_message(x):
    for k, r in enumerate(x): assert r.sum() < 99, f"row {k}"
    return x + 1
def assert_equal_scalar_param(x, n):
    assert n == 3
    return x + 1
def assert_shape_message_ok(x):
    assert x.dim() == 2, f"expected two dimensions, not {x.dim()}"
    return x + 1
def raise_if_negative(x):
    if (x < -99).any(): raise ValueError(f"negative: {x.min()}")
    return x.abs().sqrt()
def raise_if_shape_ok(x):
    if x.shape[-1] != 4: raise ValueError(f"shape: {x.shape}")
    return x.abs().sqrt()
def raise_unless_item(x):
    if x.min().item() < -99: raise RuntimeError("bad")
    return x + 1
def raise_in_helper(x):
    def check(t):
        if not torch.isfinite(t).all(): raise FloatingPointError("overflow")
    check(x)
    return x + 1
def raise_in_helper_ok(x):
    def check(t):
        if not t.is_floating_point(): raise TypeError("float wanted")
    check(x)
    return x + 1
def torch_check_tensor(x):
    torch._check((x.mean() < 99).item())
    return x + 1
def torch_check_shape_ok(x):
    torch._check(x.shape[0] == 4, lambda: "bad")
    return x + 1
def assert_async_ok(x):
    torch._assert_async((x < 99).all())
    return x + 1
def torch_assert_tensor(x):
    torch._assert((x < 99).all(), "bad")
    return x + 1
def try_around_branch(x):
    try:
        if x.mean() > 99: raise ValueError("large")
    except ValueError:
        x = x / 2
    return x + 1
def try_around_shape_ok(x):
    try:
        if x.shape[0] > 99: raise ValueError("large")
    except ValueError:
        x = x / 2
    return x + 1
def with_around_branch(x):
    with torch.no_grad():
        if x.mean() > 0: x = x / 2
    return x + 1
def with_around_shape_ok(x):
    with torch.no_grad():
        if x.shape[0] > 0: x = x / 2
    return x + 1
def cond_instead_ok(x): return torch.cond(x.mean() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))

# -- in modules ---
class module_branch_on_parameter(_Gate):
    def forward(self, x):
        if self.threshold > 0.1: x = x + 1
        return self.lin(x)
class module_branch_on_number_ok(_Gate):
    def forward(self, x):
        if self.limit > 0.1: x = x + 1
        return self.lin(x)
class module_branch_on_buffer(_Gate):
    def forward(self, x):
        if self.count == 0: x = x + 1
        return self.lin(x)
class module_branch_on_training_ok(_Gate):
    def forward(self, x):
        if self.training and self.steps > 2: x = x + 1
        return self.lin(x)
class module_branch_on_weight(_Gate):
    def forward(self, x):
        if self.lin.weight.abs().max() > 99: x = x / 2
        return self.lin(x)
class module_branch_on_weight_shape_ok(_Gate):
    def forward(self, x):
        if self.lin.weight.shape[0] > 99: x = x / 2
        return self.lin(x)
class module_branch_in_method(_Gate):
    def clip(self, t): return t / t.norm() if t.norm() > 1 else t
    def forward(self, x): return self.lin(self.clip(x))
class module_branch_in_method_ok(_Gate):
    def clip(self, t): return t / t.norm().clamp(min=1)
    def forward(self, x): return self.lin(self.clip(x))
class module_branch_on_output(_Gate):
    def forward(self, x):
        y = self.lin(x)
        if torch.isnan(y).any(): y = torch.zeros_like(y)
        return y
class module_branch_on_output_shape_ok(_Gate):
    def forward(self, x):
        y = self.lin(x)
        if y.shape != x.shape: y = torch.zeros_like(y)
        return y
class module_assert_label_range(_Gate):
    def forward(self, x, i):
        assert i.max() < 4, f"labels up to {i.max()}"
        return self.lin(x)[i]
class module_early_exit(_Gate):
    def forward(self, x):
        for _ in range(self.steps):
            x = self.lin(x)
            if x.softmax(-1).max() > 0.99: break
        return x
class module_fixed_steps_ok(_Gate):
    def forward(self, x):
        for _ in range(self.steps): x = self.lin(x)
        return x
