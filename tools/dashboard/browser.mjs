// The browser, and what every page must satisfy.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { source: AXE } = createRequire(import.meta.url)("axe-core");

export const desk = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };
export const shots = process.env.SHOTS;
/** How long anything may take on a slow and busy computer; nothing waits for longer than it must. */
export const PATIENCE_MS = 60_000;

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--autoplay-policy=no-user-gesture-required",
    ],
  });

/** A page that collects what it complains about; `allowed` are complaints of the browser that belong to the test. */
export async function newPage(browser, options = {}, allowed = null) {
  const context = await browser.newContext({
    viewport: desk,
    colorScheme: "light",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints = [];
  const take = (text) => {
    if (!(allowed?.test(text) ?? false)) complaints.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") take(message.text());
  });
  page.on("pageerror", (error) => take(String(error)));
  return { context, page, complaints };
}

/** Whatever the page waits for has arrived and is drawn: no word of loading and no empty chart is left. */
export async function settled(page) {
  await page.waitForSelector("main h1");
  await page.waitForFunction(() => document.querySelector(".loading, .plot-space") === null);
  await page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
}

/** No serious finding of axe, by all of its rules. */
export async function accessible(page, where) {
  // By the debugger: the policy of the pages lets no script in.
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(AXE);
  const { passes, bad } = await page.evaluate(async () => {
    const { passes, violations } = await window.axe.run({ resultTypes: ["violations"] });
    const isBad = (each) => each.impact === "serious" || each.impact === "critical";
    const words = (each) =>
      `${each.id}: ${each.nodes
        .slice(0, 3)
        .map((node) => node.target.join(" "))
        .join(", ")}`;
    return { passes: passes.length, bad: violations.filter(isBad).map(words) };
  });
  assert.ok(passes > 5, `${where}: axe looked at nothing`);
  assert.deepEqual(bad, [], where);
}

export async function fits(page, where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${where} is ${over} px too wide`);
}

export async function shoot(page, name) {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}
