// One slider: how many false alarms are acceptable, and what follows from it.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Budget, paths, write } from "../api";
import { Histogram } from "../charts/histogram";
import { sentence } from "../format";
import { say } from "../store";
import { t } from "../texts";
import { useAction, useLoaded } from "./basics";

const STEPS = t.add.budgets;

function closest(alarms: number): number {
  const far = STEPS.map(([step]) => Math.abs(Math.log(step / alarms)));
  return far.indexOf(Math.min(...far));
}

export function BudgetControl({
  machine,
  now,
  may,
  changed,
  again,
  strong = false,
  children,
}: {
  machine: string;
  /** The budget that is set, in alarms a month; the slider begins at the step that is closest to it. */
  now: number | null;
  may: boolean;
  changed?: () => void;
  again?: unknown;
  strong?: boolean;
  children?: ComponentChildren;
}) {
  const [index, setIndex] = useState(() => closest(now ?? 1));
  const [asked, ask] = useState(index);
  useEffect(() => {
    const timer = setTimeout(() => ask(index), 150);
    return () => clearTimeout(timer);
  }, [index]);
  const { value, error } = useLoaded<Budget>(paths.budget(machine, STEPS[asked]![0]), again);
  const [run, busy] = useAction();
  const set = () =>
    run(async () => {
      const answer = await write<{ text?: string }>("PUT", `${paths.machine(machine)}/budget`, {
        alarms_per_month: STEPS[index]![0],
      });
      say(answer.text ?? t.actions.done);
      changed?.();
    });
  return (
    <div class="budget">
      <label class="slider">
        <span class="slider-head">
          <span>{t.add.budget}</span>
          <span class="slider-value">{STEPS[index]![1]}</span>
        </span>
        <input
          type="range"
          min={0}
          max={STEPS.length - 1}
          step={1}
          value={index}
          aria-valuetext={STEPS[index]![1]}
          onInput={(input) => setIndex(Number(input.currentTarget.value))}
        />
        <span class="ends" aria-hidden="true">
          <span>{t.add.budgetLess}</span>
          <span>{t.add.budgetMore}</span>
        </span>
      </label>
      {error && <p class="empty-line">{sentence(error.message)}</p>}
      {value && (
        <>
          <p class={`verdict ${value.possible ? "good" : "bad"}`} role="status">
            <strong>{value.possible ? t.add.possible : t.add.impossible}.</strong> {sentence(value.text)}{" "}
            {value.rule && t.add.rule(value.rule)}
          </p>
          <h3>{t.add.histogram}</h3>
          <Histogram scores={value.scores} threshold={value.threshold} />
          {may && (
            <div class="buttons">
              <button type="button" class={strong ? "primary" : ""} disabled={busy} onClick={set}>
                {t.add.set}
              </button>
              {children}
            </div>
          )}
        </>
      )}
    </div>
  );
}
