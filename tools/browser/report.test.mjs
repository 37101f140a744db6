// Opens reports in Chromium, in light, dark, narrow and print, and looks for what readers would
// stumble over: errors, anything loaded, inaccessible parts, sound that does not play, text that
// is cut off. Screenshots are left in REPORTS_SHOTS.
//
//   REPORTS="a.html b.html" REPORTS_SHOTS=folder node --test report.test.mjs

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const reports = (process.env.REPORTS ?? "").split(" ").filter(Boolean);
const shots = process.env.REPORTS_SHOTS;
assert.ok(reports.length > 0, "REPORTS names no page to open");

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
});
after(async () => browser?.close());

/** Opens a page; `heard` collects what it complains about and what it loads. */
async function open(report, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const heard = { messages: [], requests: [] };
  page.on("console", (message) => heard.messages.push(message.text()));
  page.on("pageerror", (error) => heard.messages.push(String(error)));
  page.on("request", (request) => heard.requests.push(request.url().slice(0, 60)));
  await page.goto(pathToFileURL(path.resolve(report)).href);
  return { context, page, heard };
}

for (const report of reports) {
  const name = path.basename(report, ".html");
  describe(name, () => {
    test("opens from disk, loads nothing, complains about nothing", async () => {
      const { context, page, heard } = await open(report);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      assert.deepEqual(heard.messages, []);
      const loaded = heard.requests.filter((url) => !url.startsWith("data:"));
      assert.equal(loaded.length, 1, `the page itself and nothing else: ${loaded}`);
      assert.equal(await page.locator("h1").count(), 1);
      if (shots) await page.screenshot({ path: `${shots}/${name}-light.png`, fullPage: true });
      await context.close();
    });

    for (const colorScheme of ["light", "dark"]) {
      test(`is accessible in ${colorScheme}`, async () => {
        const { context, page } = await open(report, { colorScheme });
        await page.evaluate(() => {
          for (const details of document.querySelectorAll("details")) details.open = true;
        });
        await page.evaluate(axeSource);
        const violations = await page.evaluate(async () => {
          const found = await globalThis.axe.run(document, { resultTypes: ["violations"] });
          return found.violations.map((violation) => ({
            rule: violation.id,
            nodes: violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)),
          }));
        });
        assert.deepEqual(violations, []);
        if (shots && colorScheme === "dark") {
          await page.screenshot({ path: `${shots}/${name}-dark.png`, fullPage: true });
        }
        await context.close();
      });
    }

    test("sound plays and pictures show", async () => {
      const { context, page } = await open(report);
      const seconds = await page.evaluate(() =>
        Promise.all(
          [...document.querySelectorAll("audio")].map(
            (audio) =>
              new Promise((resolve, reject) => {
                audio.onerror = () => reject(new Error(audio.getAttribute("aria-label")));
                audio.onloadedmetadata = () => resolve(audio.duration);
                audio.load();
              }),
          ),
        ),
      );
      assert.ok(seconds.length > 0, "the reports given here have sound");
      for (const duration of seconds) assert.ok(duration > 0.5, `${duration} s`);
      const unseen = await page.evaluate(
        () => [...document.querySelectorAll("img")].filter((image) => !image.naturalWidth).length,
      );
      assert.equal(unseen, 0);
      await context.close();
    });

    test("no text of a picture is cut off", async () => {
      const { context, page } = await open(report);
      const cut = await page.evaluate(() => {
        const outside = [];
        for (const svg of document.querySelectorAll("svg")) {
          const frame = svg.getBoundingClientRect();
          for (const text of svg.querySelectorAll("text")) {
            const box = text.getBoundingClientRect();
            const fits =
              box.left >= frame.left - 1 && box.right <= frame.right + 1 &&
              box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
            if (!fits) outside.push(text.textContent);
          }
        }
        return outside;
      });
      assert.deepEqual(cut, []);
      await context.close();
    });

    for (const width of [1200, 390]) {
      test(`fits a window of ${width} pixels`, async () => {
        const { context, page } = await open(report, { viewport: { width, height: 800 } });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `the page is ${wide} wide`);
        if (shots && width < 1000) await page.screenshot({ path: `${shots}/${name}-narrow.png` });
        await context.close();
      });
    }

    test("can be read with the keyboard alone", async () => {
      const { context, page } = await open(report);
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^Skip to/);
      await page.keyboard.press("Enter");
      assert.equal(new URL(page.url()).hash, "#clips");
      const reached = new Set();
      for (let step = 0; step < 200; step += 1) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement.tagName.toLowerCase()));
      }
      for (const kind of ["a", "summary", "audio", "div"]) {
        assert.ok(reached.has(kind), `${kind} was never reached: ${[...reached]}`);
      }
      await context.close();
    });

    test("prints", async () => {
      const { context, page } = await open(report);
      const document = await page.pdf({ format: "A4", path: shots && `${shots}/${name}.pdf` });
      assert.equal(document.subarray(0, 5).toString(), "%PDF-");
      await context.close();
    });
  });
}
