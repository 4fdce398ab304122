"""`[tool.migrator]` of pyproject.toml."""

import os

import pytest
from click.testing import CliRunner

from migrator import cli
from migrator.cli import config


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)


def _write(text, name="pyproject.toml"):
  os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
  with open(name, "w") as file:
    file.write(text)


def test_all_options():
  _write(RULE, "ci/ACME001-x.toml")
  _write(
    '[tool.migrator]\nselect = ["EM1"]\nextend-select = ["EM5"]\nignore = ["em110"]\nexclude = ["gen"]\n'
    'extend-exclude = ["old"]\nper-file-ignores = {"tests/*" = ["EM110"]}\nrules = ["ci"]\n'
    'baseline = "known.jsonl"\ncache-dir = ".cache"\nsource-version = 1\ntarget = "loop"\n'
  )
  settings = config.load()
  assert settings == config.Config(
    root=os.getcwd(),
    select=("EM1",),
    extend_select=("EM5",),
    ignore=("EM110",),
    per_file_ignores=(("tests/*", ("EM110",)),),
    exclude=("gen", "old"),
    rules=(os.path.join(os.getcwd(), "ci"),),
    baseline=os.path.join(os.getcwd(), "known.jsonl"),
    cache_dir=os.path.join(os.getcwd(), ".cache"),
    source_version=1,
    target="loop",
  )


def test_the_nearest_file_with_the_table_counts():
  _write('[tool.migrator]\ntarget = "fit"\n')
  _write("[tool.ruff]\nline-length = 80\n", "a/pyproject.toml")
  os.makedirs("a/b")
  assert config.load("a/b").target == "fit"
  _write('[tool.migrator]\ntarget = "loop"\n', "a/b/pyproject.toml")
  assert config.load("a/b").target == "loop"


def test_a_byte_order_mark_is_no_fault():
  with open("pyproject.toml", "wb") as file:
    file.write(b'\xef\xbb\xbf[tool.migrator]\r\ntarget = "loop"\r\n')
  assert config.load().target == "loop"


@pytest.mark.parametrize(
  ("text", "message"),
  [
    (
      "[tool.migrator]\nselct = []\n",
      ":2: [tool.migrator] has no option 'selct'; do you mean select?",
    ),
    ("[tool.migrator]\n\nxyz = 3\n", ":3: [tool.migrator] has no option 'xyz'; there are select,"),
    ("[tool]\nmigrator = {slect = []}\n", ":2: [tool.migrator] has no option 'slect'"),
    ("[tool]\nmigrator.slect = []\n", ":2: [tool.migrator] has no option 'slect'"),
    ('[a]\nselect = 3\n[tool.migrator]\n"select" = 3\n', ":4: [tool.migrator] select must be"),
    ('[tool.migrator]\nignore = [\n"EM1",\n"EM41O"]\n', ":2: [tool.migrator] ignore: no rule"),
    ('[tool.migrator]\nignore = ["run-confg"]\n', "do you mean EM101?"),
    ("[tool.migrator]\nper-file-ignores = 3\n", ":2: [tool.migrator] per-file-ignores must be"),
    (
      '[tool.migrator.per-file-ignores]\n"a*" = ["EM1"]\n"b*" = "EM1"\n',
      ":3: [tool.migrator] per-file-ignores: 'b*' must be a list of strings",
    ),
    (
      '[tool.migrator.per-file-ignores]\n"a*" = ["XX"]\n',
      ":2: [tool.migrator] per-file-ignores: no rule begins with 'XX'",
    ),
    ("[tool.migrator]\nbaseline = []\n", ":2: [tool.migrator] baseline must be a path"),
    ('[tool.migrator]\nrules = "x"\n', ":2: [tool.migrator] rules must be a list of strings"),
    ('[tool.migrator]\nselect = "EM1"\n', "select must be a list of strings"),
    ('[tool.migrator]\nselect = ["XX"]\n', "select: no rule begins with 'XX'"),
    ("[tool.migrator]\nsource-version = 3\n", "source-version must be 1 or 2, is 3"),
    ("[tool.migrator]\nsource-version = true\n", "source-version must be 1 or 2"),
    ('[tool.migrator]\ntarget = "keras"\n', "target must be one of auto, fit, loop"),
    ("[tool]\nmigrator = 3\n", "[tool.migrator] must be a table"),
    ("[tool.migrator\n", "line 1"),
  ],
)
def test_a_faulty_file_is_named_with_the_key(text, message):
  _write(text)
  result = CliRunner().invoke(cli.main, ["lint", "."])
  assert result.exit_code == 2
  assert "pyproject.toml" in result.output
  assert message in result.output
  assert result.output.startswith("Error: ")
  assert result.output.count("\n") == 1


