// A plant of a thousand machines stays smooth.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fits, launch, newPage, phone } from "./browser.mjs";
import { freePort, remove, serve, temporary } from "./program.mjs";

const LONGEST_TASK_MS = 400;
let browser;
let service;
let data;

before(async () => {
  data = await temporary();
  const folder = path.join(data, "recordings");
  await mkdir(folder);
  const machines = Array.from(
    { length: 1000 },
    (_, index) =>
      `[[machine]]\nname = "machine-${String(index).padStart(4, "0")}"\nfolder = "recordings/${index}"\npreset = "fast"\n`,
  );
  for (let index = 0; index < 1000; index += 1) await mkdir(path.join(folder, String(index)));
  const site = path.join(data, "site.toml");
  await writeFile(site, `schema = 1\nsite = "large"\n\n${machines.join("\n")}`);
  service = await serve([site], await freePort(), path.join(data, "data"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await service?.stop();
  if (data) await remove(data);
});

describe("a thousand machines", () => {
  for (const viewport of [{ width: 1280, height: 900 }, phone]) {
    test(`are listed, found and scrolled smoothly at ${viewport.width} px`, { timeout: 60_000 }, async () => {
      const { page, context, complaints } = await newPage(browser, {
        viewport,
      });
      await page.addInitScript(() => {
        window.longest = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
        }).observe({ type: "longtask", buffered: true });
      });
      await page.goto(service.base);
      await page.waitForSelector(".row, .tile");
      assert.ok((await page.evaluate(() => performance.now())) < 3000, "usable soon");
      for (let turn = 0; turn < 25; turn += 1) {
        await page.mouse.wheel(0, 1200);
        await page.evaluate(() => new Promise(requestAnimationFrame));
      }
      const longest = await page.evaluate(() => window.longest);
      assert.ok(longest < LONGEST_TASK_MS, `the page stood still for ${Math.round(longest)} ms`);
      await page.getByRole("searchbox", { name: "Find a machine" }).fill("machine-0777");
      await page.waitForFunction(() => document.querySelectorAll("a.row, a.tile").length === 1);
      await fits(page, "a thousand machines");
      assert.deepEqual(complaints, []);
      await context.close();
    });
  }
});
