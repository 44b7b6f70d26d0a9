"""The file tools stay in their folder, open nothing but files and folders, and say what is wrong."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from agentscope_tui.tools import files
from agentscope_tui.tools.files import FileError, edit_text, list_folder, read_text, write_text

CAP = 16_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder `work` with a few files, beside a folder `outside` with a secret, and links to all."""
    root, outside = (tmp_path / "work").resolve(), (tmp_path / "outside").resolve()
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (root / "file").write_text("one\ntwo\n")
    (root / "sub" / "inner").write_text("inner")
    links = {
        "link": "file",
        "sub/up": "../file",
        "sublink": "sub",
        "absolute": str(root / "file"),
        "out": str(outside / "secret"),
        "outdir": str(outside),
        "outchain": "outdir/secret",
        "sub/relative": "../../outside/secret",
        "dangling": str(outside / "new"),
        "loop": "loop",
        "null": "/dev/null",
        "self": "/proc/self",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    (root / "sub" / "fifolink").symlink_to("../fifo")
    return root


ESCAPES = [
    "..",
    "../outside/secret",
    "sub/../../outside/secret",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "/proc/self/environ",
    "out",
    "outdir/secret",
    "outchain",
    "sub/relative",
    "sublink/relative",
    "dangling",
    "null",
    "self/environ",
    "sub/../outdir/../outside/secret",
    "../work2/file",
    "../worktree",
]


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_out(root: Path, path: str) -> None:
    calls = [
        lambda: read_text(root, path, CAP),
        lambda: write_text(root, path, "changed"),
        lambda: edit_text(root, path, "secret", "changed"),
        lambda: list_folder(root, path),
    ]
    for call in calls:
        with pytest.raises(FileError, match=f"^path {path} escapes the session directory$"):
            call()
    outside = root.parent / "outside"
    assert [entry.name for entry in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    "path", ["file", "./file", "sub/../file", "link", "sub/up", "absolute", "sublink/up"]
)
def test_links_and_dots_inside_are_fine(root: Path, path: str) -> None:
    assert read_text(root, path, CAP) == ("one\ntwo\n", False)
    assert read_text(root, str(root / path), CAP) == ("one\ntwo\n", False)
    assert edit_text(root, path, "two", "three") == f"edited {path} at line 2"
    assert (root / "file").read_text() == "one\nthree\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "path is empty; name a file"),
        ("sub", "sub is a folder; name a file"),
        (".", ". is a folder; name a file"),
        ("file/", "file/ is a folder; name a file"),
        ("fifo", "fifo is not a regular file"),
        ("sub/fifolink", "sub/fifolink is not a regular file"),
        ("socket", "socket is not a regular file"),
        ("missing", "missing: No such file or directory"),
        ("file/below", "file/below: Not a directory"),
        ("loop", "loop is not a regular file"),
        ("x" * 300, "x" * 300 + ": File name too long"),
        ("nul\0byte", r"'nul\x00byte' is no valid path"),
        ("half\ud800", r"'half\ud800' is no valid path"),
    ],
)
def test_a_path_that_is_no_file(root: Path, path: str, reason: str) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(root)
        server.bind("socket")
    for call in (lambda: read_text(root, path, CAP), lambda: edit_text(root, path, "a", "b")):
        with pytest.raises(FileError) as caught:
            call()
        assert str(caught.value) == reason


@pytest.mark.parametrize("path", ["fifo", "socket", "sub", "loop", "file/below"])
def test_only_files_are_written(root: Path, path: str) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(root)
        server.bind("socket")
    with pytest.raises(FileError, match=path):
        write_text(root, path, "x")


def test_a_folder_swapped_for_a_link_is_never_followed(root: Path) -> None:
    """While one thread swaps a folder for a link that leads out, the other reads through it."""
    (root / "door").mkdir()
    (root / "door" / "secret").write_text("harmless")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(root / "door", root / "aside")
            os.symlink(root.parent / "outside", root / "door")
            os.unlink(root / "door")
            os.rename(root / "aside", root / "door")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen, refused, rounds, end = set(), 0, 0, time.monotonic() + 15
    try:
        while (rounds < 1500 or not refused or not seen) and time.monotonic() < end:
            rounds += 1
            try:
                seen.add(read_text(root, "door/secret", CAP)[0])
                edit_text(root, "door/secret", "harmless", "harmless")
            except FileError:
                refused += 1
    finally:
        done.set()
        swapper.join()
    assert seen == {"harmless"}
    assert refused
    assert (root.parent / "outside" / "secret").read_text() == "secret"


