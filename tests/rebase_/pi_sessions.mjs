// Does with session logs what the real SDK does, in place, and prints one JSON answer for each order.
// usage: node pi_sessions.mjs SDK_INDEX ORDERS.json
// orders: {do: "open", file}, {do: "say", file, texts}, {do: "recent", cwd, folder}, {do: "list", cwd, folder},
//   {do: "fork", file, cwd, folder}
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , index, orders] = process.argv;
const { SessionManager, convertToLlm } = await import(pathToFileURL(index).href);
const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

const view = (manager) => {
  const context = manager.buildSessionContext();
  return {
    ...context,
    llm: convertToLlm(context.messages),
    header: manager.getHeader(),
    name: manager.getSessionName() ?? "",
    leafId: manager.getLeafId(),
    file: manager.getSessionFile(),
  };
};

const acts = {
  open: ({ file }) => view(SessionManager.open(file)),
  say: ({ file, texts }) => {
    const manager = SessionManager.open(file);
    texts.forEach((text, at) => {
      const content = [{ type: "text", text }];
      const timestamp = Date.now();
      const answer = { api: "openai-completions", provider: "fake", model: "fake-1", stopReason: "stop" };
      const said = { ...answer, usage: { ...USAGE, cost: COST }, timestamp };
      manager.appendMessage(at % 2 ? { role: "assistant", content, ...said } : { role: "user", content, timestamp });
    });
    return view(manager);
  },
  recent: ({ cwd, folder }) => view(SessionManager.continueRecent(cwd, folder)),
  fork: ({ file, cwd, folder }) => view(SessionManager.forkFrom(file, cwd, folder)),
  list: ({ cwd, folder }) => SessionManager.list(cwd, folder),
};

for (const order of JSON.parse(readFileSync(orders, "utf8"))) {
  console.log(JSON.stringify(await acts[order.do](order)));
}
