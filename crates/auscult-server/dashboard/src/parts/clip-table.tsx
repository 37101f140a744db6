// Clips in a table; one of them can be chosen.

import { useEffect, useRef } from "preact/hooks";
import type { Clip } from "../api";
import { exactly, score, when } from "../format";
import { t } from "../texts";
import { Table } from "./basics";

const words = (verdict: string) => verdict.replace("-", " ");

export function ClipTable({
  clips,
  shown,
  own,
  choose,
}: {
  clips: Clip[];
  shown: number | null;
  /** The clips that an event rests on. */
  own: number[];
  choose: (step: number) => void;
}) {
  const columns = t.event.clipColumns;
  const chosen = useRef<HTMLTableRowElement>(null);
  // The clip that is shown stands in the middle, without moving the page.
  useEffect(() => {
    const row = chosen.current;
    const box = row?.closest(".scroll");
    if (!row || !box) return;
    const [inner, outer] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
    box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }, []);
  return (
    <>
      <p class="hint">{t.event.aroundHint}</p>
      <Table class="around" columns={[columns.time, columns.verdict, columns.score, columns.sound]}>
        {clips.map((clip) => (
          <tr
            key={clip.step}
            ref={clip.step === shown ? chosen : undefined}
            class={clip.step === shown ? "chosen" : ""}
          >
            <td>
              <button
                type="button"
                class="link"
                aria-pressed={clip.step === shown}
                onClick={() => choose(clip.step)}
                title={exactly(clip.time)}
              >
                {when(clip.time)}
              </button>
            </td>
            <td class={`verdict-${clip.verdict}`}>
              {own.includes(clip.step) ? <strong>{words(clip.verdict)}</strong> : words(clip.verdict)}
            </td>
            <td>{score(clip.score)}</td>
            <td>{clip.has_sound ? t.event.kept : "–"}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
