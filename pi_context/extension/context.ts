// pi-context inside Pi: the command /context, the history tools, and the last gate before a provider.
// All work is done by one Python process, `pi-context serve`, which is started when it is first needed.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

type Json = any;
type Level = "info" | "warning" | "error";

const HERE = dirname(fileURLToPath(import.meta.url));
const PROTOCOL = 1;
const VERSION: string = readJson("package.json")?.version ?? "";
const TOOLS: Json[] = readJson("tools.json") ?? [];
const OURS = new Set<string>(TOOLS.map((tool) => tool.name));
const ANSWER = '{"schema":"context-history-';
const HANDOFF = "[pi-context handoff v1 ";
const HANDOFF_TYPES = ["context-rebase-handoff-v1", "ds4-rebase-handoff-v1"];
const OMISSION = "[omitted: pi-context could not check this for the present provider]";
const SECOND = 1000;
const GATE_MS = 15 * SECOND;
const CALL_MS = 120 * SECOND;
const TREE_UP = 16;
const REBASING = Symbol.for("pi-context: a rebase is under way"); // a switch loads this file again
const DEEPEST = 500;

const globals = globalThis as Json;

function readJson(name: string): Json {
  try {
    return JSON.parse(readFileSync(join(HERE, name), "utf8"));
  } catch {
    return undefined;
  }
}

// --- the server ---------------------------------------------------------------------------------------------

class Refusal extends Error {
  code: string;
  hint: string;
  constructor(code: string, message: string, hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The program and its first words: the environment's, the one pinned when this was installed, else on the PATH. */
function program(): string[] {
  const python = process.env.PI_CONTEXT_PYTHON || readJson("python.json")?.python;
  return python ? [python, "-E", "-P", "-m", "pi_context", "serve"] : ["pi-context", "serve"];
}

/** One child process: lines of JSON-RPC there and back; started by the first call, and again after a crash. */
class Server {
  asked: (method: string, params: Json) => Promise<Json>;
  noticed: (version: string) => void;
  child: Json;
  ready: Promise<void> | undefined;
  waiting = new Map<number, Json>();
  last = 0;

  constructor(asked: (method: string, params: Json) => Promise<Json>, noticed: (version: string) => void) {
    this.asked = asked;
    this.noticed = noticed;
  }

  /** Ask; an answer that is an error, or none in time, is thrown as a Refusal. */
  async call(method: string, params: Json, ms?: number, signal?: AbortSignal): Promise<Json> {
    if (!this.child) this.ready = this.start();
    await this.ready;
    return this.send(method, ms ? { ...params, deadlineMs: ms } : params, ms, signal);
  }

  /** Let it end: it finishes what it must, then goes. */
  close(): void {
    this.child?.stdin.end();
    this.child = undefined;
  }

  private async start(): Promise<void> {
    const [command, ...words] = program();
    const { PI_CODING_AGENT, AI_AGENT, ...env } = process.env; // Pi's marks for its shells: these would say that a model asks
    const marked = AI_AGENT === undefined || AI_AGENT === "pi" ? env : { ...env, AI_AGENT };
    const child: Json = spawn(command, words, { cwd: HERE, env: marked, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    let complaint = "";
    const gone = (why: string) => {
      if (this.child === child) this.child = undefined;
      const mine = [...this.waiting].filter(([, call]) => call.child === child);
      for (const [id, call] of mine) {
        this.waiting.delete(id);
        call.reject(new Refusal("server-unavailable", `pi-context is not available: ${why}`));
      }
    };
    this.child = child;
    child.on("error", (error: Json) => gone(error?.code === "ENOENT" ? `${command} is not there` : String(error?.code)));
    child.on("close", () => gone(complaint.trim().split("\n").pop()?.slice(0, 200) || "its process ended"));
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-2000)));
    let pieces: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = text.split("\n"); // at LF only: U+2028 may stand in a line
      for (const end of lines.slice(0, -1)) {
        const line = pieces.join("") + end;
        pieces = [];
        this.take(child, line);
      }
      pieces.push(lines[lines.length - 1]);
    });
    const hello = await this.send("hello", {}, 30 * SECOND);
    if (hello?.protocol !== PROTOCOL) {
      this.close();
      throw new Refusal("server-unavailable", "pi-context is of another version: run `pi-context pi install` again");
    }
    if (hello.version !== VERSION) this.noticed(hello.version);
  }

  private send(method: string, params: Json, ms?: number, signal?: AbortSignal): Promise<Json> {
    const child = this.child;
    if (!child) return Promise.reject(new Refusal("server-unavailable", "pi-context is not available"));
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.write(child, { method: "$/cancel", params: { id } });
        this.waiting.get(id)?.reject(new Refusal("cancelled", "The call was cancelled."));
        this.waiting.delete(id); // whatever still comes is dropped
      };
      const timer = ms ? setTimeout(() => child.kill("SIGKILL"), ms + 5 * SECOND) : undefined; // it answers in time
      const done = (settle: (value: Json) => void) => (value: Json) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        settle(value);
      };
      this.waiting.set(id, { child, resolve: done(resolve), reject: done(reject) });
      this.write(child, { id, method, params });
      if (signal?.aborted) cancel();
      else signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  private write(child: Json, message: Json): void {
    child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  private take(child: Json, line: string): void {
    let message: Json;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (message.method !== undefined) {
      this.asked(message.method, message.params)
        .then((result) => this.write(child, { id: message.id, result }))
        .catch(() => this.write(child, { id: message.id, error: { code: -32603, message: "no answer" } }));
      return;
    }
    const call = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    const error = message.error;
    if (error) call?.reject(new Refusal(error.data?.code ?? "internal-error", error.message, error.data?.hint));
    else call?.resolve(message.result);
  }
}

