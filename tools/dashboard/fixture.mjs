// A fixture for work on the looks of the pages: it answers like the service, with invented data, and forgets
// everything. It is no part of the program. `MACHINES=1000` invents a large plant.
//
//   node fixture.mjs            http://127.0.0.1:8099

import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const dist =
  process.env.DIST ??
  path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../crates/auscult-server/dashboard/dist");
const port = Number(process.env.PORT ?? 8099);
const count = Number(process.env.MACHINES ?? 9);
const role = process.env.ROLE ?? "administrator";

let seed = 7;
const random = () => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
};
const iso = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
const now = () => Date.now();
const hours = (n) => iso(now() - n * 3_600_000);

const trend = (rise, n = 72) =>
  Array.from({ length: n }, (_, i) => 2 + random() * 0.35 + Math.max(0, i - n * 0.7) * rise);
const ORDER = ["alarm", "sensor-fault", "alert", "no-data", "learning", "not-running", "normal"];

function machine(name, state, since, more = {}) {
  const values = more.trend ?? trend(0);
  return {
    name,
    state,
    since: hours(since),
    severity: ORDER.indexOf(state),
    score: values.at(-1) ?? null,
    p_value: state === "alarm" ? 0.0004 : 0.4,
    reason: "nothing unusual",
    last_clip: hours(0.01),
    level_dbfs: -27.4,
    trend: values,
    day: values.slice(-48),
    model: {
      version: 3,
      hash: "a5f0",
      references: 1212,
      threshold: 3.1,
      promised: true,
    },
    source: { kind: "tcp", alive: true, problem: null },
    drift: false,
    acknowledged: false,
    shelved: null,
    out_of_service: null,
    learning: null,
    last_event: null,
    clips: 18233,
    ...more,
  };
}

const machines = [
  machine("pump-7", "alarm", 3, {
    trend: trend(0.11),
    reason: "15 dB louder at 292 to 456 Hz, and 2.4 to 3.1 kHz beats 23.5 times a second",
    last_event: {
      id: "pump-7-12",
      time: hours(3),
      reason: "15 dB louder at 292 to 456 Hz, and 2.4 to 3.1 kHz beats 23.5 times a second",
    },
  }),
  machine("conveyor-3", "sensor-fault", 5.5, {
    trend: trend(0, 30),
    reason: "the microphone is silent: no signal on channel 1",
    level_dbfs: -96,
    source: {
      kind: "rtsp",
      alive: false,
      problem: "no packets for 5 hours; trying again every minute",
    },
  }),
  machine("press-fan-2", "alert", 0.4, {
    trend: trend(0.05),
    reason: "louder between 5.1 and 6.3 kHz in 2 of the last 5 clips",
  }),
  machine("gearbox-1", "normal", 290, {
    drift: true,
    severity: 5.9,
    reason: "the sound differs as a whole since Monday: 2 dB quieter above 4 kHz",
  }),
  machine("compressor-A", "learning", 60, {
    trend: [],
    model: null,
    score: null,
    clips: 112,
    learning: {
      visits: 3,
      visits_wanted: 5,
      clips: 112,
      clips_wanted: 160,
      rejected: 4,
      text: "2 more visits and 48 more clips are needed for one alarm a month",
    },
  }),
  machine("mill-spindle", "not-running", 2.5, {
    level_dbfs: -71,
    reason: "quieter than -55 dBFS",
  }),
  machine("pump-8", "normal", 984),
  machine("vacuum-4", "normal", 2160),
  machine("cooling-tower-fan", "alarm", 30, {
    severity: 6.5,
    trend: trend(0.06),
    shelved: { until: hours(-4), reason: "bearing is being changed" },
  }),
];
for (let index = machines.length; index < count; index += 1)
  machines.push(machine(`machine-${String(index).padStart(4, "0")}`, index % 97 === 0 ? "alert" : "normal", index));

