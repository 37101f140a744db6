// Opens reports in Chromium, in light, dark, narrow and print, and looks for what readers would
// stumble over: errors, anything loaded, inaccessible parts, answers that are missing, sound that does
// not play, text that is cut off. Screenshots are left in REPORTS_SHOTS.
//
//   REPORTS_FOLDER=pages REPORTS_SHOTS=folder node --test report.test.mjs

import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.REPORTS_FOLDER ?? "";
const shots = process.env.REPORTS_SHOTS;
const reports = (await readdir(folder)).filter((name) => name.endsWith(".html")).map((name) => path.join(folder, name));
for (const wanted of ["sample", "moved", "demo", "hall", "many"]) {
  assert.ok(reports.some((report) => path.basename(report) === `${wanted}.html`), `${wanted}.html is missing`);
}
const named = (name) => reports.find((report) => path.basename(report) === `${name}.html`);

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const desk = { width: 1200, height: 900 };
const phone = { width: 390, height: 844 };

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
  const context = await browser.newContext({ viewport: desk, ...options });
  const page = await context.newPage();
  const heard = { messages: [], requests: [] };
  page.on("console", (message) => heard.messages.push(message.text()));
  page.on("pageerror", (error) => heard.messages.push(String(error)));
  page.on("request", (request) => heard.requests.push(request.url().slice(0, 60)));
  await page.goto(pathToFileURL(path.resolve(report)).href);
  return { context, page, heard };
}

const openAllDetails = (page) =>
  page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));

