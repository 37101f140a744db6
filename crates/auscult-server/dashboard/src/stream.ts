// Server-sent events, read with fetch: they go on where they stopped, and a login that ended is noticed.

import { base, loginIsNeeded } from "./api";

export interface Reader {
  /** An event of the stream: its name and its data. */
  message(name: string, data: unknown): void;
  /** The connection is there, or was lost and is tried again. */
  connected?(is: boolean): void;
}

const SILENCE_MS = 40_000;
const WAIT_MS = [500, 1000, 2000, 4000, 8000];

/** Opens a stream and keeps it open while the page is visible; gives back how to end it. */
export function open(path: string, reader: Reader): () => void {
  let last = "";
  let failures = 0;
  let ended = false;
  let abort: AbortController | null = null;
  let timer = 0;

  const run = async () => {
    if (ended || document.hidden || abort) return;
    const mine = (abort = new AbortController());
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last !== "") headers["Last-Event-ID"] = last;
      const answer = await fetch(base + path, {
        headers,
        credentials: "same-origin",
        cache: "no-store",
        signal: mine.signal,
      });
      if (answer.status === 401) {
        // It does not help to try again without logging in.
        ended = true;
        loginIsNeeded();
        return;
      }
      if (!answer.ok || !answer.body) throw new Error(String(answer.status));
      failures = 0;
      reader.connected?.(true);
      await read(answer.body, mine);
    } catch {
      // Whatever it was, it is tried again below.
    }
    if (abort === mine) abort = null;
    if (ended || document.hidden) return;
    reader.connected?.(false);
    timer = window.setTimeout(run, WAIT_MS[Math.min(failures++, WAIT_MS.length - 1)]);
  };

  const read = async (body: ReadableStream<Uint8Array>, mine: AbortController) => {
    const chunks = body.getReader();
    const text = new TextDecoder();
    let rest = "";
    for (;;) {
      const silence = window.setTimeout(() => mine.abort(), SILENCE_MS);
      const { done, value } = await chunks.read().finally(() => clearTimeout(silence));
      if (done) return;
      const blocks = (rest + text.decode(value, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) take(block);
    }
  };

  const take = (block: string) => {
    let name = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      const [, field, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
      if (field === "event") name = value ?? name;
      else if (field === "data") data.push(value ?? "");
      else if (field === "id") last = value ?? "";
    }
    if (data.length > 0) reader.message(name, JSON.parse(data.join("\n")));
  };

  // Browsers have six connections for a server and all its tabs: those that nobody sees give theirs back.
  const seen = () => {
    if (document.hidden) {
      abort?.abort();
      abort = null;
    } else {
      void run();
    }
  };
  document.addEventListener("visibilitychange", seen);
  void run();
  return () => {
    ended = true;
    document.removeEventListener("visibilitychange", seen);
    clearTimeout(timer);
    abort?.abort();
  };
}
