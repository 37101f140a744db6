// Takes the first screen of a page in light and dark: node picture.mjs page.html light.png dark.png
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page, ...pictures] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
for (const [at, colorScheme] of ["light", "dark"].entries()) {
  const context = await browser.newContext({ viewport: { width: 1120, height: 860 }, colorScheme });
  const tab = await context.newPage();
  await tab.goto(pathToFileURL(path.resolve(page)).href);
  await tab.screenshot({ path: pictures[at] });
  await context.close();
}
await browser.close();
