// Clips that ask to be accepted: hear them, see what accepting changes, decide, undo.

import { useRef, useState } from "preact/hooks";
import { type Change, type List, type Waiting, paths, write } from "../api";
import { exactly, score, sentence } from "../format";
import { Card, Dialog, Failure, Moment, useAction, useLoaded, useTitle } from "../parts/basics";
import { Compare } from "../parts/compare";
import { Pause, Play } from "../parts/icons";
import { toMachine, useAddress } from "../router";
import { say, session, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";

export function WaitingPage() {
  useTitle(t.waiting.title);
  const { query } = useAddress();
  const only = query.get("machine");
  const { value, error, reload } = useLoaded<List<Waiting>>("/waiting");
  const shown = (value?.items ?? []).filter((clip) => only === null || clip.machine === only);
  const names = [...new Set(shown.map((clip) => clip.machine))];
  const isEmpty = value !== null && shown.length === 0;
  return (
    <div class="waiting-page">
      <header class="page-head">
        <div>
          <h1>{isEmpty ? t.waiting.empty : t.waiting.title}</h1>
          <p class="lead">{isEmpty ? t.waiting.emptyText : t.waiting.text}</p>
        </div>
      </header>
      {only !== null && (
        <p class="found">
          {t.waiting.filtered(only)} · <a href="/waiting">{t.waiting.everyone}</a>
        </p>
      )}
      {error && <Failure error={error} retry={reload} />}
      {value === null && !error && <p class="loading">{t.loading}</p>}
      {names.map((name) => (
        <MachineClips key={name} name={name} clips={shown.filter((clip) => clip.machine === name)} decided={reload} />
      ))}
    </div>
  );
}

function MachineClips({ name, clips, decided }: { name: string; clips: Waiting[]; decided: () => void }) {
  const role = useStore(session)?.user?.role;
  const [chosen, choose] = useState<Set<number>>(new Set());
  const [change, setChange] = useState<Change | null>(null);
  const [seen, see] = useState<number | null>(null);
  const [run, busy] = useAction();
  const steps = clips.map((clip) => clip.step).filter((step) => chosen.has(step));
  const at = `${paths.machine(name)}/waiting`;
  const toggle = (step: number) => {
    const next = new Set(chosen);
    if (!next.delete(step)) next.add(step);
    choose(next);
  };
  const finish = () => {
    setChange(null);
    choose(new Set());
    decided();
  };
  const preview = () =>
    run(async () => setChange(await write<Change>("POST", `${at}/accept`, { steps, preview: true })));
  const accept = () =>
    run(async () => {
      const done = await write<Change>("POST", `${at}/accept`, { steps, preview: false });
      finish();
      say(
        sentence(done.text || t.waiting.accepted),
        false,
        () =>
          void run(async () => {
            await write("POST", `${paths.machine(name)}/models/rollback`, {});
            say(t.waiting.undone);
            decided();
          }),
      );
    });
  const reject = () =>
    run(async () => {
      const done = await write("POST", `${at}/reject`, { steps });
      finish();
      say(sentence(done.text ?? t.actions.done));
    });
  const isAll = steps.length === clips.length;
  return (
    <Card title={name} aside={<a href={toMachine(name)}>{t.add.toMachine}</a>}>
      <ul class="clips">
        {clips.map((clip) => (
          <li key={clip.step}>
            <div class="clip-line">
              {maySee(role, "operator") && (
                <input
                  type="checkbox"
                  checked={chosen.has(clip.step)}
                  aria-label={t.waiting.choose(exactly(clip.time))}
                  onChange={() => toggle(clip.step)}
                />
              )}
              <Listen machine={name} clip={clip} />
              <span class="clip-text">
                <Moment time={clip.time} />
                <span>{sentence(clip.reason)}</span>
              </span>
              <button
                type="button"
                class="quiet"
                aria-expanded={seen === clip.step}
                onClick={() => see(seen === clip.step ? null : clip.step)}
              >
                {t.waiting.see}
              </button>
            </div>
            {seen === clip.step && <Compare machine={name} step={clip.step} hasSound={clip.has_sound} />}
          </li>
        ))}
      </ul>
      {maySee(role, "operator") ? (
        <div class="buttons">
          <button
            type="button"
            class="quiet"
            aria-pressed={isAll}
            onClick={() => choose(isAll ? new Set() : new Set(clips.map((clip) => clip.step)))}
          >
            {t.waiting.all}
          </button>
          <button type="button" class="primary" disabled={busy || steps.length === 0} onClick={preview}>
            {t.waiting.accept(steps.length)}
          </button>
          <button type="button" disabled={busy || steps.length === 0} onClick={reject}>
            {t.waiting.reject(steps.length)}
          </button>
        </div>
      ) : (
        <p class="hint">{t.onlyOperators}</p>
      )}
      {change && <Preview change={change} busy={busy} accept={accept} close={() => setChange(null)} />}
    </Card>
  );
}

function Preview({
  change,
  busy,
  accept,
  close,
}: {
  change: Change;
  busy: boolean;
  accept: () => void;
  close: () => void;
}) {
  const value = (number: number | null) => (number === null ? t.waiting.unknown : score(number));
  return (
    <Dialog title={t.waiting.preview} close={close}>
      <p>{sentence(change.text)}</p>
      <table class="before-after">
        <thead>
          <tr>
            <td />
            <th scope="col">{t.waiting.before}</th>
            <th scope="col">{t.waiting.after}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t.waiting.threshold}</th>
            <td>{value(change.threshold_before)}</td>
            <td>
              <strong>{value(change.threshold_after)}</strong>
            </td>
          </tr>
          <tr>
            <th scope="row">{t.waiting.references}</th>
            <td>{change.references_before}</td>
            <td>
              <strong>{change.references_after}</strong>
            </td>
          </tr>
        </tbody>
      </table>
      <div class="buttons">
        <button type="button" class="primary" disabled={busy} onClick={accept}>
          {t.waiting.go}
        </button>
        <button type="button" onClick={close}>
          {t.cancel}
        </button>
      </div>
    </Dialog>
  );
}

function Listen({ machine, clip }: { machine: string; clip: Waiting }) {
  const audio = useRef<HTMLAudioElement>(null);
  const [playing, set] = useState(false);
  if (!clip.has_sound) return <span class="hint">{t.event.notKept}</span>;
  const toggle = () => {
    if (playing) audio.current?.pause();
    else audio.current?.play().catch((problem: Error) => say(`${t.player.failed} ${problem.message}`, true));
  };
  return (
    <>
      <audio
        ref={audio}
        preload="none"
        src={paths.sound(machine, clip.step, false)}
        onPlay={() => set(true)}
        onPause={() => set(false)}
        onEnded={() => set(false)}
      />
      <button
        type="button"
        class="round"
        aria-label={playing ? t.waiting.stop : t.waiting.play(exactly(clip.time))}
        onClick={toggle}
      >
        {playing ? <Pause /> : <Play />}
      </button>
    </>
  );
}