RULE = '''
code = "ACME001"
name = "acme-run-config"
message = "`{symbol}` is made by hand."
why = "It is known."
became = "Something else."
url = "https://example.com"
fix = "manual"
removed_in = ""
[[match]]
symbols = ["acme.make"]
[[examples]]
bad = """
import acme
acme.make()
"""
'''
TWO = "import tensorflow as tf\ntf.compat.v1.train.Saver()\ntf.train.load_checkpoint('x')\n"


@pytest.mark.parametrize(
  ("table", "arguments", "codes"),
  [
    ('select = ["EM4"]\nignore = ["EM401"]', [], []),
    # --select begins anew; --ignore and --extend-select add to the configuration.
    ('select = ["EM4"]\nignore = ["EM401"]', ["--select=EM5"], ["EM503"]),
    ('ignore = ["EM401"]', ["--select=EM401"], ["EM401"]),
    ('ignore = ["EM401"]', ["--ignore=EM503"], []),
    ('ignore = ["EM4"]', ["--extend-select=EM401"], ["EM401", "EM503"]),
    ('select = ["EM5"]', ["--extend-select=EM4"], ["EM401", "EM503"]),
    ('select = ["EM5"]\nextend-select = ["EM401"]', [], ["EM401", "EM503"]),
    # What the command line says outweighs what is longer in the configuration.
    ('select = ["EM401"]', ["--ignore=EM4"], []),
    ('ignore = ["EM401"]', ["--extend-select=EM4"], ["EM401", "EM503"]),
    ('select = ["ALL"]\nignore = ["em401"]', [], ["EM503"]),
    ('select = ["EM4"]', ["--select=all"], ["EM401", "EM503"]),
    ('ignore = ["EM5"]', ["--isolated"], ["EM401", "EM503"]),
  ],
)
def test_the_command_line_wins(table, arguments, codes):
  _write(f"[tool.migrator]\n{table}\n")
  _write(TWO, "a.py")
  assert _codes("a.py", *arguments) == codes


def _codes(*arguments, code=None):
  """The codes that lint reports, by line."""
  result = CliRunner().invoke(cli.main, ["lint", *arguments, "--output-format=concise", "-q"])
  assert result.exit_code == (code if code is not None else 1 if result.output else 0)
  return [line.split()[1] for line in result.output.splitlines()]


# -- which file ----------------------------------------------------------------


def test_each_file_has_the_nearest_configuration():
  _write('[tool.migrator]\nignore = ["EM401"]\n')
  _write('[tool.migrator]\nignore = ["EM503"]\n', "sub/pyproject.toml")
  _write("[tool.ruff]\n", "sub/deep/pyproject.toml")
  for name in ("a.py", "sub/b.py", "sub/deep/c.py"):
    _write(TWO, name)
  assert _codes(".") == ["EM503", "EM401", "EM401"]
  assert _codes("sub/b.py", "a.py") == ["EM401", "EM503"]


