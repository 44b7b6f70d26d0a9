"""Runs the commands of one session and ends each of them whole: a program of its own, `main` of this module.

FD is a Unix stream socket to the host; both sides send records of `RECORD`: kind, id of the command, value.

host → here    SPAWN with three descriptors: a file with the request as JSON (`argv`, `cwd`, `env`,
                     `limits`, `watch`), stdout, stderr; a fourth is the command's stdin, else empty
               KILL  end that command and all that it started
here → host    READY once
               EXIT  the command ended: value is its exit code, or minus the signal
               OVER  it reached a limit of `watch`: value is the place of its name in `WATCHED`; unless
                     the kernel itself holds it to that, it is being ended
               GONE  nothing that it started is left: value as for EXIT, used where no EXIT came before

Each command has a *keeper*, a fork of this script that is its parent and a child subreaper. So whatever the
command starts (sessions of its own, double forks, cleared environments) stays below the keeper and is found
through /proc. Background processes go on when the command has ended, until the session ends.

If the host dies, the supervisor sees the end of the socket and ends all. If the supervisor dies, each keeper
gets SIGTERM from the kernel and ends its command. If a keeper dies, its processes fall to the supervisor,
also a subreaper, which kills them. Without Linux's prctl and /proc only a command's process group is known:
it is killed when the command ends.

Standard library only: `inside.py` runs it, also inside a sandbox.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from agentscope_tui.tools.limits import WATCHED
from agentscope_tui.tools.process_tree import LINUX, Watch, descendants

SPAWN, KILL, READY, EXIT, GONE, OVER = range(6)
RECORD = struct.Struct("!BIi")

GRACE = 0.1
"""Seconds from SIGTERM to SIGKILL."""

_LOOK = 0.005
_LOOK_LATER = 0.1
"""Seconds between two looks at a tree that is being ended: at first, and when a process does not die of
SIGKILL (it waits for a device)."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

Report = Callable[[int, int], None]
"""Tells the host a kind (EXIT, GONE) and a value of one command."""


def main(words: list[str]) -> None:
    """Serve the descriptor FD until the host is gone; then end every command and return."""
    fd = int(words[0])
    os.set_inheritable(fd, False)
    host = socket.socket(fileno=fd)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    supervisor = _Supervisor(host)
    host.sendall(RECORD.pack(READY, 0, 0))
    try:
        supervisor.serve()
    finally:
        supervisor.end_all()


class _Supervisor:
    def __init__(self, host: socket.socket):
        self._host = host
        self._keepers: dict[int, tuple[int, int]] = {}
        """Read end of a pipe that only the keeper holds open: (id of the command, pid of the keeper)."""
        self._poll = select.poll()
        self._poll.register(host, select.POLLIN)

    def serve(self) -> None:
        while True:
            for fd, _ in self._poll.poll():
                if fd in self._keepers:
                    self._bury(fd)
                elif not self._obey():
                    return

    def end_all(self) -> None:
        for _, pid in self._keepers.values():
            os.kill(pid, signal.SIGTERM)
        for fd in list(self._keepers):
            self._bury(fd)
        self._kill_strays()

    def _obey(self) -> bool:
        """Take one record from the host; False when it is gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self._host, RECORD.size, 4)
        except ConnectionResetError:
            return False
        if len(data) < RECORD.size:
            return False
        for fd in fds:
            os.set_inheritable(fd, False)
        kind, ident, _ = RECORD.unpack(data)
        if kind == SPAWN:
            self._spawn(ident, fds)
        else:
            for number, pid in self._keepers.values():
                if number == ident:
                    os.kill(pid, signal.SIGTERM)
        return True

    def _spawn(self, ident: int, fds: list[int]) -> None:
        report = _reporter(self._host, ident)
        try:
            if len(fds) < 3:  # the kernel drops descriptors that there is no room for
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            alive, held = os.pipe()
            try:
                pid = _fork_keeper(report, *fds)
            except OSError:
                os.close(alive)
                raise
            finally:
                os.close(held)
        except OSError as error:
            _complain(fds[2] if len(fds) >= 3 else 2, "start a command", error.strerror)
            report(GONE, 126)
        else:
            self._keepers[alive] = (ident, pid)
            self._poll.register(alive, select.POLLIN)
        finally:
            for fd in fds:
                os.close(fd)

    def _bury(self, alive: int) -> None:
        """Reap a keeper whose end of the pipe closes; if it was killed, kill what it leaves."""
        os.read(alive, 1)
        self._poll.unregister(alive)
        os.close(alive)
        ident, pid = self._keepers.pop(alive)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code != 0:
            self._kill_strays()
            _reporter(self._host, ident)(GONE, -signal.SIGKILL)

    def _kill_strays(self) -> None:
        """Kill what lives below the supervisor without a keeper."""
        keepers = {pid for _, pid in self._keepers.values()}
        while strays := descendants(os.getpid(), spare=keepers):
            _signal_groups(strays, signal.SIGKILL)
            for pid in strays:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(_LOOK)


def _reporter(host: socket.socket, ident: int) -> Report:
    def report(kind: int, value: int) -> None:
        # A host that is gone needs no report, and ending goes on without it.
        with suppress(BrokenPipeError, ConnectionResetError):
            host.sendall(RECORD.pack(kind, ident, value))

    return report


def _silent(kind: int, value: int) -> None:
    pass


def _isolated(task: Callable[[], None]) -> NoReturn:
    """Run what a fork is for; the fork never goes on into its parent's code."""
    code = 1
    try:
        task()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _fork_keeper(report: Report, request: int, out: int, err: int, source: int = -1) -> int:
    supervisor = os.getpid()
    # Blocked across the fork, so that a SIGTERM never finds a keeper that does not wait for it yet.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    try:
        pid = os.fork()
        if pid == 0:
            _isolated(lambda: _keep(report, supervisor, request, out, err, source))
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})


