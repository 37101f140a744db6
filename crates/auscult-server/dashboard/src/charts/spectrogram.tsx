// A picture of sound: time to the right, frequency upwards, bands framed where it differs.

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Band, Picture } from "../api";
import { hertz, number, signed } from "../format";
import { t } from "../texts";
import { PALETTE } from "./colours";

/** Where a frequency stands between the bottom (0) and the top (1) of bins with these edges. */
export function heightOf(frequency: number, edges: number[]): number {
  const last = edges.length - 1;
  if (frequency <= edges[0]!) return 0;
  if (frequency >= edges[last]!) return 1;
  let bin = 0;
  while (edges[bin + 1]! < frequency) bin += 1;
  return (bin + (frequency - edges[bin]!) / (edges[bin + 1]! - edges[bin]!)) / last;
}

const LABELS = [50, 100, 200, 500, 1000, 2000, 4000, 8000, 16000];

/** Frequencies to write beside the picture: those in it that do not overlap. */
function labels(edges: number[]): [number, number][] {
  const chosen: [number, number][] = [];
  for (const frequency of LABELS) {
    if (frequency < edges[0]! || frequency > edges[edges.length - 1]!) continue;
    const at = heightOf(frequency, edges);
    const before = chosen.at(-1);
    if (at < 0.97 && (!before || at - before[1] > 0.1)) chosen.push([frequency, at]);
  }
  return chosen;
}

/** The bytes of the picture, scaled from its own decibels to common ones. */
function paint(canvas: HTMLCanvasElement, picture: Picture, low: number, high: number): void {
  const { frames, bins } = picture;
  const bytes = Uint8Array.from(atob(picture.data), (char) => char.charCodeAt(0));
  canvas.width = frames;
  canvas.height = bins;
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(frames, bins);
  const step = (picture.high_db - picture.low_db) / 255;
  for (let frame = 0; frame < frames; frame += 1) {
    for (let bin = 0; bin < bins; bin += 1) {
      const decibels = picture.low_db + bytes[frame * bins + bin]! * step;
      const shade = Math.max(0, Math.min(255, Math.round(((decibels - low) / (high - low || 1)) * 255)));
      const place = ((bins - 1 - bin) * frames + frame) * 4;
      image.data.set(PALETTE.subarray(shade * 3, shade * 3 + 3), place);
      image.data[place + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

export const bandWords = (bands: Band[]): string =>
  bands.length === 0 ? t.event.noBands
    : `${bands.map((band) => t.event.band(hertz(band.low_hertz), hertz(band.high_hertz), signed(band.decibels))).join(", ")}.`;

export function SpectrogramPicture({ picture, bands, low, high, name, position, isHeard, framed }: {
  picture: Picture; bands: Band[]; low: number; high: number; name: string;
  /** Where the player is, from 0 to 1. */
  position: number | null;
  isHeard: boolean;
  /** Whether the frames say how much louder it is. */
  framed: boolean;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => { if (canvas.current) paint(canvas.current, picture, low, high); }, [picture, low, high]);
  const ticks = useMemo(() => labels(picture.hertz), [picture.hertz]);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  const label = t.event.picture(name.toLowerCase(), number(picture.seconds, 1), framed ? bandWords(bands) : "");
  return (
    <figure class={`spectrogram ${isHeard ? "heard" : ""}`}>
      <figcaption><strong>{name}</strong></figcaption>
      <div class="frame" role="img" aria-label={label}>
        <div class="hertz">{ticks.map(([frequency, at]) => <span key={frequency} style={{ bottom: percent(at) }}>{hertz(frequency)}</span>)}</div>
        <div class="picture">
          <canvas ref={canvas} />
          {bands.map((band) => {
            const bottom = heightOf(band.low_hertz, picture.hertz);
            const height = heightOf(band.high_hertz, picture.hertz) - bottom;
            return (
              <span class="band" key={band.low_hertz} style={{ bottom: percent(bottom), height: percent(height) }}>
                {framed && <b>{signed(band.decibels)} dB</b>}
              </span>
            );
          })}
          {position !== null && <span class="playhead" style={{ left: percent(position) }} />}
        </div>
        <div class="seconds"><span>0 s</span><span>{number(picture.seconds, 1)} s</span></div>
      </div>
    </figure>
  );
}
