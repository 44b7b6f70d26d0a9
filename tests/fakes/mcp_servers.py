"""Small MCP servers as processes: of the standard library only, so that they start at once."""

from __future__ import annotations

import shlex
import sys
import textwrap
from pathlib import Path

SMALL_SERVER = '''
import json, os, sys, threading, time

NAME = "small server"
TEXT = {"type": "string"}
TOOLS = []
calls = {}

def tool(function=None, *, name=None, schema=None, **declared):
    """Offer a function; its parameters are texts."""
    if function is None:
        return lambda function: tool(function, name=name, schema=schema, **declared)
    if schema is None:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        schema = {"type": "object", "properties": {n: TEXT for n in names}, "required": list(names)}
    calls[name or function.__name__] = function
    TOOLS.append({"name": name or function.__name__, "description": function.__doc__,
                  "inputSchema": schema, **declared})

def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def notify(method, **params):
    send(method=f"notifications/{method}", params=params)

def progress(number, total=None, message=None):
    values = {"progress": number, "total": total, "message": message}
    notify("progress", progressToken=token, **{k: v for k, v in values.items() if v is not None})

def answer(id, params):
    try:
        result = calls[params["name"]](**params.get("arguments", {}))
    except Exception as error:
        result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    if isinstance(result, str):
        result = {"content": [{"type": "text", "text": result}]}
    send(id=id, result=result)

def serve():
    global token
    for line in sys.stdin:
        message = json.loads(line)
        id, params = message.get("id"), message.get("params") or {}
        match message["method"]:
            case "initialize":
                send(id=id, result={"protocolVersion": params["protocolVersion"],
                                    "capabilities": {"tools": {}, "logging": {}},
                                    "serverInfo": {"name": NAME, "version": "1"}})
            case "tools/list":
                send(id=id, result={"tools": TOOLS})
            case "tools/call":
                token = params.get("_meta", {}).get("progressToken")
                threading.Thread(target=answer, args=(id, params), daemon=True).start()
            case "notifications/cancelled":
                open("cancelled", "w").close()
            case _ if id is not None:
                send(id=id, error={"code": -32601, "message": "no such method"})
'''
"""What a server begins with, also as a module: it offers functions with `tool`, then calls `serve`."""


def write_server(folder: Path, source: str, name: str = "server.py") -> str:
    """Write a server whose tools `source` declares; the command that runs it."""
    (folder / name).write_text(f"{SMALL_SERVER}\n{textwrap.dedent(source)}\nserve()\n")
    return f"{shlex.quote(sys.executable)} -IS {name}"
