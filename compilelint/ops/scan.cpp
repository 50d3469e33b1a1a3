// scan(tensors, want_grad): where the tensors of a list lie, in one pass over it. As `scan` in pointers.py, which says what
// the rows are; None where something isn't plain, for Python to look at.
//
// same(tensors, want_grad, rows, device): whether a scan would find these rows, on this device.

#include <Python.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdint>
#include <initializer_list>

namespace {

constexpr int kind_shift = 40;

int kind_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat: return 0;
    case at::kHalf: return 1;
    case at::kBFloat16: return 2;
    case at::kDouble: return 3;
    default: return -1;
  }
}

struct Row {
  std::int64_t address;
  std::int64_t word;
};

// What it costs is cache misses: six lines a tensor, one behind the other. They are asked for some tensors ahead.
inline void fetch_ahead(PyObject* list, Py_ssize_t i, Py_ssize_t count) {
  constexpr Py_ssize_t objects = 24, tensors = 16, storages = 8;
  if (i + objects < count) {
    __builtin_prefetch(PyList_GET_ITEM(list, i + objects));
  }
  const auto impl_of = [&](Py_ssize_t at) -> const c10::TensorImpl* {
    PyObject* item = at < count ? PyList_GET_ITEM(list, at) : nullptr;
    return item != nullptr && THPVariable_CheckExact(item) ? THPVariable_Unpack(item).unsafeGetTensorImpl() : nullptr;
  };
  if (const auto* impl = impl_of(i + tensors)) {
    const char* start = reinterpret_cast<const char*>(impl);
    __builtin_prefetch(start);
    __builtin_prefetch(start + sizeof(c10::TensorImpl) - 64);
    __builtin_prefetch(start + sizeof(c10::TensorImpl) - 1);
  }
  if (const auto* impl = impl_of(i + storages)) {
    __builtin_prefetch(impl->unsafe_storage().unsafeGetStorageImpl());
  }
}

std::uint64_t bits(std::initializer_list<c10::DispatchKey> keys) {
  return c10::DispatchKeySet(keys).raw_repr();
}

const std::uint64_t dense = bits({c10::DispatchKey::Dense});
const std::uint64_t odd = bits(
    {c10::DispatchKey::Negative, c10::DispatchKey::Python, c10::DispatchKey::FuncTorchBatched,
     c10::DispatchKey::FuncTorchGradWrapper, c10::DispatchKey::Functionalize});

// False where the tensor isn't plain. Reads the fields: torch's own accessors are calls that aren't inlined here.
inline bool read(PyObject* item, bool want_grad, Row& row, c10::Device& device) {
  constexpr std::int64_t sizes[] = {4, 2, 2, 8};
  if (!THPVariable_CheckExact(item)) {
    return false;
  }
  const at::Tensor& tensor = THPVariable_Unpack(item);
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if ((impl->key_set().raw_repr() & (dense | odd)) != dense || !impl->unsafe_storage()) {
    return false;
  }
  const int kind = kind_of(tensor.scalar_type());
  if (kind < 0 || !tensor.is_contiguous() || (want_grad && tensor.requires_grad())) {
    return false;
  }
  device = tensor.device();
  const std::int64_t count = tensor.numel();
  const auto start = reinterpret_cast<std::int64_t>(impl->unsafe_storage().data());
  row.address = count == 0 ? 0 : start + impl->storage_offset() * sizes[kind];
  row.word = count | (static_cast<std::int64_t>(kind) << kind_shift);
  return true;
}

PyObject* scan(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyList_CheckExact(args[0])) {
    PyErr_SetString(PyExc_TypeError, "scan(list of tensors, bool)");
    return nullptr;
  }
  PyObject* list = args[0];
  const bool want_grad = args[1] == Py_True;
  const Py_ssize_t count = PyList_GET_SIZE(list);
  PyObject* rows = PyByteArray_FromStringAndSize(nullptr, count * sizeof(Row));
  if (rows == nullptr) {
    return nullptr;
  }
  auto* out = reinterpret_cast<Row*>(PyByteArray_AS_STRING(rows));
  unsigned kinds = 0;
  c10::Device first(c10::kCPU), device(c10::kCPU);
  for (Py_ssize_t i = 0; i < count; ++i) {
    fetch_ahead(list, i, count);
    const bool plain = read(PyList_GET_ITEM(list, i), want_grad, out[i], device);
    if (i == 0) {
      first = device;
    }
    if (!plain || device != first) {
      Py_DECREF(rows);
      Py_RETURN_NONE;
    }
    kinds |= 1u << (out[i].word >> kind_shift);
  }
  return Py_BuildValue("(NI)", rows, kinds);
}

PyObject* same(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4 || !PyList_CheckExact(args[0]) || !PyByteArray_CheckExact(args[2]) || !THPDevice_Check(args[3])) {
    PyErr_SetString(PyExc_TypeError, "same(list of tensors, bool, bytearray, device)");
    return nullptr;
  }
  PyObject* list = args[0];
  const bool want_grad = args[1] == Py_True;
  const Py_ssize_t count = PyList_GET_SIZE(list);
  if (PyByteArray_GET_SIZE(args[2]) != count * static_cast<Py_ssize_t>(sizeof(Row))) {
    Py_RETURN_FALSE;
  }
  const auto* known = reinterpret_cast<const Row*>(PyByteArray_AS_STRING(args[2]));
  const c10::Device wanted = reinterpret_cast<THPDevice*>(args[3])->device;
  c10::Device device(c10::kCPU);
  for (Py_ssize_t i = 0; i < count; ++i) {
    fetch_ahead(list, i, count);
    Row row;
    if (!read(PyList_GET_ITEM(list, i), want_grad, row, device) || row.address != known[i].address ||
        row.word != known[i].word || device != wanted) {
      Py_RETURN_FALSE;
    }
  }
  Py_RETURN_TRUE;
}

PyMethodDef methods[] = {
    {"scan", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(scan)), METH_FASTCALL, "rows and kinds, or None"},
    {"same", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(same)), METH_FASTCALL, "whether nothing moved"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "compilelint_scan", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit_compilelint_scan() {
  return PyModule_Create(&module);
}
