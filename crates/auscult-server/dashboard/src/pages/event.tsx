// One event: what was heard, beside the closest normal clip, and what people say about it.

import { useState } from "preact/hooks";
import { type EventDetail, type Feedback, type List, type MachineDetail, paths } from "../api";
import { exactly, probability, score, sentence } from "../format";
import { Actions } from "../parts/actions";
import { Card, Facts, Failure, Moment, useLoaded, useTitle } from "../parts/basics";
import { ClipTable } from "../parts/clip-table";
import { Compare } from "../parts/compare";
import { FeedbackForm } from "../parts/feedback";
import { StateBadge } from "../parts/lamp";
import { toMachine } from "../router";
import { session, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";

export function EventPage({ id }: { id: string }) {
  const { value: event, error, reload } = useLoaded<EventDetail>(paths.event(id));
  useTitle(event ? sentence(event.sentence) : id);
  if (error) return <Failure error={error} retry={reload} />;
  if (!event) return <p class="loading">{t.loading}</p>;
  return <Body event={event} reload={reload} />;
}

function Body({ event, reload }: { event: EventDetail; reload: () => void }) {
  const role = useStore(session)?.user?.role;
  const machine = useLoaded<MachineDetail>(paths.machine(event.machine));
  const withSound = event.around.filter((clip) => clip.has_sound);
  const own =
    [...event.clips].reverse().find((step) => withSound.some((clip) => clip.step === step)) ??
    event.clips.at(-1) ??
    null;
  const [chosen, choose] = useState<number | null>(null);
  const step = chosen ?? own;
  const clip = event.around.find((each) => each.step === step) ?? null;
  const answers = useLoaded<List<Feedback>>(`/feedback?machine=${encodeURIComponent(event.machine)}&limit=1000`);
  const said = (answers.value?.items ?? event.feedback).filter((each) => each.step === step);
  const facts = t.event.facts;
  const isSound = event.kind === "state" || event.kind === "reminder" || event.kind === "drift";
  return (
    <div class="event-page">
      <section class={`hero s-${event.to}`} aria-label={event.id}>
        <div class="hero-main">
          <p class="hero-state">
            {event.kind === "state" ? (
              <StateBadge state={event.to} />
            ) : (
              <span class="badge">{t.event.kinds[event.kind] ?? event.kind}</span>
            )}
            <span>
              <Moment time={event.time} />
            </span>
          </p>
          <h1>
            <a href={toMachine(event.machine)}>{event.machine}</a>: {headline(event)}
          </h1>
          <p class="lead">{sentence(event.reason)}</p>
          {event.heard && event.heard !== event.reason && <p>{sentence(event.heard)}</p>}
          {isSound && event.page && (
            <p>
              <a href={event.page} target="_blank" rel="noopener">
                {t.event.report}
              </a>
            </p>
          )}
          {machine.value && maySee(role, "operator") && (
            <div class="buttons">
              <Actions machine={machine.value} changed={machine.reload} strong />
            </div>
          )}
          {role === "viewer" && <p class="hint">{t.onlyOperators}</p>}
        </div>
        <Facts
          rows={[
            [facts.when, exactly(event.time)],
            event.since_time !== undefined && [facts.since, <Moment time={event.since_time} />],
            event.score !== null &&
              event.score !== undefined && [
                facts.score,
                `${score(event.score)}${event.model?.threshold == null ? "" : ` (${t.machine.alarmLine} ${score(event.model.threshold)})`}`,
              ],
            event.p_value !== null && event.p_value !== undefined && [facts.p, probability(event.p_value)],
            event.model && [facts.model, `${event.model.version}`],
            event.rule && [facts.rule, ruleWords(event.rule)],
            event.who && [facts.who, event.who],
            event.kind === "state" && [facts.told, event.is_announced ? t.event.yes : t.event.no],
          ]}
        />
      </section>
      {isSound && step !== null && (
        <>
          <Card title={t.event.compare} aside={clip && <span class="hint">{t.event.clip(exactly(clip.time))}</span>}>
            <Compare key={step} machine={event.machine} step={step} hasSound={clip?.has_sound ?? false} />
          </Card>
          <div class="columns">
            <Card title={t.feedback.title}>
              <FeedbackForm
                machine={event.machine}
                step={step}
                before={said}
                kept={() => {
                  answers.reload();
                  reload();
                }}
                may={maySee(role, "operator")}
              />
            </Card>
            <Card title={t.event.around}>
              <ClipTable clips={event.around} shown={step} own={event.clips} choose={choose} />
            </Card>
          </div>
        </>
      )}
    </div>
  );
}

/** The usual form of a rule in words; others as they are. */
function ruleWords(rule: string): string {
  const usual = /^(\d+) of (\d+) raise, (\d+) clear, self-clearing/.exec(rule);
  return usual ? t.event.rule(usual[1]!, usual[2]!, usual[3]!) : rule;
}

const headline = (event: EventDetail): string =>
  event.kind === "state" ? t.states[event.to] : (t.event.kinds[event.kind] ?? event.kind);
