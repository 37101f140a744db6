// How far learning is, and what is missing.

import { type Learning as Status, paths, write } from "../api";
import { sentence } from "../format";
import { say, session, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";
import { useAction } from "./basics";

export function Learning({
  learning,
  name,
  isPaused,
}: {
  learning: Status;
  name: string;
  /** Whether the machine is out of service: nothing is learnt then. */
  isPaused: boolean;
}) {
  const role = useStore(session)?.user?.role;
  const [run, busy] = useAction();
  const learn = (now: boolean) =>
    run(async () => {
      const answer = await write("POST", `${paths.machine(name)}/learn`, { now });
      say(answer.text ?? t.actions.done);
    });
  return (
    <div class="learning">
      <p class="lead">{isPaused ? t.add.paused : sentence(learning.text)}</p>
      <Bar
        text={t.add.visitsSoFar(learning.visits, learning.visits_wanted)}
        value={learning.visits}
        max={learning.visits_wanted}
      />
      <Bar
        text={t.add.clipsSoFar(learning.clips, learning.clips_wanted)}
        value={learning.clips}
        max={learning.clips_wanted}
      />
      {learning.rejected > 0 && <p class="hint">{t.add.rejected(learning.rejected)}</p>}
      {maySee(role, "operator") && (
        <div class="buttons">
          <button type="button" disabled={busy} onClick={() => learn(false)}>
            {t.add.newVisit}
          </button>
          <button type="button" disabled={busy} onClick={() => learn(true)}>
            {t.actions.learnNow}
          </button>
        </div>
      )}
    </div>
  );
}

const Bar = ({ text, value, max }: { text: string; value: number; max: number }) => (
  <label class="bar-line">
    <span>{text}</span>
    <progress max={Math.max(1, max)} value={Math.min(value, max)} />
  </label>
);
