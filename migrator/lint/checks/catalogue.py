"""All checks. The module of one is imported when a text needs it: most texts need few of them."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Iterable
from typing import Any

from migrator.lint import derived
from migrator.lint.checks import registry

# The modules that register checks.
TOPICS = (
  "backup",
  "batch_index",
  "checkpoints",
  "declared",
  "endless",
  "formats",
  "global_steps",
  "hooks",
  "inputs",
  "managers",
  "model_checkpoint",
  "model_fns",
  "names",
  "retention",
  "run_config",
  "savers",
  "shared",
  "stop_hooks",
  "strategies",
  "suffixes",
  "train_calls",
  "unbuilt",
)


@functools.cache
def load() -> tuple[registry.Check, ...]:
  """The checks of all topics; what they ask of a text is kept until one of their files changes."""
  here = os.path.dirname(os.path.abspath(__file__))
  files = [os.path.join(here, f"{name}.py") for name in ("catalogue", "registry", *TOPICS)]
  return tuple(_check(plain) for plain in derived.get("checks", files, _register).value)


def _register() -> list[list[Any]]:
  """Imports all topics; returns their checks as plain values, the function by its place."""
  for topic in TOPICS:
    _import(topic)
  found = []
  for check in registry.CHECKS.values():
    function: Any = check.function
    found.append([function.__module__.rpartition(".")[2], function.__name__, *check[1:]])
  return found


def _check(plain: list[Any]) -> registry.Check:
  topic, name, *others = plain
  # Tuples are lists in what was kept.
  fields = [tuple(value) if isinstance(value, list) else value for value in others]
  return registry.Check._make([_Function(topic, name), *fields])


class _Function:
  """A function of a topic, which is imported at the first call."""

  def __init__(self, topic: str, name: str):
    self._topic = topic
    self.__name__ = name

  def __call__(self, context: registry.Context) -> Iterable[registry.Report]:
    return getattr(_import(self._topic), self.__name__)(context)


def _import(topic: str) -> Any:
  return importlib.import_module(f"migrator.lint.checks.{topic}")
