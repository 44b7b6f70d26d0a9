"""A runner in Python, standard library only: an agent loop behind agentscope's frames.

    agentscope tasks.jsonl --runner "python3 runner.py"
    agentscope tasks.jsonl --listen 127.0.0.1:9000        and here: python3 runner.py 127.0.0.1:9000
    (with AGENTSCOPE_TOKEN set to what agentscope keeps in runner-token)

Copy it and put your own loop into `Agent.loop`; docs/runner.md explains the frames.
"""

import asyncio
import base64
import itertools
import json
import os
import sys

frames_out = sys.stdout.buffer
sys.stdout = sys.stderr  # print() then goes to the runner's log, not between the frames


class Stdio:
    """One line of base64 a frame, over stdin and stdout."""

    async def open(self):
        self.reader = asyncio.StreamReader(limit=128 << 20)
        protocol = asyncio.StreamReaderProtocol(self.reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)

    async def receive(self):
        line = await self.reader.readline()
        return json.loads(base64.b64decode(line)) if line else None

    def send(self, frame):
        frames_out.write(base64.b64encode(json.dumps(frame).encode()) + b"\n")
        frames_out.flush()


class Socket:
    """Four bytes of length, then the frame, over a connection to agentscope."""

    def __init__(self, host, port):
        self.address = host, int(port)

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(*self.address)

    async def receive(self):
        try:
            size = int.from_bytes(await self.reader.readexactly(4), "big")
            return json.loads(await self.reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def send(self, frame):
        body = json.dumps(frame).encode()
        self.writer.write(len(body).to_bytes(4, "big") + body)


class Agent:
    """One session: its settings, its conversation, and the turn that runs."""

    def __init__(self, wire):
        self.wire = wire
        self.session = {}
        self.history = []
        self.steers = []
        self.waiting = {}
        self.turn = None
        self.turns = 0
        self.msg_id = None
        self.numbers = itertools.count(1)

    async def serve(self):
        self.send("hello", name="example-python", mode="session", token=os.environ.get("AGENTSCOPE_TOKEN"))
        while (frame := await self.wire.receive()) is not None and frame["type"] != "shutdown":
            handler = getattr(self, f"on_{frame['type']}", None)
            if handler is not None:  # a type of a newer host is ignored
                handler(frame)

    def on_session_start(self, frame):
        self.session = frame
        self.state("idle")

    def on_user_message(self, frame):
        self.msg_id = frame["msg_id"]
        message = {"role": "user", "content": frame["text"]}
        if self.turn is not None:
            self.steers.append(message)
            return
        if self.session["conversation_scope"] == "turn":
            self.history.clear()
        self.history.append(message)
        self.turns += 1
        self.state("running")
        self.turn = asyncio.create_task(self.loop())
        self.turn.add_done_callback(self.turn_ended)

    def on_llm_response(self, frame):
        future = self.waiting.pop(frame["req_id"], None)
        if future is not None and not future.done():  # an answer that comes after an abort is for nobody
            future.set_result(frame)

    on_tool_response = on_llm_response

    def on_abort(self, frame):
        if self.turn is not None:
            self.turn.cancel()

    def on_ping(self, frame):
        self.send("pong", nonce=frame["nonce"])

    def turn_ended(self, turn):
        self.turn = None
        self.steers.clear()
        if turn.cancelled():
            self.waiting.clear()
            self.answer_open_calls()
            self.state("idle", reason="aborted")
        elif turn.exception() is not None:
            self.send("episode_error", note=f"the agent failed: {turn.exception()!r}")
        else:
            self.state("idle", reason=turn.result())

    async def loop(self):
        """The agent: ask the model, run its tools, until it asks for none. Yours goes here."""
        for _ in range(self.session["turn_cap"]):
            answer = await self.ask("llm_request", openai_body=self.body())
            if "error" in answer:
                return "error"
            choice = answer["completion"]["choices"][0]
            self.history.append(choice["message"])
            calls = choice["message"].get("tool_calls") or []
            submitted = False
            for call in calls:
                cut_off = choice.get("finish_reason") == "length" and call is calls[-1]
                submitted = await self.run_tool(call, cut_off) or submitted
            if self.steers:
                self.history += self.steers
                self.steers.clear()
            elif submitted or not calls:
                return "completed"
        return "turn_limit"

    async def run_tool(self, call, cut_off):
        """Have the host run a call; whether it submitted the answer."""
        name = call["function"]["name"]
        try:
            arguments = None if cut_off else json.loads(call["function"]["arguments"] or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            self.add_result(call, "The arguments are no JSON object; the call was not run.")
            return False
        answer = await self.ask("tool_request", name=name, arguments=arguments)
        self.add_result(call, answer["content"])
        return name == "submit" and not answer["is_error"]

    def body(self):
        system = [{"role": "system", "content": self.session["system"]}] if self.session["system"] else []
        tools = [{"type": "function", "function": tool} for tool in self.session["tools"]]
        limit = self.session["max_output_tokens"]
        body = {"model": "worker", "messages": system + self.history, "max_completion_tokens": limit}
        return {**body, "tools": tools} if tools else body

    def add_result(self, call, content):
        self.history.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    def answer_open_calls(self):
        """Give each call of the last reply a result: models refuse a conversation without."""
        last = max((i for i, m in enumerate(self.history) if m["role"] == "assistant"), default=None)
        if last is None:
            return
        answered = {message.get("tool_call_id") for message in self.history[last + 1 :]}
        for call in self.history[last].get("tool_calls") or []:
            if call["id"] not in answered:
                self.add_result(call, "interrupted")

    async def ask(self, type, **fields):
        req_id = f"r{next(self.numbers)}"
        self.waiting[req_id] = future = asyncio.get_running_loop().create_future()
        self.send(type, req_id=req_id, **fields)
        return await future

    def state(self, status, **fields):
        self.send("state", status=status, turns=self.turns, msg_id=self.msg_id, **fields)

    def send(self, type, **fields):
        self.wire.send({"type": type, **fields})


async def main():
    wire = Socket(*sys.argv[1].rsplit(":", 1)) if len(sys.argv) > 1 else Stdio()
    await wire.open()
    await Agent(wire).serve()


asyncio.run(main())
