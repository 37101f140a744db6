// What an operator can do with a machine.

import { useState } from "preact/hooks";
import { type Machine, paths, write } from "../api";
import { say } from "../store";
import { t } from "../texts";
import { Confirm, Dialog, Form, Options, useAction } from "./basics";

export function Actions({
  machine,
  changed,
  strong = false,
}: {
  machine: Machine;
  changed: () => void;
  /** Whether the first of them is what the page is for. */
  strong?: boolean;
}) {
  const [asking, ask] = useState<"shelve" | "service" | "baseline" | null>(null);
  const [run, busy] = useAction();
  const act = (what: string, body: unknown = {}) =>
    run(async () => {
      const answer = await write("POST", `${paths.machine(machine.name)}/${what}`, body);
      say(answer.text ?? t.actions.done);
      ask(null);
      changed();
    });
  const close = () => ask(null);
  const isRaised = machine.state === "alarm" || machine.state === "alert";
  return (
    <div class="buttons tight" role="group" aria-label={t.actions.title}>
      {machine.state === "alarm" && !machine.acknowledged && (
        <button type="button" class={strong ? "primary" : ""} disabled={busy} onClick={() => act("acknowledge")}>
          {t.actions.acknowledge}
        </button>
      )}
      {machine.drift && (
        <button type="button" class={isRaised ? "" : "primary"} disabled={busy} onClick={() => act("accept-drift")}>
          {t.actions.acceptDrift}
        </button>
      )}
      {machine.shelved ? (
        <button type="button" disabled={busy} onClick={() => act("unshelve")}>
          {t.actions.unshelve}
        </button>
      ) : (
        <button type="button" disabled={busy} onClick={() => ask("shelve")}>
          {t.actions.shelve}
        </button>
      )}
      {machine.out_of_service === null ? (
        <button type="button" disabled={busy} onClick={() => ask("service")}>
          {t.actions.outOfService}
        </button>
      ) : (
        <button type="button" class="primary" disabled={busy} onClick={() => act("in-service")}>
          {t.actions.inService}
        </button>
      )}
      {machine.model !== null && (
        <button type="button" disabled={busy} onClick={() => ask("baseline")}>
          {t.actions.baseline}
        </button>
      )}
      {asking === "shelve" && (
        <Ask
          title={t.actions.shelveTitle(machine.name)}
          text={t.actions.shelveText}
          yes={t.actions.shelve}
          lengths={t.actions.lengths}
          busy={busy}
          close={close}
          act={(answer) => act("shelve", answer)}
        />
      )}
      {asking === "service" && (
        <Ask
          title={t.actions.serviceTitle(machine.name)}
          text={t.actions.serviceText}
          yes={t.actions.outOfService}
          busy={busy}
          close={close}
          act={({ reason }) => act("out-of-service", { reason })}
        />
      )}
      {asking === "baseline" && (
        <Confirm
          title={t.actions.baseline.replace(" …", "")}
          text={t.actions.baselineAsk}
          close={close}
          act={() => act("baseline")}
        />
      )}
    </div>
  );
}

/** Asks for a reason, and for how long where that can be chosen. */
function Ask({
  title,
  text,
  yes,
  lengths,
  busy,
  act,
  close,
}: {
  title: string;
  text: string;
  yes: string;
  lengths?: [number, string][];
  busy: boolean;
  act: (answer: { reason: string; minutes: number }) => void;
  close: () => void;
}) {
  const [minutes, setMinutes] = useState(240);
  const [reason, setReason] = useState("");
  return (
    <Dialog title={title} close={close}>
      <Form send={() => act({ reason, minutes })}>
        <p>{text}</p>
        {lengths && (
          <label>
            {t.actions.for}
            <select value={minutes} onChange={(input) => setMinutes(Number(input.currentTarget.value))}>
              <Options of={lengths} />
            </select>
          </label>
        )}
        <label>
          {t.actions.reason}
          <input
            required
            value={reason}
            placeholder={t.actions.reasonHint}
            onInput={(input) => setReason(input.currentTarget.value)}
          />
        </label>
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {yes.replace(" …", "")}
          </button>
          <button type="button" onClick={close}>
            {t.cancel}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
