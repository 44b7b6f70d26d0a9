"""Run llama.cpp's own HTTP server, out of the xllamacpp wheel, until standard input is closed.

Usage: serve.py WEIGHTS PORT TEMPLATE. It listens on 127.0.0.1 and calls its model `local`. It runs under the
interpreter that has xllamacpp, not under the one of the tests.
"""

import sys
from pathlib import Path

import xllamacpp


def main() -> None:
    weights, port, template = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {"local"}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = 16384
    params.n_parallel = 2
    params.cpuparams.n_threads = 2
    params.cpuparams_batch.n_threads = 2
    params.warmup = False
    params.use_jinja = True
    params.chat_template = Path(template).read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
