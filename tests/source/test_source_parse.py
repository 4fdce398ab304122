"""Why a text is no Python 3: the line, the reason, and whether it is Python 2."""

import pytest

from migrator.source import errors, parse


@pytest.mark.parametrize(
  ("text", "line", "construct"),
  [
    ('import a\nprint "starting"\n', 2, "print statement"),
    ("print 'a' % b, c\n", 1, "print statement"),
    ("def process(self, (user_id, ratings)): return user_id\n", 1, "tuple parameter"),
    ("try:\n  f()\nexcept ValueError, e:\n  raise\n", 3, "except X, e"),
    ("raise ValueError, 'bad'\n", 1, "raise X, value"),
    ("exec 'x = 1'\n", 1, "exec statement"),
    ("if a <> b:\n  pass\n", 1, "<> operator"),
    ("x = 0777\n", 1, "number"),
    ("x = 10L\n", 1, "number"),
    ("x = ur'a'\n", 1, "ur string"),
    ("x = `a`\n", 1, "backticks"),
  ],
)
def test_python_2(text, line, construct):
  fault = parse.check(text, "a.py")
  assert fault is not None
  assert fault.code == errors.PYTHON_2
  assert fault.line == line
  assert fault.reason == f"{construct}, line {line}"


@pytest.mark.parametrize(
  ("text", "line"),
  [
    ("def f(:\n  pass\n", 1),
    ("x = 1\ny = (\n", 2),
    ("if a:\nb\n", 2),
    ("def f():\n\tx = 1\n        y = 2\n", 3),
    ("x = 1\ny = \0\n", 2),
    ("x = 'a\n", 1),
  ],
  ids=["parameter", "open-bracket", "indent", "tabs-and-spaces", "null-byte", "open-string"],
)
def test_no_python_at_all(text, line):
  fault = parse.check(text, "a.py")
  assert fault is not None
  assert fault.code == errors.SYNTAX
  assert fault.line == line


@pytest.mark.parametrize(
  "text",
  [
    "print('a')\n",
    "if (n := 3) > 2: pass\n",
    "async def f():\n  async with a as b: await c\n",
    'x = f"{a!r:>{width}}"\n',
    "def f(a, /, b, *, c): ...\n",
    'x = "\\d"\n',
    "\fx = 1\n",
  ],
)
def test_new_and_odd_syntax_parses(text):
  assert parse.check(text, "a.py") is None


def test_expressions_nested_beyond_the_limit():
  fault = parse.check("x = " + "(" * 5000 + ")" * 5000 + "\n", "a.py")
  assert fault is not None
  assert fault.code == errors.SYNTAX
