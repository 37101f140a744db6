// One machine. The first screen answers: is it well, since when, what differs, how sure, what to do.

import { useEffect, useState } from "preact/hooks";
import { type Event, type List, type MachineDetail, type Model, base, paths, write } from "../api";
import { Live } from "../charts/live";
import { number, plantNow, score, sentence, span, toMs, when } from "../format";
import { Actions } from "../parts/actions";
import {
  Card,
  Confirm,
  Dialog,
  Facts,
  Failure,
  Moment,
  Table,
  useLoaded,
  useThrottled,
  useTick,
  useTitle,
} from "../parts/basics";
import { BudgetControl } from "../parts/budget";
import { EventList } from "../parts/event-list";
import { Check } from "../parts/icons";
import { StateBadge } from "../parts/lamp";
import { LastClips } from "../parts/last-clips";
import { Learning } from "../parts/learning";
import { TrendPanel } from "../parts/trend-panel";
import { go, toEvent } from "../router";
import { machines, news, remember, say, session, useStore } from "../store";
import { isAnomalous, maySee } from "../states";
import { t } from "../texts";

export function MachinePage({ name }: { name: string }) {
  useTitle(name);
  useTick(30_000);
  const status = useStore(machines)?.find((machine) => machine.name === name);
  const changes = useThrottled(`${status?.state} ${status?.clips} ${status?.drift} ${status?.acknowledged}`, 1000);
  const { value, error, reload } = useLoaded<MachineDetail>(paths.machine(name), changes);
  useEffect(() => {
    if (value) remember(value);
  }, [value]);
  if (error) return <Failure error={error} retry={reload} />;
  if (!value) return <p class="loading">{t.loading}</p>;
  // The stream is newer than what was asked for.
  const machine: MachineDetail = { ...value, ...(status ?? {}) };
  return (
    <div class="machine">
      <Hero machine={machine} changed={reload} />
      {machine.learning && (
        <Card title={t.add.missing}>
          <Learning learning={machine.learning} name={machine.name} isPaused={machine.out_of_service !== null} />
        </Card>
      )}
      {(machine.model !== null || machine.trend.length > 0) && <TrendPanel machine={machine} />}
      <div class="columns">
        <Card title={t.live.title}>
          <Live name={name} />
        </Card>
        <RecentEvents name={name} />
      </div>
      <LastClips name={name} />
      <ModelCard machine={machine} changed={reload} />
    </div>
  );
}

function headline(machine: MachineDetail): string {
  if (machine.out_of_service !== null) return t.machine.outOfService(machine.name);
  if (machine.state === "normal" && machine.drift) return t.machine.moved(machine.name);
  return t.machine.headline[machine.state](machine.name);
}

/** The event that raised what is raised now; the one with sound if there is any. */
function useRaised(machine: MachineDetail): Event | null {
  const isRaised = machine.state === "alarm" || machine.state === "alert";
  const path = `/events?machine=${encodeURIComponent(machine.name)}&kind=state&limit=20`;
  const { value } = useLoaded<List<Event>>(isRaised ? path : null, machine.since);
  const raised = (value?.items ?? []).filter((event) => event.to === "alarm" || event.to === "alert");
  return isRaised ? (raised.find((event) => event.sound) ?? raised[0] ?? null) : null;
}

function whatDiffers(machine: MachineDetail, event: Event | null): string {
  if (machine.state === "normal" && machine.drift) return machine.drift_text ?? machine.reason;
  return event && !isAnomalous(machine) ? event.reason : machine.reason;
}

function Hero({ machine, changed }: { machine: MachineDetail; changed: () => void }) {
  const role = useStore(session)?.user?.role;
  const event = useRaised(machine);
  const differs = whatDiffers(machine, event);
  const level = machine.level_dbfs === null ? "" : t.machine.level(number(machine.level_dbfs, 0));
  return (
    <section
      class={`hero s-${machine.out_of_service === null ? machine.state : "not-running"}`}
      aria-label={machine.name}
    >
      <div class="hero-main">
        <p class="hero-state">
          <StateBadge state={machine.state} />
          <span>
            {t.time.since("")}
            <Moment time={machine.since} /> · {span(plantNow() - toMs(machine.since))}
          </span>
        </p>
        <h1>{headline(machine)}</h1>
        {differs !== "" && <p class="lead">{sentence(differs)}</p>}
        {machine.drift && machine.state !== "normal" && <p class="remark">{sentence(machine.drift_text ?? t.drift)}</p>}
        {machine.shelved && (
          <p class="remark">{t.machine.shelvedUntil(when(machine.shelved.until), machine.shelved.reason)}</p>
        )}
        {machine.out_of_service !== null && <p class="remark">{t.machine.serviceReason(machine.out_of_service)}</p>}
        {machine.acknowledged && (
          <p class="remark">
            <Check />
            {t.machine.seen}
          </p>
        )}
        <div class="buttons">
          {event && (
            <a class="button primary" href={toEvent(event.id)}>
              {t.machine.hear}
            </a>
          )}
          {maySee(role, "operator") ? (
            <Actions machine={machine} changed={changed} />
          ) : (
            <p class="hint">{t.onlyOperators}</p>
          )}
        </div>
      </div>
      <Facts
        rows={[
          machine.how_sure !== "" && [t.machine.howSure, sentence(machine.how_sure)],
          machine.what_to_do !== "" && [t.machine.next, sentence(machine.what_to_do)],
          [
            t.machine.microphone,
            machine.source.alive
              ? t.machine.sourceWell(machine.source.kind, level)
              : t.machine.sourceLost(sentence(machine.source.problem ?? t.machine.silent)),
          ],
          [
            t.machine.promise,
            <>
              {sentence(machine.promise.text)} <Holds holds={machine.promise.holds} />
            </>,
          ],
        ]}
      />
    </section>
  );
}

