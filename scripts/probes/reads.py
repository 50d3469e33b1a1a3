"""Numbers, strings and lists read from tensors, in every form; `_ok` marks a near twin."""

from __future__ import annotations

import math
import operator
import statistics

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# fmt: off


class _Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.temperature = nn.Parameter(torch.tensor(0.5))
        self.register_buffer("steps", torch.tensor(2))
        self.rate = 0.5
        self.history = []


def _mean_of(t): return t.mean().item()
def _rows_of(t): return t.shape[0]


# -- .item() ---
def item_in_call(x): return torch.clamp(x, max=x.mean().item())
def item_in_call_ok(x): return torch.clamp(x, max=x.mean())
def item_of_index(x): return x * x[0, 0].item()
def item_of_index_ok(x): return x * x[0, 0]
def item_of_argmax(x): return x[x.argmax().item() // 4]
def index_by_argmax(x): return x[x.argmax() // 4]
def item_chain_cpu(x): return x * x.mean().detach().cpu().item()
def item_chain_cpu_ok(x): return x * x.mean().detach().cpu()
def item_with_argument(x): return x * x.item(3) if False else x * x.flatten()[3].item()
def item_in_helper(x): return x * _mean_of(x)
def item_in_helper_ok(x): return x * _rows_of(x)
def item_in_lambda(x): return (lambda t: t.sum().item())(x) * x
def item_in_map(x): return x * sum(map(lambda r: r.sum().item(), x))
def item_in_map_ok(x): return x * sum(map(lambda r: r.sum(), x))
def item_method_reference(x):
    read = x.mean().item
    return x * read()
def item_in_keyword(x): return F.dropout(x, p=x.abs().mean().clamp(max=0.5).item())
def item_as_exponent(x, n): return x ** n.item()
def item_as_exponent_ok(x, n): return x ** n
def item_augmented(x, s):
    total = 1.0
    total += s.item()
    return x * total
def item_augmented_ok(x, s):
    total = 1.0
    total = total + s
    return x * total
def item_compared(x, s): return x * (s.item() == 2.5)
def item_compared_ok(x, s): return x * (s == 2.5)
def item_in_tuple_unpack(x):
    a, b = x[0, 0].item(), x[0, 1].item()
    return x * a + b
def item_in_while(x, n):
    k = n.item()
    while k > 0:
        x = x + 1
        k -= 1
    return x
def item_in_subscript_store(x, n):
    y = x.clone()
    y[n.item()] = 0.0
    return y
def item_in_subscript_store_ok(x, n):
    y = x.clone()
    y[n] = 0.0
    return y
def item_discarded(x):
    x.mean().item()
    return x + 1
def item_in_log_dict(x):
    loss = x.mean()
    return loss, {"loss": loss.item()}
def item_in_log_dict_ok(x):
    loss = x.mean()
    return loss, {"loss": loss.detach()}
def item_of_constant_tensor(x): return x * torch.tensor(2.0).item()
def item_of_numel_ok(x): return x * x.numel()
def item_in_try(x):
    try: factor = x.mean().item()
    except ValueError: factor = 1.0
    return x * factor
def item_in_with(x):
    with torch.no_grad(): factor = x.mean().item()
    return x * factor
def item_in_loop(x):
    total = 0.0
    for r in x: total += r.mean().item()
    return x * total
def item_in_loop_ok(x):
    total = 0.0
    for r in x: total = total + r.mean()
    return x * total
def item_in_comprehension(x): return x * max([r.mean().item() for r in x])
def item_in_dead_code_ok(x): return x * (x.mean().item() if x is None else 2.0)
def item_under_is_compiling_ok(x):
    if not torch.compiler.is_compiling(): print(x.mean().item())
    return x + 1
def item_appended(x):
    values = []
    values.append(x.mean().item())
    return x * values[0]

# -- conversions ---
def float_of_mean(x): return x * float(x.mean())
def float_of_string_ok(x): return x * float("2.5")
def float_of_index(x): return x * float(x[0][0])
def float_method_ok(x): return x * x.mean().float()
def int_of_argmax(x): return x[int(x.argmax(-1)[0])]
def index_by_argmax_of_row(x): return x[x.argmax(-1)[0]]
def int_of_sum(x, i): return x + int(i.sum())
def int_of_size_ok(x): return x + int(x.size(0) / 2)
def int_method_ok(x): return x + x.mean().int()
def bool_of_any(x): return x * bool((x > 0).any())
def bool_of_python_ok(x): return x * bool(x.dim())
def bool_method_ok(x): return x * (x > 0).any().bool()
def complex_of_tensor(x, s): return x * complex(s).real
def complex_torch_ok(x): return torch.complex(x, x).real
def str_of_scalar(x, s): return x * len(str(s))
def str_of_shape_ok(x): return x * len(str(x.shape[0]))
def str_of_item(x, s): return x * len(str(s.item()))
def repr_of_tensor(x): return x * len(repr(x))
def hash_of_tensor_ok(x): return x + (hash(x) == hash(x))
def id_of_tensor(x): return x + (id(x) == id(x))
def round_digits(x, s): return x * round(s.item(), 2)
def round_torch_ok(x, s): return x * torch.round(s)
def round_python_ok(x): return x * round(x.shape[0] / 3)
def abs_builtin_ok(x): return abs(x) + 1
def abs_of_item(x, s): return x * abs(s.item())
def divmod_shape_ok(x):
    q, r = divmod(x.shape[0], 3)
    return x * q + r
def divmod_item(x, n):
    q, r = divmod(n.item(), 2)
    return x * q + r
def pow_builtin(x): return pow(x, 2) + 1
def pow_base_number(x, s): return x * pow(2.0, s)
def pow_item(x, s): return x * pow(2.0, s.item())
def pow_three_arguments_ok(x): return x * pow(x.shape[0], 2, 7)
def sum_start_ok(x): return sum([x, x], torch.zeros(4, 4))
def operator_index(x, n): return x[operator.index(n)] + 1
def operator_mul_ok(x, s): return operator.mul(x, s)
def operator_gt_branch(x, s):
    if operator.gt(s, 1): x = x + 1
    return x
def dunder_float(x, s): return x * s.__float__()
def dunder_int(x, n): return x * n.__int__()
def dunder_index(x, n): return x * n.__index__()
def dunder_len_ok(x): return x * x.__len__()
def chr_of_item(x, n): return x * len(chr(n.item()))
def hex_of_tensor(x, n): return x * len(hex(n))

# -- math and friends ---
def math_exp_tensor(x, s): return x * math.exp(s)
def math_exp_ok(x, s): return x * torch.exp(s)
def math_log_of_sum(x): return x * math.log(x.abs().sum())
def math_log_of_shape_ok(x): return x * math.log(x.shape[0])
def math_floor_tensor(x, s): return x * math.floor(s)
def math_ceil_item(x, s): return x * math.ceil(s.item())
def math_ceil_shape_ok(x): return x * math.ceil(x.shape[0] / 3)
def math_isfinite_tensor(x, s): return x * math.isfinite(s)
def math_pow_tensor(x, s): return x * math.pow(2.0, s)
def math_prod_shape_ok(x): return x.reshape(math.prod(x.shape))
def math_prod_tensor(x, k): return x * math.prod(k)
def math_isclose_items(x, s): return x * math.isclose(s.item(), 2.5)
def math_atan2_tensor(x, s): return x * math.atan2(s, 1.0)
def math_gcd_shapes_ok(x): return x * math.gcd(x.shape[0], 6)
def statistics_mean_items(x): return x * statistics.mean([x[0, 0].item(), x[0, 1].item()])
def numpy_scalar_function(x, s): return x * np.sqrt(s.item())
def numpy_function_of_tensor_ok(x): return torch.from_numpy(np.sqrt(np.abs(x.numpy()))) + 1

# -- as sizes, dims and other arguments ---
def alpha_from_tensor(x, s): return torch.add(x, x, alpha=s)
def alpha_number_ok(x): return torch.add(x, x, alpha=2.5)
def value_from_tensor(x, y, s): return torch.addcmul(x, x, y, value=s)
def dim_from_tensor(x, n): return x.sum(dim=n - 2)
def dim_from_item(x, n): return x.sum(dim=n.item() - 2)
def dim_from_shape_ok(x): return x.sum(dim=x.dim() - 1)
def size_from_tensor(x, n): return torch.zeros(n) + x[0, 0]
def size_from_int(x, n): return torch.zeros(int(n), 4) + x[0]
def size_from_shape_ok(x): return torch.zeros(x.shape[0] + 1, 4) + x[0]
def size_tuple_from_item(x, n): return torch.ones((n.item(), 4)) + x[0]
def size_keyword(x, n): return torch.empty(size=(n.item(), 4)).fill_(0) + x[0]
def ones_from_max(x, i): return torch.ones(i.max() + 1) + x[0, 0]
def full_value_from_tensor_ok(x, s): return torch.full((4,), s) + x
def full_value_from_item(x, s): return torch.full((4,), s.item()) + x
def new_full_from_tensor(x, s): return x.new_full((4,), s) + x
def new_full_number_ok(x): return x.new_full((4,), 2.5) + x
def new_zeros_from_tensor(x, n): return x.new_zeros(n) + x[0, 0]
def new_zeros_from_shape_ok(x): return x.new_zeros(x.shape[0]) + x[0, 0]
def full_like_tensor(x, s): return torch.full_like(x, s)
def arange_from_tensor(x, n): return torch.arange(n) + x[0, 0]
def arange_from_item(x, n): return torch.arange(n.item()) + x[0, 0]
def arange_from_len_ok(x, i): return torch.arange(len(i)) + x
def arange_bounds_from_tensor(x, n): return torch.arange(0, n, 1) + x[0, 0]
def linspace_end_from_tensor_ok(x, s): return torch.linspace(0, s, 4) + x
def linspace_steps_from_tensor(x, n): return torch.linspace(0, 1, n) + x[0, 0]
def linspace_steps_from_shape_ok(x): return torch.linspace(0, 1, x.shape[0]) + x
def eye_from_item(x, n): return torch.eye(n.item()) + x[0, 0]
def repeat_from_tensor(x, n): return x.repeat(n, 1)
def repeat_from_item(x, n): return x.repeat(n.item(), 1)
def repeat_from_shape_ok(x): return x.repeat(x.shape[0], 1)
def expand_from_item(x, n): return x[None].expand(n.item(), 4, 4) + 1
def expand_from_shape_ok(x): return x[None].expand(x.shape[0], 4, 4) + 1
def view_from_item(x, n): return x.view(n.item() + 1, -1) + 1
def view_from_shape_ok(x): return x.view(x.shape[0], -1) + 1
def topk_from_item(x, n): return x.topk(n.item())[0]
def topk_from_shape_ok(x): return x.topk(x.shape[-1] - 1)[0]
def topk_from_tensor(x, n): return x.topk(n)[0]
def roll_from_item(x, n): return torch.roll(x, n.item(), 0)
def roll_from_tensor(x, n): return torch.roll(x, n, 0)
def roll_number_ok(x): return torch.roll(x, 3, 0)
def narrow_from_item(x, n): return x.narrow(0, 0, n.item())
def narrow_from_tensor(x, n): return x.narrow(0, n - 3, 2)
def narrow_number_ok(x): return x.narrow(0, 0, 2)
def select_from_item(x, n): return x.select(0, n.item())
def select_from_tensor(x, n): return x.select(0, n)
def select_index_select_ok(x, n): return x.index_select(0, n[None])
def chunk_from_item(x, n): return x.chunk(n.item())[0] + 1
def split_from_item(x, n): return x.split(n.item())[0] + 1
def split_from_list_of_items(x, k): return x.split([t.item() for t in k])[1] + 1
def split_number_ok(x): return x.split([1, 2, 1])[1] + 1
def tensor_split_from_tensor(x, k): return torch.tensor_split(x, k)[0].sum() + x
def tensor_split_number_ok(x): return torch.tensor_split(x, 2)[0] + 1
def pad_from_item(x, n): return F.pad(x, (0, n.item()))
def pad_from_tensor(x, n): return F.pad(x, (0, n))
def pad_from_shape_ok(x): return F.pad(x, (0, 8 - x.shape[-1]))
def interpolate_size_from_item(x, n): return F.interpolate(x[None], size=n.item())
def interpolate_scale_ok(x): return F.interpolate(x[None], scale_factor=2.0)
def kernel_from_item(x, n): return F.avg_pool1d(x[None], n.item())
def kernel_number_ok(x): return F.avg_pool1d(x[None], 2)
def clamp_from_tensor_ok(x, s): return x.clamp(max=s)
def dropout_p_from_tensor(x, s): return F.dropout(x, s / 10)
def leaky_slope_from_tensor(x, s): return F.leaky_relu(x, s)
def eps_from_tensor(x, s): return F.layer_norm(x, (4,), eps=s)
def threshold_from_tensor(x, s): return F.threshold(x, s, 0.0)
def masked_fill_value_tensor_ok(x, m, s): return x.masked_fill(m, s)
def lerp_weight_tensor_ok(x, y, s): return torch.lerp(x, y, s / 10)
def quantile_item(x): return x.quantile(x.abs().mean().clamp(max=1).item())
def quantile_number_ok(x): return x.quantile(0.5)
def norm_order_from_item(x, n): return x.norm(n.item())
def num_classes_from_max(i): return F.one_hot(i, int(i.max()) + 1)
def num_classes_number_ok(i): return F.one_hot(i, 3)
def device_index_ok(x): return torch.zeros(4, device=x.device) + x
def dtype_from_tensor_ok(x): return torch.zeros(4, dtype=x.dtype) + x
def fill_from_item(x, s): return x.clone().fill_(s.item())
def fill_from_tensor_ok(x, s): return x.clone().fill_(s)
def fill_diagonal_from_tensor(x, s): return x.clone().fill_diagonal_(s)
def random_from_item(x, n): return torch.randint(0, n.item(), (4,)) + x
def randint_high_tensor(x, n): return torch.randint(0, n, (4,)) + x
def scatter_value_number_ok(x, i): return x.scatter(0, i[None], 2.5)

# -- lists, slices, keys ---
def list_index_tensor(x, n): return [x, x + 1, x + 2, x + 3][n]
def list_index_int(x, n): return [x, x + 1, x + 2, x + 3][int(n)]
def list_index_number_ok(x): return [x, x + 1, x + 2, x + 3][x.dim()]
def tuple_index_tensor(x, n): return (x, x + 1, x + 2, x + 3)[n]
def list_slice_tensor(x, n): return torch.stack([x, x + 1, x + 2, x + 3][:n])
def list_slice_item(x, n): return torch.stack([x, x + 1, x + 2, x + 3][: n.item()])
def list_slice_number_ok(x): return torch.stack([x, x + 1, x + 2, x + 3][: x.dim()])
def list_times_tensor(x, n): return torch.stack([x] * n)
def list_times_item(x, n): return torch.stack([x] * n.item())
def list_times_shape_ok(x): return torch.stack([x] * x.shape[0])
def string_times_item(x, n): return x + len("a" * n.item())
def string_index_item(x, n): return x + len("abcdef"[n.item()])
def range_item(x, n): return x + len(range(n.item()))
def range_shape_ok(x): return x + len(range(x.shape[0]))
def range_start_tensor(x, n):
    for k in range(n, 5): x = x + k
    return x
def enumerate_start_item(x, n):
    for k, r in enumerate(x, n.item()): x = x + k * r
    return x
def slice_start_tensor(x, n): return x[n:] + 1
def slice_stop_max(x, i): return x[:, : i.max()].sum() + x
def slice_number_ok(x): return x[: x.shape[0] // 2] + 1
def slice_step_item(x, n): return x[:: n.item()] + 1
def slice_last_item(x, n): return x[-n.item():] + 1
def slice_both_tensors(x, i): return x[i[0]:i[1]].sum() + x
def slice_object_item(x, n): return x[slice(0, n.item())] + 1
def index_zero_dim_ok(x, n): return x[n, 0] + x
def index_pair_ok(x, i): return x[i, i] + 1
def dict_key_item(x, n): return {3: x, 2: x + 1}[n.item()] + 1
def dict_key_int(x, n): return {3: x, 2: x + 1}.get(int(n), x) + 1
def dict_key_tensor(x, n): return {n: x}[n] + 1
def dict_key_string_ok(x): return {"a": x}["a"] + 1
def dict_store_item_key(x, n):
    d = {}
    d[n.item()] = x
    return x + len(d)
def dict_value_tensor_ok(x, n):
    d = {}
    d["n"] = n
    return x + d["n"]
def set_of_items(x, i): return x + len({t.item() for t in i})
def set_of_list(x, i): return x + len(set(i.tolist()))
def counter_of_items(x, i):
    from collections import Counter
    return x + len(Counter(i.tolist()))
def module_list_index_int(x, n):
    layers = [torch.sin, torch.cos, torch.tan, torch.relu]
    return layers[int(n)](x)

# -- tolist and iteration ---
def tolist_loop(x, i):
    for k in i.tolist(): x = x + k
    return x
def tensor_loop_ok(x, i):
    for k in i: x = x + k
    return x
def tolist_in_zip(x, k):
    for n, r in zip(k.tolist(), x): x = x + n * r
    return x
def tolist_sum(x, k): return x + sum(k.tolist())
def tensor_sum_ok(x, k): return x + sum(k)
def tolist_index(x, i): return x[i.tolist()] + 1
def tolist_sorted(x, v): return x + sorted(v.tolist())[0]
def tolist_of_shape_ok(x): return x + sum(list(x.shape))
def tolist_of_float(x): return x + x[0].tolist()[0]
def tolist_of_scalar(x, s): return x * s.tolist()
def tolist_nested(x): return x + len(x.tolist()[0])
def tolist_cpu(x, i): return x + max(i.cpu().tolist())
def tolist_numpy(x, i): return x + max(i.numpy().tolist())
def list_of_tensor_ok(x): return torch.stack(list(x)) + 1
def unbind_ok(x): return torch.stack(x.unbind(0)) + 1
def unpack_first_ok(x):
    first, *rest = x
    return first + len(rest)
def next_iter_ok(x): return next(iter(x)) + 1
def next_iter_item(x): return x * next(iter(x[0])).item()
def zip_star_tensor_ok(x, y): return torch.stack([a + b for a, b in zip(x, y)])
def star_call_tensor_ok(x): return torch.stack([*x]) + 1
def star_call_tolist(x, k): return x.new_zeros(*k.tolist()).sum() + x
def torch_tensor_of_items(x): return x + torch.tensor([r.mean().item() for r in x])
def torch_stack_of_means_ok(x): return x + torch.stack([r.mean() for r in x])
def torch_tensor_of_tensor(x, s): return x + torch.tensor(s)
def as_tensor_of_tensor_ok(x, s): return x + torch.as_tensor(s)

# -- strings ---
def fstring_item_format(x, s): return x * len(f"{s.item():.3f}")
def fstring_scalar_format(x, s): return x * len(f"{s:.3f}")
def fstring_scalar_plain(x, s): return x * len(f"{s}")
def fstring_float_call(x, s): return x * len(f"{float(s):.3f}")
def fstring_shape_format_ok(x): return x * len(f"{x.shape[0]:>4d}")
def fstring_repr(x, s): return x * len(f"{s!r}")
def fstring_name_ok(x): return x * len(f"{x.dtype} {x.device} {tuple(x.shape)}")
def format_method_scalar(x, s): return x * len("{:.2f}".format(s))
def format_method_item(x, s): return x * len("{:.2f}".format(s.item()))
def format_method_shape_ok(x): return x * len("{} {}".format(x.shape[0], "a"))
def format_method_keyword(x, s): return x * len("{loss}".format(loss=s))
def percent_item(x, s): return x * len("%.2f" % s.item())
def percent_scalar(x, s): return x * len("%.2f" % s)
def percent_tuple_ok(x): return x * len("%d %d" % (x.shape[0], x.shape[1]))
def format_builtin_item(x, s): return x * len(format(s.item(), ".2f"))
def join_items(x, i): return x * len(",".join(str(t.item()) for t in i))
def join_shapes_ok(x): return x * len(",".join(str(d) for d in x.shape))
def string_concat_item(x, s): return x * len("loss " + str(s.item()))

# -- numpy and host copies ---
def numpy_of_tensor_item(x): return x * x.numpy().mean().item()
def numpy_index_element(x): return x * x.numpy()[0, 0]
def numpy_asarray(x): return torch.as_tensor(np.asarray(x)) + 1
def numpy_array_of_tensor(x): return torch.from_numpy(np.array(x)) + 1
def numpy_dunder_array(x): return torch.from_numpy(x.__array__()) + 1
def numpy_round_trip_ok(x): return torch.from_numpy(x.detach().numpy() * 2) + 1
def numpy_argmax_int(x): return x[int(np.argmax(x.numpy()[0]))]
def numpy_branch_mean(x):
    if x.numpy().mean() > 0: x = x + 1
    return x
def numpy_shape_branch_ok(x):
    if x.numpy().shape[0] > 0: x = x + 1
    return x
def numpy_for_rows(x):
    for r in x.numpy(): x = x + r.sum()
    return x
def numpy_nonzero(x): return x + np.nonzero(x.numpy())[0].shape[0]
def numpy_where_three_ok(x): return torch.from_numpy(np.where(x.numpy() > 0, 1.0, 0.0)) + x
def numpy_unique(i, x): return x + np.unique(i.numpy()).size
def numpy_astype_ok(x): return torch.from_numpy(x.numpy().astype(np.float64)) + 1
def numpy_tolist(x): return x + x.numpy().tolist()[0][0]
def numpy_float_of_array(x): return x * float(np.mean(x.numpy()))
def numpy_percentile(x): return x + np.percentile(x.numpy(), 50)
def numpy_save_bytes(x): return x + len(x.numpy().tobytes())
def numpy_vectorized_function(x): return x + torch.from_numpy(np.vectorize(lambda a: a * 2)(x.numpy()))
def numpy_polyfit(x): return x + np.polyfit(np.arange(4), np.arange(4), 1)[0]
def numpy_linalg_norm(x): return x + np.linalg.norm(x.numpy())
def numpy_interp(x): return x + np.interp(0.5, [0.0, 1.0], [0.0, 2.0])
def numpy_string_ops(x): return x + np.char.upper(np.array(["a"])).size
def numpy_cpu_detach_ok(x): return torch.tensor(x.detach().cpu().numpy()) + 1

# -- in modules ---
class module_item_of_parameter(_Scaled):
    def forward(self, x): return self.lin(x) / self.temperature.item()
class module_parameter_ok(_Scaled):
    def forward(self, x): return self.lin(x) / self.temperature
class module_int_of_buffer(_Scaled):
    def forward(self, x):
        for _ in range(int(self.steps)): x = self.lin(x)
        return x
class module_float_of_number_ok(_Scaled):
    def forward(self, x): return self.lin(x) * float(self.rate)
class module_item_stored(_Scaled):
    def forward(self, x):
        y = self.lin(x)
        self.last = y.mean().item()
        return y + 1
class module_tensor_stored_ok(_Scaled):
    def forward(self, x):
        y = self.lin(x)
        self.last = y.detach()
        return y + 1
class module_item_appended(_Scaled):
    def forward(self, x):
        y = self.lin(x)
        self.history.append(y.mean().item())
        return y + 1
class module_tensor_appended_ok(_Scaled):
    def forward(self, x):
        y = self.lin(x)
        self.history.append(y.mean().detach())
        return y + 1
class module_lengths_to_list(_Scaled):
    def forward(self, x, k): return torch.cat([self.lin(t) for t in x.split(k.tolist())])
class module_split_fixed_ok(_Scaled):
    def forward(self, x): return torch.cat([self.lin(t) for t in x.split(2)])
class module_temperature_branchless_ok(_Scaled):
    def forward(self, x): return self.lin(x) / self.temperature.clamp(min=1e-3)
class module_max_length(_Scaled):
    def forward(self, x, k): return self.lin(x)[:, : int(k.max())]
class module_embedding_lookup_ok(_Scaled):
    def forward(self, x, i): return self.lin(x)[i]
