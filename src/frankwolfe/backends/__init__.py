"""Array namespaces: the few helpers that let one source serve NumPy, PyTorch, CuPy and JAX arrays."""

from frankwolfe.backends.namespace import Array as Array
from frankwolfe.backends.namespace import Scalar as Scalar
from frankwolfe.backends.namespace import all_finite as all_finite
from frankwolfe.backends.namespace import blend as blend
from frankwolfe.backends.namespace import double as double
from frankwolfe.backends.namespace import eps as eps
from frankwolfe.backends.namespace import fetch as fetch
from frankwolfe.backends.namespace import fetch_rows as fetch_rows
from frankwolfe.backends.namespace import host as host
from frankwolfe.backends.namespace import is_zero as is_zero
from frankwolfe.backends.namespace import largest as largest
from frankwolfe.backends.namespace import namespace as namespace
from frankwolfe.backends.namespace import row_dot as row_dot
from frankwolfe.backends.namespace import scaled as scaled
from frankwolfe.backends.namespace import set_at as set_at
from frankwolfe.backends.namespace import top_k as top_k
from frankwolfe.backends.namespace import toward as toward
from frankwolfe.backends.namespace import vdot as vdot
from frankwolfe.backends.namespace import zeros as zeros
