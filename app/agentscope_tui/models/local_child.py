"""The child process of `--model local`: llama.cpp's server, until standard input is closed.

It imports nothing of agentscope. Standard input begins with one line of JSON: `weights`, `context` (tokens of
a slot), `slots`, `threads` (or null) and `key`. Standard output gets one: `address`, or `error`.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def _serve(options: dict[str, Any]) -> tuple[object, dict[str, str]]:
    try:
        xllamacpp = import_module("xllamacpp")

        params = xllamacpp.CommonParams()
        params.model.path = options["weights"]
        params.model_alias = {"local"}
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = [options["key"]]
        params.n_parallel = options["slots"]
        params.n_ctx = options["context"] * options["slots"]
        if options["threads"]:
            params.cpuparams.n_threads = options["threads"]
            params.cpuparams_batch.n_threads = options["threads"]
        params.warmup = False
        params.use_jinja = True
        server = xllamacpp.Server(params)
        return server, {"address": server.listening_address}
    except Exception as error:
        return None, {"error": str(error) or type(error).__name__}


def main() -> None:
    # What llama.cpp itself may print must not get between the lines of this protocol.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server, answer = _serve(json.loads(sys.stdin.readline()))
    print(json.dumps(answer), file=answers, flush=True)
    if server is not None:
        sys.stdin.read()
    # Without waiting for what it still generates: nobody is there to read it.
    os._exit(0)


main()
