// A new machine: name and source, listen, decide about false alarms, go.

import { useState } from "preact/hooks";
import { type MachineDetail, Problem, paths, write } from "../api";
import { Live } from "../charts/live";
import { Card, Failure, Form, Options, useAction, useLoaded, useThrottled, useTitle } from "../parts/basics";
import { BudgetControl } from "../parts/budget";
import { Learning } from "../parts/learning";
import { go, toMachine, useAddress } from "../router";
import { loadMachines, machines, say, session, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";

export function AddPage() {
  useTitle(t.add.title);
  const { query } = useAddress();
  const role = useStore(session)?.user?.role;
  const name = query.get("machine");
  if (!maySee(role, "administrator"))
    return (
      <div class="empty">
        <h1>{t.add.title}</h1>
        <p>{t.add.onlyAdministrators}</p>
      </div>
    );
  return (
    <div class="add">
      <header class="page-head">
        <div>
          <h1>{name === null ? t.add.title : t.add.listen(name)}</h1>
          <p class="lead">{name === null ? t.add.intro : t.add.listenText}</p>
        </div>
      </header>
      <ol class="steps">
        {t.add.steps.map((step, index) => (
          <li key={step} aria-current={(name === null) === (index === 0) ? "step" : undefined}>
            <b>{index + 1}</b>
            {step}
          </li>
        ))}
      </ol>
      {name === null ? <Source /> : <Listen name={name} />}
    </div>
  );
}

const KINDS = Object.keys(t.add.kinds);

function Source() {
  const [kind, setKind] = useState("push");
  const [error, setError] = useState<Error | null>(null);
  const [run, busy] = useAction();
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const values = new FormData(form);
      const text = (name: string) => String(values.get(name) ?? "").trim();
      const source: Record<string, unknown> = { kind };
      if (kind === "folder") source["path"] = text("path");
      if (kind === "tcp") {
        source["address"] = text("address");
        for (const name of ["sample_rate", "channels"]) source[name] = Number(text(name));
      }
      if (kind === "microphone") source["device"] = text("device");
      if (kind === "rtsp") source["url"] = text("url");
      setError(null);
      try {
        const name = text("name");
        await write("POST", "/machines", {
          name,
          source,
          channel: Number(text("channel")),
          visit: text("visit"),
          keep: text("keep"),
          preset: text("preset"),
          clip_seconds: Number(text("clip_seconds")),
        });
        await loadMachines();
        go(`/add?machine=${encodeURIComponent(name)}`);
      } catch (problem) {
        setError(problem as Error);
      }
    });
  const field = error instanceof Problem ? error.field : null;
  const bad = (name: string) => ({
    "aria-invalid": field === name || field === `source.${name}` ? ("true" as const) : undefined,
  });
  return (
    <Form class="card form" send={submit}>
      <label>
        {t.add.name}
        <input
          name="name"
          required
          pattern="[A-Za-z0-9_.\-]+"
          title={t.add.nameHint}
          placeholder="pump-7"
          {...bad("name")}
        />
        <small>{t.add.nameHint}</small>
      </label>
      <fieldset class="choices">
        <legend>{t.add.source}</legend>
        {KINDS.map((each) => (
          <label key={each} class="choice">
            <input type="radio" name="kind" value={each} checked={kind === each} onChange={() => setKind(each)} />
            <span>
              <strong>{t.add.kinds[each]![0]}</strong>
              <small>{t.add.kinds[each]![1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {kind === "folder" && (
        <label>
          {t.add.path}
          <input name="path" required placeholder="/srv/recordings/pump-7" {...bad("path")} />
        </label>
      )}
      {kind === "tcp" && (
        <label>
          {t.add.address}
          <input name="address" required defaultValue="127.0.0.1:7007" {...bad("address")} />
        </label>
      )}
      {kind === "microphone" && (
        <label>
          {t.add.device}
          <input name="device" placeholder="hw:1" {...bad("device")} />
        </label>
      )}
      {kind === "rtsp" && (
        <label>
          {t.add.url}
          <input name="url" required placeholder="rtsp://camera/stream" {...bad("url")} />
        </label>
      )}
      <div class="fields">
        {kind === "tcp" && (
          <label>
            {t.add.rate}
            <input
              name="sample_rate"
              type="number"
              min={8000}
              max={192000}
              required
              defaultValue="16000"
              {...bad("sample_rate")}
            />
          </label>
        )}
        {kind === "tcp" && (
          <label>
            {t.add.channels}
            <input name="channels" type="number" min={1} max={64} required defaultValue="1" {...bad("channels")} />
          </label>
        )}
        <label>
          {t.add.channel}
          <input name="channel" type="number" min={1} max={64} required defaultValue="1" {...bad("channel")} />
          <small>{t.add.channelHint}</small>
        </label>
        <label>
          {t.add.visit}
          <select name="visit">
            <Options of={Object.entries(t.add.visits)} />
          </select>
        </label>
        <label>
          {t.add.keep}
          <select name="keep">
            <Options of={Object.entries(t.add.keeps)} />
          </select>
        </label>
        <label>
          {t.add.clip}
          <input
            name="clip_seconds"
            type="number"
            min={1}
            max={600}
            step="any"
            required
            defaultValue="10"
            {...bad("clip_seconds")}
          />
          <small>{t.add.clipHint}</small>
        </label>
        <label>
          {t.add.preset}
          <select name="preset" {...bad("preset")}>
            <Options of={Object.entries(t.add.presets)} />
          </select>
        </label>
      </div>
      {error && <Failure error={error} />}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          {t.add.go}
        </button>
      </div>
    </Form>
  );
}

function Listen({ name }: { name: string }) {
  const status = useStore(machines)?.find((machine) => machine.name === name);
  const changes = useThrottled(`${status?.clips} ${status?.state} ${status?.model?.version}`, 1000);
  const { value, error, reload } = useLoaded<MachineDetail>(paths.machine(name), changes);
  const [run, busy] = useAction();
  if (error) return <Failure error={error} retry={reload} />;
  if (!value) return <p class="loading">{t.loading}</p>;
  const machine = { ...value, ...(status ?? {}) };
  const start = () =>
    run(async () => {
      const answer = await write("POST", `${paths.machine(name)}/learn`, { now: true });
      say(answer.text ?? t.actions.done);
      go(toMachine(name));
    });
  return (
    <>
      <div class="columns">
        <Card title={t.live.title}>
          <Live name={name} />
          {machine.source.kind === "push" && (
            <details>
              <summary>{t.add.pushText}</summary>
              <pre tabIndex={0}>{`curl -H "Authorization: Bearer TOKEN" \\
  -H "Content-Type: audio/wav" -H "X-Auscult-Sequence: 1" \\
  --data-binary @clip.wav \\
  ${location.origin}/api/v1/sources/${encodeURIComponent(name)}/audio`}</pre>
            </details>
          )}
        </Card>
        <Card title={t.add.missing}>
          {machine.learning ? (
            <Learning learning={machine.learning} name={name} isPaused={machine.out_of_service !== null} />
          ) : (
            <p class="lead">{t.add.learnt}</p>
          )}
        </Card>
      </div>
      <Card title={t.add.steps[2]!}>
        <BudgetControl machine={name} now={machine.spec.alarms_per_month} may={true} again={changes} changed={reload} />
      </Card>
      <div class="buttons">
        {machine.model === null ? (
          <button type="button" class="primary" disabled={busy} onClick={start}>
            {t.add.start}
          </button>
        ) : (
          <a class="button primary" href={toMachine(name)}>
            {t.add.toMachine}
          </a>
        )}
        <span class="hint">{machine.model === null && t.add.later}</span>
      </div>
    </>
  );
}
