// Numbers and times as people read them.

import type { Time } from "./api";
import { t } from "./texts";

export const toMs = (time: Time): number => (typeof time === "number" ? time * 1000 : Date.parse(time));

// The clock of the plant: the demonstration runs faster than the world.
let plantMs = Date.now();
let readMs = performance.now();
let speed = 1;

export function setClock(now: string, clockSpeed: number): void {
  plantMs = Date.parse(now);
  speed = clockSpeed;
  readMs = performance.now();
}
export const plantNow = (): number => plantMs + (performance.now() - readMs) * speed;
export const plantSpeed = (): number => speed;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockSeconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dateYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

const DAY = 86_400_000;
const dayOf = (ms: number) => {
  const day = new Date(ms);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
};

/** "11:40 today", "09:50 yesterday", "Tue 14:10", "2 Mar". */
export function when(time: Time): string {
  const ms = toMs(time);
  const days = Math.round((dayOf(plantNow()) - dayOf(ms)) / DAY);
  if (days === 0) return t.time.today(clock.format(ms));
  if (days === 1) return t.time.yesterday(clock.format(ms));
  if (days > 1 && days < 7) return weekday.format(ms);
  return new Date(ms).getFullYear() === new Date(plantNow()).getFullYear()
    ? `${date.format(ms)}, ${clock.format(ms)}`
    : dateYear.format(ms);
}

export const exactly = (time: Time): string => full.format(toMs(time));
export const clockTime = (time: Time): string => clockSeconds.format(toMs(time));
export const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** The largest unit: "41 days". */
export function span(ms: number): string {
  if (ms < 60_000) return t.time.seconds(Math.max(0, Math.round(ms / 1000)));
  if (ms < 3_600_000) return t.time.minutes(Math.round(ms / 60_000));
  if (ms < 2 * DAY) return t.time.hours(Math.round(ms / 3_600_000));
  return t.time.days(Math.floor(ms / DAY));
}

const MINUS = "−";
/** With a real minus sign. */
export function number(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = Math.abs(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}
export const signed = (value: number, digits = 0): string => (value > 0 ? "+" : "") + number(value, digits);

/** Scores keep three figures that tell them apart. */
export function score(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return number(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export function probability(value: number | null): string {
  if (value === null) return "–";
  return value < 0.001 ? "below 0.001" : number(value, 3);
}

/** "292 Hz", "2.4 kHz". */
export function hertz(value: number): string {
  if (value < 1000) return `${Math.round(value)} Hz`;
  return `${(value / 1000).toLocaleString("en", { maximumFractionDigits: value < 10_000 ? 1 : 0 })} kHz`;
}

export function bytes(value: number | null): string {
  if (value === null) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${number(size, unit === 0 || size >= 100 ? 0 : 1)} ${units[unit]}`;
}

const MOMENTS = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** A sentence: upper case at its beginning, a full stop at its end, and times as they are written elsewhere. */
export function sentence(text: string): string {
  const trimmed = text.trim().replace(MOMENTS, when);
  if (trimmed === "") return "";
  return trimmed[0]!.toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? "" : ".");
}
