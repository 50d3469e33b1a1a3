"""Autograd inside a graph, hooks, storage, copies, functional transforms; `_ok` marks a near twin."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn

# fmt: off


@dataclasses.dataclass
class _State:
    value: torch.Tensor
    count: int = 0


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("mean", torch.zeros(4))
        self.handles = []
        self.outputs = []
        self.state = {"a": torch.zeros(4)}


class _Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t
    @staticmethod
    def backward(ctx, grad):
        (t,) = ctx.saved_tensors
        return grad * 2 * t


class _SquareItem(_Square):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t.mean().item()


class _SquareBranch(_Square):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        if t.mean() > 0: t = t + 1
        return t * t


class _SquareNumpy(_Square):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return torch.from_numpy(np.square(t.detach().numpy()))


class _SquarePrint(_Square):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        print("forward")
        return t * t


class _SquareBackwardPrint(_Square):
    @staticmethod
    def backward(ctx, grad):
        print("backward")
        return grad


class _SquareBackwardItem(_Square):
    @staticmethod
    def backward(ctx, grad): return grad * grad.mean().item()


class _SquareBackwardBranch(_Square):
    @staticmethod
    def backward(ctx, grad):
        if grad.abs().max() > 9: grad = grad / 2
        return grad


class _Attribute(_Square):
    @staticmethod
    def forward(ctx, t, factor):
        ctx.factor = factor
        return t * factor
    @staticmethod
    def backward(ctx, grad): return grad * ctx.factor, None


class _NonDifferentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        out = t.sign()
        ctx.mark_non_differentiable(out)
        return out
    @staticmethod
    def backward(ctx, grad): return None


class _Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        t.mul_(2)
        ctx.mark_dirty(t)
        return t
    @staticmethod
    def backward(ctx, grad): return grad * 2


_LINEAR = nn.Linear(4, 4)
_BUFFERS = dict(_LINEAR.named_parameters())
_OPTIMIZER = torch.optim.SGD(_LINEAR.parameters(), lr=0.1)


# -- backward and grad ---
def backward_of_loss(g):
    loss = (g * g).sum()
    loss.backward()
    return g * 2
def backward_function(g):
    loss = (g * g).sum()
    torch.autograd.backward(loss)
    return g * 2
def backward_retain(g):
    loss = (g * g).sum()
    loss.backward(retain_graph=True)
    return g * 2
def backward_of_parameters(x):
    loss = _LINEAR(x).sum()
    loss.backward()
    return x * 2
def grad_function(g): return torch.autograd.grad((g * g).sum(), g)[0]
def grad_create_graph(g):
    first, = torch.autograd.grad((g ** 3).sum(), g, create_graph=True)
    return first.norm() + g
def grad_of_detached(x):
    t = x.detach().requires_grad_()
    return torch.autograd.grad((t * t).sum(), t)[0]
def grad_of_interpolation(x, y):
    mixed = (x * 0.5 + y * 0.5).requires_grad_(True)
    gradient, = torch.autograd.grad(_LINEAR(mixed).sum(), mixed, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()
def grad_by_func_ok(x): return torch.func.grad(lambda t: (t * t).sum())(x)
def grad_and_value_ok(x): return torch.func.grad_and_value(lambda t: (t * t).sum())(x)
def grad_attribute_read_ok(x): return x * 2 if x.grad is None else x
def grad_attribute_of_parameter(x):
    if _LINEAR.weight.grad is not None: x = x + _LINEAR.weight.grad.sum()
    return x * 2
def grad_attribute_clear(x):
    _LINEAR.weight.grad = None
    return x * 2
def grad_fn_name(g):
    y = g * 2
    return y + len(y.grad_fn.name())
def grad_fn_none_ok(x):
    y = x * 2
    return y + 1 if y.grad_fn is None else y
def optimizer_step(x):
    _OPTIMIZER.step()
    return x * 2
def optimizer_zero_grad(x):
    _OPTIMIZER.zero_grad()
    return x * 2
def clip_grad(x):
    nn.utils.clip_grad_norm_(_LINEAR.parameters(), 1.0)
    return x * 2

# -- requires_grad and detach ---
def requires_grad_set_input(x):
    x.requires_grad = True
    return x * 2
def requires_grad_set_result(x):
    y = x * 2
    y.requires_grad = True
    return y + 1
def requires_grad_call_input(x):
    x.requires_grad_()
    return x * 2
def requires_grad_call_detached(x): return x.detach().requires_grad_() * 2
def requires_grad_call_clone(x):
    y = x.clone().requires_grad_(True)
    return y * 2
def requires_grad_call_false(x): return x.clone().requires_grad_(False) * 2
def requires_grad_keyword(x): return x * torch.ones(4, requires_grad=True)
def requires_grad_keyword_false_ok(x): return x * torch.ones(4, requires_grad=False)
def requires_grad_read_ok(g): return g * 2 if g.requires_grad else g
def requires_grad_tensor_keyword(x): return x * torch.tensor([1.0], requires_grad=True)
def detach_ok(g): return g.detach() * 2
def detach_in_place(g):
    y = g * 2
    y.detach_()
    return y + 1
def data_attribute_ok(x): return x.data * 2
def data_attribute_set(x):
    y = x.clone()
    y.data = x * 3
    return y * 2
def data_attribute_copy_ok(x):
    y = x.clone()
    y.data.copy_(x * 3)
    return y * 2
def parameter_data_mul_ok(x):
    _LINEAR.weight.data.mul_(1.0)
    return _LINEAR(x)
def parameter_no_grad_mul_ok(x):
    with torch.no_grad(): _LINEAR.weight.mul_(1.0)
    return _LINEAR(x)
def parameter_data_set(x):
    _LINEAR.weight.data = _LINEAR.weight.data * 1.0
    return _LINEAR(x)
def parameter_requires_grad_set(x):
    _LINEAR.weight.requires_grad = False
    return _LINEAR(x)

# -- hooks ---
def hook_tensor_result_ok(g):
    y = g * 2
    y.register_hook(lambda grad: grad * 2)
    return y + 1
def hook_tensor_input_ok(g):
    g.register_hook(lambda grad: grad * 2)
    return g * 2
def hook_tensor_prints(g):
    y = g * 2
    y.register_hook(lambda grad: print(grad.shape))
    return y + 1
def hook_tensor_removed(g):
    y = g * 2
    handle = y.register_hook(lambda grad: grad * 2)
    handle.remove()
    return y + 1
def hook_post_accumulate(g):
    g.register_post_accumulate_grad_hook(lambda t: None)
    return g * 2
def hook_retain_grad(g):
    y = g * 2
    y.retain_grad()
    return y + 1
def hook_module_forward(x):
    handle = _LINEAR.register_forward_hook(lambda module, args, output: output * 2)
    y = _LINEAR(x)
    handle.remove()
    return y
def hook_module_pre(x):
    handle = _LINEAR.register_forward_pre_hook(lambda module, args: None)
    y = _LINEAR(x)
    handle.remove()
    return y
def hook_grad_fn(g):
    y = g * 2
    y.grad_fn.register_hook(lambda *grads: None)
    return y + 1
class module_hook_registered_in_forward(_Net):
    def forward(self, x):
        self.handles.append(self.lin.register_forward_hook(lambda module, args, output: None))
        return self.lin(x)
class module_hook_registered_before_ok(_Net):
    def __init__(self):
        super().__init__()
        self.lin.register_forward_hook(lambda module, args, output: output * 2)
    def forward(self, x): return self.lin(x)
class module_hook_registered_item(_Net):
    def __init__(self):
        super().__init__()
        self.lin.register_forward_hook(self.record)
    def record(self, module, args, output): self.outputs.append(output.mean().item())
    def forward(self, x): return self.lin(x)
class module_hook_registered_branch(_Net):
    def __init__(self):
        super().__init__()
        self.lin.register_forward_hook(self.check)
    def check(self, module, args, output):
        if torch.isnan(output).any(): raise RuntimeError("nan")
    def forward(self, x): return self.lin(x)
class module_hook_registered_keep_ok(_Net):
    def __init__(self):
        super().__init__()
        self.lin.register_forward_hook(self.record)
    def record(self, module, args, output): self.outputs.append(output.detach())
    def forward(self, x): return self.lin(x)

# -- storage ---
def storage_data_ptr(x): return x * 2 if x.data_ptr() else x
def storage_data_ptr_compare(x, y): return x * 2 if x.data_ptr() != y.data_ptr() else x
def storage_untyped(x): return x + len(x.untyped_storage())
def storage_typed(x): return x + x.storage().size()
def storage_nbytes(x): return x + x.untyped_storage().nbytes()
def storage_offset(x): return x + x.storage_offset()
def storage_element_size_ok(x): return x + x.element_size() * x.numel()
def storage_nbytes_attribute_ok(x): return x + x.nbytes
def storage_is_shared(x): return x + x.is_shared()
def storage_version(x): return x + x._version
def storage_set(x):
    y = torch.empty(0)
    y.set_(x)
    return y * 2
def storage_resize(x):
    y = torch.empty(0)
    y.resize_(4, 4)
    return y.fill_(1) + x
def storage_as_strided_ok(x): return x.as_strided((2, 2), (4, 1)).sum() + x
def storage_share_memory(x): return x.share_memory_() * 2
def storage_pin_memory(x): return x.is_pinned() + x
def storage_is_same(x): return x + 1 if x.is_set_to(x) else x
def storage_dlpack(x): return torch.from_dlpack(x) + 1
def storage_dlpack_capsule(x): return torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)) + 1
def storage_dunder_dlpack_device(x): return x + len(x.__dlpack_device__())
def storage_memory_format_ok(x): return x[None, None].contiguous(memory_format=torch.channels_last).sum() + x
def storage_names(x): return x + x.element_size()

# -- copies ---
def copy_shallow_tensor(x): return copy.copy(x) * 2
def copy_deep_tensor(x): return copy.deepcopy(x) * 2
def copy_clone_ok(x): return x.clone() * 2
def copy_deep_dict_of_tensors(x): return copy.deepcopy({"a": x})["a"] * 2
def copy_shallow_dict_of_tensors(x): return copy.copy({"a": x})["a"] * 2
def copy_dict_method_ok(x): return {"a": x}.copy()["a"] * 2
def copy_deep_list_of_tensors(x): return copy.deepcopy([x, x])[0] * 2
def copy_shallow_list(x): return copy.copy([x, x])[0] * 2
def copy_list_slice_ok(x): return [x, x][:][0] * 2
def copy_deep_numbers_ok(x): return x + copy.deepcopy([1, 2])[0]
def copy_deep_dict_numbers_ok(x): return x + copy.deepcopy({"a": 1})["a"]
def copy_deep_module(x): return copy.deepcopy(_LINEAR)(x)
def copy_deep_dataclass(x): return copy.deepcopy(_State(x)).value * 2
def copy_shallow_dataclass_ok(x): return copy.copy(_State(x)).value * 2
def copy_replace_dataclass_ok(x): return dataclasses.replace(_State(x), count=2).value * 2
def copy_asdict(x): return dataclasses.asdict(_State(x))["value"] * 2
def copy_astuple(x): return dataclasses.astuple(_State(x))[0] * 2
def copy_deep_tuple(x): return copy.deepcopy((x, 1))[0] * 2
def copy_deep_parameter(x): return copy.deepcopy(_LINEAR.weight) @ x
def copy_deep_string_ok(x): return x + len(copy.deepcopy("ab"))
class module_deepcopy_state(_Net):
    def forward(self, x): return self.lin(x) + copy.deepcopy(self.state)["a"]
class module_copy_state_ok(_Net):
    def forward(self, x): return self.lin(x) + dict(self.state)["a"]
class module_deepcopy_layer(_Net):
    def forward(self, x): return copy.deepcopy(self.lin)(x)

# -- own autograd functions ---
def function_plain_ok(g): return _Square.apply(g) + 1
def function_item_forward(g): return _SquareItem.apply(g) + 1
def function_branch_forward(g): return _SquareBranch.apply(g) + 1
def function_numpy_forward(g): return _SquareNumpy.apply(g) + 1
def function_print_forward(g): return _SquarePrint.apply(g) + 1
def function_print_backward(g): return _SquareBackwardPrint.apply(g) + 1
def function_item_backward(g): return _SquareBackwardItem.apply(g) + 1
def function_branch_backward(g): return _SquareBackwardBranch.apply(g) + 1
def function_item_backward_without_grad_ok(x): return _SquareBackwardItem.apply(x) + 1
def function_attribute_ok(g): return _Attribute.apply(g, 2.0) + 1
def function_attribute_item(g): return _Attribute.apply(g, g.mean().item()) + 1
def function_non_differentiable(g): return _NonDifferentiable.apply(g) + g
def function_mark_dirty(x): return _Dirty.apply(x * 1) + 1
def function_defined_in_forward(g):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t): return t * 2
        @staticmethod
        def backward(ctx, grad): return grad * 2
    return Twice.apply(g) + 1
def function_forward_direct(x): return _Square.forward(None, x) if False else x * 2
def function_in_loop_ok(g):
    for _ in range(2): g = _Square.apply(g)
    return g
def function_item_in_loop(g):
    for _ in range(2): g = _SquareItem.apply(g)
    return g

# -- transforms and higher-order operators ---
def checkpoint_ok(g): return torch.utils.checkpoint.checkpoint(lambda t: t.sin() * 2, g, use_reentrant=False)
def checkpoint_item(g): return torch.utils.checkpoint.checkpoint(lambda t: t * t.mean().item(), g, use_reentrant=False)
def checkpoint_print(g):
    def body(t):
        print("a")
        return t * 2
    return torch.utils.checkpoint.checkpoint(body, g, use_reentrant=False)
def checkpoint_branch(g):
    def body(t): return t * 2 if t.mean() > 0 else t
    return torch.utils.checkpoint.checkpoint(body, g, use_reentrant=False)
def checkpoint_module_ok(g): return torch.utils.checkpoint.checkpoint(_LINEAR, g, use_reentrant=False)
def checkpoint_sequential(g):
    return torch.utils.checkpoint.checkpoint_sequential([torch.sin, torch.cos], 2, g, use_reentrant=False)
def vmap_ok(x): return torch.vmap(lambda r: r * r.sum())(x)
def vmap_item(x): return torch.vmap(lambda r: r * 2)(x) * x.mean().item()
def vmap_in_dims_ok(x, y): return torch.func.vmap(lambda a, b: a @ b, in_dims=(0, 1))(x, y) + x
def vmap_python_branch_ok(x): return torch.vmap(lambda r: r * 2 if r.shape[0] == 4 else r)(x)
def jvp_ok(x): return torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1]
def vjp_ok(x): return torch.func.vjp(torch.sin, x)[1](torch.ones_like(x))[0]
def jacrev_ok(v): return torch.func.jacrev(lambda t: t * t)(v)
def jacfwd_ok(v): return torch.func.jacfwd(lambda t: t * t)(v)
def hessian_ok(v): return torch.func.hessian(lambda t: (t ** 3).sum())(v)
def linearize(v): return torch.func.linearize(torch.sin, v)[1](v)
def jacobian_functional(v): return torch.autograd.functional.jacobian(lambda t: t * t, v)
def functional_call_ok(x): return torch.func.functional_call(_LINEAR, _BUFFERS, (x,))
def stack_module_state(x): return torch.func.stack_module_state([_LINEAR, _LINEAR])[0]["weight"].sum() + x
def cond_tensor_ok(x): return torch.cond(x.mean() > 0, torch.sin, torch.cos, (x,))
def cond_python_ok(x): return torch.cond(x.shape[0] > 3, torch.sin, torch.cos, (x,))
def cond_item_in_branch(x): return torch.cond(x.mean() > 0, lambda t: t * t.mean().item(), lambda t: t * 1.0, (x,))
def while_loop_ok(x):
    from torch._higher_order_ops.while_loop import while_loop
    return while_loop(lambda n, t: n < 3, lambda n, t: (n + 1, t * 2), (torch.tensor(0), x))[1]
def tree_map_ok(x): return torch.utils._pytree.tree_map(lambda t: t * 2, {"a": x})["a"]
def tree_map_item(x): return torch.utils._pytree.tree_map(lambda t: t * t.mean().item(), {"a": x})["a"]
def tree_leaves_ok(x): return sum(torch.utils._pytree.tree_leaves({"a": x, "b": [x]}))

# -- modules made and changed inside ---
def module_made_linear(x): return nn.Linear(4, 4)(x)
def module_made_sequential(x): return nn.Sequential(nn.Linear(4, 4), nn.ReLU())(x)
def module_made_norm(x): return nn.LayerNorm(4)(x)
def module_made_activation_ok(x): return nn.GELU()(x)
def module_made_loss(x, y): return nn.MSELoss()(x, y)
def module_made_softmax(x): return nn.Softmax(dim=-1)(x)
def module_made_dropout(x): return nn.Dropout(0.5)(x)
def module_made_upsample(x): return nn.Upsample(scale_factor=2)(x[None])
def module_made_functional_ok(x): return F.gelu(x) + F.layer_norm(x, (4,))
def module_made_module_list(x): return nn.ModuleList([nn.ReLU()])[0](x)
def module_made_parameter(x): return x * nn.Parameter(torch.ones(4))
def module_made_own(x): return _Net().lin(x)
def module_made_identity(x): return nn.Identity()(x)
def module_made_flatten(x): return nn.Flatten()(x)
def module_made_in_loop(x):
    for _ in range(2): x = nn.ReLU()(x)
    return x
def module_made_cross_entropy(x, i): return nn.CrossEntropyLoss()(x, i)
def module_made_embedding(i): return nn.Embedding(4, 4)(i)
class module_makes_layer(_Net):
    def forward(self, x): return nn.Linear(4, 4)(self.lin(x))
class module_makes_loss(_Net):
    def forward(self, x, y): return nn.L1Loss()(self.lin(x), y)
class module_makes_parameter(_Net):
    def forward(self, x):
        self.scale = nn.Parameter(torch.ones(4))
        return self.lin(x) * self.scale
class module_adds_child(_Net):
    def forward(self, x):
        self.extra = nn.ReLU()
        return self.extra(self.lin(x))
class module_add_module_call(_Net):
    def forward(self, x):
        self.add_module("extra", nn.ReLU())
        return self.lin(x)
class module_lazy_layer(_Net):
    def forward(self, x):
        if not hasattr(self, "late"): self.late = nn.Linear(4, 4)
        return self.late(x)
class module_register_buffer_in_forward(_Net):
    def forward(self, x):
        self.register_buffer("late", torch.zeros(4))
        return self.lin(x) + self.late
class module_register_parameter_in_forward(_Net):
    def forward(self, x):
        self.register_parameter("late", nn.Parameter(torch.zeros(4)))
        return self.lin(x)
class module_buffer_write_ok(_Net):
    def forward(self, x):
        self.mean = self.mean * 0.9 + x.mean(0) * 0.1
        return self.lin(x) + self.mean
class module_buffer_in_place_ok(_Net):
    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return self.lin(x) + self.mean
class module_train_in_forward(_Net):
    def forward(self, x):
        self.lin.train()
        return self.lin(x)
class module_eval_in_forward(_Net):
    def forward(self, x):
        self.lin.eval()
        return self.lin(x)
class module_to_in_forward(_Net):
    def forward(self, x): return self.lin.to(x.device)(x)
class module_requires_grad_in_forward(_Net):
    def forward(self, x):
        self.lin.requires_grad_(False)
        return self.lin(x)
class module_zero_grad_in_forward(_Net):
    def forward(self, x):
        self.zero_grad()
        return self.lin(x)
class module_state_dict_in_forward(_Net):
    def forward(self, x): return self.lin(x) + len(self.lin.state_dict())
class module_load_state_in_forward(_Net):
    def forward(self, x):
        self.lin.load_state_dict(self.lin.state_dict())
        return self.lin(x)
class module_apply_in_forward(_Net):
    def forward(self, x):
        self.apply(lambda module: None)
        return self.lin(x)
class module_parameters_sum_ok(_Net):
    def forward(self, x): return self.lin(x) + sum(p.sum() for p in self.parameters())
class module_num_parameters_ok(_Net):
    def forward(self, x): return self.lin(x) + sum(p.numel() for p in self.parameters())
class module_named_children_ok(_Net):
    def forward(self, x):
        for name, child in self.named_children(): x = child(x) + len(name)
        return x
class module_repr(_Net):
    def forward(self, x): return self.lin(x) + len(repr(self.lin))
class module_share_weight(_Net):
    def forward(self, x):
        self.lin.weight = nn.Parameter(self.lin.weight.t())
        return self.lin(x)
class module_init_call(_Net):
    def forward(self, x):
        nn.init.zeros_(self.lin.bias)
        return self.lin(x)
class module_reset_parameters(_Net):
    def forward(self, x):
        self.lin.reset_parameters()
        return self.lin(x)
class module_compile_method(_Net):
    def forward(self, x): return torch.compile(self.lin, backend="eager")(x)
class module_half_float_ok(_Net):
    def forward(self, x): return self.lin(x.float()).to(x.dtype)

# -- recurrent ---
class _Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.gru = nn.GRU(4, 4, batch_first=True)
        self.rnn = nn.RNN(4, 4, batch_first=True)
        self.cell = nn.GRUCell(4, 4)
        self.lstm_cell = nn.LSTMCell(4, 4)
        self.conv = nn.Conv1d(4, 4, 1)
class recurrent_lstm(_Recurrent):
    def forward(self, x): return self.lstm(x[None])[0]
class recurrent_lstm_state(_Recurrent):
    def forward(self, x):
        out, (h, c) = self.lstm(x[None])
        return out + h + c
class recurrent_gru(_Recurrent):
    def forward(self, x): return self.gru(x[None])[0]
class recurrent_rnn(_Recurrent):
    def forward(self, x): return self.rnn(x[None])[0]
class recurrent_cell_ok(_Recurrent):
    def forward(self, x):
        h = torch.zeros(1, 4)
        for r in x: h = self.cell(r[None], h)
        return h
class recurrent_lstm_cell_ok(_Recurrent):
    def forward(self, x):
        h, c = self.lstm_cell(x)
        return h + c
class recurrent_conv_ok(_Recurrent):
    def forward(self, x): return self.conv(x[None])
class recurrent_packed(_Recurrent):
    def forward(self, x):
        packed = nn.utils.rnn.pack_padded_sequence(x[None], [4], batch_first=True)
        out, _ = self.lstm(packed)
        return nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0]
class recurrent_flatten_parameters(_Recurrent):
    def forward(self, x):
        self.lstm.flatten_parameters()
        return x * 2
class recurrent_in_list(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.GRU(4, 4, batch_first=True) for _ in range(2)])
    def forward(self, x):
        y = x[None]
        for layer in self.layers: y, _ = layer(y)
        return y
