// Builds the pages into dist/: index.html, and everything else in dist/assets with a hash in its name.
// The same sources give the same bytes, so `tools/dashboard.sh check` can compare.
//
//   node build.mjs [FOLDER]

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, "dist"));
const assets = path.join(out, "assets");

await rm(out, { recursive: true, force: true });
await mkdir(assets, { recursive: true });

/** Writes an asset under a name with its hash, and gives back its address. */
async function asset(name, bytes) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const { name: stem, ext } = path.parse(name);
  const file = `${stem}-${hash}${ext}`;
  await writeFile(path.join(assets, file), bytes);
  return `/assets/${file}`;
}

const bundle = async (entry) => {
  const built = await esbuild.build({
    entryPoints: [path.join(here, "src", entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  return built.outputFiles[0].contents;
};

const icon = await asset("icon.svg", await readFile(path.join(here, "src/icon.svg")));
const manifest = (await readFile(path.join(here, "src/manifest.webmanifest"), "utf8")).replaceAll("ICON", icon);
const html = (await readFile(path.join(here, "src/index.html"), "utf8"))
  .replaceAll("ICON", icon)
  .replaceAll("MANIFEST", await asset("auscult.webmanifest", manifest))
  .replaceAll("STYLE", await asset("auscult.css", await bundle("style.css")))
  .replaceAll("SCRIPT", await asset("auscult.js", await bundle("main.tsx")));
await writeFile(path.join(out, "index.html"), html);
