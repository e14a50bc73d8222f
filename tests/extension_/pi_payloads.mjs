// Makes the request of each of Pi's interfaces from one conversation, and lets the extension's gate look at it.
// Arguments: the module of Pi's `stream`, the extension, a file with the conversation. Prints a line for each interface.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [ai, extension, file] = process.argv.slice(2);
const { stream } = await import(pathToFileURL(ai));
const { default: begin, find } = await import(pathToFileURL(extension));
const { messages, tools, big } = JSON.parse(readFileSync(file, "utf8"));

const handlers = {};
begin({ on: (name, does) => (handlers[name] = does), registerTool() {}, registerCommand() {} });
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const notices = [];
let aborted = 0;
const ctx = (model) => ({
  cwd: "/", hasUI: true, mode: "rpc", model, ui: { notify: (text) => notices.push(text) }, abort: () => aborted++,
  sessionManager: { getSessionFile: () => undefined, getSessionId: () => "one", getLeafId: () => null, getEntry: () => undefined },
  isIdle: () => true, hasPendingMessages: () => false,
});

const token = ["e30", Buffer.from(JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: "a" } })).toString("base64url"), "s"].join(".");
const interfaces = ["openai-completions", "openai-responses", "openai-codex-responses", "azure-openai-responses",
  "anthropic-messages", "google-generative-ai", "google-vertex", "mistral-conversations", "bedrock-converse-stream"];
for (const api of interfaces) {
  const model = {
    id: "m-1", name: "m", api, provider: "fake", baseUrl: "http://127.0.0.1:9/v1", reasoning: false, input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 1000,
  };
  const talk = messages.map((each) => (each.role === "assistant" ? { ...each, api, provider: "fake", model: "m-1", usage } : each));
  let payload;
  const options = {
    apiKey: token, maxRetries: 0, project: "p", location: "l", region: "us-east-1", bearerToken: "t",
    onPayload: (given) => {
      payload = given;
      throw new Error("that is all");
    },
  };
  try {
    for await (const _ of stream(model, { systemPrompt: "Be brief.", messages: talk, tools }, options)) if (payload) break;
  } catch {}
  if (!payload) {
    console.log(JSON.stringify({ api }));
    continue;
  }
  const before = JSON.stringify(payload);
  const after = await handlers.before_provider_request({ payload }, ctx(model));
  console.log(JSON.stringify({ api, before, after: JSON.stringify(after ?? null), untouched: before === JSON.stringify(payload), aborted }));
}

const own = { model: "m-1", messages: [{ role: "tool", tool_call_id: "c", name: "context_history_read", content: "secretly" }] };
for (const id of ["m-1", "m-2"]) {
  const after = await handlers.before_provider_request({ payload: own }, ctx({ provider: "ollama", id }));
  console.log(JSON.stringify({ api: id, after: JSON.stringify(after ?? null), aborted }));
}
const continued = { ...own, previous_response_id: "r" };
const whole = await handlers.before_provider_request({ payload: continued }, ctx({ provider: "fake", id: "m-1" }));
console.log(JSON.stringify({ api: "continued", after: JSON.stringify(whole) }));

const asked = async (api, payload, model = { provider: "fake", id: "m-1" }) => {
  const after = await handlers.before_provider_request({ payload }, ctx(model));
  console.log(JSON.stringify({ api, after: JSON.stringify(after ?? null), aborted }));
};
const LOCAL = { provider: "ollama", id: "m-1" };
await asked("bedrock of another model", { ...own, model: undefined, modelId: "m-2" }, LOCAL);
const complaint = (name) => `Validation failed for tool "${name}":\n  - limit: must be <= 12\n\nReceived arguments:\n{"query": "secretly"}`;
for (const name of ["context_history_recall", "bash"]) {
  await asked(`complaint of ${name}`, { messages: [{ role: "tool", name, content: complaint(name) }, own.messages[0]].slice(0, 1) });
}
await handlers.agent_start({}, ctx({ provider: "fake", id: "m-1" }));
await asked("begun with another provider", own, LOCAL);
await handlers.agent_start({}, ctx(LOCAL));
await asked("begun with this provider", own, LOCAL);

let deep = own.messages[0];
for (let at = 0; at < 3000; at++) deep = { deep };
await asked("deep", { messages: [deep] });
await asked("none", { get messages() { throw new Error("no"); } });

const nothing = { model: "m-1", messages: Array.from({ length: 2000 }, (_, at) => ({ role: at % 2 ? "tool" : "user", tool_call_id: `c${at}`, content: [{ type: "text", text: big }] })) };
const times = [];
for (let at = 0; at < 30; at++) {
  const from = performance.now();
  find(nothing);
  times.push(performance.now() - from);
}
console.log(JSON.stringify({ api: "time", milliseconds: times.sort((a, b) => a - b)[15] }));
process.exit(0);