const edges = Array.from({ length: 65 }, (_, i) => 40 * (8000 / 40) ** (i / 64));
function picture(fault) {
  const [frames, bins] = [180, 64];
  const data = Buffer.alloc(frames * bins);
  for (let f = 0; f < frames; f += 1)
    for (let b = 0; b < bins; b += 1) {
      const hz = edges[b];
      let db = 150 - b * 1.6 + random() * 34;
      if (Math.abs(hz - 120) < 12 || Math.abs(hz - 240) < 16) db += 50;
      if (fault && hz > 292 && hz < 456) db += 75;
      if (fault && hz > 2400 && hz < 3100 && f % 15 < 5) db += 70;
      data[f * bins + b] = Math.max(0, Math.min(255, db));
    }
  return {
    seconds: 4,
    hertz: edges,
    frames,
    bins,
    data: data.toString("base64"),
    low_db: -90,
    high_db: -10,
  };
}
const thirds = Array.from({ length: 25 }, (_, i) => 31.5 * 2 ** (i / 3));
const bands = [
  { low_hertz: 292, high_hertz: 456, decibels: 15.2 },
  { low_hertz: 2400, high_hertz: 3100, decibels: 8.4 },
];
const spectrogram = () => ({
  ...picture(true),
  nearest: picture(false),
  bands,
  reason: "15 dB louder at 292 to 456 Hz",
  heard: "15 dB louder at 292 to 456 Hz, and 2.4 to 3.1 kHz beats 23.5 times a second",
  difference: {
    hertz: thirds,
    decibels: thirds
      .slice(1)
      .map((hz) => (hz > 292 && hz < 480 ? 14.6 : hz > 2400 && hz < 3300 ? 8.1 : random() * 3 - 1.6)),
  },
});

function wav(fault) {
  const rate = 16000,
    n = rate * 4,
    out = Buffer.alloc(44 + n * 2);
  out.write("RIFF", 0);
  out.writeUInt32LE(36 + n * 2, 4);
  out.write("WAVEfmt ", 8);
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(1, 22);
  out.writeUInt32LE(rate, 24);
  out.writeUInt32LE(rate * 2, 28);
  out.writeUInt16LE(2, 32);
  out.writeUInt16LE(16, 34);
  out.write("data", 36);
  out.writeUInt32LE(n * 2, 40);
  for (let i = 0; i < n; i += 1)
    out.writeInt16LE(
      Math.round(3000 * Math.sin(i * 0.047) + (fault ? 5000 * Math.sin(i * 0.147) : 0) + 800 * (random() - 0.5)),
      44 + i * 2,
    );
  return out;
}

const clip = (step, i) => ({
  step,
  time: hours(3.2 - i * 0.05),
  score: 2.1 + i * 0.4,
  p_value: 0.01,
  verdict: i > 3 ? "anomalous" : "normal",
  reason: "15 dB louder at 292 to 456 Hz",
  heard: null,
  differs_most: "292 to 456 Hz",
  level_dbfs: -25,
  alarm: "alarm",
  has_sound: i % 3 !== 1,
});
const event = (id, name, kind, to, ago, reason, who = null) => ({
  id,
  machine: name,
  time: hours(ago),
  kind,
  from: "normal",
  to,
  reason,
  is_announced: true,
  sentence: `${name}: ${to} since ${hours(ago)}: ${reason}`,
  step: 109,
  clips: [106, 108, 109],
  since_time: hours(ago + 0.4),
  score: 5.2,
  p_value: 0.0004,
  heard: null,
  differs_most: "292 to 456 Hz",
  bands,
  nearest: "visit of 2 March",
  model: { version: 3, hash: "a5f0", threshold: 3.1 },
  rule: "3 of 5 clips",
  who,
});
const events = [
  event(
    "pump-7-12",
    "pump-7",
    "state",
    "alarm",
    3,
    "15 dB louder at 292 to 456 Hz, and 2.4 to 3.1 kHz beats 23.5 times a second",
  ),
  event("press-fan-2-4", "press-fan-2", "state", "alert", 0.4, "louder between 5.1 and 6.3 kHz"),
  event("conveyor-3-9", "conveyor-3", "state", "sensor-fault", 5.5, "the microphone is silent"),
  event("pump-7-11", "pump-7", "model", "normal", 40, "12 clips were accepted; threshold 3.04 becomes 3.10", "ada"),
  event("gearbox-1-3", "gearbox-1", "drift", "normal", 50, "the sound differs as a whole: 2 dB quieter above 4 kHz"),
  event("pump-7-10", "pump-7", "command", "normal", 70, "shelved for 4 hours: impeller is being changed", "grace"),
  event("pump-7-9", "pump-7", "state", "alarm", 80, "9 dB louder at 1.2 to 1.4 kHz"),
].sort((a, b) => (a.time < b.time ? 1 : -1));
const feedback = [
  {
    machine: "pump-7",
    step: 109,
    verdict: "fault",
    note: "impeller touches the housing",
    who: "grace",
    time: hours(2),
  },
];
let waiting = [
  ["pump-7", 88],
  ["pump-7", 91],
  ["gearbox-1", 402],
].map(([name, step], i) => ({
  machine: name,
  step,
  time: hours(20 + i),
  reason: "somebody called it normal: forklift in front of the microphone",
  has_sound: true,
}));
const users = [
  { name: "ada", role: "administrator" },
  { name: "grace", role: "operator" },
  { name: "wall display", role: "viewer" },
];
const tokens = [
  {
    id: "t1",
    name: "edge box 2",
    scopes: ["push"],
    expires: hours(-2000),
    last_used: hours(1),
  },
];