def _keep(report: Report, supervisor: int, request: int, out: int, err: int, source: int) -> None:
    """Be the parent of one command until nothing that it started is left."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != supervisor:
        return
    os.setsid()
    # Only a signal with a handler is sure to stay pending while it is blocked.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with open(request, "rb", closefd=False) as file:
        file.seek(0)
        wanted = json.load(file)
    command = os.fork()
    if command == 0:
        _isolated(lambda: _execute(wanted, out, err, source))
    for fd in (request, out, err, *([source] if source >= 0 else [])):
        os.close(fd)
    watch = Watch(wanted["watch"])
    while _reap(command, report):
        if watch.wait() == signal.SIGTERM:
            if os.getppid() != supervisor:
                # The host shall learn that the supervisor died, not that its command was ended.
                report = _silent
            _end_tree(command, report)
            break
        reached = watch.reached()
        if reached is not None:
            report(OVER, WATCHED.index(reached))
            if reached != "open_files":
                _end_tree(command, report)
                break
    if not LINUX:
        _send(os.killpg, command, signal.SIGKILL)
    report(GONE, -signal.SIGKILL)


def _reap(command: int, report: Report) -> bool:
    """Collect what has ended and report the command's end; whether any child is left.

    A subreaper has a child for as long as it has a descendant, so this, and not a look at /proc, tells
    that a tree is gone.
    """
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == command:
            report(EXIT, os.waitstatus_to_exitcode(status))


def _end_tree(command: int, report: Report) -> None:
    """SIGTERM to each process of the tree, SIGKILL after `GRACE`, until none is left."""
    start = time.monotonic()
    asked: set[int] = set()
    while _reap(command, report):
        elapsed = time.monotonic() - start
        tree = descendants(os.getpid()) if LINUX else {command: command}
        if elapsed < GRACE:
            # Parents come first, so that a shell does not take the death of its children for its success.
            for pid in [pid for pid in tree if pid not in asked]:
                _send(os.kill if LINUX else os.killpg, pid, signal.SIGTERM)
                # A stopped process takes SIGTERM only when it goes on.
                _send(os.kill if LINUX else os.killpg, pid, signal.SIGCONT)
            asked |= tree.keys()
        else:
            _signal_groups(tree, signal.SIGKILL)
        time.sleep(_LOOK if elapsed < 10 * GRACE else _LOOK_LATER)


def _signal_groups(tree: dict[int, int], signum: int) -> None:
    """Signal whole process groups: unlike a signal to each process, no fork slips through.

    Every group of a tree is its own, since each command starts a session.
    """
    own = os.getpgrp()
    for group in set(tree.values()) - {own}:
        _send(os.killpg, group, signum)
    # A fork that has not come to its own session yet shares the group of whoever ends it.
    for pid in (pid for pid, group in tree.items() if group == own):
        _send(os.kill, pid, signum)


def _send(how: Callable[[int, int], None], target: int, signum: int) -> None:
    # Gone already, or another user's program (setuid), which no signal of ours can end.
    with suppress(ProcessLookupError, PermissionError):
        how(target, signum)


def _execute(wanted: dict[str, Any], out: int, err: int, source: int) -> NoReturn:
    """Become the command. What stops it from starting is said on its stderr: 127 not found, 126 the rest."""
    doing = "start a command"
    try:
        os.setsid()
        if source < 0:
            source = os.open(os.devnull, os.O_RDWR)
        for given, target in ((source, 0), (out, 1), (err, 2)):
            os.dup2(given, target)
        # A program inherits what is ignored: Python ignores two of these, `&` and `nohup` the others.
        for signum in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        doing = "set the limits"
        _limit(wanted["limits"])
        doing = f"enter {wanted['cwd']}"
        os.chdir(wanted["cwd"])
        doing = f"run {wanted['argv'][0]}"
        os.execvpe(wanted["argv"][0], wanted["argv"], wanted["env"])
    except (OSError, ValueError) as error:
        _complain(err, doing, error.strerror if isinstance(error, OSError) else error)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _complain(fd: int, doing: str, reason: object) -> None:
    os.write(fd, f"agentscope: cannot {doing}: {reason}\n".encode(errors="replace"))


def _limit(limits: dict[str, Any]) -> None:
    """Resource limits by name (`cpu` in seconds, `fsize` in bytes, `nofile` ...); never a core file."""
    for name, value in {**limits, "core": 0}.items():
        kind = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(kind)[1]
        # At the soft CPU limit comes SIGXCPU, which tells what happened; at the hard one SIGKILL.
        top = value + 1 if name == "cpu" else value
        if hard != resource.RLIM_INFINITY:
            value, top = min(value, hard), min(top, hard)
        resource.setrlimit(kind, (value, top))


def _prctl(option: int, value: int) -> None:
    if LINUX and ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
