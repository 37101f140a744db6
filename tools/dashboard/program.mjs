// Starts the real program on loopback and stops it again.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";

export const program = process.env.AUSCULT ?? "";
if (program === "") throw new Error("AUSCULT must be the path of the program; run tools/dashboard.sh test");

export async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

export const temporary = () => mkdtemp(path.join(os.tmpdir(), "auscult-pages-"));
export const remove = (folder) => rm(folder, { recursive: true, force: true });

export function auscult(...parameters) {
  const ran = spawnSync(program, parameters, {
    encoding: "utf8",
    timeout: 60_000,
  });
  if (ran.status !== 0) throw new Error(`auscult ${parameters.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

/** The service with these parameters; resolves when it is ready. */
export async function serve(parameters, port, data) {
  const base = `http://127.0.0.1:${port}`;
  const child = spawn(program, ["serve", ...parameters, "--data", data, "--listen", `127.0.0.1:${port}`], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      said = (said + text).slice(-20_000);
    });
  const ended = once(child, "exit");
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  for (let tries = 0; tries < 1200; tries += 1) {
    if (isOver) throw new Error(`the program ended: ${said}`);
    const answer = await fetch(`${base}/readyz`).catch(() => null);
    if (answer?.ok) {
      const stop = async (signal = "SIGTERM") => {
        if (!isOver) child.kill(signal);
        await ended;
      };
      return { base, stop, said: () => said };
    }
    await new Promise((resume) => setTimeout(resume, 100));
  }
  child.kill("SIGKILL");
  throw new Error(`the program is not ready after two minutes: ${said}`);
}
