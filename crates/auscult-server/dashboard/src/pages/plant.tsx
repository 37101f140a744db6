// Every machine with its lamp, the worst first.

import { Component } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Machine, State } from "../api";
import { plantNow, score, sentence, span, toMs } from "../format";
import { Moment, useTick, useTitle } from "../parts/basics";
import { Drift, Microphone, MicrophoneOff, Moon, Plus, Search } from "../parts/icons";
import { Lamp, StateBadge } from "../parts/lamp";
import { Sparkline } from "../parts/sparkline";
import { setQuery, toMachine, useAddress } from "../router";
import { machines, session, useStore } from "../store";
import { STATES, isAnomalous, maySee, needsSomebody } from "../states";
import { t } from "../texts";

/** How many rows are drawn at first; more follow while scrolling. */
const PORTION = 120;

export function PlantPage() {
  useTitle(t.plant.title);
  useTick(20_000);
  const all = useStore(machines);
  const role = useStore(session)?.user?.role;
  const { query } = useAddress();
  const state = query.get("state") ?? "";
  const search = query.get("search") ?? "";
  const found = useMemo(() => {
    const word = search.toLowerCase();
    return (all ?? []).filter(
      (machine) =>
        (state === "" || (state === "drift" ? machine.drift : machine.state === state)) &&
        machine.name.toLowerCase().includes(word),
    );
  }, [all, state, search]);
  if (all === null) return <p class="loading">{t.loading}</p>;
  if (all.length === 0) {
    return (
      <div class="empty">
        <h1>{t.plant.nothing}</h1>
        <p>{t.plant.nothingText}</p>
        {maySee(role, "administrator") && (
          <a class="button primary" href="/add">
            <Plus />
            {t.pages.add}
          </a>
        )}
      </div>
    );
  }
  const needing = all.filter(needsSomebody).length;
  const attention = found.filter(needsSomebody);
  const rest = found.filter((machine) => !needsSomebody(machine));
  return (
    <div class="plant">
      <header class="page-head">
        <div>
          <h1>
            {needing > 0
              ? t.plant.needs(needing)
              : all.every((machine) => machine.state === "learning")
                ? t.plant.learning
                : t.plant.well}
          </h1>
          <p class="lead">{summary(all)}</p>
        </div>
        {maySee(role, "administrator") && (
          <a class="button" href="/add">
            <Plus />
            {t.pages.add}
          </a>
        )}
      </header>
      <Tools all={all} state={state} search={search} />
      {(state !== "" || search !== "") && (
        <p class="found" role="status">
          {t.plant.found(found.length, all.length)}{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              setQuery("state", "");
              setQuery("search", "");
            }}
          >
            {t.plant.clear}
          </button>
        </p>
      )}
      {found.length === 0 && <p class="empty-line">{t.plant.noneFound}</p>}
      <Group title={t.plant.attention} machines={attention} list="rows" />
      <Group title={t.plant.watched} machines={rest} list="tiles" isAlone={attention.length === 0} />
    </div>
  );
}

/** A part of the machines; more of them are drawn while scrolling. */
function Group({
  title,
  machines: all,
  list,
  isAlone = false,
}: {
  title: string;
  machines: Machine[];
  list: "rows" | "tiles";
  isAlone?: boolean;
}) {
  const [most, raise] = useState(PORTION);
  const end = useRef<IntersectionObserver | null>(null);
  const watch = (element: HTMLElement | null) => {
    end.current?.disconnect();
    if (!element) return;
    end.current = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) raise((before) => before + PORTION);
      },
      { rootMargin: "1200px" },
    );
    end.current.observe(element);
  };
  if (all.length === 0) return null;
  const Item = list === "rows" ? Row : Tile;
  return (
    <section aria-label={title}>
      {!isAlone && <h2 class="group">{title}</h2>}
      <ul class={list}>
        {all.slice(0, most).map((machine) => (
          <Item key={machine.name} machine={machine} />
        ))}
      </ul>
      {all.length > most && (
        <p class="empty-line" ref={watch}>
          <button type="button" onClick={() => raise(most + PORTION)}>
            {t.more}
          </button>
        </p>
      )}
    </section>
  );
}

function summary(all: Machine[]): string {
  const counts = STATES.map((state) => [state, all.filter((machine) => machine.state === state).length] as const);
  const parts = counts.filter(([, count]) => count > 0).map(([state, count]) => t.plant.counts[state](count));
  return t.plant.summary(parts, all.length, all.filter((machine) => !machine.source.alive).length);
}