const list = (items) => ({ items, next: null });
const detail = (m) => ({
  ...m,
  spec: {
    source: "tcp 127.0.0.1:7007",
    channel: 1,
    preset: "best",
    keep: "alarms",
    rule: "3 of 5 clips",
    alarms: "1 alarm per month",
    removable: true,
  },
  promise: {
    text: "at most one false alarm a month",
    holds: m.state === "learning" ? null : true,
  },
  what_to_do:
    m.state === "alarm"
      ? "Listen to both clips. If the machine is being worked on, shelve it; if it was repaired, start a new baseline"
      : "Nothing",
  how_sure: m.model ? "None of 1,212 normal clips from 41 visits was this far away" : "",
  lines: m.model
    ? { clip: m.model.threshold, alert: "one of the last 5 clips", alarm: "3 of the last 5 clips" }
    : { clip: null, alert: null, alarm: null },
  operating_state: null,
  drift_text: m.drift
    ? "The sound differs as a whole since Monday: 2 dB quieter above 4 kHz. Season, load or a moved microphone?"
    : null,
});
function trendOf(name, query) {
  const [from, to, width] = [Date.parse(query.get("from")), Date.parse(query.get("to")), Number(query.get("width"))];
  const rising = machines.find((m) => m.name === name)?.state === "alarm";
  const points = [];
  for (let at = Math.floor(from / width / 1000) * width * 1000; at < to; at += width * 1000) {
    const ago = (now() - at) / 3_600_000;
    if (ago < 0) break;
    const mean =
      2.1 +
      Math.sin((at / 8.64e7) * 6.28) * 0.12 +
      random() * 0.1 +
      (rising && ago < 26 ? (26 - ago) * 0.12 : 0) +
      (rising && ago > 74 && ago < 82 ? 1.6 : 0);
    points.push({
      start: iso(at),
      clips: 12,
      scored: 12,
      anomalous: mean > 3.1 ? 9 : 0,
      lowest: mean - 0.2 - random() * 0.1,
      mean,
      highest: mean + 0.25 + random() * 0.2,
    });
  }
  const its = events.filter((e) => e.machine === name);
  const extra = rising ? [{ id: `${name}-9b`, time: hours(73), kind: "state", to: "normal" }] : [];
  return {
    width,
    state: "normal",
    points,
    events: [...its.map(({ id, time, kind, to }) => ({ id, time, kind, to })), ...extra].filter(
      (e) => Date.parse(e.time) >= from && Date.parse(e.time) <= to,
    ),
  };
}
const log = Array.from({ length: 30 }, (_, i) => ({
  time: hours(i * 0.2),
  level: i % 9 === 4 ? "WARN" : "INFO",
  text:
    i % 9 === 4
      ? "rtsp://camera-3: no packets for 60 s; trying again in 60 s"
      : `pump-7: clip ${18233 - i} scored in 31 ms`,
}));

