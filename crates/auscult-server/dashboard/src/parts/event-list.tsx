// Events, the newest first.

import type { Event } from "../api";
import { sentence } from "../format";
import { toEvent } from "../router";
import { t } from "../texts";
import { Moment } from "./basics";
import { Lamp } from "./lamp";
import { Clock, Drift, Microphone, Sliders } from "./icons";

function Sign({ event }: { event: Event }) {
  if (event.kind === "state" || event.kind === "reminder") return <Lamp state={event.to} />;
  if (event.kind === "drift") return <Drift />;
  if (event.kind === "source") return <Microphone />;
  if (event.kind === "clock") return <Clock />;
  return <Sliders />;
}

export function EventList({ events, withMachine }: { events: Event[]; withMachine: boolean }) {
  return (
    <ul class="events">
      {events.map((event) => (
        <li key={event.id}>
          <a href={toEvent(event.id)}>
            <Sign event={event} />
            <span class="event-what">
              <strong>
                {withMachine && `${event.machine}: `}
                {event.kind === "state" ? t.states[event.to] : (t.event.kinds[event.kind] ?? event.kind)}
              </strong>
              <span>
                {sentence(event.reason)}
                {event.who && ` (${event.who})`}
              </span>
            </span>
            <Moment time={event.time} />
          </a>
        </li>
      ))}
    </ul>
  );
}
