// The browser, and what every page must satisfy.

import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

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

export async function accessible(page, where) {
  const found = await new AxeBuilder({ page }).analyze();
  assert.ok(found.passes.length > 5, `${where}: axe looked at nothing`);
  const bad = found.violations.filter((each) => each.impact === "serious" || each.impact === "critical");
  const words = bad.map(
    (each) =>
      `${each.id}: ${each.nodes
        .slice(0, 3)
        .map((node) => node.target.join(" "))
        .join(", ")}`,
  );
  assert.deepEqual(words, [], where);
}

export async function fits(page, where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${where} is ${over} px too wide`);
}

export async function shoot(page, name) {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}
