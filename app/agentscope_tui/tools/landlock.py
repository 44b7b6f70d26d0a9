"""Confines itself with Linux's Landlock, then becomes another program: words are `RULES PROGRAM ...`.

RULES is JSON: `read` and `write` are lists of paths, `network` whether TCP is allowed. What is not below one
of the paths can be neither read nor written, and processes outside can be neither traced nor signalled.
What the program starts inherits all of it.

Landlock hides no names of processes and gives no /tmp of its own, so it is second to a namespace.
The kernel's documentation, userspace-api/landlock, has the numbers.

Standard library only: `inside.py` runs it.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import struct
import sys

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITIES = 64
"""More than any kernel has."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""What may be allowed on something that is no folder."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights there are on files, by version; later ones have as many as the last."""
_TCP = 3
_SCOPES = 3
"""No abstract Unix sockets of processes outside, and no signals to them."""


def _version() -> int:
    """The version of Landlock's interface that this kernel has; 0: none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))))


def confine(read: list[str], write: list[str], network: bool) -> None:
    """Confine this process and all that it will start.

    Raises:
        OSError: the kernel has no Landlock, or does not let us.
    """
    known = _version()
    if not known:
        raise OSError("this kernel has no Landlock")
    files = (1 << _RIGHTS.get(known, _RIGHTS[5])) - 1
    tcp = 0 if network or known < 4 else _TCP
    scopes = _SCOPES if known >= 6 else 0
    attributes = struct.pack("QQQ", files, tcp, scopes)[: 8 if known < 4 else 16 if known < 6 else 24]
    rules = _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    for path in read:
        _allow(rules, path, _READ & files)
    for path in write:
        _allow(rules, path, files)
    if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)
    # What root may do beside files and processes, Landlock leaves: with capabilities, other processes'
    # memory can be read. Whoever cannot drop them has none; past the kernel's last one there is nothing.
    for capability in range(_CAPABILITIES):
        _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_A_FILE
        rule = struct.pack("=Qi", rights, fd)
        _call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(fd)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def main(words: list[str]) -> None:
    """Become the program, confined."""
    rules = json.loads(words[0])
    try:
        confine(rules["read"], rules["write"], rules["network"])
    except OSError as error:
        sys.exit(f"agentscope: cannot confine tools with Landlock: {error.strerror or error}")
    os.execv(words[1], words[1:])
