// A picture of sound: time to the right, frequency upwards, bands framed where it differs.

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Band, Picture } from "../api";
import { hertz, number, signed } from "../format";
import { t } from "../texts";
import { PALETTE } from "./colours";

/** As the ear hears it: low tones get more room than high ones, however the bins are spaced. */
const mel = (frequency: number) => Math.log1p(Math.max(0, frequency) / 700);

/** Where a frequency stands between the bottom (0) and the top (1) of a picture with these edges. */
export function heightOf(frequency: number, edges: number[]): number {
  const [low, high] = [mel(edges[0]!), mel(edges[edges.length - 1]!)];
  return Math.max(0, Math.min(1, (mel(frequency) - low) / (high - low)));
}

/** The bin of every row of the picture, from the top. */
function rowBins(edges: number[], rows: number): number[] {
  const [low, high] = [mel(edges[0]!), mel(edges[edges.length - 1]!)];
  let bin = edges.length - 2;
  return Array.from({ length: rows }, (_, row) => {
    const frequency = 700 * Math.expm1(low + (high - low) * (1 - (row + 0.5) / rows));
    while (bin > 0 && edges[bin]! > frequency) bin -= 1;
    return bin;
  });
}

const LABELS = [100, 500, 1000, 2000, 4000, 8000, 16000, 32000];
const ROWS = 200;

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
  canvas.height = ROWS;
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(frames, ROWS);
  const step = (picture.high_db - picture.low_db) / 255;
  const rows = rowBins(picture.hertz, ROWS);
  for (let frame = 0; frame < frames; frame += 1) {
    for (const [row, bin] of rows.entries()) {
      const decibels = picture.low_db + bytes[frame * bins + bin]! * step;
      const shade = Math.max(0, Math.min(255, Math.round(((decibels - low) / (high - low || 1)) * 255)));
      const place = (row * frames + frame) * 4;
      image.data.set(PALETTE.subarray(shade * 3, shade * 3 + 3), place);
      image.data[place + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

export const bandWords = (bands: Band[]): string =>
  bands.length === 0
    ? t.event.noBands
    : `${bands.map((band) => t.event.band(hertz(band.low_hertz), hertz(band.high_hertz), signed(band.decibels))).join(", ")}.`;

export function SpectrogramPicture({
  picture,
  bands,
  low,
  high,
  name,
  position,
  isHeard,
  framed,
}: {
  picture: Picture;
  bands: Band[];
  low: number;
  high: number;
  name: string;
  /** Where the player is, from 0 to 1. */
  position: number | null;
  isHeard: boolean;
  /** Whether the frames say how much louder it is. */
  framed: boolean;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) paint(canvas.current, picture, low, high);
  }, [picture, low, high]);
  const ticks = useMemo(() => labels(picture.hertz), [picture.hertz]);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  const label = t.event.picture(name.toLowerCase(), number(picture.seconds, 1), framed ? bandWords(bands) : "");
  return (
    <figure class={`spectrogram ${isHeard ? "heard" : ""}`}>
      <figcaption>
        <strong>{name}</strong>
      </figcaption>
      <div class="frame" role="img" aria-label={label}>
        <div class="hertz">
          {ticks.map(([frequency, at]) => (
            <span key={frequency} style={{ bottom: percent(at) }}>
              {hertz(frequency)}
            </span>
          ))}
        </div>
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
        <div class="seconds">
          <span>0 s</span>
          <span>{number(picture.seconds, 1)} s</span>
        </div>
      </div>
    </figure>
  );
}
