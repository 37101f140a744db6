// The newest clips of a machine, to be seen, heard and judged by a person.

import { useState } from "preact/hooks";
import { type Clip, type Feedback, type List, paths } from "../api";
import { session, useStore } from "../store";
import { maySee } from "../states";
import { t } from "../texts";
import { Card, Failure, useLoaded } from "./basics";
import { ClipTable } from "./clip-table";
import { Compare } from "./compare";
import { FeedbackForm } from "./feedback";

const CLIPS = 20;

export function LastClips({ name }: { name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <Card
      title={t.machine.clips}
      aside={
        <button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t.close : t.machine.showClips}
        </button>
      }
    >
      {open ? <Clips name={name} /> : <p class="hint">{t.machine.clipsText}</p>}
    </Card>
  );
}

/** The list stands still while somebody looks at it. */
function Clips({ name }: { name: string }) {
  const role = useStore(session)?.user?.role;
  const [step, choose] = useState<number | null>(null);
  const { value, error, reload } = useLoaded<List<Clip>>(`${paths.machine(name)}/clips?limit=${CLIPS}`);
  const answers = useLoaded<List<Feedback>>(`/feedback?machine=${encodeURIComponent(name)}&limit=1000`);
  if (error) return <Failure error={error} retry={reload} />;
  if (!value) return <p class="loading">{t.loading}</p>;
  const clip = value.items.find((each) => each.step === step);
  return (
    <div class="columns narrow-left">
      <div>
        <ClipTable clips={value.items} shown={step} own={[]} choose={choose} />
        <div class="buttons">
          <button type="button" class="small" onClick={reload}>
            {t.machine.refresh}
          </button>
        </div>
      </div>
      <div>
        {clip && <Compare key={clip.step} machine={name} step={clip.step} hasSound={clip.has_sound} />}
        {clip && (
          <>
            <h3>{t.feedback.title}</h3>
            <FeedbackForm
              key={clip.step}
              machine={name}
              step={clip.step}
              before={(answers.value?.items ?? []).filter((each) => each.step === clip.step)}
              kept={answers.reload}
              may={maySee(role, "operator")}
            />
          </>
        )}
      </div>
    </div>
  );
}
