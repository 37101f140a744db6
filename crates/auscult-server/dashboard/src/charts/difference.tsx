// How much louder or quieter a clip is than the closest normal one, band by band.

import type { Band } from "../api";
import { hertz, number, signed } from "../format";
import { Table } from "../parts/basics";
import { t } from "../texts";

interface Bar {
  low: number;
  high: number;
  decibels: number;
  isMarked: boolean;
}

function bars(edges: number[], decibels: number[], bands: Band[]): Bar[] {
  return decibels.map((value, index) => {
    const [low, high] = [edges[index]!, edges[index + 1]!];
    // Where most of a bar lies in a band, or a band in a bar.
    const isMarked = bands.some((band) => {
      const common = Math.min(high, band.high_hertz) - Math.max(low, band.low_hertz);
      return common > 0.35 * Math.min(high - low, band.high_hertz - band.low_hertz);
    });
    return { low, high, decibels: value, isMarked };
  });
}

export function DifferenceChart({ edges, decibels, bands }: { edges: number[]; decibels: number[]; bands: Band[] }) {
  const all = bars(edges, decibels, bands);
  const most = Math.max(6, ...decibels.map(Math.abs));
  const strongest = [...all].sort((a, b) => Math.abs(b.decibels) - Math.abs(a.decibels)).slice(0, 2);
  const words = strongest
    .map((bar) => t.event.band(hertz(bar.low), hertz(bar.high), signed(bar.decibels, 1)))
    .join(", ");
  return (
    <figure class="difference">
      <p class="axis" aria-hidden="true">
        +{number(most, 0)} dB {t.event.louder}
      </p>
      <div class="bars" role="img" aria-label={t.event.differenceSentence(words)}>
        {all.map((bar) => (
          <span
            class="slot"
            key={bar.low}
            title={t.event.band(hertz(bar.low), hertz(bar.high), signed(bar.decibels, 1))}
          >
            <span
              class={`bar ${bar.decibels < 0 ? "down" : "up"} ${bar.isMarked ? "marked" : ""}`}
              style={{ height: `${(Math.abs(bar.decibels) / most) * 50}%` }}
            />
          </span>
        ))}
      </div>
      <p class="axis" aria-hidden="true">
        {number(-most, 0)} dB {t.event.quieter}
      </p>
      <div class="bar-labels" aria-hidden="true">
        {all.map((bar, index) => (
          <span key={bar.low}>{index % Math.ceil(all.length / 7) === 0 ? hertz(bar.low) : ""}</span>
        ))}
      </div>
      <figcaption>{t.event.differenceSentence(words)}</figcaption>
      <details>
        <summary>{t.asTable}</summary>
        <Table columns={[t.event.differenceColumns.band, t.event.differenceColumns.decibels]}>
          {all.map((bar) => (
            <tr key={bar.low}>
              <td>
                {hertz(bar.low)} – {hertz(bar.high)}
              </td>
              <td>{signed(bar.decibels, 1)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}