// --- what is ours in a request --------------------------------------------------------------------------------

type Path = (string | number)[];
type Piece = { kind: "tool-result" | "tool-call" | "handoff"; path: Path; text: string; callId?: string; parsed?: boolean };

const CALL_IDS = ["call_id", "toolUseId", "id", "toolCallId"];
const RESULT_IDS = ["tool_call_id", "call_id", "tool_use_id", "toolUseId", "toolCallId"];
const ARGUMENTS = ["arguments", "input", "args"];
const CONTENTS = ["content", "output", "response", "result"];
const LABELS = new Set(["type", "role", "name", "toolName", "status", "details", "customType", "mimeType", "cache_control",
  "cachePoint", ...CALL_IDS, ...RESULT_IDS]);

const first = (from: Json, names: string[]) => names.find((name) => from[name] !== undefined);
const isPlain = (value: Json) => {
  const parent = Object.getPrototypeOf(value);
  return parent === Object.prototype || parent === null || Array.isArray(value);
};

/** Tell whether anything of ours may be below a value; most requests hold nothing, and pay no more than this. */
function holds(value: Json, depth: number): boolean {
  if (typeof value === "string") return (value.startsWith(ANSWER) || value.startsWith(HANDOFF));
  if (value === null || typeof value !== "object" || !isPlain(value)) return false;
  if (depth > DEEPEST) throw new Error("too deep");
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (holds(value[at], depth + 1)) return true;
    return false;
  }
  if ((OURS.has(value.name) || OURS.has(value.toolName)) && (first(value, ARGUMENTS) ?? first(value, CONTENTS))) return true;
  if (value.customType !== undefined && HANDOFF_TYPES.includes(value.customType)) return true;
  for (const name in value) if (holds(value[name], depth + 1)) return true;
  return false;
}

