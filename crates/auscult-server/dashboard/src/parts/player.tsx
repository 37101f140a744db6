// Plays a clip and the closest normal one together and lets hear one of them: switching keeps the moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { paths } from "../api";
import { number } from "../format";
import { t } from "../texts";
import { Segments } from "./basics";
import { Download, Loop, Pause, Play, Swap } from "./icons";

export interface Hearing { position: number | null; which: "now" | "normal" }

/** Two sounds further apart than this are set to the same moment again. */
const APART_SECONDS = 0.03;

async function sound(address: string): Promise<string> {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({})) as { detail?: string };
    throw new Error(said.detail ?? `${answer.status}`);
  }
  return URL.createObjectURL(await answer.blob());
}

export function Player({ machine, step, hasNearest, report }: {
  machine: string; step: number; hasNearest: boolean; report: (hearing: Hearing) => void;
}) {
  const now = useRef<HTMLAudioElement>(null);
  const normal = useRef<HTMLAudioElement>(null);
  const [addresses, setAddresses] = useState<{ now: string; normal: string | null } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [playing, setPlaying] = useState(false);
  const [which, setWhich] = useState<"now" | "normal">("now");
  const [loop, setLoop] = useState(true);
  const [speed, setSpeed] = useState(1);
  const [place, setPlace] = useState(0);
  const [length, setLength] = useState(0);

  // Whole sounds are fetched, so that moving in them is exact.
  useEffect(() => {
    const made: string[] = [];
    let ended = false;
    setAddresses(null);
    setError(null);
    setPlaying(false);
    const nearest = hasNearest ? sound(paths.sound(machine, step, true)) : Promise.resolve(null);
    Promise.all([sound(paths.sound(machine, step, false)), nearest]).then(([one, other]) => {
      made.push(one, ...(other ? [other] : []));
      if (ended) made.forEach((url) => URL.revokeObjectURL(url));
      else setAddresses({ now: one, normal: other });
    }, (problem: Error) => { if (!ended) setError(problem.message); });
    return () => { ended = true; made.forEach((url) => URL.revokeObjectURL(url)); };
  }, [machine, step, hasNearest]);

  const both = () => [now.current, normal.current].filter((each): each is HTMLAudioElement => each !== null && each.src !== "");
  const seek = (to: number) => {
    both().forEach((each) => { each.currentTime = Math.min(to, each.duration || to); });
    setPlace(to);
  };
  const play = async () => {
    if (playing) { both().forEach((each) => each.pause()); setPlaying(false); return; }
    if (now.current && now.current.ended) seek(0);
    try {
      await Promise.all(both().map((each) => each.play()));
      setPlaying(true);
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  const change = (to: "now" | "normal") => {
    if (!addresses?.normal) return;
    setWhich(to);
  };

  useEffect(() => {
    const [one, other] = [now.current, normal.current];
    if (one) one.muted = which !== "now";
    if (other) other.muted = which !== "normal";
    if (one && other && other.src !== "" && Math.abs(one.currentTime - other.currentTime) > APART_SECONDS) {
      const [silent, heard] = which === "now" ? [other, one] : [one, other];
      if (!playing) heard.currentTime = silent.currentTime; else silent.currentTime = heard.currentTime;
    }
  }, [which, addresses]);
  useEffect(() => { both().forEach((each) => { each.playbackRate = speed; each.preservesPitch = true; }); }, [speed, addresses]);

  useEffect(() => {
    if (!playing) return undefined;
    let frame = 0;
    const draw = () => {
      const lead = now.current;
      if (lead) {
        if (lead.ended || (lead.duration > 0 && lead.currentTime >= lead.duration - 0.01)) {
          if (loop) { seek(0); both().forEach((each) => void each.play()); }
          else { both().forEach((each) => each.pause()); setPlaying(false); }
        }
        setPlace(lead.currentTime);
      }
      frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [playing, loop]);

  useEffect(() => { report({ position: length > 0 ? place / length : null, which }); }, [place, which, length]);

  const keys = (press: KeyboardEvent) => {
    const target = press.target as HTMLElement;
    const isControl = target.matches("button, input, a");
    if (press.key === " " && !isControl) void play();
    else if (press.key.toLowerCase() === "x") change(which === "now" ? "normal" : "now");
    else if (press.key.toLowerCase() === "l") setLoop(!loop);
    else if (press.key === "ArrowRight" && !target.matches("input")) seek(Math.min(length, place + length / 20));
    else if (press.key === "ArrowLeft" && !target.matches("input")) seek(Math.max(0, place - length / 20));
    else return;
    press.preventDefault();
  };

  if (error) return <p class="failure" role="alert">{t.player.failed} {error}</p>;
  const heardName = which === "now" ? t.player.now : t.player.normal;
  return (
    <div class="player" role="group" aria-label={t.player.title} tabIndex={0} onKeyDown={keys}>
      <audio ref={now} data-sound="now" src={addresses?.now} preload="auto" onLoadedMetadata={(event) => setLength(event.currentTarget.duration)} />
      {addresses?.normal && <audio ref={normal} data-sound="normal" src={addresses.normal} preload="auto" muted />}
      <div class="player-row">
        <button type="button" class="primary play" disabled={!addresses} onClick={() => void play()}>{playing ? <Pause /> : <Play />}{playing ? t.player.pause : t.player.play}</button>
        {hasNearest && (
          <div class="ab">
            <Segments label={t.player.switch} value={which} choose={change}
              options={[["now", t.player.now], ["normal", t.player.normal]]} />
            <button type="button" class="swap" disabled={!addresses?.normal} onClick={() => change(which === "now" ? "normal" : "now")}><Swap />{t.player.switch}</button>
          </div>
        )}
      </div>
      <div class="player-row">
        <label class="position"><span class="hidden">{t.player.position}</span>
          <input type="range" min={0} max={length || 1} step={0.01} value={place} onInput={(input) => seek(Number(input.currentTarget.value))}
            aria-valuetext={`${number(place, 1)} s`} />
        </label>
        <span class="clock">{number(place, 1)} / {number(length, 1)} s</span>
      </div>
      <div class="player-row small">
        <button type="button" aria-pressed={loop} onClick={() => setLoop(!loop)}><Loop />{t.player.loop}</button>
        <span class="labelled">{t.player.speed}<Segments label={t.player.speed} value={speed} choose={setSpeed} options={t.player.speeds} /></span>
        <span class="spacer" />
        {addresses && <a class="button quiet" download={`${machine}-${step}.wav`} href={addresses.now}><Download />{t.player.now}</a>}
        {addresses?.normal && <a class="button quiet" download={`${machine}-normal.wav`} href={addresses.normal}><Download />{t.player.normal}</a>}
      </div>
      <p class="hint" aria-live="polite">{playing ? t.player.hearing(heardName) : t.player.keys}</p>
    </div>
  );
}
