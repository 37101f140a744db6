// Plays a clip and the closest normal one together and lets hear one of them: switching keeps the moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { paths } from "../api";
import { number } from "../format";
import { t } from "../texts";
import { Segments } from "./basics";
import { Download, Loop, Pause, Play, Swap } from "./icons";
import { type Pair, type Which, connect, loadPair } from "./pair";

export interface Hearing {
  position: number | null;
  which: Which;
}

export function Player({
  machine,
  step,
  hasNearest,
  report,
}: {
  machine: string;
  step: number;
  hasNearest: boolean;
  report: (hearing: Hearing) => void;
}) {
  const audio = useRef<HTMLAudioElement>(null);
  const desk = useRef<ReturnType<typeof connect> | null>(null);
  const [pair, setPair] = useState<Pair | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [playing, setPlaying] = useState(false);
  const [which, setWhich] = useState<Which>("now");
  const [loop, setLoop] = useState(true);
  const [speed, setSpeed] = useState(1);
  const [place, setPlace] = useState(0);
  const [length, setLength] = useState(0);

  useEffect(() => {
    let ended = false;
    let made: Pair | null = null;
    loadPair(paths.sound(machine, step, false), hasNearest ? paths.sound(machine, step, true) : null).then(
      (loaded) => {
        made = loaded;
        if (ended) loaded.release();
        else setPair(loaded);
      },
      (problem: Error) => {
        if (!ended) setError(problem.message);
      },
    );
    return () => {
      ended = true;
      desk.current?.end();
      desk.current = null;
      made?.release();
    };
  }, [machine, step, hasNearest]);

  const play = async () => {
    const element = audio.current;
    if (!element) return;
    if (playing) {
      element.pause();
      return;
    }
    try {
      desk.current ??= connect(element);
      desk.current.hear(which);
      await desk.current.wake();
      if (length > 0 && element.currentTime >= length - 0.02) element.currentTime = 0;
      await element.play();
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  const seek = (to: number) => {
    if (audio.current) audio.current.currentTime = to;
    setPlace(to);
  };
  const change = (to: Which) => {
    if (!pair?.alone.normal) return;
    desk.current?.hear(to);
    setWhich(to);
  };

  useEffect(() => {
    if (!audio.current) return;
    audio.current.playbackRate = speed;
    audio.current.preservesPitch = true;
  }, [speed, pair]);
  useEffect(() => {
    if (!playing) return undefined;
    let frame = 0;
    const draw = () => {
      setPlace(audio.current?.currentTime ?? 0);
      frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [playing]);
  useEffect(() => {
    report({ position: length > 0 ? place / length : null, which });
  }, [place, which, length]);

  const keys = (press: KeyboardEvent) => {
    const target = press.target as HTMLElement;
    const isControl = target.matches("button, input, a");
    if (press.ctrlKey || press.metaKey || press.altKey) return;
    if (press.key === " " && !isControl) void play();
    else if (press.key.toLowerCase() === "x") change(which === "now" ? "normal" : "now");
    else if (press.key.toLowerCase() === "l") setLoop(!loop);
    else if (press.key === "ArrowRight" && !target.matches("input")) seek(Math.min(length, place + length / 20));
    else if (press.key === "ArrowLeft" && !target.matches("input")) seek(Math.max(0, place - length / 20));
    else return;
    press.preventDefault();
  };

  if (error)
    return (
      <p class="failure" role="alert">
        {t.player.failed} {error}
      </p>
    );
  return (
    <div class="player" role="group" aria-label={t.player.title} tabIndex={0} onKeyDown={keys}>
      <audio
        ref={audio}
        data-heard={which}
        src={pair?.address}
        preload="auto"
        loop={loop}
        onLoadedMetadata={(event) => setLength(event.currentTarget.duration)}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
      />
      <div class="player-row">
        <button type="button" class="primary play" disabled={!pair} onClick={() => void play()}>
          {playing ? <Pause /> : <Play />}
          {playing ? t.player.pause : t.player.play}
        </button>
        {hasNearest && (
          <div class="ab">
            <Segments
              label={t.player.switch}
              value={which}
              choose={change}
              options={[
                ["now", t.player.now],
                ["normal", t.player.normal],
              ]}
            />
            <button
              type="button"
              class="swap"
              disabled={!pair?.alone.normal}
              onClick={() => change(which === "now" ? "normal" : "now")}
            >
              <Swap />
              {t.player.switch}
            </button>
          </div>
        )}
      </div>
      <div class="player-row">
        <label class="position">
          <span class="hidden">{t.player.position}</span>
          <input
            type="range"
            min={0}
            max={length || 1}
            step={0.01}
            value={place}
            onInput={(input) => seek(Number(input.currentTarget.value))}
            aria-valuetext={`${number(place, 1)} s`}
          />
        </label>
        <span class="clock">
          {number(place, 1)} / {number(length, 1)} s
        </span>
      </div>
      <div class="player-row small">
        <button type="button" aria-pressed={loop} onClick={() => setLoop(!loop)}>
          <Loop />
          {t.player.loop}
        </button>
        <span class="labelled">
          {t.player.speed}
          <Segments label={t.player.speed} value={speed} choose={setSpeed} options={t.player.speeds} />
        </span>
        <span class="spacer" />
        {pair && (
          <a class="button quiet" download={`${machine}-${step}.wav`} href={pair.alone.now}>
            <Download />
            {t.player.now}
          </a>
        )}
        {pair?.alone.normal && (
          <a class="button quiet" download={`${machine}-normal.wav`} href={pair.alone.normal}>
            <Download />
            {t.player.normal}
          </a>
        )}
      </div>
      <p class="hint" aria-live="polite">
        {playing ? t.player.hearing(which === "now" ? t.player.now : t.player.normal) : t.player.keys}
      </p>
    </div>
  );
}
