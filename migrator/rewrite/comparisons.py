"""`==` and `!=` between tensors: objects for TF1, elements for TF2.

Measured with TF 1.15, 2.15 and 2.21: in a `tf.Graph`, its conditions, loops, functions and datasets, `a == b` of
tensors is True or False at once, as of any two objects, in every version. Eagerly, in a `tf.function` and
in the functions of a dataset that is made eagerly, it is a tensor of the elements' equality.
"""

from __future__ import annotations

import ast

from migrator.analysis.module import Module
from migrator.rewrite import hosted_obstacles
from migrator.rewrite.plan import Plan

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DATASET_METHODS = ("map", "filter", "flat_map", "interleave", "map_and_batch")
_DEPTH = 8  # of variables that are made of one another
# Functions of TensorFlow that return one tensor, or a variable.
_GIVE_TENSORS = frozenset(
  """Variable abs add argmax argmin as_string bincount boolean_mask broadcast_to cast ceil clip_by_value concat
  constant convert_to_tensor cos cumsum decode_raw div divide equal exp expand_dims fill floor floordiv gather
  gather_nd get_variable greater greater_equal hash_bucket identity less less_equal linspace log
  logical_and logical_not logical_or logical_xor matmul maximum minimum mod multiply negative not_equal
  one_hot ones ones_like pad placeholder pow random_normal random_uniform range rank read_file
  reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum reshape reverse round
  rint scatter_nd sequence_mask shape sigmoid sign sin size slice sparse_tensor_to_dense sqrt
  square squared_difference squeeze stack stop_gradient string_join string_to_hash_bucket
  string_to_number substr subtract tanh tensordot tile to_double to_float to_int32 to_int64 transpose truediv
  truncated_normal where zeros zeros_like""".split()
)
_MODULES = {
  "tf.math.": _GIVE_TENSORS,
  "tf.random.": frozenset(("normal", "uniform", "truncated_normal")),
  "tf.sparse.": frozenset(("to_dense",)),
  "tf.strings.": frozenset(
    "as_string join length lower regex_replace substr to_number upper".split()
  ),
  "tf.io.": frozenset(
    "decode_image decode_jpeg decode_png decode_raw parse_tensor read_file".split()
  ),
  "tf.image.": frozenset("decode_image decode_jpeg decode_png resize resize_images".split()),
  "tf.nn.": frozenset(
    """bias_add conv1d conv2d dropout elu embedding_lookup l2_loss l2_normalize leaky_relu log_softmax
    relu relu6 sigmoid sigmoid_cross_entropy_with_logits softmax softmax_cross_entropy_with_logits
    softmax_cross_entropy_with_logits_v2 sparse_softmax_cross_entropy_with_logits tanh""".split()
  ),
  "tf.layers.": frozenset(
    """average_pooling1d average_pooling2d batch_normalization conv1d conv2d conv2d_transpose conv3d dense dropout
    flatten max_pooling1d max_pooling2d separable_conv2d""".split()
  ),
  "tf.losses.": frozenset(
    """absolute_difference cosine_distance hinge_loss huber_loss log_loss mean_squared_error
    sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy""".split()
  ),
}


def find(module: Module, code: ast.AST, tensors: frozenset[ast.AST] = frozenset()) -> list[ast.AST]:
  """The comparisons in some code of which one side is certainly a tensor.

  Args:
    module: the analysed file.
    code: where to look.
    tensors: parameters (`ast.arg`) that are tensors, or dicts of tensors.

  Returns:
    The comparisons, in order.
  """
  return [
    node
    for node in ast.walk(code)
    if isinstance(node, ast.Compare) and _compares(module, node, tensors)
  ]


def _compares(module: Module, node: ast.Compare, tensors: frozenset[ast.AST]) -> bool:
  left = node.left
  for operator, right in zip(node.ops, node.comparators):
    sides, left = (left, right), right
    if not isinstance(operator, (ast.Eq, ast.NotEq)):
      continue
    # No tensor is equal to None, in any version.
    if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
      continue
    if any(_is_tensor(module, side, tensors, 0) for side in sides):
      return True
  return False


def _is_tensor(module: Module, node: ast.expr, tensors: frozenset[ast.AST], depth: int) -> bool:
  """Whether an expression is certainly a tensor."""
  if depth > _DEPTH:
    return False
  if isinstance(node, ast.Call):
    symbol = module.resolve(node.func)
    return symbol is not None and _gives_tensor(symbol.path)
  if isinstance(node, ast.Subscript):
    return _is_tensor(module, node.value, tensors, depth + 1)
  if isinstance(node, ast.BinOp):
    sides = (node.left, node.right)
    return any(_is_tensor(module, side, tensors, depth + 1) for side in sides)
  if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
    return _is_tensor(module, node.operand, tensors, depth + 1)
  if not isinstance(node, ast.Name) or node not in module.scope_of:
    return False
  _, bindings = module.scope_of[node].lookup(node.id)
  return bool(bindings) and all(
    _is_tensor(module, binding.value, tensors, depth + 1)
    if binding.value is not None
    else binding.kind == "param" and _is_given_tensors(module, binding.node, tensors)
    for binding in bindings
  )


def _gives_tensor(path: str) -> bool:
  head, _, name = path.rpartition(".")
  return name in _MODULES.get(f"{head}.", ()) or (head == "tf" and name in _GIVE_TENSORS)


def _is_given_tensors(module: Module, parameter: ast.AST, tensors: frozenset[ast.AST]) -> bool:
  """Whether a parameter is known to be given tensors: one of a function that a dataset calls."""
  if parameter in tensors:
    return True
  function = next((a for a in module.ancestors(parameter) if isinstance(a, _FUNCTIONS)), None)
  if isinstance(function, ast.Lambda):
    return _is_called_by_dataset(module, function)
  if not isinstance(function, ast.FunctionDef):
    return False
  return any(
    isinstance(node, ast.Name)
    and node.id == function.name
    and _is_called_by_dataset(module, node)
    and module.definition(node) is function
    for node in module.scope_of
  )


def _is_called_by_dataset(module: Module, node: ast.AST) -> bool:
  call = module.parents.get(node)
  return (
    isinstance(call, ast.Call)
    and isinstance(call.func, ast.Attribute)
    and call.func.attr in _DATASET_METHODS
    and node in call.args[:1]
    and module.resolve(call.func) is None
  )


def report(plan: Plan) -> None:
  """EM248 for what a file with estimators compared in a graph, and compares in TF2 from now on."""
  module = plan.module
  kept = hosted_obstacles.reached(module)
  for node in find(module, module.tree):
    around = list(module.ancestors(node))
    if any(a in kept for a in around):
      continue
    if plan.source_version == 1 or any(isinstance(a, _FUNCTIONS) for a in around):
      plan.report("EM248", node, what=module.source(node).partition("\n")[0])
