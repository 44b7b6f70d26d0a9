"""The graders that run in a process of their own: a Python function, and a regular expression."""

from __future__ import annotations

import ast
import asyncio
import os
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_tui.grading import python_runner
from agentscope_tui.grading.factory import Means, grader_of
from agentscope_tui.grading.grader import Grade, Grader, GraderError

LEFT = f"61.{os.getpid()}"
HANGING = f"62.{os.getpid()}"
"""How long the children of these tests would sleep: what they are known by."""

MODULE = """
import asyncio, os, sys
from decimal import Decimal

def number(answer): return 0.25
def truth(answer, ground_truth): return answer == ground_truth
def decimal(answer): return Decimal("0.5")
def reasoned(answer): return {"reward": 1, "reason": "because"}
def reason_of_many_lines(answer): return {"reward": 0, "reason": "x" * 10_000}
def everything(answer, ground_truth, row, messages, workdir):
    given = answer, ground_truth, row["k"], messages[0]["role"], str(os.listdir(workdir))
    return {"reward": 1, "reason": " ".join(given)}
def keywords(**given): return {"reward": 1, "reason": ",".join(sorted(given))}
def some_and_keywords(row, /, answer, **given):
    return {"reward": 1, "reason": answer + ",".join(sorted(given))}
def defaults(answer, strict=True, *rest): return strict and not rest
def nothing(): return 1
async def later(answer):
    await asyncio.sleep(0)
    return 0.75
async def measured(answer, transcript):
    await asyncio.sleep(0)
    return {"reward": 1, "metrics": {"length": len(answer), "asked": "2 + 2?" in transcript, "calls": 0.5}}
class Judge:
    @staticmethod
    def grade(answer): return 0.5
    def __call__(self, answer): return 0.1
judge = Judge()

def prints(answer):
    print("noise", flush=True); print("more", file=sys.stderr); os.write(1, b"raw\\n" * 100_000)
    return 1
def closes(answer):
    sys.stdout.close()
    return 1
def reads(answer): return {"reward": 1, "reason": repr(sys.stdin.read())}
def leaves_children(answer):
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "LEFT"])
    return 1
def leaves_threads(answer):
    import threading, time
    threading.Thread(target=time.sleep, args=(60,)).start()
    return 1

def inner(): raise ValueError("not\\nso")
def raises(answer):
    print("before")
    inner()
def exits(answer): sys.exit(3)
def dies(answer): os._exit(4)
def recurses(answer): return recurses(answer)
def hangs(answer):
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "HANGING"])
    import time; time.sleep(60)
def text(answer): return "1.0"
def none(answer): return None
def nan(answer): return float("nan")
def no_reward(answer): return {"score": 1}
def metrics_list(answer): return {"reward": 1, "metrics": [1]}
def metric_text(answer): return {"reward": 1, "metrics": {"a": "1"}}
def metric_nan(answer): return {"reward": 1, "metrics": {"a": float("inf")}}
def metric_name(answer): return {"reward": 1, "metrics": {"": 1}}
def wants_more(answer, solution): return 1
not_a_function = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_grader.py").write_text(MODULE.replace("LEFT", LEFT).replace("HANGING", HANGING))
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "needs.py").write_text("import no_such_package\n")
    (tmp_path / "text.py").write_text("def grade(answer): return 1\n")
    return tmp_path


@pytest.fixture
def grader(folder: Path) -> Callable[..., Grader]:
    def make(name: str, timeout: float = 60, python: str | None = None) -> Grader:
        name = name if ":" in name else f"my_grader:{name}"
        return grader_of([name], Means(folder, timeout, python))

    return make


async def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not (held := holds()):
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.02)
    return held


def runs(*words: str) -> bool:
    """Whether a process with just this command line is there (a zombie has none)."""
    line = b"".join(word.encode() + b"\0" for word in words)
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if entry.read_bytes() == line:
                return True
        except (FileNotFoundError, ProcessLookupError):
            continue
    return False


@pytest.mark.parametrize(
    ("name", "grade"),
    [
        ("number", Grade(0.25)),
        ("truth", Grade(1.0)),
        ("decimal", Grade(0.5)),
        ("reasoned", Grade(1.0, "because")),
        ("reason_of_many_lines", Grade(0.0, "x" * 500)),
        ("everything", Grade(1.0, "yes yes v user []")),
        ("keywords", Grade(1.0, "answer,ground_truth,messages,row,transcript,workdir")),
        ("some_and_keywords", Grade(1.0, "yesground_truth,messages,transcript,workdir")),
        ("defaults", Grade(1.0)),
        ("nothing", Grade(1.0)),
        ("later", Grade(0.75)),
        ("Judge.grade", Grade(0.5)),
        ("judge", Grade(0.1)),
        ("prints", Grade(1.0)),
        ("closes", Grade(1.0)),
        ("reads", Grade(1.0, "''")),
        ("leaves_threads", Grade(1.0)),
        ("text:grade", Grade(1.0)),
    ],
)
async def test_a_function_gets_what_it_names_and_gives_a_reward(grader, given, name, grade):
    case = given("yes", "yes", row={"k": "v"}, messages=[{"role": "user", "content": "do"}])
    assert await grader(name).grade(case) == grade


@pytest.mark.parametrize(
    ("name", "message", "detail"),
    [
        ("raises", "my_grader:raises` failed: ValueError: not so", "in inner"),
        ("exits", "failed: SystemExit: 3", "sys.exit(3)"),
        ("dies", "died without a result", ""),
        ("recurses", "failed: RecursionError", "return recurses(answer)"),
        ("text", "returned str: it may return a number", ""),
        ("none", "returned NoneType", ""),
        ("nan", "returned nan: a reward is a finite number", ""),
        ("no_reward", "without 'reward'", ""),
        ("metrics_list", "'metrics' is an object of at most 100 names and numbers", ""),
        ("metric_text", "the metric 'a' is no finite number", ""),
        ("metric_nan", "the metric 'a' is no finite number", ""),
        ("metric_name", "the name of a metric is a text of 1 to 100 characters", ""),
        (
            "wants_more",
            "wants solution; it can have answer, ground_truth, row, messages, transcript, workdir",
            "",
        ),
        ("not_a_function", "my_grader:not_a_function is not a function", ""),
        ("missing", "my_grader has no missing", ""),
        ("nowhere:f", "no module nowhere in ", ""),
        ("my_grader.sub:f", "failed: no module|failed: ModuleNotFoundError", ""),
        (
            "needs:f",
            "failed: ModuleNotFoundError: No module named 'no_such_package'",
            "import no_such_package",
        ),
        ("broken:f", "failed: SyntaxError", "broken.py"),
    ],
)
async def test_a_function_that_fails_is_the_graders_error(grader, given, name, message, detail):
    with pytest.raises(GraderError, match=message) as caught:
        await grader(name).grade(given("x"))
    assert "\n" not in str(caught.value)
    assert detail in caught.value.detail
    assert "python_runner" not in caught.value.detail
    assert len(caught.value.detail) < 20_000


async def test_what_the_function_printed_is_in_the_detail(grader, given):
    with pytest.raises(GraderError) as caught:
        await grader("raises").grade(given("x"))
    assert caught.value.detail.endswith("It printed:\nbefore\n")


async def test_odd_text_comes_through_unchanged(grader, given):
    odd = "\ud800 \0 \u2028 \x1b[2J " + "é" * 300_000
    assert (await grader("truth").grade(given(odd, odd))).reward == 1


async def test_children_that_are_left_behind_die(grader, given):
    assert (await grader("leaves_children").grade(given("x"))).reward == 1
    assert await eventually(lambda: not runs("sleep", LEFT))


async def test_a_function_that_hangs_is_killed_with_its_children(grader, given):
    with pytest.raises(GraderError, match=r"ran longer than 1\.5 s \(setting grading\.timeout\)"):
        await grader("hangs", timeout=1.5).grade(given("x"))
    assert await eventually(lambda: not runs("sleep", HANGING))


async def test_cancelling_kills_the_process_and_its_children(grader, given):
    task = asyncio.create_task(grader("hangs").grade(given("x")))
    assert await eventually(lambda: runs("sleep", HANGING))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await eventually(lambda: not runs("sleep", HANGING))


async def test_the_process_dies_with_its_host(folder):
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from agentscope_tui.grading.runner_process import run_job\n"
        "job = {'function': 'my_grader:hangs', 'folder': sys.argv[1], 'values': {'answer': 'x'}}\n"
        "asyncio.run(run_job(job, python=sys.executable, folder=Path(sys.argv[1]), timeout=60))"
    )
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(folder))
    assert await eventually(lambda: runs("sleep", HANGING))
    host.kill()
    await host.wait()
    assert await eventually(lambda: not runs("sleep", HANGING))


async def test_another_interpreter_runs_the_function(grader, given, folder):
    venv.create(folder / "env", with_pip=False)
    (folder / "where.py").write_text("import sys\ndef f(): return {'reward': 1, 'reason': sys.prefix}")
    grade = await grader("where:f", python="env/bin/python").grade(given("x"))
    assert grade.reason == str(folder / "env")


async def test_an_interpreter_that_is_none_is_the_graders_error(grader, given, folder):
    fake = folder / "fake"
    fake.write_text("not a program")
    fake.chmod(0o755)
    with pytest.raises(GraderError, match="cannot start"):
        await grader("number", python="./fake").grade(given("x"))
    with pytest.raises(GraderError, match="died without a result"):
        await grader("number", python="true").grade(given("x" * 1_000_000))


def test_the_script_needs_no_newer_python_and_only_the_standard_library():
    source = Path(python_runner.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }
    assert imported <= sys.stdlib_module_names
    assert not any(isinstance(node, ast.Match) for node in ast.walk(tree))


@pytest.mark.parametrize(
    ("name", "answer", "truth", "reward"),
    [
        ("regex:^\\d+$", "42", None, 1),
        ("regex:^\\d+$", "42 apples", None, 0),
        ("regex:(?i)paris|london", "In PARIS.", None, 1),
        ("regex", "abbbc", "ab+c", 1),
        ("regex", "ac", "ab+c", 0),
    ],
)
async def test_regex_rewards(given, name, answer, truth, reward):
    grader = grader_of([name], Means(Path.cwd(), 60))
    assert (await grader.grade(given(answer, truth))).reward == reward


async def test_a_regex_that_backtracks_for_ever_is_stopped(given):
    grader = grader_of(["regex:(a+)+$"], Means(Path.cwd(), 1.5))
    with pytest.raises(GraderError, match=r"ran longer than 1\.5 s"):
        await grader.grade(given("a" * 60 + "b"))


async def test_a_ground_truth_that_is_no_pattern_is_the_graders_error(given):
    grader = grader_of(["regex"], Means(Path.cwd(), 60))
    with pytest.raises(GraderError, match=r"failed: re\.error: "):
        await grader.grade(given("x", "("))


async def test_no_descriptor_is_left_open(grader, given):
    await grader("number").grade(given("x"))
    before = len(os.listdir("/proc/self/fd"))
    for name in ("number", "raises", "dies", "number"):
        try:
            await grader(name).grade(given("x"))
        except GraderError:
            continue
    assert await eventually(lambda: len(os.listdir("/proc/self/fd")) <= before)


async def test_a_function_may_give_metrics_and_read_the_transcript(grader, given):
    case = given("four", messages=[{"role": "user", "content": "2 + 2?"}])
    grade = await grader("measured").grade(case)
    assert grade == Grade(1.0, "", {"length": 4.0, "asked": 1.0, "calls": 0.5})
