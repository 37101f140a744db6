// Scores over time: lowest to highest as a band, the mean as a line, the line of a clip, events.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { State, Trend, TrendPoint } from "../api";
import { exactly, number, score, toMs } from "../format";
import { useStore } from "../store";
import { t } from "../texts";
import { colour, themeChanges } from "../theme";

interface Props {
  trend: Trend;
  /** Clips above it are anomalous: some of them make an alert, more of them an alarm. */
  line: number | null;
  /** Whether there are alerts before alarms. */
  isGradual: boolean;
  from: number;
  to: number;
  label: string;
  zoom: (from: number, to: number) => void;
}

const HEIGHT = 260;
const FONT = () => getComputedStyle(document.body).fontFamily;

/** The parts of the chart in which the machine was in a state. */
function spansOf(state: State, { trend, from, to }: Props): [number, number][] {
  const spans: [number, number][] = [];
  let since: number | null = trend.state === state ? from / 1000 : null;
  const changes = trend.events.filter((each) => each.kind === "state");
  for (const event of changes.sort((a, b) => toMs(a.time) - toMs(b.time))) {
    const at = toMs(event.time) / 1000;
    if (event.to === state) since ??= at;
    else if (since !== null) {
      spans.push([since, at]);
      since = null;
    }
  }
  if (since !== null) spans.push([since, to / 1000]);
  return spans;
}

/** Alarms over the whole height, alerts over a part of it: colours alone would not tell them apart. */
function drawBehind(plot: uPlot, props: Props, ink: Record<string, string>): void {
  const { ctx, bbox } = plot;
  ctx.save();
  for (const [state, height] of [
    ["alarm", 1],
    ["alert", 0.25],
  ] as const) {
    ctx.fillStyle = ink[state]!;
    ctx.globalAlpha = state === "alarm" ? 0.12 : 0.2;
    for (const [begin, end] of spansOf(state, props)) {
      const left = Math.max(bbox.left, plot.valToPos(begin, "x", true));
      const right = Math.min(bbox.left + bbox.width, plot.valToPos(end, "x", true));
      if (right > left) ctx.fillRect(left, bbox.top + bbox.height * (1 - height), right - left, bbox.height * height);
    }
  }
  ctx.restore();
}