function answer(method, url, body) {
  const query = url.searchParams;
  const parts = url.pathname.slice("/api/v1/".length).split("/").map(decodeURIComponent);
  const m = parts[0] === "machines" && parts[1] ? machines.find((each) => each.name === parts[1]) : null;
  const key = `${method} ${parts[0]}${parts[1] ? (parts[0] === "machines" ? "/M" : "/x") : ""}${
    parts.length > 2
      ? `/${parts
          .slice(2)
          .map((p) => (/^\d+$/.test(p) ? "N" : p))
          .join("/")}`
      : ""
  }`;
  switch (key) {
    case "GET session":
      return {
        user: { name: "ada", role },
        csrf: "x",
        needs_login: true,
        site: "Hall 2",
        version: "0.2.0",
        demo: false,
        now: iso(now()),
        clock_speed: 1,
      };
    case "POST session":
      if (body.password !== "right")
        return [401, "The name or the password is wrong. Try again, or ask an administrator for a new password."];
      return {};
    case "GET machines":
      return list([...machines].sort((a, b) => a.severity - b.severity));
    case "POST machines": {
      const made = machine(body.name, "learning", 0, {
        trend: [],
        model: null,
        score: null,
        clips: 0,
        source: { kind: body.source.kind, alive: true, problem: null },
        learning: {
          visits: 0,
          visits_wanted: 5,
          clips: 0,
          clips_wanted: 100,
          rejected: 0,
          text: "5 visits and 100 clips are missing",
        },
      });
      machines.push(made);
      return made;
    }
    case "GET machines/M":
      return m ? detail(m) : [404, `There is no machine "${parts[1]}". GET /api/v1/machines lists them.`];
    case "GET machines/M/clips":
      return list([111, 110, 109, 108, 107, 106].map(clip));
    case "GET machines/M/trend":
      return trendOf(parts[1], query);
    case "GET machines/M/models":
      return list(
        [1, 2, 3].map((v) => ({
          version: v,
          operating_state: null,
          hash: "a",
          origin: v === 1 ? "learned" : "accepted",
          note: "",
          threshold: 2.98 + v * 0.04,
          references: 1200 + v * 4,
          visits: 41,
          valid_from: hours(1000 - v * 200),
          valid_to: v === 3 ? null : hours(800 - v * 200),
        })),
      );
    case "GET machines/M/clips/N/spectrogram":
      return spectrogram();
    case "GET machines/M/budget": {
      const per = Number(query.get("alarms_per_month"));
      return {
        scores: Array.from({ length: 400 }, () => 1.7 + random() * 0.5 + random() * 0.5 + random() ** 6),
        threshold: 3.3 - Math.log10(per) * 0.35,
        rate: 0.002,
        rule: "3 of 5",
        possible: per >= 1 / 3,
        text:
          per >= 1 / 3 ? "41 visits carry this budget" : "that needs 90 visits, 41 are there; try one in three months",
      };
    }
    case "GET events":
      return list(
        events.filter(
          (e) =>
            (!query.get("machine") || e.machine === query.get("machine")) &&
            (!query.get("kind") || e.kind === query.get("kind")),
        ),
      );
    case "GET events/x": {
      const e = events.find((each) => each.id === parts[1]);
      return e
        ? {
            ...e,
            around: [104, 105, 106, 107, 108, 109, 110, 111].map(clip),
            feedback,
            page: `/api/v1/events/${e.id}/page`,
          }
        : [404, "There is no such event."];
    }
    case "GET feedback":
      return list(feedback);
    case "POST machines/M/feedback":
      feedback.push({
        ...body,
        machine: parts[1],
        who: "ada",
        time: iso(now()),
      });
      return { text: "Kept." };
    case "GET waiting":
      return list(waiting);
    case "POST machines/M/waiting/accept":
      if (!body.preview) waiting = waiting.filter((w) => !body.steps.includes(w.step));
      return {
        text: `${body.steps.length} clips ${body.preview ? "would join" : "joined"} the memory of ${parts[1]}`,
        done: !body.preview,
        threshold_before: 3.1,
        threshold_after: 3.17,
        references_before: 1212,
        references_after: 1212 + body.steps.length,
      };
    case "POST machines/M/waiting/reject":
      waiting = waiting.filter((w) => !body.steps.includes(w.step));
      return { text: "They stay out" };
    case "POST machines/M/acknowledge":
      m.acknowledged = true;
      return { text: "Acknowledged" };
    case "POST machines/M/shelve":
      m.shelved = {
        until: iso(now() + body.minutes * 60000),
        reason: body.reason,
      };
      return { text: "Shelved" };
    case "POST machines/M/unshelve":
      m.shelved = null;
      return { text: "Unshelved" };
    case "GET users":
      return list(users);
    case "GET tokens":
      return list(tokens);
    case "POST tokens":
      return { ...body, secret: "au_5f0c3d2e9a71" };
    case "GET audit":
      return list([
        { time: hours(1), who: "ada", action: "POST /api/v1/users", detail: '{"name":"grace"}', status: 201 },
        {
          time: hours(3),
          who: "grace",
          action: "POST /api/v1/machines/pump-7/acknowledge",
          detail: "{}",
          status: 200,
        },
      ]);
    case "GET system":
      return {
        version: "0.2.0",
        uptime_seconds: 987654,
        disk: {
          free_bytes: 81e9,
          history_bytes: 312e6,
          sound_bytes: 6.1e9,
          sound_budget_bytes: 10e9,
        },
        queues: [
          { name: "sound to be judged", waiting: 0 },
          { name: "history", waiting: 3 },
        ],
        sinks: [
          { name: "mqtt broker:1883", waiting: 0, last_problem: null },
          {
            name: "e-mail maintenance",
            waiting: 2,
            last_problem: "mail.example:587 refused the connection; next try in 4 minutes",
          },
        ],
        deletions: [
          {
            time: hours(9),
            what: "sound",
            count: 41,
            bytes: 51e6,
            reason: "older than the sound budget allows",
          },
        ],
        log,
      };
    default:
      return method === "GET" ? [404, `The fixture has no ${url.pathname}.`] : { text: "Done" };
  }
}

