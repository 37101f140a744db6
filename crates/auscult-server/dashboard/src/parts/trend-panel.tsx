// The trend of a machine with the choice of its span of time.

import { useState } from "preact/hooks";
import { type Lines, type MachineDetail, type Trend, paths } from "../api";
import { TrendChart } from "../charts/trend";
import { exactly, iso, plantNow, plantSpeed, score, when } from "../format";
import { t } from "../texts";
import { Card, Failure, Segments, Table, useLoaded, useThrottled } from "./basics";

type Range = keyof typeof t.machine.ranges;
const SECONDS: Record<Range, number> = { hour: 3600, day: 86_400, week: 7 * 86_400, year: 365 * 86_400 };
const WIDTHS = [1, 5, 10, 30, 60, 300, 600, 1200, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400];
/** About as many points as a chart can show. */
const POINTS = 360;

/** Spans that can be zoomed to, in seconds. */
const SHORTEST = 60;
const LONGEST = 4 * SECONDS.year;

const widthFor = (seconds: number) => WIDTHS.find((width) => seconds / width <= POINTS) ?? 86_400;

export function TrendPanel({ machine }: { machine: MachineDetail }) {
  const [range, setRange] = useState<Range>("week");
  const [zoomed, zoom] = useState<{ from: number; to: number } | null>(null);
  // New clips move the chart, but not more often than it can be read.
  const clips = useThrottled(machine.clips, plantSpeed() > 1 ? 2000 : 10_000);
  const shown = zoomed ?? spanOf(range, clips);
  const width = widthFor((shown.to - shown.from) / 1000);
  const { value, error } = useLoaded<Trend>(paths.trend(machine.name, iso(shown.from), iso(shown.to), width), clips);
  const shift = (share: number) => {
    const by = (shown.to - shown.from) * share;
    zoom({ from: shown.from + by, to: shown.to + by });
  };
  const isAllowed = (factor: number) => {
    const seconds = ((shown.to - shown.from) / 1000) * factor;
    return seconds >= SHORTEST && seconds <= LONGEST;
  };
  // What is being looked at stays in the middle; the present stays where it is.
  const scale = (factor: number) => {
    const span = (shown.to - shown.from) * factor;
    const to = zoomed ? (shown.from + shown.to + span) / 2 : shown.to;
    zoom({ from: to - span, to });
  };
  const name = zoomed ? t.machine.zoomed(when(iso(shown.from)), when(iso(shown.to))) : t.machine.spans[range];
  return (
    <Card
      title={t.machine.trend}
      aside={
        <div class="trend-tools">
          <button type="button" class="quiet" onClick={() => shift(-0.5)}>
            ← {t.machine.earlier}
          </button>
          {zoomed && (
            <button type="button" class="quiet" onClick={() => shift(0.5)}>
              {t.machine.later} →
            </button>
          )}
          {zoomed && (
            <button type="button" class="quiet" onClick={() => zoom(null)}>
              {t.machine.zoomBack}
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label={t.machine.zoomIn}
            title={t.machine.zoomIn}
            disabled={!isAllowed(0.5)}
            onClick={() => scale(0.5)}
          >
            +
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={t.machine.zoomOut}
            title={t.machine.zoomOut}
            disabled={!isAllowed(2)}
            onClick={() => scale(2)}
          >
            −
          </button>
          <Segments
            label={t.machine.range}
            value={zoomed ? "" : range}
            choose={(next) => {
              zoom(null);
              setRange(next as Range);
            }}
            options={Object.entries(t.machine.ranges) as [string, string][]}
          />
        </div>
      }
    >
      {error && <Failure error={error} />}
      {value && (
        <TrendBody
          lines={machine.lines}
          trend={value}
          from={shown.from}
          to={shown.to}
          name={name}
          zoom={(from, to) => zoom({ from, to })}
        />
      )}
      {!value && !error && <div class="plot-space" />}
    </Card>
  );
}

/** The last clip is the present: a chart that moves without news would only flicker. */
let lastSpan = { key: "", from: 0, to: 0 };
function spanOf(range: Range, clips: number): { from: number; to: number } {
  const key = `${location.pathname} ${range} ${clips}`;
  if (lastSpan.key !== key) {
    const to = plantNow();
    lastSpan = { key, from: to - SECONDS[range] * 1000, to };
  }
  return lastSpan;
}

function TrendBody({
  lines,
  trend,
  from,
  to,
  name,
  zoom,
}: {
  lines: Lines;
  trend: Trend;
  from: number;
  to: number;
  name: string;
  zoom: (from: number, to: number) => void;
}) {
  const points = trend.points.filter((point) => point.scored > 0);
  const sum = (pick: (point: Trend["points"][number]) => number) =>
    points.reduce((total, point) => total + pick(point), 0);
  const highest = Math.max(...points.map((point) => point.highest ?? -Infinity));
  const label =
    points.length === 0
      ? `${name}: ${t.machine.trendEmpty}`
      : t.machine.trendSentence(
          name,
          sum((point) => point.scored),
          sum((point) => point.anomalous),
          score(highest),
          lines.clip === null ? null : score(lines.clip),
        );
  const columns = t.machine.columns;
  return (
    <>
      {points.length === 0 && <p class="plot-empty">{t.machine.trendEmpty}</p>}
      <TrendChart
        trend={trend}
        line={lines.clip}
        isGradual={lines.alert !== null}
        from={from}
        to={to}
        label={label}
        zoom={zoom}
      />
      {lines.alarm !== null && <p class="hint">{t.machine.rule(lines.alert, lines.alarm)}</p>}
      <details>
        <summary>{t.asTable}</summary>
        <Table
          columns={[columns.from, columns.clips, columns.anomalous, columns.lowest, columns.mean, columns.highest]}
        >
          {points
            .slice(-100)
            .reverse()
            .map((point) => (
              <tr key={String(point.start)}>
                <td>{exactly(point.start)}</td>
                <td>{point.clips}</td>
                <td>{point.anomalous}</td>
                <td>{score(point.lowest)}</td>
                <td>{score(point.mean)}</td>
                <td>{score(point.highest)}</td>
              </tr>
            ))}
        </Table>
      </details>
    </>
  );
}