function drawLine(plot: uPlot, { line, isGradual }: Props, ink: Record<string, string>): void {
  if (line === null) return;
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const y = plot.valToPos(line, "y", true);
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = ink["alarm"]!;
  ctx.fillStyle = ink["alarm"]!;
  ctx.lineWidth = 1.5 * scale;
  ctx.setLineDash([7 * scale, 4 * scale]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = `600 ${12 * scale}px ${FONT()}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  const text = t.machine.line(isGradual, score(line));
  // On a ground of its own: the scores cross it.
  ctx.setLineDash([]);
  ctx.lineJoin = "round";
  ctx.lineWidth = 5 * scale;
  ctx.strokeStyle = ink["card"]!;
  ctx.strokeText(text, bbox.left + 6 * scale, y - 4 * scale);
  ctx.fillText(text, bbox.left + 6 * scale, y - 4 * scale);
  ctx.restore();
}

/** A mark at the bottom for every event: a triangle for alarms, a tick for the rest. */
function drawEvents(plot: uPlot, { trend }: Props, ink: Record<string, string>): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const bottom = bbox.top + bbox.height;
  ctx.save();
  for (const event of trend.events) {
    const x = plot.valToPos(toMs(event.time) / 1000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    const isAlarm = event.kind === "state" && event.to === "alarm";
    ctx.fillStyle = isAlarm ? ink["alarm"]! : event.kind === "drift" ? ink["alert"]! : ink["quiet"]!;
    ctx.beginPath();
    if (isAlarm) {
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x - 6 * scale, bbox.top - 10 * scale);
      ctx.lineTo(x + 6 * scale, bbox.top - 10 * scale);
    } else {
      ctx.rect(x - scale, bottom - 7 * scale, 2 * scale, 7 * scale);
    }
    ctx.fill();
  }
  ctx.restore();
}

const valuesOf = (points: TrendPoint[], line: number | null): number[] =>
  points
    .flatMap((point) => [point.lowest, point.highest])
    .concat(line)
    .filter((value): value is number => value !== null && Number.isFinite(value));

/** Scores of faults can be thousands of times those of a healthy machine; then every factor of ten gets the same room. */
function isWide(points: TrendPoint[], line: number | null): boolean {
  const values = valuesOf(points, line);
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) > 40 * Math.min(...values);
}

function range(points: TrendPoint[], line: number | null): [number, number] {
  const values = valuesOf(points, line);
  if (values.length === 0) return [0, 1];
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (isWide(points, line)) return [low / 1.3, high * 1.5];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [low - room, high + room * 1.6];
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

function plotted(trend: Trend): uPlot.AlignedData {
  const column = (pick: (point: TrendPoint) => number | null) => trend.points.map(pick);
  return [
    trend.points.map((point) => toMs(point.start) / 1000 + trend.width / 2),
    column((point) => point.highest),
    column((point) => point.lowest),
    column((point) => point.mean),
  ];
}

export function TrendChart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const current = useRef(props);
  const [reading, read] = useState<string | null>(null);
  const changes = useStore(themeChanges);
  const wide = isWide(props.trend.points, props.line);
  current.current = props;

  useEffect(() => {
    const host = box.current;
    if (!host) return undefined;
    const ink = {
      line: colour("ink"),
      band: colour("accent"),
      alarm: colour("alarm"),
      alert: colour("alert"),
      quiet: colour("quiet"),
      rule: colour("rule"),
      card: colour("card"),
    };
    const axis: uPlot.Axis = {
      stroke: ink.quiet,
      grid: { stroke: ink.rule, width: 1 },
      ticks: { show: false },
      font: `12px ${FONT()}`,
    };
    const made = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT,
        padding: [14, 18, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 8 } },
        scales: {
          x: { time: true, range: () => [current.current.from / 1000, current.current.to / 1000] },
          y: { distr: wide ? 3 : 1, range: () => range(current.current.trend.points, current.current.line) },
        },
        axes: [
          {
            ...axis,
            space: 70,
            values: [
              [31536000, "{YYYY}", null, null, null, null, null, null, 1],
              [2419200, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
              [86400, "{WWW} {D}", "\n{MMM}", null, null, null, null, null, 1],
              [60, "{HH}:{mm}", "\n{WWW} {D}", null, "\n{WWW} {D}", null, null, null, 1],
              [1, "{HH}:{mm}:{ss}", null, null, null, null, null, null, 1],
            ],
          },
          {
            ...axis,
            size: 46,
            values: (_, ticks, __, ___, step) =>
              ticks.map((tick) => {
                if (tick === null) return "";
                if (wide || Math.abs(tick) >= 10_000) return compact.format(tick);
                return number(tick, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
              }),
          },
        ],
        series: [
          {},
          { stroke: "transparent", points: { show: false } },
          { stroke: "transparent", points: { show: false } },
          { stroke: ink.line, width: 1.75, points: { show: props.trend.points.length < 60, size: 4, fill: ink.line } },
        ],
        bands: [{ series: [1, 2], fill: ink.band.replace(/^rgb\((.*)\)$/, "rgba($1, 0.22)") }],
        hooks: {
          drawClear: [(each) => drawBehind(each, current.current, ink)],
          draw: [
            (each) => {
              drawLine(each, current.current, ink);
              drawEvents(each, current.current, ink);
            },
          ],
          setCursor: [
            (each) => {
              const point = each.cursor.idx == null ? null : current.current.trend.points[each.cursor.idx];
              read(
                point
                  ? t.machine.reading(exactly(point.start), score(point.mean), score(point.highest), point.clips)
                  : null,
              );
            },
          ],
          setSelect: [
            (each) => {
              if (each.select.width < 8) return;
              const at = (pixel: number) => each.posToVal(pixel, "x") * 1000;
              current.current.zoom(at(each.select.left), at(each.select.left + each.select.width));
              each.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            },
          ],
        },
      },
      plotted(current.current.trend),
      host,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: HEIGHT }));
    resize.observe(host);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [changes, wide]);

  useEffect(() => {
    plot.current?.setData(plotted(props.trend));
  }, [props.trend, props.line, props.from, props.to]);

  return (
    <figure class="trend">
      <div ref={box} class="plot" role="img" aria-label={props.label} />
      <figcaption>{reading ?? props.label}</figcaption>
    </figure>
  );
}
