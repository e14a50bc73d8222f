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
const ANSWERS = ['{"schema":"context-history-', '{"schema":"context-memory-view-'];
const BLOCK = "[pi-context memory v1]";
const HANDOFF = "[pi-context handoff v1 ";
const HANDOFF_TYPES = ["context-rebase-handoff-v1", "ds4-rebase-handoff-v1"];
const OMISSION = "[omitted: pi-context could not check this for the present provider]";
const SECOND = 1000;
const START_MS = 10 * SECOND;
const DOWN_MS = 60 * SECOND; // a server that hung at its start is not waited for again so soon
const END_MS = 3 * SECOND;
const GATE_MS = 15 * SECOND;
const CALL_MS = 120 * SECOND;
const OPERATION_MS = 600 * SECOND; // longer than the server waits for a switch
const COMPACTION_MS = 300 * SECOND;
const TREE_UP = 16;
const REBASING = Symbol.for("pi-context: a rebase is under way"); // a switch loads this file again
const MOST_VALUES = 20_000_000; // a request with more is no request

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

const unavailable = (why: string) => new Refusal("server-unavailable", `pi-context is not available: ${why}`);
const cancelled = () => new Refusal("cancelled", "The call was cancelled.");

/** Wait, but not longer than until an abort. */
function unlessAborted<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(cancelled());
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
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
  closed = false;
  down: { until: number; why: Refusal } | undefined;

  constructor(asked: (method: string, params: Json) => Promise<Json>, noticed: (version: string) => void) {
    this.asked = asked;
    this.noticed = noticed;
  }

  /** Ask; an answer that is an error, or none in time, is thrown as a Refusal. */
  async call(method: string, params: Json, ms: number, signal?: AbortSignal): Promise<Json> {
    const end = Date.now() + ms;
    if (!this.child) this.ready = this.start();
    await unlessAborted(this.ready!, signal);
    const left = Math.max(SECOND, end - Date.now());
    return this.send(method, { ...params, deadlineMs: left }, left, signal);
  }

  /** Let it end: it finishes what it must, then goes; one that does not is ended. */
  async close(): Promise<void> {
    const child = this.child;
    this.closed = true;
    this.child = undefined;
    if (!child) return;
    const gone = new Promise((resolve) => child.once("close", resolve));
    const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
    child.stdin.end();
    await gone;
    clearTimeout(timer);
  }

  private async start(): Promise<void> {
    if (this.closed) throw unavailable("this session is over");
    if (this.down && Date.now() < this.down.until) throw this.down.why;
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
        call.reject(unavailable(why));
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
    const hung = setTimeout(() => {
      this.down = { until: Date.now() + DOWN_MS, why: unavailable("it did not answer when it was started") };
      child.kill("SIGKILL");
      gone("it did not answer when it was started");
    }, START_MS);
    try {
      const hello = await this.send("hello", {}, 0);
      if (hello?.protocol !== PROTOCOL) {
        child.kill("SIGKILL");
        throw unavailable("it is of another version: install the extension again, by `pi-context pi install` in a shell");
      }
      if (hello.version !== VERSION) this.noticed(hello.version);
    } finally {
      clearTimeout(hung);
    }
  }

  private send(method: string, params: Json, ms: number, signal?: AbortSignal): Promise<Json> {
    const child = this.child;
    if (!child) return Promise.reject(unavailable("its process ended"));
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.write(child, { method: "$/cancel", params: { id } });
        this.waiting.get(id)?.reject(cancelled());
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
    if (message === null || typeof message !== "object") return; // a throw here would be the end of Pi
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
type Kind = "tool-result" | "tool-call" | "handoff" | "prompt";
type Piece = { kind: Kind; path: Path; text: string; callId?: string; parsed?: boolean };

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
/** Tell what a text of ours is by how it begins; undefined where it is none. */
function kindOf(text: string): Kind | undefined {
  if (text.charCodeAt(0) !== 123 && text.charCodeAt(0) !== 91) return undefined; // neither { nor [
  if (ANSWERS.some((start) => text.startsWith(start))) return "tool-result";
  if (text.startsWith(HANDOFF)) return "handoff";
  return text.startsWith(BLOCK) ? "prompt" : undefined;
}

const isOurs = (value: Json) => OURS.has(value.name) || OURS.has(value.toolName);

/** Tell whether anything of ours may be below a value; most requests hold nothing, and pay no more than this. */
function holds(root: Json): boolean {
  const rest: Json[] = [root]; // no recursion: what a model calls may be nested as deeply as it likes
  for (let seen = 0; rest.length; seen++) {
    if (seen > MOST_VALUES) throw new Error("no end");
    const value = rest.pop();
    if (typeof value === "string") {
      if (kindOf(value)) return true;
    } else if (value !== null && typeof value === "object" && isPlain(value)) {
      if (Array.isArray(value)) {
        for (let at = 0; at < value.length; at++) rest.push(value[at]);
        continue;
      }
      if (isOurs(value) && (first(value, ARGUMENTS) ?? first(value, CONTENTS))) return true;
      if (value.customType !== undefined && HANDOFF_TYPES.includes(value.customType)) return true;
      for (const name in value) rest.push(value[name]);
    }
  }
  return false;
}

/** A value with the way to it: the place above, and the name there. */
type Place = { value: Json; above?: Place; name: string | number };

function pathOf(place: Place): Path {
  const path: Path = [];
  for (let at: Place | undefined = place; at?.above; at = at.above) path.push(at.name);
  return path.reverse();
}

const below = (above: Place, names: string[]): Place[] => names.map((name) => ({ value: above.value[name], above, name }));

/** List all texts at and below a place. */
function texts(from: Place): { path: Path; text: string }[] {
  const found: { path: Path; text: string }[] = [];
  const rest = [from];
  for (let place = rest.pop(); place; place = rest.pop()) {
    const { value } = place;
    if (typeof value === "string") found.push({ path: pathOf(place), text: value });
    else if (value !== null && typeof value === "object") {
      const names = Object.keys(value).filter((name) => Array.isArray(value) || !LABELS.has(name));
      rest.push(...below(place, names).reverse());
    }
  }
  return found;
}

/** Find our texts in anything that is made of plain objects: a request of any provider, or Pi's own messages. */
export function find(root: Json): Piece[] {
  if (!holds(root)) return [];
  const pieces: Piece[] = [];
  const results: { id: string; ours: boolean; fields: Place[] }[] = [];
  const calls = new Set<string>();
  const rest: Place[] = [{ value: root, name: "" }];
  for (let place = rest.pop(); place; place = rest.pop()) {
    const { value } = place;
    if (typeof value === "string") {
      const kind = kindOf(value);
      if (kind) pieces.push({ kind, path: pathOf(place), text: value });
      continue;
    }
    if (value === null || typeof value !== "object" || !isPlain(value)) continue;
    const names = Object.keys(value);
    if (Array.isArray(value)) {
      rest.push(...below(place, names).reverse());
      continue;
    }
    if (HANDOFF_TYPES.includes(value.customType) && value.content !== undefined) {
      for (const each of texts(below(place, ["content"])[0])) pieces.push({ kind: "handoff", ...each });
      continue;
    }
    const ours = isOurs(value);
    const given = ours ? first(value, ARGUMENTS) : undefined;
    if (given !== undefined) {
      const holder = place.above?.value;
      const own = first(value, CALL_IDS) || Array.isArray(holder) ? value : holder ?? {};
      const callId = first(own, CALL_IDS) ? String(own[first(own, CALL_IDS)!]) : undefined;
      for (const name of CALL_IDS) if (typeof own[name] === "string") calls.add(own[name]);
      const parsed = typeof value[given] !== "string";
      const text = parsed ? JSON.stringify(value[given]) ?? "{}" : value[given];
      pieces.push({ kind: "tool-call", path: [...pathOf(place), given], text, callId, parsed });
    } else {
      const known = first(value, RESULT_IDS);
      const fields = CONTENTS.filter((name) => value[name] !== undefined);
      if ((known || ours) && fields.length) {
        results.push({ id: known ? String(value[known]) : "", ours, fields: below(place, fields) });
      }
    }
    rest.push(...below(place, names.filter((name) => name !== given)).reverse());
  }
  const known = new Map(pieces.map((piece) => [piece.path.join("\0"), piece]));
  for (const { id, ours, fields } of results) {
    if (!ours && !calls.has(id)) continue;
    for (const each of fields.flatMap(texts)) {
      const before = known.get(each.path.join("\0"));
      const piece: Piece = Object.assign(before ?? each, { kind: "tool-result", callId: id || undefined }) as Piece;
      if (!before) pieces.push(piece);
    }
  }
  return pieces;
}

const copyOf = (value: Json) =>
  Array.isArray(value) ? value.slice() : Object.assign(Object.create(Object.getPrototypeOf(value)), value);

/** Give a copy in which one value is another; what is on the way to it is copied, all else is shared. */
function changed(root: Json, path: Path, value: Json): Json {
  if (!path.length) return value;
  const copy = copyOf(root);
  let holder = copy;
  for (const name of path.slice(0, -1)) holder = holder[name] = copyOf(holder[name]);
  holder[path[path.length - 1]] = value;
  return copy;
}

/** Put the omission where nobody could be asked; arguments stay an object of the shape that the tool takes. */
function withheld(piece: Piece): string {
  if (piece.kind !== "tool-call") return OMISSION;
  const kept = ["query", "sourceRef"].filter((name) => piece.text.includes(`"${name}"`));
  return JSON.stringify(Object.fromEntries(kept.map((name) => [name, OMISSION])));
}

/** What Pi answers a model whose arguments do not fit: it repeats them, and nothing of the history. */
const COMPLAINT = /^Validation failed for tool "context_\w+":\n/;
const REPEATED = "\n\nReceived arguments:\n";
const isComplaint = ({ kind, text }: Piece) => kind === "tool-result" && COMPLAINT.test(text);

// --- the extension --------------------------------------------------------------------------------------------

/** A rebase under way: the context that it began in, the one after the switch, the switch itself, and its id. */
type Operation = { ctx: Json; fresh?: Json; switching?: Promise<Json>; id?: string };

export default function (pi: Json): void {
  let latest: Json; // the context of the last event, for what comes without one
  let compactingUntil = 0; // an older Pi does not tell of a compaction that failed, so that this ends by itself too
  let begunWith: string | undefined; // the provider of the turn under way
  let closed = false;
  let remembers = false; // whether the owner wants memory put before the model
  let live: Operation | undefined; // what is under way in which sessions are switched
  const told = new Set<string>();

  const server = new Server(
    async (method, params) => {
      if (method === "leaf") return standing();
      if (method === "activate" && live) {
        live.id = params.operationId;
        return (live.switching = activate(params.targetFile, live));
      }
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
      pendingMessages: ctx.hasPendingMessages(), compacting: Date.now() < compactingUntil,
    };
  }

  /** Switch sessions; only what the fresh context says of itself counts. */
  async function activate(file: string, operation: Operation): Promise<Json> {
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
  async function ask(method: string, params: Json, ctx: Json, actor: "user" | "model", ms = CALL_MS, signal?: AbortSignal) {
    latest = ctx;
    if (actor === "user") server.down = undefined; // a person may have mended it
    const sent = { ...params, context: context(ctx, actor) };
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
      if (found.needs === "activate") {
        const windowTokens = ctx.getContextUsage?.()?.tokens ?? undefined;
        return operate(method, method === "rebase.run" ? { ...params, windowTokens } : params, ctx);
      }
      found = await ask(method, method === "command" ? { ...params, columns } : params, ctx, "user");
    }
    if (found.append) pi.appendEntry(found.append.customType, found.append.data);
    if (found.list?.length && modeOf(ctx) === "tui" && !/(^|\s)--json(\s|$)/.test(line)) return choose(found, ctx);
    show(ctx, found.text, (found.status ?? "ok") === "ok" && !found.answer?.code ? "info" : "warning");
  }

  /** Do what a person agreed to and in which sessions are switched; the server holds the lock until it is done. */
  async function operate(method: string, params: Json, ctx: Json): Promise<void> {
    if (live || globals[REBASING]) return show(ctx, "A rebase is under way already.", "warning");
    const mine: Operation = (live = { ctx });
    const now = () => mine.fresh ?? ctx; // after a switch the old context is of no use
    globals[REBASING] = true;
    try {
      const done = await ask(method, params, ctx, "user", OPERATION_MS);
      const refused = done.answer?.code !== undefined;
      if (done.text && method !== "rebase.back") show(now(), done.text, refused ? "warning" : "info");
      if (method === "rebase.back" && !done.source) return show(ctx, done.text, "warning");
      const file = method === "rebase.back" ? done.source.file : done.target?.file;
      if (!file || now().sessionManager.getSessionFile() === file) return;
      const agreed = method === "rebase.back" || (await now().ui.confirm("pi-context", "Switch to the new session?"));
      if (!agreed) return;
      const { ok } = await activate(file, mine);
      show(now(), ok ? `Now in ${file}` : "Pi did not switch; the session stays as it is.", ok ? "info" : "warning");
    } catch (error) {
      await mine.switching; // the server may have gone while Pi switched
      const id = mine.id ?? params.operationId;
      const end = id ? `/context rebase --recover ${id}` : "see /context rebase --list, and end it by /context rebase --recover ID";
      const next = method === "rebase.back" ? "" : `\nNo session was changed. If the rebase had begun: ${end}`;
      show(now(), failure(error) + next, "warning");
    } finally {
      live = undefined;
      globals[REBASING] = false;
      if (closed) await server.close();
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
          const params = { name: tool.name, arguments: given ?? {} };
          let answer = await ask("tool", params, ctx, "model", CALL_MS, signal);
          if (answer.needs) {
            const agreed = ctx.hasUI && (await ctx.ui.confirm("pi-context", answer.text));
            if (!agreed) throw new Refusal("declined", "Nobody agreed.");
            answer = await ask("tool", { ...params, confirmed: true }, ctx, "model", CALL_MS, signal);
          }
          if (answer.append) pi.appendEntry(answer.append.customType, answer.append.data);
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
      remembers = settings.promptBlock;
      if (settings.messages) once(ctx, `${settings.messages} settings of pi-context do not count: see /context config.`);
    } catch (error: Json) {
      once(ctx, error.message);
    }
    if (off.length) pi.setActiveTools(pi.getActiveTools().filter((name: string) => !off.includes(name)));
  });

  pi.on("session_shutdown", async () => {
    closed = true;
    if (!live) await server.close();
  });

  pi.on("agent_start", (_event: Json, ctx: Json) => {
    begunWith = ctx.model?.provider;
    compactingUntil = 0;
  });

  pi.on("context", async ({ messages }: Json, ctx: Json) => {
    if (!remembers) return undefined;
    try {
      const { text } = await ask("prompt", {}, ctx, "model", GATE_MS, ctx.signal);
      if (!text) return undefined;
      return { messages: [{ role: "user", content: [{ type: "text", text }], timestamp: 0 }, ...messages] };
    } catch {
      return undefined; // without it the request is only poorer
    }
  });

  // --- the last gate ------------------------------------------------------------------------------------------------

  /** Keep or replace all that is ours; without an answer of the server everything is replaced.
   * `also` names a provider that may get the request too, empty for nobody knows whom. */
  async function gated(root: Json, ctx: Json, also?: string): Promise<Json> {
    const pieces = find(root);
    if (!pieces.length) return root;
    const verdicts = new Map<string, Json>();
    const asked = pieces.map((piece, at) => ({ piece, id: String(at) })).filter(({ piece }) => !isComplaint(piece));
    try {
      const sent = asked.map(({ piece: { kind, text, callId }, id }) => ({ id, kind, text, callId }));
      const params = also === undefined ? { pieces: sent } : { pieces: sent, alsoProvider: also };
      const answer = sent.length ? await ask("egress", params, ctx, "model", GATE_MS, ctx.signal) : { pieces: [] };
      for (const each of answer.pieces) verdicts.set(each.id, each);
    } catch (error: Json) {
      if (error.code !== "cancelled") once(ctx, `Quotes of the history are withheld from the model: ${error.message}`);
    }
    let value = root;
    for (const piece of pieces.filter(isComplaint)) value = changed(value, piece.path, piece.text.split(REPEATED)[0]);
    const lost = asked.filter(({ id }) => verdicts.get(id)?.action !== "keep");
    for (const { piece, id } of lost) {
      const given = verdicts.get(id)?.text;
      const text = typeof given === "string" ? given : withheld(piece);
      value = changed(value, piece.path, piece.parsed ? JSON.parse(text) : text);
    }
    if (lost.length && verdicts.size) {
      const provider = ctx.model?.provider ?? "this provider";
      once(ctx, `Some quotes of the history are withheld from ${provider}. What the model itself wrote about them still goes`
        + " there: begin a new session, or go back with /tree, where it must not.");
    }
    return value;
  }

  /** Name who else than the live model's provider may get a request; undefined where nobody else may. */
  function alsoFor(payload: Json, ctx: Json): string | undefined {
    const asked = payload?.model ?? payload?.modelId; // Bedrock calls it so
    if (typeof asked === "string" && asked !== ctx.model?.id) return "";
    return begunWith === undefined || begunWith === ctx.model?.provider ? undefined : begunWith; // switched within a turn
  }

  pi.on("before_provider_request", async ({ payload }: Json, ctx: Json) => {
    try {
      const value = await gated(payload, ctx, alsoFor(payload, ctx));
      if (value === payload) return undefined;
      if (value.previous_response_id === undefined) return value;
      const { previous_response_id: _, ...whole } = value; // what that stands for may hold what was withheld
      return whole;
    } catch {
      ctx.abort(); // a throw would let the request go as it is
      once(ctx, "The request was stopped: pi-context could not look for quotes of the history in it.");
      return {};
    }
  });

  /** Replace, in place, what may not go in lists of messages that Pi is about to have summarized. */
  async function guarded(ctx: Json, ...lists: Json[]): Promise<boolean> {
    try {
      const safe = await gated(lists, ctx);
      for (const [at, list] of lists.entries()) for (const name in list) list[name] = safe[at][name];
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
    compactingUntil = Date.now() + COMPACTION_MS;
    signal?.addEventListener("abort", () => (compactingUntil = 0), { once: true });
    return undefined;
  });

  pi.on("session_before_tree", async ({ preparation }: Json, ctx: Json) => {
    latest = ctx;
    if (preparation?.userWantsSummary === false) return undefined;
    return (await guarded(ctx, preparation?.entriesToSummarize)) ? undefined : { cancel: true };
  });

  for (const event of ["session_compact", "session_compact_failed"]) {
    pi.on(event, () => {
      compactingUntil = 0;
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
