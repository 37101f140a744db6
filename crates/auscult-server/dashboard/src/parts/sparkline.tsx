// The last scores of a machine as a small line, with the line above which clips are anomalous.

import type { Machine } from "../api";
import { score } from "../format";
import { t } from "../texts";

const WIDTH = 120;
const HEIGHT = 36;

export function Sparkline({ machine }: { machine: Machine }) {
  const values = machine.trend.slice(-72).filter(Number.isFinite);
  const threshold = machine.model?.threshold ?? null;
  if (values.length < 2) return <span class="spark none">{t.plant.noScores}</span>;
  const marks = threshold === null ? values : [...values, threshold];
  // As in the large chart: by factors where scores differ by factors.
  const isWide = Math.min(...marks) > 0 && Math.max(...marks) > 40 * Math.min(...marks);
  const scaled = (value: number) => (isWide ? Math.log(value) : value);
  const low = scaled(Math.min(...marks));
  const high = scaled(Math.max(...marks));
  const y = (value: number) => (HEIGHT - 3 - ((scaled(value) - low) / (high - low || 1)) * (HEIGHT - 6)).toFixed(1);
  const x = (index: number) => ((index / (values.length - 1)) * WIDTH).toFixed(1);
  const line = values.map((value, index) => `${index === 0 ? "M" : "L"}${x(index)} ${y(value)}`).join("");
  const label = t.plant.sparkline(score(values.at(-1)), threshold === null ? null : score(threshold));
  return (
    <svg
      class={`spark s-${machine.state}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {threshold !== null && <path class="line" d={`M0 ${y(threshold)}H${WIDTH}`} />}
      <path class="area" d={`${line}V${HEIGHT}H0Z`} />
      <path class="scores" d={line} />
    </svg>
  );
}
