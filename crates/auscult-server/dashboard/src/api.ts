// Talks to the service: JSON with ETags, problems as errors, writes with a CSRF token and an idempotency key.

export type State = "no-data" | "learning" | "normal" | "alert" | "alarm" | "not-running" | "sensor-fault";
export type Role = "viewer" | "operator" | "administrator";
/** RFC 3339, or seconds since 1970. */
export type Time = string | number;

export interface List<T> {
  items: T[];
  next: string | null;
}

export interface Session {
  user: { name: string; role: Role } | null;
  csrf: string | null;
  needs_login: boolean;
  site: string;
  version: string;
  demo: boolean;
  /** The clock of the plant, which runs faster in the demonstration. */
  now: string;
  clock_speed: number;
}

export interface ModelStatus {
  version: number;
  hash: string;
  references: number;
  threshold: number | null;
  promised: boolean;
}
/** What raises an alarm; a budget that is not promised is aimed at. */
export interface RuleStatus {
  budget: string | null;
  promised: boolean;
  text: string;
}
export interface Learning {
  visits: number;
  visits_wanted: number;
  clips: number;
  clips_wanted: number;
  rejected: number;
  text: string;
}

export interface Machine {
  name: string;
  state: State;
  severity: number;
  since: Time;
  score: number | null;
  p_value: number | null;
  reason: string;
  last_clip: Time | null;
  level_dbfs: number | null;
  trend: number[];
  /** The mean score of each half hour of the last day; the stream tells it apart from the rest. */
  day?: (number | null)[] | undefined;
  model: ModelStatus | null;
  rule: RuleStatus | null;
  source: { kind: string; alive: boolean; problem: string | null };
  drift: boolean;
  acknowledged: boolean;
  shelved: { until: Time; reason: string } | null;
  out_of_service: string | null;
  learning: Learning | null;
  last_event: { id: string; time: Time; reason: string } | null;
  clips: number;
}

export interface MachineDetail extends Machine {
  spec: {
    source: string;
    channel: number;
    preset: string;
    keep: string;
    rule: string | null;
    alarms: string | null;
    alarms_per_month: number | null;
    removable: boolean;
  };
  promise: { text: string; holds: boolean | null };
  what_to_do: string;
  how_sure: string;
  lines: Lines;
  drift_text: string | null;
  operating_state: string | null;
}

/** One line for both: a clip above it is anomalous; how many of them make an alert and an alarm is said in words. */
export interface Lines {
  clip: number | null;
  alert: string | null;
  alarm: string | null;
}

export interface TrendPoint {
  start: Time;
  clips: number;
  scored: number;
  anomalous: number;
  lowest: number | null;
  mean: number | null;
  highest: number | null;
}
export interface TrendEvent {
  id: string;
  time: Time;
  kind: string;
  to: State;
}
export interface Trend {
  width: number;
  points: TrendPoint[];
  /** Of the machine when the span begins. */
  state: State | null;
  events: TrendEvent[];
}

export interface Clip {
  step: number;
  time: Time;
  score: number | null;
  p_value: number | null;
  verdict: string;
  reason: string;
  heard: string | null;
  differs_most: string | null;
  level_dbfs: number | null;
  alarm: State | null;
  has_sound: boolean;
}

export interface Band {
  low_hertz: number;
  high_hertz: number;
  decibels: number;
}
export interface Picture {
  seconds: number;
  hertz: number[];
  frames: number;
  bins: number;
  data: string;
  low_db: number;
  high_db: number;
}
export interface Spectrogram extends Picture {
  nearest: Picture | null;
  difference: { hertz: number[]; decibels: number[] } | null;
  bands: Band[];
  reason: string;
  heard: string | null;
}

export interface Event {
  id: string;
  machine: string;
  time: Time;
  kind: string;
  from: State;
  to: State;
  reason: string;
  is_announced: boolean;
  sentence: string;
  step: number;
  clips: number[];
  since_time?: Time;
  score: number | null;
  p_value: number | null;
  heard: string | null;
  differs_most: string | null;
  bands: Band[];
  nearest: string | null;
  sound: string | null;
  model: { version: number; hash: string; threshold: number | null } | null;
  rule: string | null;
  who: string | null;
}
export interface EventDetail extends Event {
  around: Clip[];
  feedback: Feedback[];
  page: string | null;
}
export type Verdict = "normal" | "fault" | "not-running" | "sensor-fault";
export interface Feedback {
  machine?: string;
  step: number;
  verdict: Verdict;
  note: string;
  who: string;
  time: Time;
}

