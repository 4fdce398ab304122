"""The baseline: what it knows survives edits elsewhere; what is faulty in it is named."""

import json
import os
import random

import pytest

from migrator.lint import baseline, engine
from migrator.lint.baseline import Baseline, BaselineError

HEADER = "import tensorflow as tf\n"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  return tmp_path


def _found(text, path="a.py"):
  """The findings of a file with this text, which is also written."""
  os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
  with open(path, "w", encoding="utf-8") as file:
    file.write(HEADER + text)
  return engine.check_file(path)


def _written(findings, path="known.jsonl"):
  Baseline.of(path, findings).write(path)
  return Baseline.read(path)


def _lines(findings):
  return [(f.path, f.span.line) for f in findings]


def test_what_is_known_is_not_new_also_on_other_lines():
  known = _written(_found("s = tf.train.Saver()\n"))
  result = known.filter(_found("\n\ndef f():\n  s =  tf.train.Saver()\nt = tf.train.Saver()\n"))
  assert _lines(result.known) == [("a.py", 5)]
  assert _lines(result.new) == [("a.py", 6)]
  assert result.stale == 0


def test_equal_findings_count_as_often_as_they_stand():
  twice = "tf.train.Saver()\ntf.train.Saver()\n"
  known = _written(_found(twice))
  assert known.count == 2
  assert len(known.entries) == 1
  result = known.filter(_found(twice + "tf.train.Saver()\n"))
  assert _lines(result.new) == [("a.py", 4)]
  assert known.filter(_found("tf.train.Saver()\n")).stale == 1


def test_entries_of_findings_that_are_mended_are_stale():
  known = _written(_found("tf.train.Saver()\n") + _found("tf.train.Saver()\n", "b/c.py"))
  mended = _found("x = 1\n")
  assert known.filter(mended, examined=["a.py"]).stale == 1
  assert known.filter(mended).stale == 2
  assert known.filter([], examined=["b/d.py"]).stale == 0
  assert known.filter(mended, examined=["a.py"], selected=lambda code: code != "EM401").stale == 0
  os.unlink("a.py")
  assert known.filter([], examined=["b/d.py"]).stale == 1


def test_a_renamed_file_is_known():
  known = _written(_found("tf.train.Saver()\n"))
  os.rename("a.py", "z.py")
  result = known.filter(engine.check_file("z.py"), examined=["z.py"])
  assert (result.new, result.stale) == ([], 0)


def test_a_copy_of_a_file_is_new():
  known = _written(_found("tf.train.Saver()\n"))
  result = known.filter(_found("tf.train.Saver()\n") + _found("tf.train.Saver()\n", "copy.py"))
  assert _lines(result.new) == [("copy.py", 2)]


def test_a_renamed_file_with_a_finding_more():
  known = _written(_found("tf.train.Saver()\n"))
  os.unlink("a.py")
  result = known.filter(_found("tf.train.Saver()\ntf.train.Saver()\n", "z.py"))
  assert (len(result.known), len(result.new)) == (1, 1)


def test_what_could_not_be_checked_is_never_known():
  found = _found("x = (\n")
  known = _written(found)
  assert known.count == 0
  assert known.filter(found).new == found


def test_paths_are_relative_to_the_file_whatever_the_current_folder(project, monkeypatch):
  found = _found("tf.train.Saver()\n", "src/ein ä.py")
  _written(found, "ci.jsonl")
  assert '"src/ein ä.py"' in (project / "ci.jsonl").read_text(encoding="utf-8")
  monkeypatch.chdir(project / "src")
  known = Baseline.read("../ci.jsonl")
  for path in ("ein ä.py", "./ein ä.py", str(project / "src" / "ein ä.py")):
    assert known.filter(engine.check_file(path)).new == []


def test_a_notebook_is_known_by_its_lines_not_by_its_cells():
  def notebook(*sources):
    cells = [{"cell_type": "code", "source": s} for s in sources]
    raw = json.dumps({"cells": cells, "nbformat": 4}).encode()
    return engine.check_bytes(raw, "n.ipynb")

  known = _written(notebook("import tensorflow as tf", "tf.train.Saver()"))
  assert known.filter(notebook("import tensorflow as tf", "x = 1", "tf.train.Saver()")).new == []


def test_the_file_is_sorted_and_one_finding_changes_one_line(project):
  first = _found("tf.train.Saver()\ntf.train.Supervisor()\n", "b.py")
  first += _found("tf.train.Saver()\n")
  _written(first, "one.jsonl")
  random.Random(7).shuffle(first)
  _written(first, "two.jsonl")
  one = (project / "one.jsonl").read_text().splitlines()
  assert one == (project / "two.jsonl").read_text().splitlines()
  assert one[0] == '{"migrator_baseline": 1}'
  assert json.loads(one[1]) == {"path": "a.py", "code": "EM401", "source": "tf.train.Saver()"}
  _written([f for f in first if f.path != "a.py"], "two.jsonl")
  assert (project / "two.jsonl").read_text().splitlines() == one[:1] + one[2:]


