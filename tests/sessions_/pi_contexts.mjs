// Opens copies of session logs with the real SDK and prints, one JSON line for each, what it makes of them.
// usage: node pi_contexts.mjs SDK_INDEX FOLDER
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , index, folder] = process.argv;
const { SessionManager, buildSessionContext } = await import(pathToFileURL(index).href);
const copies = mkdtempSync(join(tmpdir(), "pi-contexts-"));

// Pi itself would walk a circle of parents for ever.
const circles = (entries, leafId) => {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const seen = new Set();
  let entry = leafId === null ? undefined : ((leafId ? byId.get(leafId) : undefined) ?? entries.at(-1));
  for (; entry; entry = entry.parentId ? byId.get(entry.parentId) : undefined) {
    if (seen.has(entry)) return true;
    seen.add(entry);
  }
  return false;
};

const view = (entries, leafId) => {
  if (circles(entries, leafId)) return { circle: true };
  let context;
  try {
    context = buildSessionContext(entries, leafId, new Map(entries.map((entry) => [entry.id, entry])));
  } catch (error) {
    return { fails: String(error) };
  }
  try {
    return { ...context, messages: JSON.stringify(context.messages) };
  } catch {
    return { unwritable: true };
  }
};

for (const name of readdirSync(folder).sort()) {
  const copy = join(copies, name);
  copyFileSync(join(folder, name), copy);
  const told = { name };
  try {
    const manager = SessionManager.open(copy);
    const entries = manager.getEntries();
    told.sessionId = manager.getSessionId();
    told.leafId = manager.getLeafId();
    told.leaf = view(entries, told.leafId);
    const places = new Map(entries.map((entry, at) => [entry.id, at]));
    const named = [...places].filter(([id]) => typeof id === "string" && id);
    told.leaves = named.slice(-6).map(([id, at]) => ({ id, at, view: view(entries, id) }));
  } catch (error) {
    told.refused = String(error);
  }
  console.log(JSON.stringify(told));
  rmSync(copy);
}
rmSync(copies, { recursive: true });
