"""The text file `checkpoint`, without TensorFlow; tests/runtime compares it with TensorFlow's reading."""

import pytest

from migrator.runtime import state_file


@pytest.mark.parametrize(
  "text, newest, listed",
  [
    (b'model_checkpoint_path: "model.ckpt-3"\n', "model.ckpt-3", ()),
    (
      b'model_checkpoint_path: "b"\nall_model_checkpoint_paths: "a"\nall_model_checkpoint_paths: "b"\n'
      b"all_model_checkpoint_timestamps: 1.5e9\nlast_preserved_timestamp: 3.25\n",
      "b",
      ("a", "b"),
    ),
    (b"model_checkpoint_path: 'it\\'s'", "it's", ()),
    (b'model_checkpoint_path: "caf\\303\\251"', "café", ()),
    (b'# written by hand\nmodel_checkpoint_path: "a" "b"', "ab", ()),
    (b'all_model_checkpoint_timestamps: [1.0, 2.0]\nmodel_checkpoint_path:"a";', "a", ()),
    (b'model_checkpoint_path: "C:\\\\runs\\\\model.ckpt-1"', "C:\\runs\\model.ckpt-1", ()),
    (b'all_model_checkpoint_paths: "a"', "", ("a",)),
  ],
)
def test_paths_are_read(text, newest, listed):
  state = state_file.parse(text)
  assert state.model_checkpoint_path == newest
  assert state.all_model_checkpoint_paths == listed


@pytest.mark.parametrize(
  "text, message",
  [
    (b"", r"empty \(0 bytes\)"),
    (b" \n\n", "empty"),
    (b'model_checkpoint_path: "a', "line 1 cannot be read"),
    (b'model_checkpoint_path: "a"\n\xff\xfe', "line 2 cannot be read"),
    (b'model_checkpoint_path: "\xff"', "not UTF-8"),
    (b'"a"', "where a field should be"),
  ],
)
def test_what_is_no_state_is_refused(text, message):
  with pytest.raises(ValueError, match=message):
    state_file.parse(text)
