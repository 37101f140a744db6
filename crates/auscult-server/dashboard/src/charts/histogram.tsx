// Scores of clips that were left out while learning, with the threshold of an alarm budget.

import { score } from "../format";
import { t } from "../texts";

const BINS = 32;

export function Histogram({ scores, threshold }: { scores: number[]; threshold: number | null }) {
  if (scores.length === 0) return <p class="empty-line">{t.add.noScores}</p>;
  const low = Math.min(...scores);
  const high = Math.max(...scores, threshold ?? -Infinity);
  const width = (high - low || 1) / BINS;
  const counts = new Array<number>(BINS).fill(0);
  for (const each of scores) counts[Math.min(BINS - 1, Math.floor((each - low) / width))]! += 1;
  const most = Math.max(...counts);
  const above = threshold === null ? 0 : scores.filter((each) => each > threshold).length;
  const label = t.add.histogramSentence(scores.length, above, threshold === null ? null : score(threshold));
  return (
    <figure class="histogram">
      <div class="bars" role="img" aria-label={`${t.add.histogram}: ${label}`}>
        {counts.map((count, index) => (
          <span class="slot" key={index}>
            <span
              class={`bar ${threshold !== null && low + index * width >= threshold ? "above" : ""}`}
              style={{ height: `${count === 0 ? 0 : Math.max(2, (count / most) * 100)}%` }}
            />
          </span>
        ))}
        {threshold !== null && (
          <span class="threshold" style={{ left: `${Math.min(100, ((threshold - low) / (high - low || 1)) * 100)}%` }}>
            <b>{score(threshold)}</b>
          </span>
        )}
      </div>
      <div class="ends" aria-hidden="true">
        <span>{score(low)}</span>
        <span>{score(high)}</span>
      </div>
      <figcaption>{label}</figcaption>
    </figure>
  );
}