function Tools({ all, state, search }: { all: Machine[]; state: string; search: string }) {
  const count = (wanted: State) => all.filter((machine) => machine.state === wanted).length;
  const drifting = all.filter((machine) => machine.drift).length;
  const chip = (key: string, text: string, number: number, lamp: State | null) => (
    <button
      type="button"
      key={key}
      class={`chip ${lamp ? `s-${lamp}` : ""}`}
      aria-pressed={state === key}
      onClick={() => setQuery("state", state === key ? "" : key)}
    >
      {lamp ? <Lamp state={lamp} /> : key === "drift" && <Drift />}
      {text}
      <b>{number}</b>
    </button>
  );
  return (
    <div class="tools">
      <label class="search">
        <Search />
        <span class="hidden">{t.plant.search}</span>
        <input
          type="search"
          placeholder={t.plant.search}
          value={search}
          onInput={(input) => setQuery("search", input.currentTarget.value)}
        />
      </label>
      <div class="chips" role="group" aria-label={t.plant.filter}>
        {chip("", t.plant.all, all.length, null)}
        {STATES.filter((each) => count(each) > 0).map((each) => chip(each, t.states[each], count(each), each))}
        {drifting > 0 && chip("drift", t.drift, drifting, null)}
      </div>
    </div>
  );
}

/** Drawn again only when its machine has changed. */
abstract class OfMachine extends Component<{ machine: Machine }> {
  override shouldComponentUpdate(next: { machine: Machine }) {
    return next.machine !== this.props.machine;
  }
}

class Row extends OfMachine {
  override render() {
    const { machine } = this.props;
    return (
      <li>
        <a class={`row s-${machine.state}`} href={toMachine(machine.name)}>
          <span class="row-name">
            <strong>{machine.name}</strong>
            <Flags machine={machine} />
          </span>
          <span class="row-state">
            <StateBadge state={machine.state} />
            <small>
              {t.time.since("")}
              <Moment time={machine.since} />
            </small>
          </span>
          <span class="row-text">{words(machine)}</span>
          <Sparkline machine={machine} />
        </a>
      </li>
    );
  }
}

class Tile extends OfMachine {
  override render() {
    const { machine } = this.props;
    return (
      <li>
        <a class={`tile s-${machine.state}`} href={toMachine(machine.name)}>
          <span class="tile-head">
            <Lamp state={machine.state} />
            <strong>{machine.name}</strong>
            <small>{score(machine.score)}</small>
          </span>
          <Sparkline machine={machine} />
          <span class="tile-foot">
            <span>
              {t.states[machine.state]}, {age(machine)}
            </span>
            <Flags machine={machine} />
          </span>
          {machine.learning && (
            <progress
              max={Math.max(1, machine.learning.clips_wanted)}
              value={machine.learning.clips}
              aria-label={machine.learning.text}
            />
          )}
        </a>
      </li>
    );
  }
}

const age = (machine: Machine) => span(plantNow() - toMs(machine.since));

function words(machine: Machine): string {
  if (machine.learning && machine.state === "learning") return sentence(machine.learning.text);
  if (machine.state === "normal" && machine.reason === "") return t.plant.fromNormal;
  if (!machine.source.alive && machine.source.problem) return sentence(machine.source.problem);
  if (machine.state === "no-data" && machine.reason === "") return sentence(t.machine.silent);
  const isRaised = machine.state === "alarm" || machine.state === "alert";
  return sentence(isRaised && !isAnomalous(machine) ? (machine.last_event?.reason ?? machine.reason) : machine.reason);
}

function Flags({ machine }: { machine: Machine }) {
  return (
    <span class="flags">
      {machine.source.alive ? (
        <span class="flag" title={t.plant.microphoneWell}>
          <Microphone />
          <span class="hidden">{t.plant.microphoneWell}</span>
        </span>
      ) : (
        <span class="flag strong">
          <MicrophoneOff />
          {t.plant.microphoneLost}
        </span>
      )}
      {machine.drift && (
        <span class="flag strong">
          <Drift />
          {t.drift}
        </span>
      )}
      {machine.shelved && (
        <span class="flag">
          <Moon />
          {t.shelved}
        </span>
      )}
      {machine.out_of_service !== null && (
        <span class="flag">
          <Moon />
          {t.outOfService}
        </span>
      )}
      {machine.acknowledged && <span class="flag">{t.acknowledged}</span>}
    </span>
  );
}
