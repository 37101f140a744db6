// What all pages share: who is logged in, the machines as they stand, whether the service answers.

import { useEffect, useState } from "preact/hooks";
import { type Event, type Machine, type MachineDetail, type Session, getAll, session as fetchSession } from "./api";
import { setClock } from "./format";
import { open } from "./stream";

export class Store<T> {
  private listeners = new Set<(value: T) => void>();
  constructor(public value: T) {}
  set(value: T): void {
    this.value = value;
    this.listeners.forEach((listener) => listener(value));
  }
  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, set] = useState(store.value);
  useEffect(() => {
    set(() => store.value);
    return store.subscribe((next) => set(() => next));
  }, [store]);
  return value;
}

export const session = new Store<Session | null>(null);
/** `null` until they are known. */
export const machines = new Store<Machine[] | null>(null);
export const connection = new Store<{ lost: boolean; at: number }>({ lost: false, at: Date.now() });
/** Counts how often the service was back; whatever is shown is asked for again. */
export const returns = new Store(0);
/** The last event that arrived. */
export const news = new Store<Event | null>(null);
export const notice = new Store<{ text: string; bad: boolean; undo?: () => void } | null>(null);

let noticeTimer = 0;
/** Says something for a while. */
export function say(text: string, bad = false, undo?: () => void): void {
  clearTimeout(noticeTimer);
  notice.set(undo ? { text, bad, undo } : { text, bad });
  noticeTimer = window.setTimeout(() => notice.set(null), undo || bad ? 20_000 : 6_000);
}

export async function loadSession(): Promise<Session> {
  const value = await fetchSession();
  setClock(value.now, value.clock_speed);
  session.set(value);
  return value;
}

const bySeverity = (one: Machine, other: Machine) =>
  one.severity - other.severity || (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);

export async function loadMachines(): Promise<void> {
  const items = await getAll<Machine>("/machines");
  machines.set(items.sort(bySeverity));
}

// Thousand machines speak often; pages are drawn a few times a second.
const arrived = new Map<string, Machine>();
let flushing = 0;
function flush(): void {
  flushing = 0;
  const before = machines.value ?? [];
  const next = before.map((machine) => {
    const newer = arrived.get(machine.name);
    arrived.delete(machine.name);
    return newer ? { ...newer, day: newer.day ?? machine.day } : machine;
  });
  next.push(...arrived.values());
  arrived.clear();
  machines.set(next.sort(bySeverity));
}

/** A machine that was asked for: newer than what the stream has told so far. */
export function remember(detail: MachineDetail): void {
  const { spec, promise, what_to_do, how_sure, lines, drift_text, operating_state, ...machine } = detail;
  arrived.set(machine.name, machine);
  if (flushing === 0) flushing = window.setTimeout(flush, 0);
}

let stop: (() => void) | null = null;
/** Follows the plant; ends the stream before, if there is one. */
export function follow(): void {
  stop?.();
  let isFirst = true;
  stop = open("/stream", {
    message(name, data) {
      if (name === "status") {
        const machine = data as Machine;
        arrived.set(machine.name, { ...machine, day: arrived.get(machine.name)?.day });
        if (flushing === 0) flushing = window.setTimeout(flush, 250);
      } else if (name === "day") {
        const { name: whose, day } = data as Pick<Machine, "name" | "day">;
        const machine = arrived.get(whose) ?? machines.value?.find((each) => each.name === whose);
        if (machine) arrived.set(whose, { ...machine, day });
        if (flushing === 0) flushing = window.setTimeout(flush, 250);
      } else if (name === "event") {
        news.set(data as Event);
      }
    },
    connected(is) {
      if (!is) {
        if (!connection.value.lost) connection.set({ lost: true, at: Date.now() });
        return;
      }
      connection.set({ lost: false, at: Date.now() });
      // What happened meanwhile may be more than the stream keeps.
      if (!isFirst)
        void loadSession()
          .then(loadMachines)
          .then(() => returns.set(returns.value + 1))
          .catch(() => {});
      isFirst = false;
    },
  });
}
export function unfollow(): void {
  stop?.();
  stop = null;
  machines.set(null);
}
