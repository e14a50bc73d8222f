// Asks the real Pi for its trust and session folder. usage: node pi_trust.mjs DIST CASES_JSON
// CASES_JSON: [{agentDir, cwd}]; HOME comes from the environment.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , dist, cases] = process.argv;
const load = (name) => import(pathToFileURL(join(dist, "core", name)).href);
const { ProjectTrustStore, hasTrustRequiringProjectResources } = await load("trust-manager.js");
const { resolveProjectTrusted } = await load("project-trust.js");
const { SettingsManager } = await load("settings-manager.js");

const attempt = async (act) => {
  try {
    return await act();
  } catch {
    return "fails";
  }
};

const told = [];
for (const { agentDir, cwd } of JSON.parse(readFileSync(cases, "utf-8"))) {
  const trustStore = new ProjectTrustStore(agentDir);
  const settings = SettingsManager.create(cwd, agentDir);
  told.push({
    protected: await attempt(() => hasTrustRequiringProjectResources(cwd)),
    saved: await attempt(() => trustStore.get(cwd)),
    trusted: await attempt(() =>
      resolveProjectTrusted({
        cwd,
        trustStore,
        defaultProjectTrust: settings.getDefaultProjectTrust(),
        projectTrustContext: { hasUI: false },
      }),
    ),
    sessionDir: (await attempt(() => settings.getSessionDir())) || null,
  });
}
console.log(JSON.stringify(told));
