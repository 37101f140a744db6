// What arrives now: level with peak, clipping and hum, and a spectrogram that runs.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Level, paths } from "../api";
import { hertz, number } from "../format";
import { open } from "../stream";
import { t } from "../texts";
import { PALETTE } from "./colours";

const FLOOR = -90;
const COLUMNS = 90;
/** Colours span this much below the loudest band. */
const SPAN_DECIBELS = 55;
/** Quieter than this on average, a machine cannot be told from the hall. */
const QUIET_DBFS = -70;

const share = (dbfs: number) => `${Math.max(0, Math.min(100, ((dbfs - FLOOR) / -FLOOR) * 100))}%`;

/** Moves the picture to the left and draws the newest spectrum at its right edge. */
function advance(canvas: HTMLCanvasElement, spectrum: number[], loudest: (spectrum: number[]) => number): void {
  const bins = spectrum.length;
  if (canvas.width !== COLUMNS || canvas.height !== bins) {
    canvas.width = COLUMNS;
    canvas.height = bins;
  }
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return;
  context.putImageData(context.getImageData(1, 0, COLUMNS - 1, bins), 0, 0);
  const column = context.createImageData(1, bins);
  const top = loudest(spectrum);
  spectrum.forEach((decibels, bin) => {
    const shade = Math.max(0, Math.min(255, Math.round((1 + (decibels - top) / SPAN_DECIBELS) * 255)));
    column.data.set(PALETTE.subarray(shade * 3, shade * 3 + 3), (bins - 1 - bin) * 4);
    column.data[(bins - 1 - bin) * 4 + 3] = 255;
  });
  context.putImageData(column, COLUMNS - 1, 0);
}

export function Live({ name }: { name: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [level, set] = useState<Level | null>(null);
  const [lost, setLost] = useState(false);
  const [held, hold] = useState({ clipped: false, hum: null as number | null });
  useEffect(() => {
    let clippedUntil = 0;
    let top = -Infinity;
    // The scale of colours follows slowly, so that a quiet microphone has a picture too.
    const loudest = (spectrum: number[]) => (top = Math.max(top - 0.3, ...spectrum));
    return open(paths.live(name), {
      message(kind, data) {
        if (kind !== "level") return;
        const arrived = data as Level;
        // A moment of clipping is too short to be seen.
        if (arrived.clipped) clippedUntil = Date.now() + 5000;
        set(arrived);
        hold({ clipped: Date.now() < clippedUntil, hum: arrived.hum_hertz });
        if (canvas.current) advance(canvas.current, arrived.spectrum, loudest);
      },
      connected: (is) => setLost(!is),
    });
  }, [name]);
  const edges = level?.hertz ?? [];
  return (
    <div class="live">
      <div class="meter-head">
        <strong class="big-number">
          {level ? number(level.dbfs, 0) : "–"}
          <small> dBFS</small>
        </strong>
        {level && (
          <span class="live-flags">
            <span class={held.clipped ? "flag bad" : "flag"}>{held.clipped ? t.live.clipped : t.live.notClipped}</span>
            <span class={held.hum === null ? "flag" : "flag bad"}>
              {held.hum === null ? t.live.noHum : t.live.hum(held.hum)}
            </span>
            {level.dbfs < QUIET_DBFS && (
              <span class="flag bad" title={t.live.quietText}>
                {t.live.quiet}
              </span>
            )}
          </span>
        )}
      </div>
      <div
        class="meter"
        role="meter"
        aria-label={t.live.level}
        aria-valuemin={FLOOR}
        aria-valuemax={0}
        aria-valuenow={Math.round(level?.dbfs ?? FLOOR)}
        aria-valuetext={
          level
            ? t.live.sentence(number(level.dbfs, 0), number(level.peak_dbfs, 0), held.clipped, held.hum)
            : t.live.waiting
        }
      >
        <span class="fill" style={{ width: share(level?.dbfs ?? FLOOR) }} />
        {level && <span class="peak" style={{ left: share(level.peak_dbfs) }} />}
      </div>
      <div class="meter-scale" aria-hidden="true">
        <span>−90</span>
        <span>−60</span>
        <span>−30</span>
        <span>0</span>
      </div>
      <div class="running" role="img" aria-label={t.live.spectrogram}>
        <canvas ref={canvas} class={level ? "" : "empty"} />
        {level ? (
          <>
            <span class="upper">{hertz(edges.at(-1) ?? 0)}</span>
            <span class="lower">{hertz(edges[0] ?? 0)}</span>
          </>
        ) : (
          <span class="waiting">{lost ? t.live.lost : t.live.waiting}</span>
        )}
      </div>
      {level && (
        <p class="hint">
          {t.live.sentence(number(level.dbfs, 0), number(level.peak_dbfs, 0), held.clipped, held.hum)}{" "}
          {level.dbfs < QUIET_DBFS && t.live.quietText}
        </p>
      )}
    </div>
  );
}