/** Find our texts in anything that is made of plain objects: a request of any provider, or Pi's own messages. */
export function find(root: Json): Piece[] {
  const pieces: Piece[] = [];
  if (!holds(root, 0)) return pieces;
  const candidates: { id: string; named: boolean; path: Path; fields: string[]; value: Json }[] = [];
  const ids = new Set<string>();
  const path: Path = [];
  const look = (value: Json, above: Json): void => {
    if (typeof value === "string") {
      if (value.startsWith(ANSWER)) pieces.push({ kind: "tool-result", path: path.slice(), text: value });
      else if (value.startsWith(HANDOFF)) pieces.push({ kind: "handoff", path: path.slice(), text: value });
      return;
    }
    if (value === null || typeof value !== "object" || !isPlain(value)) return;
    if (path.length > DEEPEST) throw new Error("too deep");
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) step(value, at);
      return;
    }
    if (HANDOFF_TYPES.includes(value.customType) && value.content !== undefined) {
      for (const each of texts(value.content, [...path, "content"])) pieces.push({ kind: "handoff", ...each });
      return;
    }
    const ours = OURS.has(value.name) || OURS.has(value.toolName);
    const given = ours ? first(value, ARGUMENTS) : undefined;
    if (given !== undefined) {
      const own = first(value, CALL_IDS) ? value : above ?? {};
      const callId = first(own, CALL_IDS) ? String(own[first(own, CALL_IDS)!]) : undefined;
      for (const name of CALL_IDS) if (typeof own[name] === "string") ids.add(own[name]);
      const parsed = typeof value[given] !== "string";
      const text = parsed ? JSON.stringify(value[given]) ?? "{}" : value[given];
      pieces.push({ kind: "tool-call", path: [...path, given], text, callId, parsed });
    } else {
      const known = first(value, RESULT_IDS);
      const fields = CONTENTS.filter((name) => value[name] !== undefined);
      if ((known || ours) && fields.length) {
        const id = known ? String(value[known]) : "";
        candidates.push({ id, named: ours, path: path.slice(), fields, value });
      }
    }
    for (const name in value) if (name !== given) step(value, name);
  };
  const step = (holder: Json, name: string | number): void => {
    path.push(name);
    look(holder[name], Array.isArray(holder) ? undefined : holder);
    path.pop();
  };
  look(root, undefined);
  const known = new Map(pieces.map((piece) => [piece.path.join("\0"), piece]));
  for (const { id, named, path: at, fields, value } of candidates) {
    if (!named && !ids.has(id)) continue;
    for (const field of fields) {
      for (const each of texts(value[field], [...at, field])) {
        const before = known.get(each.path.join("\0"));
        const piece: Piece = Object.assign(before ?? each, { kind: "tool-result", callId: id || undefined }) as Piece;
        if (!before) pieces.push(piece);
      }
    }
  }
  return pieces;
}

/** List all texts below a value, with where they are. */
function texts(value: Json, at: Path): { path: Path; text: string }[] {
  if (typeof value === "string") return [{ path: at, text: value }];
  if (value === null || typeof value !== "object" || at.length > DEEPEST) return [];
  return Object.keys(value)
    .filter((name) => Array.isArray(value) || !LABELS.has(name))
    .flatMap((name) => texts(value[name], [...at, Array.isArray(value) ? Number(name) : name]));
}

/** Give a copy in which one value is another; what is on the way to it is copied, all else is shared. */
function changed(root: Json, [name, ...rest]: Path, value: Json): Json {
  if (name === undefined) return value;
  const copy = Array.isArray(root) ? root.slice() : Object.assign(Object.create(Object.getPrototypeOf(root)), root);
  copy[name] = changed(root[name], rest, value);
  return copy;
}

/** Put the omission where nobody could be asked; arguments stay an object of the shape that the tool takes. */
function withheld(piece: Piece): string {
  if (piece.kind !== "tool-call") return OMISSION;
  const kept = ["query", "sourceRef"].filter((name) => piece.text.includes(`"${name}"`));
  return JSON.stringify(Object.fromEntries(kept.map((name) => [name, OMISSION])));
}

// --- the extension --------------------------------------------------------------------------------------------

