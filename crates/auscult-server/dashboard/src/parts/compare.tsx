// A clip beside the closest normal one: pictures, difference, player.

import { useState } from "preact/hooks";
import { type Spectrogram, paths } from "../api";
import { DifferenceChart } from "../charts/difference";
import { SpectrogramPicture, bandWords } from "../charts/spectrogram";
import { sentence } from "../format";
import { t } from "../texts";
import { useLoaded } from "./basics";
import { type Hearing, Player } from "./player";

export function Compare({ machine, step, hasSound }: { machine: string; step: number; hasSound: boolean }) {
  const { value, error } = useLoaded<Spectrogram>(hasSound ? paths.spectrogram(machine, step) : null);
  const [hearing, report] = useState<Hearing>({ position: null, which: "now" });
  if (!hasSound) return <p class="empty-line">{t.event.noSound}</p>;
  if (error)
    return (
      <p class="empty-line">
        {t.event.noPicture} {sentence(error.message)}
      </p>
    );
  if (!value) return <p class="loading">{t.loading}</p>;
  const pictures = value.nearest ? [value, value.nearest] : [value];
  const low = Math.min(...pictures.map((picture) => picture.low_db));
  const high = Math.max(...pictures.map((picture) => picture.high_db));
  const common = { bands: value.bands, low, high, position: hearing.position };
  return (
    <div class="compare">
      <p class="lead">{sentence(value.heard || value.reason)}</p>
      <div class="pair">
        <SpectrogramPicture picture={value} name={t.event.this} isHeard={hearing.which === "now"} framed {...common} />
        {value.nearest ? (
          <SpectrogramPicture
            picture={value.nearest}
            name={t.event.nearest}
            isHeard={hearing.which === "normal"}
            framed={false}
            {...common}
          />
        ) : (
          <p class="empty-line">{t.event.noNearest}</p>
        )}
      </div>
      <p class="hint">
        {value.bands.length > 0 ? `${t.event.marked} ${bandWords(value.bands)}` : t.event.noBands}{" "}
        {value.nearest && t.event.sameScale}
      </p>
      <Player machine={machine} step={step} hasNearest={value.nearest !== null} report={report} />
      {value.difference && (
        <>
          <h3>{t.event.difference}</h3>
          <DifferenceChart edges={value.difference.hertz} decibels={value.difference.decibels} bands={value.bands} />
        </>
      )}
    </div>
  );
}