function stream(response, name) {
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
  });
  response.write(": hello\n\n");
  let level = -27;
  const timer = setInterval(
    () => {
      if (name) {
        level += (random() - 0.5) * 3 + (-27 - level) * 0.2;
        const spectrum = thirds
          .slice(1)
          .map((hz) => -55 - Math.log2(hz / 31.5) * 3.5 + random() * 10 + (Math.abs(hz - 250) < 40 ? 22 : 0));
        response.write(
          `event: level\ndata: ${JSON.stringify({ time: iso(now()), dbfs: level, peak_dbfs: level + 11, clipped: false, hum_hertz: null, spectrum, hertz: thirds })}\n\n`,
        );
      } else {
        for (let i = 0; i < Math.max(1, count / 20); i += 1) {
          const m = machines[Math.floor(random() * machines.length)];
          m.clips += 1;
          if (m.trend.length > 0) {
            m.trend = [...m.trend.slice(1), m.trend.at(-1) + (random() - 0.5) * 0.1];
            m.score = m.trend.at(-1);
          }
          response.write(`event: status\ndata: ${JSON.stringify(m)}\n\n`);
        }
      }
    },
    name ? 400 : 1000,
  );
  response.on("close", () => clearInterval(timer));
}

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
};
const CSP =
  "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

http
  .createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/api/v1/stream") return stream(response, null);
    const live = /^\/api\/v1\/machines\/(.+)\/live$/.exec(url.pathname);
    if (live) return stream(response, live[1]);
    if (/\/sound$/.test(url.pathname)) {
      response.writeHead(200, { "Content-Type": "audio/wav" });
      return response.end(wav(!url.searchParams.has("part")));
    }
    if (url.pathname.startsWith("/api/v1/")) {
      let text = "";
      for await (const chunk of request) text += chunk;
      const said = answer(request.method, url, text === "" ? {} : JSON.parse(text));
      const [status, body] = Array.isArray(said)
        ? [
            said[0],
            {
              type: "about:blank",
              title: "problem",
              status: said[0],
              detail: said[1],
            },
          ]
        : [200, said];
      response.writeHead(status, {
        "Content-Type": status === 200 ? "application/json" : "application/problem+json",
      });
      return response.end(JSON.stringify(body));
    }
    const file = url.pathname.startsWith("/assets/")
      ? path.join(dist, path.normalize(url.pathname))
      : path.join(dist, "index.html");
    const bytes = await readFile(file).catch(() => null);
    response.writeHead(bytes ? 200 : 404, {
      "Content-Type": TYPES[path.extname(file)] ?? "text/plain",
      "Content-Security-Policy": CSP,
    });
    return response.end(bytes ?? "");
  })
  .listen(port, "127.0.0.1", () => console.log(`fixture with invented data: http://127.0.0.1:${port}`));