def test_a_project_elsewhere_has_its_own_configuration(tmp_path, monkeypatch):
  _write('[tool.migrator]\nignore = ["EM401"]\nexclude = ["gen.py"]\n', "there/pyproject.toml")
  _write(TWO, "there/src/a.py")
  _write(TWO, "there/gen.py")
  _write('[tool.migrator]\nselect = ["EM4"]\n', "here/pyproject.toml")
  monkeypatch.chdir("here")
  assert _codes(os.path.join("..", "there")) == ["EM503"]
  assert _codes(str(tmp_path / "there" / "src" / "a.py")) == ["EM503"]


def test_files_without_a_configuration_have_that_of_this_folder(monkeypatch):
  _write(TWO, "elsewhere/a.py")
  _write('[tool.migrator]\nignore = ["EM401"]\n', "here/pyproject.toml")
  monkeypatch.chdir("here")
  assert _codes("../elsewhere/a.py") == ["EM503"]


def test_stdin_has_the_configuration_of_its_name():
  _write('[tool.migrator]\nignore = ["EM401"]\n', "sub/pyproject.toml")
  arguments = ["lint", "-", "--stdin-filename", "sub/a.py", "-q", "--output-format=concise"]
  result = CliRunner().invoke(cli.main, arguments, input=TWO)
  assert result.output.startswith("sub/a.py:3:1: EM503 ")


def test_a_file_that_is_named_with_config_counts_for_all():
  _write('[tool.migrator]\nignore = ["EM4"]\n')
  _write(TWO, "a.py")
  _write('[tool.migrator]\nselect = ["EM4"]\n', "ci/pyproject.toml")
  _write('select = ["EM4"]\n', "ci/lint.toml")
  assert _codes("a.py", "--config=ci/pyproject.toml") == ["EM401"]
  assert _codes("a.py", "--config=ci/lint.toml") == ["EM401"]


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("[tool.ruff]\n", "ci/pyproject.toml: it has no table [tool.migrator]"),
    ("[tool.migrator]\nselect = 3\n", "ci/pyproject.toml:2: [tool.migrator] select must be"),
  ],
)
def test_a_faulty_file_of_config(text, message):
  _write(text, "ci/pyproject.toml")
  result = CliRunner().invoke(cli.main, ["lint", "--config=ci/pyproject.toml"])
  assert result.exit_code == 2
  assert message in result.output


def test_a_faulty_file_below_the_paths_does_not_cost_the_others():
  _write('[tool.migrator]\nignore = ["EM401"]\n')
  _write("[tool.migrator]\nselct = 3\n", "sub/pyproject.toml")
  _write("[project\n", "other/pyproject.toml")  # does not speak of us
  for name in ("a.py", "sub/b.py", "other/c.py"):
    _write(TWO, name)
  result = CliRunner().invoke(cli.main, ["lint", "--output-format=concise"])
  assert result.exit_code == 2
  assert "pyproject.toml:2: [tool.migrator] has no option 'selct'" in result.output
  assert result.output.count("EM503") == 3
  assert "EM401" not in result.output


def test_rules_of_a_package_are_for_that_package():
  for name in ("one", "two", "three"):
    code = f"ACME00{len(name)}"
    rule = RULE.replace("ACME001", code).replace("acme-run-config", f"acme-{name}")
    _write(rule, f"{name}/ci/{code}-x.toml")
    _write('[tool.migrator]\nrules = ["ci"]\n' if name != "two" else "", f"{name}/pyproject.toml")
    _write("import acme\nacme.make()\n", f"{name}/a.py")
  os.rename(os.path.join("three", "ci", "ACME005-x.toml"), os.path.join("three", "ci", "x.toml"))
  assert _codes(".") == ["ACME003", "ACME005"]
  assert _codes("two") == []
  assert _codes("one/a.py") == ["ACME003"]
  assert _codes(".", "--select=ACME005") == ["ACME005"]


# -- files ---------------------------------------------------------------------


