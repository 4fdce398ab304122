"""What programs use of `tf.contrib.framework`: argument scopes and variables."""

from migrator.runtime.contrib.framework.arg_scope import (
  add_arg_scope,
  arg_scope,
  current_arg_scope,
  has_arg_scope,
)
from migrator.runtime.contrib.framework.assigning import (
  assign_from_checkpoint,
  assign_from_checkpoint_fn,
  assign_from_values,
  assign_from_values_fn,
  get_variable_full_name,
)
from migrator.runtime.contrib.framework.variables import (
  add_model_variable,
  assert_or_get_global_step,
  filter_variables,
  get_local_variables,
  get_model_variables,
  get_trainable_variables,
  get_unique_variable,
  get_variables,
  get_variables_by_name,
  get_variables_by_suffix,
  get_variables_to_restore,
  global_variable,
  local_variable,
  model_variable,
  variable,
)

__all__ = [
  "add_arg_scope",
  "add_model_variable",
  "arg_scope",
  "assert_or_get_global_step",
  "assign_from_checkpoint",
  "assign_from_checkpoint_fn",
  "assign_from_values",
  "assign_from_values_fn",
  "current_arg_scope",
  "filter_variables",
  "get_local_variables",
  "get_model_variables",
  "get_trainable_variables",
  "get_unique_variable",
  "get_variable_full_name",
  "get_variables",
  "get_variables_by_name",
  "get_variables_by_suffix",
  "get_variables_to_restore",
  "global_variable",
  "has_arg_scope",
  "local_variable",
  "model_variable",
  "variable",
]