for (const report of reports) {
  const name = path.basename(report, ".html");
  describe(name, () => {
    test("opens from disk, loads nothing, complains about nothing", async () => {
      const { context, page, heard } = await open(report);
      if (shots) await page.screenshot({ path: `${shots}/${name}-first.png` });
      await openAllDetails(page);
      assert.deepEqual(heard.messages, []);
      const loaded = heard.requests.filter((url) => !url.startsWith("data:"));
      assert.equal(loaded.length, 1, `the page itself and nothing else: ${loaded}`);
      assert.equal(await page.locator("h1").count(), 1);
      if (shots) await page.screenshot({ path: `${shots}/${name}-light.png`, fullPage: true });
      await context.close();
    });

    test("says its state to programs", async () => {
      const { context, page } = await open(report);
      const main = page.locator("main");
      assert.match(await main.getAttribute("data-state"), /^(normal|alert|alarm)$/);
      assert.match(await main.getAttribute("data-changed"), /^(true|false)$/);
      await context.close();
    });

    test("is smaller than 5 MB", async () => {
      const { size } = await stat(report);
      assert.ok(size < 5_000_000, `${size} bytes`);
    });

    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of [desk, phone]) {
        test(`is accessible in ${colorScheme} at ${viewport.width} pixels`, async () => {
          const { context, page } = await open(report, { colorScheme, viewport });
          await openAllDetails(page);
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
            await page.screenshot({ path: `${shots}/${name}-dark-${viewport.width}.png` });
          }
          await context.close();
        });
      }
    }

    test("sound plays and pictures show", async () => {
      const { context, page } = await open(report);
      await openAllDetails(page);
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
      if (name !== "moved") assert.ok(seconds.length > 0, "the reports given here have sound");
      for (const duration of seconds) assert.ok(duration > 0.5, `${duration} s`);
      const unseen = await page.evaluate(
        () => [...document.querySelectorAll("img")].filter((image) => !image.naturalWidth).length,
      );
      assert.equal(unseen, 0);
      await context.close();
    });

    for (const viewport of [desk, phone]) {
      test(`no text of a picture is cut off or too small at ${viewport.width} pixels`, async () => {
        const { context, page } = await open(report, { viewport });
        await openAllDetails(page);
        const wrong = await page.evaluate(() => {
          const found = [];
          for (const svg of document.querySelectorAll("svg[role]")) {
            const frame = (svg.closest(".plot") ?? svg).getBoundingClientRect();
            for (const text of svg.querySelectorAll("text")) {
              const box = text.getBoundingClientRect();
              if (box.width === 0) continue;
              const fits =
                box.left >= frame.left - 1 && box.right <= frame.right + 1 &&
                box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
              if (!fits) found.push(`cut off: ${text.textContent}`);
              const upright = text.hasAttribute("transform") ? box.width : box.height;
              if (upright < 10) found.push(`${upright.toFixed(1)} px high: ${text.textContent}`);
            }
          }
          return found;
        });
        assert.deepEqual(wrong, []);
        await context.close();
      });

      test(`fits a window of ${viewport.width} pixels`, async () => {
        const { context, page } = await open(report, { viewport });
        await openAllDetails(page);
        const wide = await page.evaluate(() => ({
          page: document.documentElement.scrollWidth,
          charts: [...document.querySelectorAll(".plot, .panels svg, .modulation svg, .spark")]
            .filter((chart) => chart.getBoundingClientRect().right > innerWidth)
            .map((chart) => chart.outerHTML.slice(0, 80)),
        }));
        assert.ok(wide.page <= viewport.width, `the page is ${wide.page} wide`);
        assert.deepEqual(wide.charts, []);
        if (shots && viewport === phone) {
          await page.screenshot({ path: `${shots}/${name}-narrow.png`, fullPage: true });
        }
        await context.close();
      });
    }

    test("can be read with the keyboard alone", async () => {
      const { context, page } = await open(report);
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^Skip to/);
      await page.keyboard.press("Enter");
      assert.match(new URL(page.url()).hash, /^#(clips|machines)$/);
      // From the start again.
      await page.goto(pathToFileURL(path.resolve(report)).href.replace(/#.*/, ""));
      await page.reload();
      await openAllDetails(page);
      const reached = new Set();
      for (let step = 0; step < 400 && !reached.has("div"); step += 1) {
        await page.keyboard.press("Tab");
        reached.add(await page.evaluate(() => document.activeElement.tagName.toLowerCase()));
      }
      const wanted = name === "moved" ? ["a", "div"] : ["a", "summary", "button", "input", "div"];
      for (const kind of wanted) assert.ok(reached.has(kind), `${kind} was never reached: ${[...reached]}`);
      await context.close();
    });

    test("prints without players and with its answer on the first sheet", async () => {
      const { context, page } = await open(report);
      await page.emulateMedia({ media: "print" });
      assert.equal(await page.locator(".player:visible").count(), 0);
      const file = await page.pdf({ format: "A4", path: shots && `${shots}/${name}.pdf` });
      assert.equal(file.subarray(0, 5).toString(), "%PDF-");
      await context.close();
    });

    test("links lead somewhere", async () => {
      const { context, page } = await open(report);
      const lost = await page.evaluate(() =>
        [...document.querySelectorAll("a[href^='#']")]
          .filter((link) => !document.getElementById(link.getAttribute("href").slice(1)))
          .map((link) => link.getAttribute("href")),
      );
      assert.deepEqual(lost, []);
      await context.close();
    });
  });
}