function budgetWords({ rule, spec }: MachineDetail): string {
  if (rule?.budget) return t.machine.budget(rule.budget, rule.promised);
  return spec.alarms ?? t.machine.noBudget;
}

/** Nothing where nothing is promised. */
const Holds = ({ holds }: { holds: boolean | null }) =>
  holds === null ? null : (
    <span class={`holds ${holds ? "good" : "bad"}`}>{holds ? t.machine.holds : t.machine.broken}</span>
  );

function RecentEvents({ name }: { name: string }) {
  const last = useStore(news);
  const { value, error } = useLoaded<List<Event>>(
    `/events?machine=${encodeURIComponent(name)}&limit=8`,
    last?.machine === name ? last.id : "",
  );
  return (
    <Card
      title={t.machine.events}
      aside={<a href={`/history?machine=${encodeURIComponent(name)}`}>{t.machine.allEvents}</a>}
    >
      {error && <Failure error={error} />}
      {value &&
        (value.items.length === 0 ? (
          <p class="empty-line">{t.machine.noEvents}</p>
        ) : (
          <EventList events={value.items} withMachine={false} />
        ))}
    </Card>
  );
}

function ModelCard({ machine, changed }: { machine: MachineDetail; changed: () => void }) {
  const role = useStore(session)?.user?.role;
  const [asking, ask] = useState<"budget" | "remove" | null>(null);
  const { model, spec } = machine;
  const facts = t.machine.modelFacts;
  const remove = async () => {
    await write("DELETE", paths.machine(machine.name));
    go("/");
  };
  return (
    <Card
      title={t.machine.model}
      aside={
        <div class="trend-tools">
          <button type="button" class="quiet" onClick={() => ask("budget")}>
            {t.machine.changeBudget}
          </button>
          <a
            class="button quiet"
            target="_blank"
            rel="noopener"
            href={`${base}/exports/week?machine=${encodeURIComponent(machine.name)}`}
          >
            {t.machine.week}
          </a>
          {maySee(role, "administrator") && spec.removable && (
            <button type="button" class="quiet" onClick={() => ask("remove")}>
              {t.machine.remove}
            </button>
          )}
        </div>
      }
    >
      {model === null && <p class="empty-line">{t.machine.noModel}</p>}
      <div class="spread">
        <Facts
          rows={[
            model && [facts.version, `${model.version}`],
            model && [facts.references, model.references.toLocaleString("en")],
            model && [facts.threshold, score(model.threshold)],
            [facts.rule, sentence(machine.rule?.text ?? spec.rule ?? "–")],
            [facts.budget, budgetWords(machine)],
          ]}
        />
        <Facts
          rows={[
            [
              t.machine.promise,
              <>
                {sentence(machine.promise.text)} <Holds holds={machine.promise.holds} />
              </>,
            ],
            [facts.source, spec.source],
            [facts.preset, spec.preset],
            [facts.channel, `${spec.channel}`],
            [facts.keep, spec.keep],
            [facts.clips, machine.clips.toLocaleString("en")],
            machine.operating_state !== null && [facts.operating, machine.operating_state],
          ]}
        />
      </div>
      <Versions machine={machine} changed={changed} may={maySee(role, "operator")} />
      {asking === "budget" && (
        <Dialog title={t.add.steps[2]!} close={() => ask(null)}>
          <BudgetControl
            machine={machine.name}
            now={spec.alarms_per_month}
            may={maySee(role, "administrator")}
            strong
            changed={() => {
              ask(null);
              changed();
            }}
          >
            <button type="button" onClick={() => ask(null)}>
              {t.close}
            </button>
          </BudgetControl>
        </Dialog>
      )}
      {asking === "remove" && (
        <Confirm
          title={t.machine.remove.replace(" …", "")}
          text={t.machine.removeAsk(machine.name)}
          act={remove}
          close={() => ask(null)}
        />
      )}
    </Card>
  );
}

function Versions({ machine, changed, may }: { machine: MachineDetail; changed: () => void; may: boolean }) {
  const { value, reload } = useLoaded<List<Model>>(`${paths.machine(machine.name)}/models`, machine.model?.version);
  const [asked, ask] = useState<number | null>(null);
  if (!value || value.items.length < 1) return null;
  const columns = t.machine.columnsModels;
  const rollback = async (version: number) => {
    const answer = await write("POST", `${paths.machine(machine.name)}/models/rollback`, { version });
    say(answer.text ?? t.actions.done);
    reload();
    changed();
  };
  return (
    <details>
      <summary>{t.machine.versions}</summary>
      <Table
        columns={[columns.version, columns.origin, columns.references, columns.threshold, columns.from, columns.to]}
      >
        {[...value.items]
          .sort((a, b) => b.version - a.version)
          .map((model) => (
            <tr key={model.version}>
              <td>{model.version}</td>
              <td>
                {t.machine.origins[model.origin] ?? model.origin}
                {model.note && <small> {model.note}</small>}
              </td>
              <td>{model.references}</td>
              <td>{score(model.threshold)}</td>
              <td>
                <Moment time={model.valid_from} />
              </td>
              <td>
                {model.valid_to === null ? (
                  <strong>{t.machine.judging}</strong>
                ) : (
                  <>
                    <Moment time={model.valid_to} />{" "}
                    {may && (
                      <button type="button" class="small" onClick={() => ask(model.version)}>
                        {t.machine.rollback}
                      </button>
                    )}
                  </>
                )}
              </td>
            </tr>
          ))}
      </Table>
      {asked !== null && (
        <Confirm title={t.machine.rollbackAsk(asked)} act={() => rollback(asked)} close={() => ask(null)} />
      )}
    </details>
  );
}