export default function (pi: Json): void {
  let latest: Json; // the context of the last event, for what comes without one
  let compacting = false;
  let closed = false;
  let live: { ctx: Json; fresh?: Json } | undefined; // an operation that is under way, and the context after its switch
  const told = new Set<string>();

  const server = new Server(
    async (method, params) => {
      if (method === "leaf") return standing();
      if (method === "activate" && live) return activate(params.targetFile, live);
      throw new Error(method);
    },
    (version) => once(latest, `pi-context is ${version}, this extension ${VERSION}: run \`pi-context pi install\`.`),
  );

  /** Tell how Pi stands, for a server that wants to rebase. */
  function standing(): Json {
    const ctx = live?.fresh ?? live?.ctx ?? latest;
    const sessions = ctx.sessionManager;
    return {
      sessionFile: sessions.getSessionFile() ?? null, leafId: sessions.getLeafId() ?? null, idle: ctx.isIdle(),
      pendingMessages: ctx.hasPendingMessages(), compacting,
    };
  }

  /** Switch sessions; only what the fresh context says of itself counts. */
  async function activate(file: string, operation: { ctx: Json; fresh?: Json }): Promise<Json> {
    let seen: Json;
    const withSession = async (fresh: Json) => {
      operation.fresh = fresh;
      const sessions = fresh.sessionManager;
      seen = { ok: true, sessionFile: sessions.getSessionFile() ?? null, sessionId: sessions.getSessionId() };
    };
    try {
      const result = await (operation.fresh ?? operation.ctx).switchSession(file, { withSession });
      return seen ?? { ok: false, reason: result?.cancelled ? "cancelled" : "failed" };
    } catch {
      return seen ?? { ok: false, reason: "failed" };
    }
  }

  function context(ctx: Json, actor: "user" | "model"): Json {
    const sessions = ctx.sessionManager;
    const leafId = sessions.getLeafId() ?? null;
    const leafPath: string[] = [];
    let entry = leafId ? sessions.getEntry(leafId) : undefined;
    while (entry?.parentId && leafPath.length < TREE_UP) {
      leafPath.push(entry.parentId);
      entry = sessions.getEntry(entry.parentId);
    }
    return {
      sessionFile: sessions.getSessionFile() ?? null, sessionId: sessions.getSessionId() ?? "", leafId, leafPath,
      cwd: ctx.cwd, trusted: ctx.isProjectTrusted?.() ?? null, provider: ctx.model?.provider ?? "",
      model: ctx.model?.id ?? "", mode: modeOf(ctx), hasUI: Boolean(ctx.hasUI), actor,
    };
  }

  /** Ask the server; what changes nothing is asked again once when the server died over it. */
  async function ask(method: string, params: Json, ctx: Json, actor: "user" | "model", ms = CALL_MS, signal?: AbortSignal,
    over?: Json) {
    latest = ctx;
    const sent = { ...params, context: { ...context(ctx, actor), ...over } };
    const again = !method.startsWith("rebase.") && !params.confirmed;
    try {
      return await server.call(method, sent, ms, signal);
    } catch (error: Json) {
      if (error.code !== "server-unavailable" || !again || server.child || signal?.aborted) throw error;
      return server.call(method, sent, ms, signal);
    }
  }

  function show(ctx: Json, text: string, level: Level = "info"): void {
    if (ctx.hasUI) ctx.ui.notify(text, level);
    else write(modeOf(ctx) === "print" && level === "info" ? 1 : 2, text + "\n"); // Pi itself may own process.stdout
  }

  /** Say something once in this session. */
  function once(ctx: Json, text: string): void {
    if (told.has(text) || !ctx) return;
    told.add(text);
    show(ctx, text, "warning");
  }

  const failure = (error: Json) => (error?.hint ? `${error.message} [${error.code}]\n${error.hint}` : String(error?.message));

  // --- what a person types ------------------------------------------------------------------------------------

  pi.registerCommand("context", {
    description: "History search, rebase and settings of pi-context; /context help lists all",
    getArgumentCompletions: async (line: string) => {
      try {
        const found = await ask("complete", { line }, latest, "user", 5 * SECOND);
        return found.completions.length ? found.completions : null;
      } catch {
        return null;
      }
    },
    handler: async (line: string, ctx: Json) => {
      try {
        await typed(line, ctx);
      } catch (error) {
        show(ctx, failure(error), "warning");
      }
    },
  });

  async function typed(line: string, ctx: Json): Promise<void> {
    const columns = Math.max(40, Math.min(400, (process.stdout.columns || 102) - 2));
    let found = await ask("command", { line, columns }, ctx, "user");
    if (found.status === "asks") {
      if (!ctx.hasUI || !(await ctx.ui.confirm("pi-context", found.text))) return show(ctx, "Nothing was done.");
      const { method, params } = found.action;
      if (found.needs === "activate") return operate(method, params, ctx);
      found = await ask(method, method === "command" ? { ...params, columns } : params, ctx, "user");
    }
    if (found.list?.length && modeOf(ctx) === "tui" && !/(^|\s)--json(\s|$)/.test(line)) return choose(found, ctx);
    show(ctx, found.text, (found.status ?? "ok") === "ok" && !found.answer?.code ? "info" : "warning");
  }

  /** Do what a person agreed to and in which sessions are switched; the server holds the lock until it is done. */
  async function operate(method: string, params: Json, ctx: Json): Promise<void> {
    if (live || globals[REBASING]) return show(ctx, "A rebase is under way already.", "warning");
    const mine: { ctx: Json; fresh?: Json } = (live = { ctx });
    globals[REBASING] = true;
    try {
      const done = await ask(method, params, ctx, "user", 0);
      const refused = done.answer?.code !== undefined;
      if (done.text && method !== "rebase.back") show(mine.fresh ?? ctx, done.text, refused ? "warning" : "info");
      if (method === "rebase.back" && !done.source) return show(ctx, done.text, "warning");
      const file = method === "rebase.back" ? done.source.file : done.target?.file;
      if (!file || (mine.fresh ?? ctx).sessionManager.getSessionFile() === file) return;
      const agreed = method === "rebase.back" || (await (mine.fresh ?? ctx).ui.confirm("pi-context", "Switch to the new session?"));
      if (!agreed) return;
      const now = await activate(file, mine);
      show(mine.fresh ?? ctx, now.ok ? `Now in ${file}` : "Pi did not switch; the session stays as it is.", now.ok ? "info" : "warning");
    } catch (error) {
      show(mine.fresh ?? ctx, failure(error), "warning");
    } finally {
      live = undefined;
      globals[REBASING] = false;
      if (closed) server.close();
    }
  }

  /** Let a person choose among the hits, and what to do with one. */
  async function choose(found: Json, ctx: Json): Promise<void> {
    const labels = found.list.map((hit: Json, at: number) => `${at + 1}. ${hit.title}  (${hit.subtitle})`);
    const acts = ["View it", "View it with its neighbours", "Quote it into the editor"];
    for (;;) {
      const hit = found.list[labels.indexOf(await ctx.ui.select("Found in the history", labels))];
      if (!hit) return;
      const act = acts.indexOf(await ctx.ui.select(hit.title, acts));
      if (act === 0) return typed(`history read ${hit.reference}`, ctx);
      if (act === 1) return typed(`session show ${hit.sessionId}:${hit.entryId} -C 3`, ctx);
      if (act !== 2) continue;
      const read = await ask("command", { line: `history read ${hit.reference} --json` }, ctx, "user");
      const text = read.answer?.text;
      if (typeof text !== "string") return show(ctx, read.text, "warning");
      const quoted = text.split("\n").map((each) => `> ${each}`);
      ctx.ui.pasteToEditor([`From the history (${hit.subtitle}, entry ${hit.entryId}):`, ...quoted, ""].join("\n"));
      return show(ctx, "Quoted into the editor."); // which also lets Pi draw it
    }
  }

  // --- what the model calls -------------------------------------------------------------------------------------

  for (const { unavailable, ...tool } of TOOLS) {
    pi.registerTool({
      ...tool,
      promptSnippet: tool.description.split(". ")[0],
      execute: async (_id: string, given: Json, signal: AbortSignal | undefined, _update: Json, ctx: Json) => {
        try {
          const answer = await ask("tool", { name: tool.name, arguments: given ?? {} }, ctx, "model", CALL_MS, signal);
          return { content: [{ type: "text", text: answer.content }], details: answer.details, isError: answer.isError };
        } catch (error: Json) {
          if (error.code === "server-unavailable") once(ctx, error.message);
          const code = error.code ?? "internal-error";
          const answer = { ...unavailable, code, warnings: [code] };
          return { content: [{ type: "text", text: JSON.stringify(answer) }], details: { code }, isError: true };
        }
      },
    });
  }

  // --- what Pi tells ----------------------------------------------------------------------------------------------

  pi.on("session_start", async (_event: Json, ctx: Json) => {
    latest = ctx;
    const home = process.env.PI_CODING_AGENT_DIR?.replace(/^~(?=\/|$)/, homedir()) || join(homedir(), ".pi", "agent");
    if (![join(home, "context.json"), join(ctx.cwd, ".pi", "context.json")].some((file) => existsSync(file))) return;
    let off = [...OURS];
    try {
      const settings = await ask("settings", {}, ctx, "user", 20 * SECOND);
      off = settings.tools.filter((tool: Json) => !tool.active).map((tool: Json) => tool.name);
      if (settings.messages) once(ctx, `${settings.messages} settings of pi-context do not count: see /context config.`);
    } catch (error: Json) {
      once(ctx, error.message);
    }
    if (off.length) pi.setActiveTools(pi.getActiveTools().filter((name: string) => !off.includes(name)));
  });

  pi.on("session_shutdown", () => {
    closed = true;
    if (!live) server.close();
  });

  // --- the last gate ------------------------------------------------------------------------------------------------

  /** Keep or replace all that is ours; without an answer of the server everything is replaced. */
  async function gated(root: Json, ctx: Json, over?: Json): Promise<{ value: Json; omitted: number }> {
    const pieces = find(root);
    const verdicts = new Map<string, Json>();
    if (!pieces.length) return { value: root, omitted: 0 };
    try {
      const sent = pieces.map(({ kind, text, callId }, at) => ({ id: String(at), kind, text, callId }));
      const answer = await ask("egress", { pieces: sent }, ctx, "model", GATE_MS, ctx.signal, over);
      for (const each of answer.pieces) verdicts.set(each.id, each);
    } catch (error: Json) {
      if (error.code !== "cancelled") once(ctx, `Quotes of the history are withheld from the model: ${error.message}`);
    }
    let value = root;
    let omitted = 0;
    for (const [at, piece] of pieces.entries()) {
      const verdict = verdicts.get(String(at));
      if (verdict?.action === "keep") continue;
      const text = typeof verdict?.text === "string" ? verdict.text : withheld(piece);
      value = changed(value, piece.path, piece.parsed ? JSON.parse(text) : text);
      omitted++;
    }
    if (omitted && verdicts.size) {
      const provider = ctx.model?.provider ?? "this provider";
      once(ctx, `Some quotes of the history are withheld from ${provider}. What the model itself wrote about them still goes`
        + " there: begin a new session, or go back with /tree, where it must not.");
    }
    return { value, omitted };
  }

  pi.on("before_provider_request", async (event: Json, ctx: Json) => {
    try {
      const asked = event.payload?.model;
      const other = typeof asked === "string" && asked !== ctx.model?.id; // not the live model's: nobody's provider
      const { value, omitted } = await gated(event.payload, ctx, other ? { provider: "" } : undefined);
      if (!omitted) return undefined;
      if (value.previous_response_id === undefined) return value;
      const { previous_response_id: _, ...whole } = value; // what that stands for may hold what was withheld
      return whole;
    } catch {
      ctx.abort(); // a throw would let the request go as it is
      once(ctx, "The request was stopped: pi-context could not look for quotes of the history in it.");
      return {};
    }
  });

  /** Replace what may not go in lists of messages that Pi is about to have summarized. */
  async function guarded(ctx: Json, ...lists: Json[]): Promise<boolean> {
    try {
      for (const list of lists.filter(Array.isArray)) {
        const { value } = await gated(list, ctx);
        for (let at = 0; at < list.length; at++) list[at] = value[at];
      }
      return true;
    } catch {
      show(ctx, "Nothing was summarized: pi-context could not look for quotes of the history. Try again, or continue"
        + " without a summary.", "warning");
      return false;
    }
  }

  pi.on("session_before_compact", async ({ preparation, signal }: Json, ctx: Json) => {
    latest = ctx;
    if (globals[REBASING]) {
      show(ctx, "Compaction waits until the rebase is done.", "warning");
      return { cancel: true };
    }
    if (!(await guarded(ctx, preparation?.messagesToSummarize, preparation?.turnPrefixMessages))) return { cancel: true };
    compacting = true;
    signal?.addEventListener("abort", () => (compacting = false), { once: true });
    return undefined;
  });

  pi.on("session_before_tree", async ({ preparation }: Json, ctx: Json) => {
    latest = ctx;
    if (preparation?.userWantsSummary === false) return undefined;
    return (await guarded(ctx, preparation?.entriesToSummarize)) ? undefined : { cancel: true };
  });

  for (const event of ["session_compact", "session_compact_failed", "agent_start"]) {
    pi.on(event, () => {
      compacting = false; // an older Pi does not tell of a compaction that failed
    });
  }
}

/** Tell in which mode Pi runs; an older one does not say. */
function modeOf(ctx: Json): string {
  if (ctx.mode) return ctx.mode;
  const asked = process.argv[process.argv.indexOf("--mode") + 1];
  if (ctx.hasUI) return asked === "rpc" ? "rpc" : "tui";
  return asked === "json" ? "json" : "print";
}

/** Write a text to a stream of the process whole, also where that is a pipe that is full. */
function write(stream: number, text: string): void {
  let rest = Buffer.from(text, "utf8");
  while (rest.length) {
    try {
      rest = rest.subarray(writeSync(stream, rest));
    } catch (error: Json) {
      if (error.code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
