// Everything that happened, and files to take away.

import { useEffect, useState } from "preact/hooks";
import { type Event, type List, base, get } from "../api";
import { iso } from "../format";
import { Card, Failure, Options, useAction, useTitle } from "../parts/basics";
import { EventList } from "../parts/event-list";
import { Download } from "../parts/icons";
import { setQuery, useAddress } from "../router";
import { machines, useStore } from "../store";
import { t } from "../texts";

const FILES = [
  ["clips", "csv", t.history.clipsCsv],
  ["clips", "parquet", t.history.clipsParquet],
  ["events", "csv", t.history.eventsCsv],
  ["events", "jsonl", t.history.eventsJson],
] as const;

/** What is typed as a local time, as the service wants it. */
const instant = (local: string) => iso(Date.parse(local));

/** A time of an address; nothing if it is none. */
const known = (local: string | null) => (Number.isNaN(Date.parse(local ?? "")) ? "" : (local ?? ""));

export function HistoryPage() {
  useTitle(t.history.title);
  const { query } = useAddress();
  const names = (useStore(machines) ?? []).map((machine) => machine.name).sort();
  const choice = {
    machine: query.get("machine") ?? "",
    kind: query.get("kind") ?? "",
    from: known(query.get("from")),
    to: known(query.get("to")),
  };
  const filter = new URLSearchParams();
  if (choice.machine !== "") filter.set("machine", choice.machine);
  for (const end of ["from", "to"] as const) {
    if (choice[end] !== "") filter.set(end, instant(choice[end]));
  }
  const files = filter.toString();
  if (choice.kind !== "") filter.set("kind", choice.kind);
  const [run, busy] = useAction();
  const [events, set] = useState<Event[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const page = (after: string | null) =>
    get<List<Event>>(
      `/events?limit=50&${filter.toString()}${after === null ? "" : `&after=${encodeURIComponent(after)}`}`,
    );
  useEffect(() => {
    let ended = false;
    setError(null);
    page(null).then(
      (list) => {
        if (!ended) {
          set(list.items);
          setNext(list.next);
        }
      },
      (problem) => {
        if (!ended) setError(problem);
      },
    );
    return () => {
      ended = true;
    };
  }, [filter.toString()]);
  const more = () =>
    run(async () => {
      const list = await page(next);
      set([...(events ?? []), ...list.items]);
      setNext(list.next);
    });
  const file = (path: string, format: string) =>
    `${base}/exports/${path}?format=${format}${files === "" ? "" : `&${files}`}`;
  return (
    <div class="history">
      <header class="page-head">
        <div>
          <h1>{t.history.title}</h1>
          <p class="lead">{t.history.text}</p>
        </div>
      </header>
      <div class="fields filter">
        <label>
          {t.history.machine}
          <select value={choice.machine} onChange={(input) => setQuery("machine", input.currentTarget.value)}>
            <option value="">{t.history.allMachines}</option>
            <Options of={names.map((name) => [name, name])} />
          </select>
        </label>
        <label>
          {t.history.kind}
          <select value={choice.kind} onChange={(input) => setQuery("kind", input.currentTarget.value)}>
            <option value="">{t.history.allKinds}</option>
            <Options of={Object.entries(t.event.kinds)} />
          </select>
        </label>
        <label>
          {t.history.from}
          <input
            type="datetime-local"
            value={choice.from}
            onChange={(input) => setQuery("from", input.currentTarget.value)}
          />
        </label>
        <label>
          {t.history.to}
          <input
            type="datetime-local"
            value={choice.to}
            onChange={(input) => setQuery("to", input.currentTarget.value)}
          />
        </label>
      </div>
      <div class="columns wide-left">
        <Card title={t.machine.events}>
          {error && <Failure error={error} />}
          {events &&
            (events.length === 0 ? (
              <p class="empty-line">{t.history.none}</p>
            ) : (
              <EventList events={events} withMachine={choice.machine === ""} />
            ))}
          {next !== null && (
            <div class="buttons">
              <button type="button" disabled={busy} onClick={more}>
                {t.more}
              </button>
            </div>
          )}
        </Card>
        <Card title={t.history.exports}>
          <p class="hint">{t.history.exportsText}</p>
          <div class="stack">
            {FILES.map(([path, format, text]) => (
              <a key={text} class="button" download href={file(path, format)}>
                <Download />
                {text}
              </a>
            ))}
            {choice.machine !== "" ? (
              <a
                class="button"
                target="_blank"
                rel="noopener"
                href={`${base}/exports/week?machine=${encodeURIComponent(choice.machine)}`}
              >
                {t.history.week}
              </a>
            ) : (
              <p class="hint">{t.history.weekText}</p>
            )}
          </div>
        </Card>
      </div>
    </div>
  );
}
