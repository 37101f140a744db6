// What a person says a clip was, and what others said before.

import { useState } from "preact/hooks";
import { type Feedback, type Verdict, paths, write } from "../api";
import { say } from "../store";
import { t } from "../texts";
import { Form, Moment, useAction } from "./basics";

const VERDICTS: Verdict[] = ["normal", "fault", "not-running", "sensor-fault"];

export function FeedbackForm({
  machine,
  step,
  before,
  kept,
  may,
}: {
  machine: string;
  step: number;
  before: Feedback[];
  kept: () => void;
  may: boolean;
}) {
  const [verdict, choose] = useState<Verdict | null>(null);
  const [note, setNote] = useState("");
  const [run, busy] = useAction();
  const send = () =>
    run(async () => {
      const answer = await write("POST", `${paths.machine(machine)}/feedback`, { step, verdict, note });
      say(answer.text ?? t.feedback.thanks);
      choose(null);
      setNote("");
      kept();
    });
  return (
    <div class="feedback">
      {may ? (
        <>
          <p class="hint">{t.feedback.text}</p>
          <div class="buttons" role="group" aria-label={t.feedback.title}>
            {VERDICTS.map((each) => (
              <button
                type="button"
                key={each}
                aria-pressed={verdict === each}
                onClick={() => choose(verdict === each ? null : each)}
              >
                {t.feedback.verdicts[each]}
              </button>
            ))}
          </div>
          {verdict && (
            <Form send={send}>
              <label>
                {t.feedback.note}
                <textarea
                  rows={2}
                  value={note}
                  placeholder={t.feedback.noteHint}
                  onInput={(input) => setNote(input.currentTarget.value)}
                />
              </label>
              <div class="buttons">
                <button type="submit" class="primary" disabled={busy}>
                  {t.feedback.send}
                </button>
              </div>
            </Form>
          )}
        </>
      ) : (
        <p class="hint">{t.onlyOperators}</p>
      )}
      {before.length > 0 && (
        <>
          <h3>{t.feedback.before}</h3>
          <ul class="answers">
            {before.map((each, index) => (
              <li key={index}>
                <strong>{t.feedback.said[each.verdict] ?? each.verdict}</strong>
                {each.note && <q>{each.note}</q>}
                <small>
                  {each.who}, <Moment time={each.time} />
                </small>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
