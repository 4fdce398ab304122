"""Columns that only the running program has -> calls of the runtime over them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrator.rewrite import emit
from migrator.rewrite.plan import Plan, Unsupported


def check(plan: Plan) -> None:
  """Refuses columns that TF2 cannot make when the program runs.

  Raises:
    Unsupported: EM207, the file makes such columns.
  """
  for use in plan.module.uses():
    path = use.symbol.path
    if path.startswith("tf.contrib.") and "column" in path.rpartition(".")[2]:
      raise Unsupported("EM207", use.node, column=path)
    if path.startswith("tf.feature_column.shared_embedding"):
      what = f"{path}, which TF2 makes in a graph only"
      raise Unsupported("EM207", use.node, column=what)


def name(plan: Plan, live: Mapping[str, ast.expr], part: str) -> str:
  """The variable that holds the columns of a part in the new function."""
  node = live[part]
  if isinstance(node, ast.Name):
    return plan.source(node)
  found = "feature_columns" if len(live) == 1 else f"{part}_columns"
  read = {n.id for e in live.values() for n in ast.walk(e) if isinstance(n, ast.Name)}
  while found in read:
    found = f"all_{found}"
  return found


def variables(plan: Plan, live: Mapping[str, ast.expr]) -> list[str]:
  """The variables that the new function defines."""
  return [name(plan, live, part) for part in live if not isinstance(live[part], ast.Name)]


def input_lines(
  plan: Plan, live: Mapping[str, ast.expr], sparse: bool, style: emit.Style
) -> list[str]:
  """Statements that define `inputs`."""
  lines: list[str] = []
  for part, node in live.items():
    if not isinstance(node, ast.Name):
      text = emit.joined(plan.source(node))
      text = f"list{text}" if isinstance(node, ast.GeneratorExp) else text
      lines += emit.statement(f"{name(plan, live, part)} = {text}", style)
  names = [name(plan, live, part) for part in live]
  columns = names[0] if len(set(names)) == 1 else f"[{', '.join(f'*{n}' for n in names)}]"
  items = [columns, *(["sparse=True"] if sparse else [])]
  return [*lines, *emit.bracketed(f"inputs = {plan.runtime()}.columns.inputs(", items, ")", style)]


def dense_lines(plan: Plan, live: Mapping[str, ast.expr], style: emit.Style) -> list[str]:
  """Statements that define `net`."""
  items = [name(plan, live, "dnn"), 'name="input_layer"']
  head = f"net = {plan.runtime()}.columns.DenseFeatures("
  return emit.bracketed(head, items, ")(inputs)", style)


def linear_lines(
  plan: Plan,
  live: Mapping[str, ast.expr],
  units: str,
  combiner: str,
  style: emit.Style,
  target: str,
) -> list[str]:
  """Statements that define the logits of the linear part."""
  items = [name(plan, live, "linear"), units]
  items += [f"sparse_combiner={combiner}"] if combiner else []
  items.append('name="linear_model"')
  head = f"{target} = {plan.runtime()}.columns.LinearFeatures("
  return emit.bracketed(head, items, ")(inputs)", style)
