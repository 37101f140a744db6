// Users and roles, in a real browser: the first user, logging in, who may do what.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { accessible, launch, newPage, settled, shoot } from "./browser.mjs";
import { auscult, freePort, program, remove, serve, temporary } from "./program.mjs";

const PASSWORD = "correct horse battery";
const refused = /Failed to load resource.*(401|403)/;
let browser;
let service;
let data;
let folder;

before(async () => {
  assert.ok(program);
  folder = await temporary();
  data = path.join(folder, "data");
  const site = path.join(folder, "site.toml");
  await writeFile(site, '[[machine]]\nname = "fan-1"\n');
  service = await serve([site], await freePort(), data);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await service?.stop();
  if (folder) await remove(folder);
});

async function logIn(name, password = PASSWORD) {
  const opened = await newPage(browser, {}, refused);
  await opened.page.goto(`${service.base}/settings`);
  await opened.page.getByRole("heading", { name: "Log in" }).waitFor();
  await opened.page.getByLabel("Name").fill(name);
  await opened.page.getByLabel("Password").fill(password);
  await opened.page.getByRole("button", { name: "Log in" }).click();
  return opened;
}

describe("users", () => {
  test("without users this computer is the administrator; the first user ends that", async () => {
    const { page, context } = await newPage(browser, {}, refused);
    await page.goto(`${service.base}/settings`);
    await page.getByText("Nobody has to log in").waitFor();
    const users = page.getByRole("region", { name: "Users" });
    await users.getByLabel("Name").fill("ada");
    await users.getByLabel("Password").fill(PASSWORD);
    await users.getByRole("button", { name: "Add a user" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await accessible(page, "login");
    await shoot(page, "login-light");
    await page.goto(`${service.base}/machines/fan-1`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await context.close();
  });

  test("a wrong password is refused in words, the right one leads back", async () => {
    const wrong = await logIn("ada", "not the password");
    await wrong.page.getByRole("alert").waitFor();
    await wrong.page.getByLabel("Password").fill(PASSWORD);
    await wrong.page.getByRole("button", { name: "Log in" }).click();
    await wrong.page.getByRole("heading", { name: "Settings" }).waitFor();
    await wrong.page.getByText("Logged in as ada, administrator.").waitFor();
    assert.equal(await wrong.page.evaluate(() => document.cookie), "", "no script can read the session");
    await wrong.context.close();
  });

  test("an administrator adds users and tokens, and the audit log has it", async () => {
    const { page, context } = await logIn("ada");
    const users = page.getByRole("region", { name: "Users" });
    for (const [name, role] of [
      ["grace", "operator"],
      ["wall", "viewer"],
    ]) {
      await users.getByLabel("Name").fill(name);
      await users.locator("select[name=role]").selectOption(role);
      await users.getByLabel("Password").fill(PASSWORD);
      await users.getByRole("button", { name: "Add a user" }).click();
      await users.getByRole("cell", { name, exact: true }).waitFor();
    }
    const tokens = page.getByRole("region", { name: "Tokens for programs" });
    await tokens.getByLabel("Name").fill("edge-1");
    await tokens.getByRole("button", { name: "Add a token" }).click();
    const secret = await tokens.locator("code").innerText();
    const asked = await fetch(`${service.base}/api/v1/machines`, {
      headers: { Authorization: `Bearer ${secret}` },
    });
    assert.equal(asked.status, 200, "the token works");
    await tokens.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Yes, do it" }).click();
    await tokens.getByText("There are no tokens.").waitFor();
    assert.equal(
      (
        await fetch(`${service.base}/api/v1/machines`, {
          headers: { Authorization: `Bearer ${secret}` },
        })
      ).status,
      401,
    );
    await page.reload();
    const audit = page.getByRole("region", { name: "Who changed what" });
    await audit.getByRole("cell", { name: /grace/ }).first().waitFor();
    await audit.getByRole("row", { name: /session.*refused \(401\)/ }).waitFor();
    await accessible(page, "settings with users");
    await shoot(page, "settings-users-light");
    await context.close();
  });

  test("a viewer looks and cannot act", async () => {
    const { page, context } = await logIn("wall");
    await page.getByText("Users, tokens and the audit log are for administrators.").waitFor();
    await page.goto(`${service.base}/machines/fan-1`);
    await settled(page);
    await page.getByText("your role is viewer").first().waitFor();
    assert.equal(await page.getByRole("button", { name: /Shelve|Out of service|Acknowledge/ }).count(), 0);
    await page.goto(service.base);
    await settled(page);
    assert.equal(await page.getByRole("link", { name: "Add a machine" }).count(), 0);
    const status = await page.evaluate(async () => {
      const { csrf } = await (await fetch("/api/v1/session")).json();
      const answer = await fetch("/api/v1/machines/fan-1/shelve", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Auscult-CSRF": csrf },
        body: JSON.stringify({ minutes: 60, reason: "x" }),
      });
      return answer.status;
    });
    assert.equal(status, 403, "the server refuses too");
    await context.close();
  });

  test("an operator acts and does not administer", async () => {
    const { page, context } = await logIn("grace");
    await page.getByText("Logged in as grace, operator.").waitFor();
    await page.goto(`${service.base}/machines/fan-1`);
    await page.getByRole("button", { name: "Out of service …" }).click();
    await page.getByLabel("Reason").fill("belt");
    await page.getByRole("dialog").getByRole("button", { name: "Out of service" }).click();
    await page.locator(".remark", { hasText: "Out of service: belt" }).waitFor();
    await page.getByText("Learning waits: the machine is out of service.").waitFor();
    await page.getByRole("button", { name: "Back in service" }).click();
    await page.getByRole("button", { name: "Out of service …" }).waitFor();
    await page.goto(`${service.base}/add`);
    await page.getByText("Only administrators add machines.").waitFor();
    await context.close();
  });

  test("logging out ends the session; the command line knows the users", async () => {
    const { page, context } = await logIn("ada");
    await page.getByText("Logged in as ada, administrator.").waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    assert.equal(await page.evaluate(async () => (await fetch("/api/v1/machines")).status), 401);
    await context.close();
    assert.match(auscult("serve", "user", "list", "--data", data), /grace/);
  });
});