def test_an_update_keeps_what_the_run_did_not_look_at():
  known = _written(_found("tf.train.Saver()\n") + _found("tf.train.Supervisor()\n", "b.py"))
  known.updated([], examined=["a.py"]).write("known.jsonl")
  assert [e.path for e in Baseline.read("known.jsonl").entries] == ["b.py"]
  code = next(iter(known.entries)).code
  assert known.updated([], selected=lambda other: other != code).count == 1
  assert known.updated([]).count == 0


def test_a_run_on_a_part_leaves_renamed_files_outside_of_it_alone():
  known = _written(_found("tf.train.Saver()\n") + _found("s = tf.train.Saver()\n", "b/c.py"))
  os.rename("a.py", "z.py")
  os.rename("b/c.py", "b/d.py")
  part = engine.check_file("b/d.py")
  for within, paths in (
    (["b"], ["a.py", "b/d.py"]),
    (["b/d.py"], ["a.py", "b/d.py"]),
    (["./b/../b/"], ["a.py", "b/d.py"]),
    (["."], ["b/d.py"]),
    (None, ["b/d.py"]),
  ):
    stale = known.filter(part, examined=["b/d.py"], within=within).stale
    assert stale == 2 - len(paths)
    new = known.updated(part, examined=["b/d.py"], within=within)
    assert sorted(entry.path for entry in new.entries) == paths
    assert set(new.entries.values()) == {1}


def test_an_update_does_not_count_twice_what_not_all_files_select():
  known = _written(_found("tf.train.Saver()\n"))
  for _ in range(3):
    known = known.updated(engine.check_file("a.py"), selected=lambda code: False)
  assert known.count == 1


def test_a_byte_order_mark_and_other_line_ends_are_read(project):
  found = _found("tf.train.Saver()\n")
  known = _written(found)
  raw = (project / "known.jsonl").read_bytes()
  (project / "known.jsonl").write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))
  assert Baseline.read("known.jsonl") == known


def test_strange_paths_and_lines_come_back(project):
  finding = engine.check_text(HEADER + "tf.train.Saver()  # '\u2028 \\ ä'\n", "a\udce9 \n.py")
  assert _written(finding).filter(finding).new == []


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("", "known.jsonl:1: it is empty"),
    ("[]\n", "known.jsonl:1: no JSON object"),
    ("{}\n", "known.jsonl:1: no baseline file"),
    ('{"migrator_baseline": 9}\n', "known.jsonl:1: a baseline of version 9"),
    ('{"migrator_baseline": 1}\n\n{"path": \n', "known.jsonl:3: no JSON: "),
    ('{"migrator_baseline": 1}\n{"path": 1}\n', "known.jsonl:2: 'path' is missing or no string"),
    ('{"migrator_baseline": 1}\n<<<<<<< HEAD\n', "known.jsonl:2: a merge conflict"),
    (
      '{"migrator_baseline": 1}\n{"path": "a", "code": "EM101", "source": "x", "line": 3}\n',
      "known.jsonl:2: unknown key 'line'",
    ),
    (
      '{"migrator_baseline": 1}\n{"path": "a", "code": "EM101", "source": "x", "count": 0}\n',
      "known.jsonl:2: 'count' must be a positive number",
    ),
    ('{"migrator_baseline": 1}\n' + "[" * 100000 + "\n", "known.jsonl:2: no JSON: "),
  ],
)
def test_a_faulty_file_is_named_with_its_line(project, text, message):
  (project / "known.jsonl").write_text(text)
  with pytest.raises(BaselineError) as caught:
    Baseline.read("known.jsonl")
  assert str(caught.value).startswith(message)


def test_a_file_that_cannot_be_read(project):
  with pytest.raises(BaselineError, match=r"none.jsonl: No such file"):
    Baseline.read("none.jsonl")
  (project / "bytes.jsonl").write_bytes(b"\n\xff")
  with pytest.raises(BaselineError, match=r"bytes.jsonl:2: byte 0xff is not UTF-8"):
    Baseline.read("bytes.jsonl")


def test_both_sides_of_a_merge_are_kept():
  line = '{"path": "a.py", "code": "EM401", "source": "tf.train.Saver()"}\n'
  with open("known.jsonl", "w", encoding="utf-8") as file:
    file.write('{"migrator_baseline": 1}\n' + line + line)
  assert Baseline.read("known.jsonl").count == 2


def test_twenty_thousand_entries_are_all_told_apart():
  entries = {baseline.Entry(f"f{i}.py", "EM401", "x"): 1 for i in range(20000)}
  known = Baseline(os.getcwd(), entries)
  paths = [f"f{i}.py" for i in range(20000)]
  assert known.filter([], examined=paths).stale == 20000