@pytest.mark.parametrize(
  ("table", "arguments"),
  [
    ('exclude = ["gen/", "b.py"]', []),
    ('exclude = ["./gen/", "./b.py"]', []),
    ("", ["--exclude=./gen,./b.py"]),
    ('exclude = ["gen/"]\nextend-exclude = ["b.py"]', []),
    ('exclude = ["gen/"]', ["--extend-exclude=b.py"]),
    ('exclude = ["a.py"]', ["--exclude=gen,b.py"]),
    ("", ["--exclude=gen", "--exclude", "b.py"]),
  ],
)
def test_what_is_left_out(table, arguments):
  _write(f"[tool.migrator]\n{table}\n")
  for name in ("a.py", "b.py", "gen/c.py"):
    _write("import tensorflow as tf\ntf.compat.v1.train.Saver()\n", name)
  assert _codes(".", *arguments) == ["EM401"]


def test_a_named_file_is_left_out_only_by_force():
  _write('[tool.migrator]\nexclude = ["gen/"]\n')
  _write(TWO, "gen/a.py")
  assert _codes("gen/a.py") == ["EM401", "EM503"]
  assert _codes("gen/a.py", "--force-exclude") == []
  arguments = ["lint", "-", "--stdin-filename=gen/a.py", "--force-exclude"]
  assert CliRunner().invoke(cli.main, arguments, input=TWO).exit_code == 0


@pytest.mark.parametrize(
  ("pattern", "files"),
  [
    ("tests/*", ["src/tests/b.py", "src/a.py"]),
    ("./tests/*", ["src/tests/b.py", "src/a.py"]),
    ("!./src", ["src/tests/b.py", "src/a.py"]),
    ("tests", ["src/a.py"]),
    ("**/tests/**", ["src/a.py"]),
    ("a.py", ["src/tests/b.py", "tests/deep/b.py"]),
    ("!src/", ["src/tests/b.py", "src/a.py"]),
  ],
)
@pytest.mark.parametrize("where", ["table", "command line"])
def test_per_file_ignores(pattern, files, where):
  for name in ("src/tests/b.py", "src/a.py", "tests/deep/b.py", "tests/a.py"):
    _write(TWO, f"project/{name}")
  if where == "table":
    text = f'[tool.migrator.per-file-ignores]\n"{pattern}" = ["EM401", "EM503"]\n'
    _write(text, "project/pyproject.toml")
    arguments = []
  else:
    os.chdir("project")
    arguments = ["--per-file-ignores", f"{pattern}:EM401,EM5"]
  result = CliRunner().invoke(
    cli.main, ["lint", "-q", "--select=EM401", "--output-format=concise", *arguments]
  )
  found = {line.split(":")[0] for line in result.output.splitlines()}
  prefix = os.path.join(".", "project") if where == "table" else "."
  assert found == {os.path.join(prefix, *name.split("/")) for name in files}


def test_patterns_may_be_absolute():
  for name in ("src/a.py", "b.py"):
    _write(TWO, name)
  here = os.getcwd().replace(os.sep, "/")
  assert _codes(".", "--select=EM401", f"--exclude={here}/src/*.py") == ["EM401"]
  assert _codes(".", "--select=EM401", f"--per-file-ignores={here}/src:EM401") == ["EM401"]


def test_pairs_of_patterns_and_codes_can_follow_each_other():
  for name in ("a.py", "b.py", "c.py"):
    _write(TWO, name)
  pairs = "a.py:EM401,EM503,b.py:EM4"
  assert _codes("a.py", "b.py", "c.py", f"--per-file-ignores={pairs}") == [
    "EM503",
    "EM401",
    "EM503",
  ]


@pytest.mark.parametrize("given", ["EM401", ":EM401", "a.py:", "a.py:EM777"])
def test_faulty_pairs(given):
  result = CliRunner().invoke(cli.main, ["lint", f"--per-file-ignores={given}"])
  assert result.exit_code == 2
  assert result.output.startswith("Error: --per-file-ignores: ")
