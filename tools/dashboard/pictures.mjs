// One picture a page for the documents: light, dark and on a phone, from the pictures that the tests have taken.
//
//   node pictures.mjs SHOTS TARGET

import { readFile } from "node:fs/promises";
import path from "node:path";
import { launch } from "./browser.mjs";

const [shots, target] = process.argv.slice(2);
const PAGES = {
  plant: "plant",
  machine: "machines-pump",
  event: "events-pump",
  add: "add",
  listen: "add-machine-pump",
  waiting: "waiting",
  history: "history",
  settings: "settings",
  system: "system",
  login: "login",
};
const STYLE = `body { margin: 0; background: #8a8f98; display: flex; gap: 12px; padding: 12px; width: max-content }
  img { display: block; object-fit: cover; object-position: top; height: 450px; border-radius: 4px }
  .desk { width: 640px } .phone { width: 208px }`;

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1800, height: 474 } });
for (const [name, shot] of Object.entries(PAGES)) {
  const image = async (kind, look) => {
    const bytes = await readFile(path.join(shots, `${shot}-${look}.png`));
    return `<img class="${kind}" src="data:image/png;base64,${bytes.toString("base64")}">`;
  };
  const images = [
    await image("desk", "light-1280"),
    await image("desk", "dark-1280"),
    await image("phone", "light-390"),
  ];
  await page.setContent(`<style>${STYLE}</style>${images.join("")}`);
  await page.locator("body").screenshot({ path: path.join(target, `pages-${name}.png`) });
}
await browser.close();
