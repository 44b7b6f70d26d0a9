// A runner in JavaScript without dependencies: an agent loop behind agentscope's frames.
//
//     agentscope tasks.jsonl --runner "node runner.mjs"
//
// Copy it and put your own loop into `loop`; docs/runner.md explains the frames.

import { createInterface } from "node:readline";

const session = { start: {}, history: [], steers: [], turn: null, turns: 0, msgId: null, aborted: false };
const waiting = new Map();
let numbers = 0;

// console.log() then goes to the runner's log, not between the frames.
console.log = console.error;

function send(type, fields = {}) {
  process.stdout.write(Buffer.from(JSON.stringify({ type, ...fields })).toString("base64") + "\n");
}

function state(status, fields = {}) {
  send("state", { status, turns: session.turns, msg_id: session.msgId, ...fields });
}

class Aborted extends Error {}

/** Send a request; its answer, or `Aborted` if the turn is stopped first. */
function ask(type, fields) {
  const reqId = `r${++numbers}`;
  return new Promise((resolve, reject) => {
    if (session.aborted) throw new Aborted();
    waiting.set(reqId, { resolve, reject });
    send(type, { req_id: reqId, ...fields });
  });
}

const handlers = {
  session_start(frame) {
    session.start = frame;
    state("idle");
  },
  user_message(frame) {
    session.msgId = frame.msg_id;
    const message = { role: "user", content: frame.text };
    if (session.turn) {
      session.steers.push(message);
      return;
    }
    if (session.start.conversation_scope === "turn") session.history.length = 0;
    session.history.push(message);
    session.turns += 1;
    session.turn = runTurn();
  },
  llm_response(frame) {
    // An answer that comes after an abort is for nobody.
    waiting.get(frame.req_id)?.resolve(frame);
    waiting.delete(frame.req_id);
  },
  tool_response(frame) {
    handlers.llm_response(frame);
  },
  abort() {
    session.aborted = session.turn !== null;
    for (const { reject } of waiting.values()) reject(new Aborted());
    waiting.clear();
  },
  ping(frame) {
    send("pong", { nonce: frame.nonce });
  },
  shutdown() {
    process.exit(0);
  },
};

async function runTurn() {
  state("running");
  let reason = "aborted";
  try {
    reason = await loop();
  } catch (error) {
    if (!(error instanceof Aborted)) throw error;
    answerOpenCalls();
  }
  session.steers.length = 0;
  session.turn = null;
  session.aborted = false;
  state("idle", { reason });
}

/** The agent: ask the model, run its tools, until it asks for none. Yours goes here. */
async function loop() {
  for (let calls = 0; calls < session.start.turn_cap; calls++) {
    const answer = await ask("llm_request", { openai_body: body() });
    if (answer.error !== undefined) return "error";
    const choice = answer.completion.choices[0];
    session.history.push(choice.message);
    const toolCalls = choice.message.tool_calls ?? [];
    let submitted = false;
    for (const call of toolCalls) {
      const cutOff = choice.finish_reason === "length" && call === toolCalls.at(-1);
      submitted = (await runTool(call, cutOff)) || submitted;
    }
    if (session.steers.length) session.history.push(...session.steers.splice(0));
    else if (submitted || !toolCalls.length) return "completed";
  }
  return "turn_limit";
}

/** Have the host run a call; whether it submitted the answer. */
async function runTool(call, cutOff) {
  const { name } = call.function;
  let args = null;
  try {
    if (!cutOff) args = JSON.parse(call.function.arguments || "{}");
  } catch {
    args = null;
  }
  if (args === null || typeof args !== "object" || Array.isArray(args)) {
    addResult(call, "The arguments are no JSON object; the call was not run.");
    return false;
  }
  const answer = await ask("tool_request", { name, arguments: args });
  addResult(call, answer.content);
  return name === "submit" && !answer.is_error;
}

function body() {
  const { system, tools, max_output_tokens } = session.start;
  const messages = system ? [{ role: "system", content: system }, ...session.history] : session.history;
  const request = { model: "worker", messages, max_completion_tokens: max_output_tokens };
  return tools.length
    ? { ...request, tools: tools.map((tool) => ({ type: "function", function: tool })) }
    : request;
}

function addResult(call, content) {
  session.history.push({ role: "tool", tool_call_id: call.id, content });
}

/** Give each call of the last reply a result: models refuse a conversation without. */
function answerOpenCalls() {
  const last = session.history.findLastIndex((message) => message.role === "assistant");
  if (last < 0) return;
  const answered = new Set(session.history.slice(last + 1).map((message) => message.tool_call_id));
  for (const call of session.history[last].tool_calls ?? [])
    if (!answered.has(call.id)) addResult(call, "interrupted");
}

send("hello", { name: "example-javascript", mode: "session" });
for await (const line of createInterface({ input: process.stdin })) {
  const frame = JSON.parse(Buffer.from(line, "base64").toString());
  handlers[frame.type]?.(frame); // a type of a newer host is ignored
}