describe("the first screen", () => {
  for (const name of ["sample", "moved", "demo", "many"]) {
    test(`of ${name} answers five questions without scrolling`, async () => {
      const { context, page } = await open(named(name));
      for (const answer of ["well", "since", "differs", "sure", "do"]) {
        const place = page.locator(`[data-answer="${answer}"]`);
        const box = await place.boundingBox();
        assert.ok(box.y + box.height <= desk.height, `${answer} ends at ${box.y + box.height}`);
        assert.ok((await place.innerText()).length > 5, answer);
      }
      await context.close();
    });
  }

  test("of an alarm says since when, where in decibels and hertz, and marks it over time", async () => {
    const { context, page } = await open(named("sample"));
    assert.equal(await page.locator("main").getAttribute("data-state"), "alarm");
    assert.match(await page.locator(".pill").first().innerText(), /Alarm since 15 Apr 2026, 14:00/);
    assert.match(await page.locator("[data-answer=differs]").innerText(), /\+\d.* dB at .*kHz \(\d clips\)/);
    assert.equal(await page.locator(".alarm-span").count(), 1);
    assert.equal(await page.locator("rect.visit").count(), 4);
    assert.match(await page.locator(".kicker").first().innerText(), /sound of 13 Apr 2026, 09:00 to 15 Apr 2026, 14:20 UTC/);
    await context.close();
  });

  test("of a changed run says so and what to do", async () => {
    const { context, page } = await open(named("moved"));
    const main = page.locator("main");
    assert.equal(await main.getAttribute("data-changed"), "true");
    assert.notEqual(await main.getAttribute("data-state"), "normal", "changed never lowers a state");
    assert.match(await page.locator("[data-answer=do]").innerText(), /microphone/);
    await context.close();
  });

  test("of a hall has the worst machine first, and opens", async () => {
    const { context, page } = await open(named("hall"));
    const states = await page.locator("article.machine").evaluateAll((machines) =>
      machines.map((machine) => machine.dataset.state));
    assert.deepEqual(states, ["alarm", "normal"], "given in the other order");
    assert.equal(await page.locator("main").getAttribute("data-state"), states[0]);
    await page.locator("article.machine summary").first().click();
    assert.ok(await page.locator("[data-answer=do]").first().isVisible());
    await context.close();
  });
});

describe("the player", () => {
  const state = (player) =>
    player.evaluate((element) => ({
      playing: element.dataset.playing,
      side: element.dataset.side,
      at: Number(element.querySelector("input[type=range]").value),
    }));

  test("switches between both sounds at the same moment", async () => {
    const { context, page, heard } = await open(named("demo"));
    const player = page.locator(".player").first();
    await player.locator("button.play").click();
    await page.waitForFunction((element) => Number(element.querySelector("input").value) > 0.3, await player.elementHandle());
    const before = await state(player);
    assert.deepEqual([before.playing, before.side], ["true", "clip"]);
    const began = Date.now();
    await player.locator("button.side").nth(1).click();
    const after = await state(player);
    const passed = (Date.now() - began) / 1000;
    assert.equal(after.side, "normal");
    assert.ok(after.at >= before.at - 0.02 && after.at <= before.at + passed + 0.2, `${before.at} s, then ${after.at} s`);
    await page.keyboard.press("s");
    assert.equal((await state(player)).side, "clip", "S switches back");
    await player.locator("button.play").click();
    assert.equal((await state(player)).playing, "false");
    const { at } = await state(player);
    await page.waitForTimeout(300);
    // The picture of the moment before may still be on its way.
    const later = (await state(player)).at;
    assert.ok(Math.abs(later - at) < 0.1, `a pause stays where it is: ${at} s, then ${later} s`);
    assert.deepEqual(heard.messages, []);
    await context.close();
  });

  test("plays one pair at a time", async () => {
    const { context, page } = await open(named("sample"));
    const [first, second] = [page.locator(".player").nth(0), page.locator(".player").nth(1)];
    await first.locator("button.play").click();
    await page.waitForFunction((element) => element.dataset.playing === "true", await first.elementHandle());
    await second.locator("button.play").click();
    await page.waitForFunction((element) => element.dataset.playing === "true", await second.elementHandle());
    assert.equal((await state(first)).playing, "false");
    await context.close();
  });

  test("is two plain players where no script runs", async () => {
    const { context, page } = await open(named("sample"), { javaScriptEnabled: false });
    const audios = page.locator(".player").first().locator("audio");
    assert.equal(await audios.count(), 2);
    assert.ok(await audios.first().isVisible());
    await context.close();
  });
});

test("300 clips are on the large page", async () => {
  const { context, page } = await open(named("many"));
  assert.equal(await page.locator("tr[id^=clip-]").count(), 300);
  const kinds = await page.locator("article.kind").count();
  assert.ok(kinds >= 1 && kinds <= 6, `${kinds} kinds`);
  await context.close();
});
