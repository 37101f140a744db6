// The last day of a machine as a small line, with the line above which clips are anomalous.

import type { Machine } from "../api";
import { score } from "../format";
import { t } from "../texts";

const WIDTH = 120;
const HEIGHT = 36;

/** The day, or the last scores while there is not enough of a day. */
function valuesOf(machine: Machine): { values: (number | null)[]; isDay: boolean } {
  const day = machine.day ?? [];
  const isDay = day.filter((value) => value !== null).length > 1;
  return { values: isDay ? day : machine.trend.filter(Number.isFinite), isDay };
}

/** Points that follow each other without a gap. */
function runs(points: ([number, number] | null)[]): [number, number][][] {
  const found: [number, number][][] = [[]];
  for (const point of points) {
    if (point === null) found.push([]);
    else found.at(-1)!.push(point);
  }
  return found.filter((run) => run.length > 0);
}

export function Sparkline({ machine }: { machine: Machine }) {
  const { values, isDay } = valuesOf(machine);
  const known = values.filter((value): value is number => value !== null);
  const threshold = machine.model?.threshold ?? null;
  if (known.length < 2) return <span class="spark none">{t.plant.noScores}</span>;
  const marks = threshold === null ? known : [...known, threshold];
  // As in the large chart: by factors where scores differ by factors.
  const isWide = Math.min(...marks) > 0 && Math.max(...marks) > 40 * Math.min(...marks);
  const scaled = (value: number) => (isWide ? Math.log(value) : value);
  const low = scaled(Math.min(...marks));
  const high = scaled(Math.max(...marks));
  const y = (value: number) => HEIGHT - 3 - ((scaled(value) - low) / (high - low || 1)) * (HEIGHT - 6);
  const x = (index: number) => (index / (values.length - 1)) * WIDTH;
  const drawn = runs(
    values.map((value, index) => (value === null ? null : ([x(index), y(value)] as [number, number]))),
  );
  const place = ([across, down]: [number, number]) => `${across.toFixed(1)} ${down.toFixed(1)}`;
  // A point alone is as long as it is wide.
  const line = (run: [number, number][]) => `M${run.map(place).join("L")}${run.length === 1 ? "h.1" : ""}`;
  const area = (run: [number, number][]) => `${line(run)}V${HEIGHT}H${run[0]![0].toFixed(1)}Z`;
  const now = score(machine.score ?? known.at(-1));
  const label = t.plant.sparkline(isDay, now, threshold === null ? null : score(threshold));
  return (
    <svg
      class={`spark s-${machine.state}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {threshold !== null && <path class="line" d={`M0 ${y(threshold).toFixed(1)}H${WIDTH}`} />}
      <path class="area" d={drawn.map(area).join("")} />
      <path class="scores" d={drawn.map(line).join("")} />
    </svg>
  );
}
