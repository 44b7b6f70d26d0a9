"""What a scratch folder held at each call comes back as it was; what is hostile in it does no harm."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.store import blobs, snapshots
from agentscope_tui.store.blobs import Blobs, Damaged, TooMuch
from agentscope_tui.store.snapshots import Snapshots


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots")


def picture(folder: Path) -> dict[str, object]:
    """All that a folder holds: kind, mode, and content or target."""
    seen: dict[str, object] = {}
    for place in sorted(os.walk(os.fsencode(folder))):
        for name in [*place[1], *place[2]]:
            path = os.path.join(place[0], name)
            facts = os.lstat(path)
            key = os.fsdecode(os.path.relpath(path, os.fsencode(folder)))
            if stat.S_ISLNK(facts.st_mode):
                seen[key] = os.readlink(path)
            elif stat.S_ISREG(facts.st_mode):
                content = Path(os.fsdecode(path)).read_bytes()
                seen[key] = (stat.S_IMODE(facts.st_mode), content, facts.st_mtime_ns)
            elif stat.S_ISDIR(facts.st_mode):
                seen[key] = stat.S_IMODE(facts.st_mode)
    return seen


def restored(kept: Snapshots, call: int, into: Path) -> dict[str, object]:
    into.mkdir()
    kept.restore(call, into)
    return picture(into)


def test_each_call_has_its_own_files_back(tmp_path: Path, files: Path, kept: Snapshots):
    (files / "a.txt").write_text("one")
    (files / "gone.txt").write_text("soon")
    (files / "deep" / "empty").mkdir(parents=True)
    (files / "run.sh").write_text("#!/bin/sh")
    (files / "run.sh").chmod(0o750)
    (files / "link").symlink_to("/etc/passwd")
    (files / "nowhere").symlink_to("not/there")
    os.utime(files / "a.txt", ns=(1_000_000_007, 1_000_000_007))
    first = picture(files)
    kept.take(files, 1)
    (files / "a.txt").write_text("two")
    (files / "gone.txt").unlink()
    (files / "deep" / "new").write_bytes(b"\0" * 3_000_000)
    (files / "run.sh").chmod(0o500)
    second = picture(files)
    kept.take(files, 2)
    assert restored(kept, 1, tmp_path / "one") == first
    assert restored(kept, 2, tmp_path / "two") == second
    assert first != second


def test_only_what_changed_is_read_again(files: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch):
    read: list[int] = []
    keep_file = Blobs.keep_file

    def counted(self: Blobs, file: int, size: int) -> str:
        read.append(size)
        return keep_file(self, file, size)

    monkeypatch.setattr(Blobs, "keep_file", counted)
    monkeypatch.setattr(snapshots, "_RACY", 0)
    for number in range(20):
        (files / f"{number}").write_text(f"{number:03}")
    kept.take(files, 1)
    assert len(read) == 20
    (files / "7").write_text("seven")
    kept.take(files, 2)
    assert read[20:] == [5]


def test_a_change_that_leaves_size_and_times_is_seen(tmp_path: Path, files: Path, kept: Snapshots):
    file = files / "a"
    file.write_text("one")
    facts = file.stat()
    kept.take(files, 1)
    file.write_text("two")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    kept.take(files, 2)
    (tmp_path / "back").mkdir()
    kept.restore(2, tmp_path / "back")
    assert (tmp_path / "back" / "a").read_text() == "two"


def test_names_and_special_files_do_no_harm(tmp_path: Path, files: Path, kept: Snapshots):
    for name in (b"-rf", b"new\nline", b"\xff\xfe", b"a b", "ünï".encode(), b"\x1b[31m"):
        with open(os.path.join(os.fsencode(files), name), "wb") as file:
            file.write(name)
    before = picture(files)
    os.mkfifo(files / "pipe")
    (files / "loop").symlink_to("loop")
    kept.take(files, 1)
    assert restored(kept, 1, tmp_path / "back") == {**before, "loop": b"loop"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_counted(files: Path, kept: Snapshots):
    (files / "closed").write_text("x")
    (files / "closed").chmod(0)
    (files / "open").write_text("y")
    snapshot = kept.take(files, 1)
    assert snapshot is not None
    assert snapshot.left_out == 1


def test_a_link_in_the_way_is_not_followed(tmp_path: Path, files: Path, kept: Snapshots):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("canary")
    (files / "folder").symlink_to(outside)
    kept.take(files, 1)
    told = b"".join(blob.read_bytes() for blob in (tmp_path / "snapshots").rglob("*") if blob.is_file())
    assert b"canary" not in told


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("MOST_FILES", 3, "more than 3 files"),
        ("MOST_BYTES", 1 << 20, "more than 1 MiB"),
        ("DEEPEST", 1, "more than 1 folders in each other"),
    ],
)
def test_a_folder_with_too_much_is_refused(
    files: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, words: str
):
    monkeypatch.setattr(snapshots, limit, value)
    (files / "a" / "b" / "c").mkdir(parents=True)
    (files / "a" / "large").write_bytes(bytes(2 << 20))
    (files / "a" / "small").write_text("x")
    with pytest.raises(TooMuch, match=words):
        kept.take(files, 1)
    assert kept.calls() == {}


def test_a_session_keeps_only_so_much(
    tmp_path: Path, files: Path, kept: Snapshots, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(blobs, "MOST_KEPT", 3 << 20)
    for call in (1, 2):
        (files / "a").write_bytes(bytes([call]) * (1 << 20))
        kept.take(files, call)
    (files / "a").write_bytes(b"x" * (2 << 20))
    with pytest.raises(TooMuch):
        kept.take(files, 3)
    assert sorted(kept.calls()) == [1, 2]
    # As seen from another process, which goes on with it.
    with pytest.raises(TooMuch):
        Snapshots(tmp_path / "snapshots").take(files, 3)
    assert not (tmp_path / "snapshots" / "blobs" / "draft").exists()


def test_all_of_it_is_for_the_users_eyes_only(tmp_path: Path, files: Path, kept: Snapshots):
    os.umask(0o022)
    (files / "a").write_text("x")
    kept.take(files, 1)
    for path in [tmp_path / "snapshots", *(tmp_path / "snapshots").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_shared_snapshots_outlive_the_session_that_made_them(tmp_path: Path, files: Path, kept: Snapshots):
    (files / "deep").mkdir()
    for call in (1, 2, 3):
        (files / "deep" / "a").write_text(str(call))
        kept.take(files, call)
    other = Snapshots(tmp_path / "other")
    kept.share(other, 2)
    shutil.rmtree(tmp_path / "snapshots")
    assert sorted(other.calls()) == [1, 2]
    assert "deep/a" in restored(other, 2, tmp_path / "back")
    assert (tmp_path / "back" / "deep" / "a").read_text() == "2"


def test_a_walk_that_is_stopped_keeps_nothing(files: Path, kept: Snapshots):
    (files / "a").write_text("x")
    kept.stop()
    assert kept.take(files, 1) is None
    assert kept.calls() == {}


def test_a_folder_that_changes_meanwhile_is_kept_as_far_as_it_is_there(files: Path, kept: Snapshots):
    done = threading.Event()

    def stir() -> None:
        number = 0
        while not done.is_set():
            number = (number + 1) % 50
            target = files / f"{number}"
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target, ignore_errors=True)
            else:
                target.unlink(missing_ok=True)
            match number % 3:
                case 0:
                    target.mkdir()
                case 1:
                    target.symlink_to("/etc")
                case _:
                    target.write_text("x")

    stirring = threading.Thread(target=stir)
    stirring.start()
    try:
        taken = [kept.take(files, call) for call in range(1, 40)]
    finally:
        done.set()
        stirring.join()
    assert None not in taken


@pytest.mark.parametrize("name", ["..", ".", "", "../up", "/abs", "a/b", "a\0b", "\ud800", 5])
def test_a_strangers_list_leads_nowhere(tmp_path: Path, name: object):
    place = tmp_path / "snapshots"
    content = hashlib.sha256(b"bad").hexdigest()
    key = name if isinstance(name, str) else "x"
    entry = ["file", 0o600, content, 0] if isinstance(name, str) else ["file", 0o600, content, "now"]
    listed = json.dumps({key: entry}).encode()
    folder = hashlib.sha256(listed).hexdigest()
    for data in (b"bad", listed):
        digest = hashlib.sha256(data).hexdigest()
        blob = place / "blobs" / digest[:2] / digest
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(data)
    (place / "calls.jsonl").write_text(json.dumps({"call": 1, "folder": folder, "files": 1, "size": 3}))
    (tmp_path / "inside" / "target").mkdir(parents=True)
    with pytest.raises(Damaged):
        Snapshots(place).restore(1, tmp_path / "inside" / "target")
    assert list((tmp_path / "inside").iterdir()) == [tmp_path / "inside" / "target"]


def test_what_was_altered_is_not_restored(tmp_path: Path, files: Path, kept: Snapshots):
    (files / "a").write_text("original")
    kept.take(files, 1)
    digest = hashlib.sha256(b"original").hexdigest()
    (tmp_path / "snapshots" / "blobs" / digest).write_text("altered!")
    (tmp_path / "back").mkdir()
    with pytest.raises(Damaged):
        kept.restore(1, tmp_path / "back")
    with pytest.raises(Damaged, match="not kept"):
        kept.restore(2, tmp_path / "back")


def test_what_an_earlier_version_kept_comes_back(tmp_path: Path, files: Path, kept: Snapshots):
    (files / "a").write_text("one")
    kept.take(files, 1)
    for blob in [*(tmp_path / "snapshots" / "blobs").iterdir()]:
        folder = blob.parent / blob.name[:2]
        folder.mkdir(exist_ok=True)
        blob.rename(folder / blob.name)
    other = Snapshots(tmp_path / "other")
    kept.share(other, 1)
    assert restored(kept, 1, tmp_path / "back") == restored(other, 1, tmp_path / "again") == picture(files)


def test_an_empty_folder_takes_no_blob(tmp_path: Path, files: Path, kept: Snapshots):
    kept.take(files, 1)
    assert [path.name for path in (tmp_path / "snapshots").iterdir()] == ["calls.jsonl"]
    other = Snapshots(tmp_path / "other")
    kept.share(other, 1)
    assert restored(kept, 1, tmp_path / "back") == restored(other, 1, tmp_path / "again") == {}


CONTENTS = st.one_of(st.none(), st.binary(max_size=12), st.sampled_from(["link", "folder"]))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), CONTENTS, max_size=6), min_size=1, max_size=4))
def test_any_history_of_a_folder_comes_back(tmp_path_factory: pytest.TempPathFactory, history: list[dict]):
    base = tmp_path_factory.mktemp("history")
    files, kept = base / "files", Snapshots(base / "kept")
    files.mkdir()
    pictures = []
    for call, changes in enumerate(history, start=1):
        for name, content in changes.items():
            path = files / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            if content == "link":
                path.symlink_to("a")
            elif content == "folder":
                (path / "in").mkdir(parents=True)
                (path / "in" / "file").write_text(name)
            elif content is not None:
                path.write_bytes(content)
        kept.take(files, call)
        pictures.append(picture(files))
    for call, seen in enumerate(pictures, start=1):
        assert restored(kept, call, base / f"back{call}") == seen
