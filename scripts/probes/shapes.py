"""Results whose shape depends on data, and indexing; `_ok` marks a near twin."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

# fmt: off


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.register_buffer("mask", torch.tensor([True, False, True, False]))
        self.register_buffer("order", torch.tensor([2, 0, 1, 3]))
        self.ignore = -100


# -- nonzero and friends ---
def nonzero_function(x): return torch.nonzero(x > 0).sum() + x
def nonzero_method(m, x): return m.nonzero().sum() + x
def nonzero_tuple_keyword(m, x): return m.nonzero(as_tuple=True)[0].sum() + x
def nonzero_static_ok(m, x): return torch.nonzero_static(m, size=4).sum() + x
def count_nonzero_ok(m, x): return torch.count_nonzero(m) + x
def argwhere_function(x): return torch.argwhere(x > 0).sum() + x
def argwhere_method(m, x): return m.argwhere().sum() + x
def where_condition_only(m, x): return torch.where(m)[0].sum() + x
def where_method_two_ok(m, x): return x.where(m, torch.zeros_like(x))
def where_scalar_ok(m, x): return torch.where(m, x, 0.0)
def where_length(w, x): return x + torch.where(w)[0].shape[0]
def flatnonzero(w, x): return w.flatten().nonzero().flatten().sum() + x
def nonzero_in_helper(x):
    def indices(t): return (t > 0).nonzero()
    return indices(x).sum() + x
def nonzero_squeeze_first(w, x): return x[w.nonzero().squeeze(-1)].sum() + x
def argsort_mask_ok(w, x): return x[w.long().argsort()] + 1

# -- unique ---
def unique_values(i, x): return torch.unique(i).sum() + x
def unique_inverse(i, x): return torch.unique(i, return_inverse=True)[1].sum() + x
def unique_method(i, x): return i.unique().sum() + x
def unique_consecutive_method(i, x): return i.unique_consecutive().sum() + x
def unique_consecutive_function(i, x): return torch.unique_consecutive(i, return_counts=True)[1].sum() + x
def unique_dim(x): return torch.unique(x, dim=0).sum() + x
def unique_length(i, x): return x + len(i.unique())
def sort_ok(i, x): return i.sort()[0].sum() + x
def bincount_plain(i, x): return torch.bincount(i).sum() + x
def bincount_minlength(i, x): return i.bincount(minlength=4).sum() + x
def bincount_as_scatter_ok(i, x): return torch.zeros(4).scatter_add(0, i, torch.ones(4)).sum() + x
def histc_ok(x): return torch.histc(x, bins=4).sum() + x
def histogram(x): return torch.histogram(x.flatten(), bins=4)[0].sum() + x
def isin_mask_ok(i, x): return torch.isin(i, i).sum() + x
def combinations(v, x): return torch.combinations(v).sum() + x
def cartesian_ok(v, x): return torch.cartesian_prod(v, v).sum() + x
def tril_indices_ok(x): return torch.tril_indices(4, 4).sum() + x
def masked_select_function(x, m): return torch.masked_select(x, m).sum() + x
def masked_select_method(x, m): return x.masked_select(m).mean() + x
def masked_fill_method_ok(x, m): return x.masked_fill(m, 0.0).mean() + x
def masked_scatter_method_ok(x, y, m): return x.masked_scatter(m, y) + 1
def take_along_ok(x, i): return torch.take_along_dim(x, i[None], 1).sum() + x
def gather_ok(x, i): return x.gather(1, i[:, None]) + x
def index_select_ok(x, i): return x.index_select(0, i) + 1
def index_fill_ok(x, k): return x.index_fill(0, k, 0.0) + 1
def searchsorted_ok(v, x): return torch.searchsorted(v.sort()[0], v) + x
def bucketize_ok(v, x): return torch.bucketize(v, v.sort()[0]) + x
def repeat_interleave_tensor(x, i): return x.repeat_interleave(i, dim=0).sum() + x
def repeat_interleave_function(x, i): return torch.repeat_interleave(x, i, dim=0).sum() + x
def repeat_interleave_number_ok(x): return x.repeat_interleave(2, dim=0).sum() + x
def repeat_interleave_sized_ok(x, i): return torch.repeat_interleave(x, i, dim=0, output_size=4).sum() + x
def one_hot_plain(i, x): return F.one_hot(i).sum() + x
def one_hot_minus_one(i, x): return F.one_hot(i, -1).sum() + x
def one_hot_keyword_ok(i, x): return F.one_hot(i, num_classes=4).sum() + x
def one_hot_comparison_ok(i, x): return (i[:, None] == torch.arange(4)).sum() + x
def pad_sequence_ok(x): return nn.utils.rnn.pad_sequence([x[0], x[1, :2]], batch_first=True).sum() + x
def pack_padded_lengths(x): return nn.utils.rnn.pack_padded_sequence(x[None], [4], batch_first=True).data.sum() + x
def ctc_loss_lengths(x):
    lp = x[:, None].log_softmax(-1)
    return F.ctc_loss(lp, torch.ones(1, 2, dtype=torch.long), torch.tensor([4]), torch.tensor([2])) + x
def cross_entropy_ok(x, i): return F.cross_entropy(x, i) + x
def embedding_bag_ok(x, i): return F.embedding_bag(i, x, torch.tensor([0, 2])).sum() + x
def multinomial_ok(x): return torch.multinomial(x.softmax(-1), 2).sum() + x
def linalg_lstsq(x): return torch.linalg.lstsq(x, x)[0].sum() + x
def linalg_matrix_rank_ok(x): return torch.linalg.matrix_rank(x) + x
def to_dense_batch_counts(i, x):
    counts = torch.bincount(i)
    return torch.zeros(len(counts), int(counts.max())).sum() + x

# -- boolean indexing: reads ---
def mask_read_comparison(x): return x[x > 0.5].sum() + x
def mask_read_parameter(x, m): return x[m].sum() + x
def mask_read_rows(x, w): return x[w].sum() + x
def mask_read_columns(x, w): return x[:, w].sum() + x
def mask_read_pair(x, w): return x[w, 0].sum() + x
def mask_read_inverted(x, m): return x[~m].sum() + x
def mask_read_and(x, m): return x[m & (x > 0)].sum() + x
def mask_read_bool_call(x, i): return x[i.bool()].sum() + x
def mask_read_to_bool(x, i): return x[i.to(torch.bool)].sum() + x
def mask_read_ne(x, i): return x[i != 1].sum() + x
def mask_read_isnan(x): return x[~torch.isnan(x)].mean() + x
def mask_read_logical_not(x, m): return x[torch.logical_not(m)].sum() + x
def mask_read_dunder(x, m): return x.__getitem__(m).sum() + x
def mask_read_in_loop(x, i):
    total = x.new_zeros(())
    for c in range(3): total = total + x[i == c].sum()
    return total + x
def mask_read_in_loop_ok(x, i):
    total = x.new_zeros(())
    for c in range(3): total = total + (x * (i == c)[:, None]).sum()
    return total + x
def mask_read_tuple(x, m): return x[(m,)].sum() + x
def mask_read_list_of_bools(x): return x[[True, False, True, False]].sum() + x
def mask_read_constant_tensor(x): return x[torch.tensor([True, False, True, False])].sum() + x
def mask_read_long_ok(x, w): return x[w.long()].sum() + x
def mask_read_uint8(x, w): return x[w.to(torch.uint8)].sum() + x
def mask_multiply_ok(x, m): return (x * m).sum() + x
def index_read_argsort_ok(x): return x[x[:, 0].argsort()] + 1
def index_read_topk_ok(x): return x[x[:, 0].topk(2)[1]].sum() + x
def index_read_list_ok(x): return x[[0, 1]].sum() + x
def index_read_none_ok(x): return x[:, None, :, None].sum() + x
def index_read_numpy_bool(x):
    import numpy as np
    return x[np.array([True, False, True, False])].sum() + x
def mask_read_shape_branch(x, m):
    chosen = x[m]
    if chosen.shape[0] == 0: return x
    return x + chosen.sum()
def mask_read_numel(x, m): return x / x[m].numel()
def mask_sum_ok(x, m): return x / m.sum().clamp(min=1)
def mask_read_split(x, m):
    a, b = x[m], x[~m]
    return torch.cat([a, b]).reshape(4, 4) + x

# -- boolean indexing: writes ---
def mask_write_zero_ok(x, m):
    y = x.clone()
    y[m] = 0.0
    return y
def mask_write_negative_ok(x):
    y = x.clone()
    y[y < 0] = -1
    return y
def mask_write_infinity_ok(x, m):
    y = x.clone()
    y[~m] = float("-inf")
    return y
def mask_write_values(x, m):
    y = x.clone()
    y[m] = x[m] * 2
    return y
def mask_write_scalar_tensor(x, m, s):
    y = x.clone()
    y[m] = s
    return y
def mask_write_constant_tensor(x, m):
    y = x.clone()
    y[m] = torch.tensor(2.5)
    return y
def mask_write_row_tensor(x, w, v):
    y = x.clone()
    y[w] = v
    return y
def mask_write_rows_number_ok(x, w):
    y = x.clone()
    y[w] = 1.0
    return y
def mask_write_columns_number(x, w):
    y = x.clone()
    y[:, w] = 1.0
    return y
def mask_write_columns_tensor(x, w, v):
    y = x.clone()
    y[:, w] = v[:2]
    return y
def mask_write_mixed_index(x, w):
    y = x.clone()
    y[w, 0] = 1.0
    return y
def mask_write_item_value(x, m, s):
    y = x.clone()
    y[m] = s.item()
    return y
def mask_write_augmented_mul(x, m):
    y = x.clone()
    y[m] *= 2
    return y
def mask_write_augmented_sub(x, m):
    y = x.clone()
    y[m] -= 1.0
    return y
def mask_write_where_ok(x, m): return torch.where(m, x * 2, x)
def mask_write_shape_number_ok(x, m):
    y = x.clone()
    y[m] = x.shape[0]
    return y
def mask_write_index_put(x, m): return x.index_put((m,), torch.tensor(0.0)) + 1
def mask_write_index_put_values(x, m): return x.index_put((m,), x[m]) + 1
def mask_write_index_put_in_place(x, m):
    y = x.clone()
    y.index_put_((m,), torch.tensor(1.0))
    return y
def index_put_integers_ok(x, k): return x.index_put((k,), torch.tensor(0.0)) + 1
def mask_write_masked_fill_ok(x, m): return x.clone().masked_fill_(m, 0.0)
def mask_write_ne(x, i):
    y = x.clone()
    y[i != 1] = 0.0
    return y
def mask_write_through_view_ok(x, w):
    y = x.clone()
    y[0][w] = 0.0
    return y
def index_write_tensor_ok(x, k, v):
    y = x.clone()
    y[k] = v
    return y
def index_write_item_ok(x):
    y = x.clone()
    y[0, 1] = 2.5
    return y
def index_write_slice_ok(x, v):
    y = x.clone()
    y[1:3] = v
    return y
def mask_write_parameter_in_place_ok(x, m):
    x[m] = 0.0
    return x * 2
def mask_write_dunder(x, m):
    y = x.clone()
    y.__setitem__(m, 0.0)
    return y
def nonzero_write(x, w):
    y = x.clone()
    y[w.nonzero()[:, 0]] = 0.0
    return y

# -- sizes from tensors ---
def zeros_of_max(x, k): return x.new_zeros(k.max(), 4).sum() + x
def zeros_of_shape_ok(x, k): return x.new_zeros(k.shape[0], 4).sum() + x
def arange_of_sum(x, k): return torch.arange(k.sum()).sum() + x
def arange_of_size_ok(x, k): return torch.arange(k.size(0)).sum() + x
def sequence_mask_max(x, k): return (torch.arange(k.max()) < k[:, None]).sum() + x
def sequence_mask_fixed_ok(x, k): return (torch.arange(4) < k[:, None]).sum() + x
def slice_of_lengths(x, k): return torch.cat([x[j, : k[j]] for j in range(3)]).sum() + x
def slice_of_constants_ok(x): return torch.cat([x[j, :2] for j in range(3)]).sum() + x
def reshape_of_tensor(x, n): return x.reshape(n + 1, -1)
def reshape_of_shape_ok(x): return x.reshape(x.shape[0] * 2, -1)
def cumsum_offsets_ok(x, k): return k.cumsum(0) + x[0, 0]
def cumsum_slices(x, k):
    ends = k.cumsum(0)
    return x[: ends[0]].sum() + x
def split_tensor_sizes(x, k): return torch.split(x, k.tolist())[0].sum() + x
def split_with_sizes_tensor(x, k): return x.split_with_sizes(k.tolist())[0].sum() + x
def split_even_ok(x): return torch.split(x, 2)[0].sum() + x
def expert_dispatch(x):
    ids = x.argmax(-1)
    out = torch.zeros_like(x)
    for e in range(4):
        picked = ids == e
        if picked.any(): out[picked] = x[picked] * e
    return out
def expert_dispatch_dense_ok(x):
    ids = x.argmax(-1)
    out = torch.zeros_like(x)
    for e in range(4): out = out + x * e * (ids == e)[:, None]
    return out
def nms_like(x):
    keep = []
    order = x[:, 0].argsort()
    while order.numel() > 0:
        keep.append(order[0])
        order = order[1:][x[order[1:], 1] > 0]
    return torch.stack(keep).sum() + x
def valid_mean(x, i):
    valid = i != 1
    return x[valid].mean() if valid.any() else x.sum() * 0
def valid_mean_ok(x, i):
    valid = (i != 1)[:, None]
    return (x * valid).sum() / valid.sum().clamp(min=1)

def shape_as_tensor(x): return torch._shape_as_tensor(x) + x[0, 0]
def shape_as_tensor_ok(x): return torch.tensor(x.shape) + x[0, 0]

# -- sparse and nested ---
def sparse_from_dense(x): return torch.sparse.mm(x.to_sparse(), x)
def sparse_coo_new(x, k): return torch.sparse_coo_tensor(torch.stack([k, k]), x[0, :3], (4, 4)).to_dense() + x
def sparse_csr(x): return x.to_sparse_csr() @ x
def sparse_layout_ok(x): return x + 1 if x.layout == torch.strided and not x.is_sparse else x
def nested_from_list(x): return torch.nested.nested_tensor([x, x[:2]]).to_padded_tensor(0.0)
def nested_padded(x): return torch.nested.to_padded_tensor(torch.nested.as_nested_tensor([x, x[:2]]), 0.0)
def quantize(x): return torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize() + 1
def fake_quantize_ok(x): return torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255) + 1

# -- in modules ---
class module_mask_buffer(_Net):
    def forward(self, x): return self.lin(x)[self.mask].sum() + x
class module_mask_buffer_ok(_Net):
    def forward(self, x): return (self.lin(x) * self.mask).sum() + x
class module_order_buffer_ok(_Net):
    def forward(self, x): return self.lin(x)[self.order]
class module_ignore_index(_Net):
    def forward(self, x, i):
        keep = i != self.ignore
        return F.cross_entropy(self.lin(x)[keep], i[keep])
class module_ignore_index_ok(_Net):
    def forward(self, x, i): return F.cross_entropy(self.lin(x), i, ignore_index=self.ignore)
class module_scatter_by_mask(_Net):
    def forward(self, x, w):
        out = torch.zeros_like(x)
        out[w] = self.lin(x[w])
        return out
class module_scatter_dense_ok(_Net):
    def forward(self, x, w): return torch.where(w[:, None], self.lin(x), 0.0)
class module_token_drop(_Net):
    def forward(self, x):
        keep = torch.rand(4) > 0.5
        return self.lin(x[keep]).sum() + x
class module_token_drop_ok(_Net):
    def forward(self, x):
        keep = torch.rand(4).argsort()[:2]
        return self.lin(x[keep]).sum() + x