def test_write_makes_folders_and_replaces(root: Path) -> None:
    assert write_text(root, "new/deep/file.txt", "grün\n") == "wrote new/deep/file.txt (6 bytes)"
    assert write_text(root, "new/deep/file.txt", "x") == "wrote new/deep/file.txt (1 bytes)"
    assert (root / "new/deep/file.txt").read_text() == "x"
    assert write_text(root, "sublink/through", "y")
    assert (root / "sub" / "through").read_text() == "y"


def test_write_refuses_half_a_surrogate_pair(root: Path) -> None:
    with pytest.raises(FileError, match="content has half a surrogate pair"):
        write_text(root, "file", "a\ud800b")
    assert (root / "file").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        ("", "old is empty; give the exact text to replace"),
        ("absent", "old occurs 0 times in file; read the file and copy the text exactly"),
        ("o", "old occurs 2 times in file; give more of its surroundings"),
        ("aa", "old occurs 2 times in file; give more of its surroundings"),
    ],
)
def test_edit_wants_one_occurrence(root: Path, old: str, reason: str) -> None:
    (root / "file").write_text("o o aaa")
    with pytest.raises(FileError) as caught:
        edit_text(root, "file", old, "new")
    assert str(caught.value) == reason
    assert (root / "file").read_text() == "o o aaa"


def test_edit_keeps_bytes_that_are_no_text(root: Path) -> None:
    (root / "file").write_bytes(b"\xff\xfe old \x00\r\n")
    edit_text(root, "file", "old", "a longer text")
    assert (root / "file").read_bytes() == b"\xff\xfe a longer text \x00\r\n"


def test_edit_refuses_a_huge_file(root: Path) -> None:
    os.truncate(root / "file", files.MAX_EDIT + 1)
    with pytest.raises(FileError, match="too large to edit"):
        edit_text(root, "file", "a", "b")


def test_read_shows_bytes_that_are_no_text(root: Path) -> None:
    (root / "file").write_bytes(b"a\xffb\xc3")
    assert read_text(root, "file", CAP) == ("a�b�", False)


def test_read_cuts_a_long_file_in_the_middle(root: Path) -> None:
    (root / "file").write_text("ü" * 3000 + "END")
    text, was_cut = read_text(root, "file", 1000)
    assert was_cut
    assert len(text) == 1000
    assert text.startswith("üüü")
    assert text.endswith("üEND")
    assert "characters cut; read parts of it with bash, for example: sed -n '1,200p' file" in text


def test_read_of_a_huge_file_reads_only_its_ends(root: Path) -> None:
    size = 1 << 40
    (root / "file").write_text("START")
    os.truncate(root / "file", size - 3)
    with open(root / "file", "a") as file:
        file.write("END")
    text, was_cut = read_text(root, "file", 1000)
    assert was_cut
    assert text.startswith("START\0")
    assert text.endswith("\0END")
    assert len(text) == 1000
    assert "1,099,511,62" in text
    assert "bytes cut" in text


def test_list_is_sorted_and_marks_folders(root: Path) -> None:
    names = list_folder(root, ".").splitlines()
    assert names == sorted(names)
    assert "sub/" in names
    assert "file" in names
    assert "outdir" in names  # a link, wherever it leads
    assert list_folder(root, "") == list_folder(root, str(root)) == list_folder(root, ".")
    assert list_folder(root, "sublink").splitlines() == ["fifolink", "inner", "relative", "up"]
    (root / "empty").mkdir()
    assert list_folder(root, "empty") == "(empty folder)"


def test_list_shows_odd_names_on_one_line(root: Path) -> None:
    os.mkdir(root / "odd")
    for name in (b"a\nb", b"\xff", b"\x1b[31m", "grün".encode()):
        (root / "odd" / os.fsdecode(name)).touch()
    assert set(list_folder(root, "odd").splitlines()) == {r"'a\nb'", r"'\udcff'", r"'\x1b[31m'", "grün"}


def test_list_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ENTRIES", 5)
    os.mkdir(root / "many")
    for i in range(12):
        (root / "many" / f"{i:02}").touch()
    lines = list_folder(root, "many").splitlines()
    assert lines[:5] == ["00", "01", "02", "03", "04"]
    assert lines[5:] == ["… [7 more of 12 entries not shown; use bash to search] …"]


@pytest.mark.parametrize("path", ["file", "missing"])
def test_list_of_no_folder(root: Path, path: str) -> None:
    with pytest.raises(FileError, match=f"{path}: (Not a directory|No such file)"):
        list_folder(root, path)
