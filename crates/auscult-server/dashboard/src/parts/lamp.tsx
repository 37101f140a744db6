// The lamp of a state: a shape and a word, and only then a colour.

import type { JSX } from "preact";
import type { State } from "../api";
import { t } from "../texts";

const shapes: Record<State, JSX.Element> = {
  alarm: (
    <>
      <path class="body" d="M12 2.6 22.6 21H1.4Z" />
      <path class="ink" d="M12 9.2v5.4M12 17.6v.4" />
    </>
  ),
  alert: (
    <>
      <path class="body" d="M12 1.6 22.4 12 12 22.4 1.6 12Z" />
      <path class="ink" d="M12 7.4v5.8M12 16.4v.4" />
    </>
  ),
  "sensor-fault": (
    <>
      <rect class="body" x="2.5" y="2.5" width="19" height="19" rx="4" />
      <path class="ink" d="m8 8 8 8m0-8-8 8" />
    </>
  ),
  "no-data": (
    <>
      <circle class="ring dashed" cx="12" cy="12" r="9.2" />
      <path class="mark" d="M9.4 9.6a2.7 2.7 0 1 1 3.9 2.4c-.9.5-1.3 1-1.3 2M12 17v.3" />
    </>
  ),
  learning: (
    <>
      <circle class="ring faint" cx="12" cy="12" r="9.2" />
      <path class="ring" d="M12 2.8a9.2 9.2 0 0 1 9.2 9.2" />
      <path class="mark" d="M7.6 12h.1M12 12h.1M16.4 12h.1" />
    </>
  ),
  "not-running": (
    <>
      <circle class="ring" cx="12" cy="12" r="9.2" />
      <path class="mark" d="M9.6 8.6v6.8M14.4 8.6v6.8" />
    </>
  ),
  normal: (
    <>
      <circle class="body" cx="12" cy="12" r="10.2" />
      <path class="ink" d="m7.4 12.4 3.2 3.2 6-6.6" />
    </>
  ),
};

/** The shape alone; the word must stand beside it. */
export const Lamp = ({ state }: { state: State }) => (
  <svg class={`lamp s-${state}`} viewBox="0 0 24 24" aria-hidden="true">
    {shapes[state]}
  </svg>
);

/** Shape and word. */
export const StateBadge = ({ state }: { state: State }) => (
  <span class={`badge s-${state}`}>
    <Lamp state={state} />
    {t.states[state]}
  </span>
);
