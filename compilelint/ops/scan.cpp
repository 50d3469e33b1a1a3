// scan(tensors, want_grad): where the tensors of a list lie, in one pass over it. As `scan` in pointers.py, which says what
// the rows are; None where something isn't plain, for Python to look at.

#include <Python.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdint>

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

PyObject* scan(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyList_CheckExact(args[0])) {
    PyErr_SetString(PyExc_TypeError, "scan(list of tensors, bool)");
    return nullptr;
  }
  PyObject* list = args[0];
  const bool want_grad = args[1] == Py_True;
  const Py_ssize_t count = PyList_GET_SIZE(list);
  PyObject* rows = PyByteArray_FromStringAndSize(nullptr, count * 16);
  if (rows == nullptr) {
    return nullptr;
  }
  auto* out = reinterpret_cast<std::int64_t*>(PyByteArray_AS_STRING(rows));
  const c10::DispatchKeySet odd(
      {c10::DispatchKey::Negative, c10::DispatchKey::Python, c10::DispatchKey::FuncTorchBatched,
       c10::DispatchKey::FuncTorchGradWrapper, c10::DispatchKey::Functionalize});
  unsigned kinds = 0;
  c10::Device device(c10::kCPU);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    bool plain = THPVariable_CheckExact(item);
    if (plain) {
      const at::Tensor& tensor = THPVariable_Unpack(item);
      const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
      const int kind = kind_of(tensor.scalar_type());
      plain = kind >= 0 && impl->layout() == c10::kStrided && impl->has_storage() && !impl->key_set().has_any(odd) &&
          (i == 0 || tensor.device() == device) && tensor.is_contiguous() && !(want_grad && tensor.requires_grad());
      if (plain) {
        device = tensor.device();
        kinds |= 1u << kind;
        out[2 * i] = reinterpret_cast<std::int64_t>(tensor.const_data_ptr());
        out[2 * i + 1] = tensor.numel() | (static_cast<std::int64_t>(kind) << kind_shift);
      }
    }
    if (!plain) {
      Py_DECREF(rows);
      Py_RETURN_NONE;
    }
  }
  return Py_BuildValue("(NI)", rows, kinds);
}

PyMethodDef methods[] = {
    {"scan", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(scan)), METH_FASTCALL, "rows and kinds, or None"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "compilelint_scan", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit_compilelint_scan() {
  return PyModule_Create(&module);
}
