// Small pictures beside words; never instead of them.

import type { JSX } from "preact";

const icon = (drawing: JSX.Element) => () => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    {drawing}
  </svg>
);

export const Plant = icon(<path d="M4 20V9l5 4V9l5 4V5h6v15Z" />);
export const Inbox = icon(<path d="M4 13h4l2 3h4l2-3h4M5 6h14l1 7v6H4v-6Z" />);
export const Clock = icon(
  <>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 7v5l3.5 2" />
  </>,
);
export const Gauge = icon(<path d="M4.5 18a9 9 0 1 1 15 0M12 14l4-5" />);
export const Sliders = icon(<path d="M4 7h9m5 0h2M4 17h3m5 0h8M15.5 4.5v5M9.5 14.5v5" />);
export const Microphone = icon(<path d="M9 5a3 3 0 0 1 6 0v6a3 3 0 0 1-6 0ZM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21" />);
export const MicrophoneOff = icon(
  <path d="M9 5a3 3 0 0 1 6 0v6M9 9v2a3 3 0 0 0 4.5 2.6M5.5 11a6.5 6.5 0 0 0 10 5.5M18.4 12c.1-.3.1-.7.1-1M12 17.5V21M4 3l16 18" />,
);
export const Drift = icon(<path d="M3 16c3 0 4-3 7-3s4 3 7 3M14 6l4 3-4 3M4 9h13" />);
export const Moon = icon(<path d="M19 14.5A7.5 7.5 0 0 1 9.5 5 7.5 7.5 0 1 0 19 14.5Z" />);
export const Check = icon(<path d="m5 12.5 4.5 4.5L19 7" />);
export const Play = icon(<path class="solid" d="M7 4.5v15L19.5 12Z" />);
export const Pause = icon(<path class="solid" d="M7 5h3.5v14H7ZM13.5 5H17v14h-3.5Z" />);
export const Swap = icon(<path d="M4 9h14l-3.5-3.5M20 15H6l3.5 3.5" />);
export const Loop = icon(
  <path d="M5 12V9.5A2.5 2.5 0 0 1 7.500 7H19l-3-3M19 12v2.500A2.500 2.500 0 0 1 16.500 17H5l3 3" />,
);
export const Plus = icon(<path d="M12 5v14M5 12h14" />);
export const Download = icon(<path d="M12 4v11m-4.500-4 4.500 4.500 4.500-4.500M5 20h14" />);
export const Search = icon(
  <>
    <circle cx="10.500" cy="10.500" r="6" />
    <path d="m15 15 5 5" />
  </>,
);