export interface Level {
  time: Time;
  dbfs: number;
  peak_dbfs: number;
  clipped: boolean;
  hum_hertz: number | null;
  spectrum: number[];
  hertz: number[];
}
export interface Waiting {
  machine: string;
  step: number;
  time: Time;
  reason: string;
  has_sound: boolean;
}
export interface Change {
  text: string;
  done: boolean;
  threshold_before: number | null;
  threshold_after: number | null;
  references_before: number;
  references_after: number;
}
export interface Model {
  version: number;
  operating_state: string | null;
  hash: string;
  origin: string;
  note: string;
  threshold: number | null;
  references: number;
  visits: number;
  valid_from: Time;
  valid_to: Time | null;
}
export interface Budget {
  scores: number[];
  threshold: number | null;
  rate: number | null;
  rule: string | null;
  possible: boolean;
  text: string;
}
export interface User {
  name: string;
  role: Role;
}
export interface Token {
  name: string;
  scopes: string[];
  expires: Time | null;
  last_used?: Time | null;
  secret?: string;
}
export interface AuditLine {
  time: Time;
  who: string;
  action: string;
  detail: string;
  /** Of the answer. */
  status: number;
}
export interface System {
  version: string;
  uptime_seconds: number;
  disk: { free_bytes: number | null; history_bytes: number; sound_bytes: number; sound_budget_bytes: number | null };
  queues: { name: string; waiting: number }[];
  sinks: { name: string; waiting: number; last_problem: string | null }[];
  deletions: { time: Time; what: string; count: number; bytes: number; reason: string }[];
  log: { time: Time; level: string; text: string }[];
}

/** What went wrong, in the server's words; status 0 if it could not be reached. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
    readonly field: string | null,
  ) {
    super(detail);
  }
}

export const base = "/api/v1";
let csrf: string | null = null;
let onLogin: () => void = () => {};

/** Called whenever the server wants a login. */
export function whenLoginIsNeeded(act: () => void): void {
  onLogin = act;
}
export const loginIsNeeded = (): void => onLogin();

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(
      0,
      "not reachable",
      "The service cannot be reached. Check that it runs and that this device is on its network.",
      null,
    );
  }
}

async function problem(answer: Response): Promise<Problem> {
  const said = (await answer.json().catch(() => ({}))) as { title?: string; detail?: string; field?: string };
  if (answer.status === 401) onLogin();
  const title = said.title ?? answer.statusText;
  return new Problem(answer.status, title, said.detail ?? `${answer.status} ${title}`, said.field ?? null);
}

// Bodies by address: an unchanged thing is not sent twice.
const known = new Map<string, { etag: string; body: unknown }>();
const KNOWN_AT_MOST = 60;

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const before = known.get(path);
  const headers: Record<string, string> = { Accept: "application/json" };
  if (before) headers["If-None-Match"] = before.etag;
  const answer = await reach(base + path, { headers, signal: signal ?? null });
  if (answer.status === 304 && before) return before.body as T;
  if (!answer.ok) throw await problem(answer);
  const body = (await answer.json()) as T;
  const etag = answer.headers.get("ETag");
  known.delete(path);
  if (etag) known.set(path, { etag, body });
  if (known.size > KNOWN_AT_MOST) known.delete(known.keys().next().value as string);
  return body;
}

/** Every page of a list, up to `most` items. */
export async function getAll<T>(path: string, most = 5000): Promise<T[]> {
  const items: T[] = [];
  const join = path.includes("?") ? "&" : "?";
  let after = "";
  do {
    const page = await get<List<T>>(`${path}${join}limit=1000${after}`);
    items.push(...page.items);
    after = page.next === null ? "" : `&after=${encodeURIComponent(page.next)}`;
  } while (after !== "" && items.length < most);
  return items;
}

export async function session(): Promise<Session> {
  const now = await get<Session>("/session");
  csrf = now.csrf;
  return now;
}

/** Not `crypto.randomUUID`, which plain http does not have. */
function key(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const send = (method: string, path: string, body: unknown, idempotency: string) => {
  const headers: Record<string, string> = { Accept: "application/json", "Idempotency-Key": idempotency };
  if (csrf) headers["X-Auscult-CSRF"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return reach(base + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
};

/** A write. An answer that was lost on the way is asked for once more with the same key, so nothing is done twice. */
export async function write<T = { text?: string }>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<T> {
  const idempotency = key();
  let answer: Response;
  try {
    answer = await send(method, path, body, idempotency);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await new Promise((resume) => setTimeout(resume, 800));
    answer = await send(method, path, body, idempotency);
  }
  if (!answer.ok) throw await problem(answer);
  const text = await answer.text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

const at = (name: string) => `/machines/${encodeURIComponent(name)}`;
export const paths = {
  machine: at,
  live: (name: string) => `${at(name)}/live`,
  trend: (name: string, from: string, to: string, width: number) =>
    `${at(name)}/trend?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}&width=${width}`,
  clip: (name: string, step: number) => `${at(name)}/clips/${step}`,
  spectrogram: (name: string, step: number) => `${at(name)}/clips/${step}/spectrogram`,
  sound: (name: string, step: number, nearest: boolean) =>
    `${base}${at(name)}/clips/${step}/sound${nearest ? "?part=nearest" : ""}`,
  event: (id: string) => `/events/${encodeURIComponent(id)}`,
  budget: (name: string, alarms: number) => `${at(name)}/budget?alarms_per_month=${alarms}`,
};
