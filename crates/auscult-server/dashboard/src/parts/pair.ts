// Two sounds that run as one: a clip on the left channel, the closest normal clip on the right, in one audio element.
// Hearing one of them is a matter of two volumes, so switching is exact to the sample, at any speed.

export type Which = "now" | "normal";

export interface Pair {
  /** The address of both sounds as one recording. */
  address: string;
  /** The addresses of each alone, to be saved. */
  alone: { now: string; normal: string | null };
  release(): void;
}

async function fetched(address: string): Promise<Blob> {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (answer.ok) return answer.blob();
  const said = (await answer.json().catch(() => ({}))) as { detail?: string };
  throw new Error(said.detail ?? `${answer.status}`);
}

let shared: AudioContext | null = null;
const context = () => (shared ??= new AudioContext());

/** A WAV file of two channels of 16 bits. */
function stereo(left: Float32Array, right: Float32Array, rate: number): Blob {
  const frames = left.length;
  const view = new DataView(new ArrayBuffer(44 + frames * 4));
  const word = (at: number, text: string) => {
    for (let index = 0; index < 4; index += 1) view.setUint8(at + index, text.charCodeAt(index));
  };
  word(0, "RIFF");
  view.setUint32(4, 36 + frames * 4, true);
  word(8, "WAVE");
  word(12, "fmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 2, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 4, true);
  view.setUint16(32, 4, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, frames * 4, true);
  const sample = (value: number) => Math.max(-32768, Math.min(32767, Math.round(value * 32767)));
  for (let frame = 0; frame < frames; frame += 1) {
    view.setInt16(44 + frame * 4, sample(left[frame]!), true);
    view.setInt16(46 + frame * 4, sample(right[frame] ?? 0), true);
  }
  return new Blob([view], { type: "audio/wav" });
}

/** Fetches both sounds; without a normal one the right channel is silent. */
export async function loadPair(now: string, normal: string | null): Promise<Pair> {
  const blobs = await Promise.all([fetched(now), normal === null ? null : fetched(normal)]);
  const decode = async (blob: Blob) => context().decodeAudioData(await blob.arrayBuffer());
  const [one, other] = await Promise.all(blobs.map((blob) => (blob ? decode(blob) : null)));
  if (!one) throw new Error("no sound");
  const right = other ? other.getChannelData(0) : new Float32Array(0);
  const addresses = [stereo(one.getChannelData(0), right, one.sampleRate), ...blobs].map((blob) =>
    blob ? URL.createObjectURL(blob) : null,
  );
  return {
    address: addresses[0]!,
    alone: { now: addresses[1]!, normal: addresses[2] ?? null },
    release: () =>
      addresses.forEach((address) => {
        if (address) URL.revokeObjectURL(address);
      }),
  };
}

const FADE_SECONDS = 0.008;

/** Connects an audio element that plays a pair; gives back how to choose what is heard. */
export function connect(element: HTMLAudioElement): {
  hear: (which: Which) => void;
  wake: () => Promise<void>;
  end: () => void;
} {
  const audio = context();
  const source = audio.createMediaElementSource(element);
  const splitter = audio.createChannelSplitter(2);
  source.connect(splitter);
  const gains = { now: audio.createGain(), normal: audio.createGain() };
  splitter.connect(gains.now, 0);
  splitter.connect(gains.normal, 1);
  gains.normal.gain.value = 0;
  for (const gain of Object.values(gains)) gain.connect(audio.destination);
  return {
    hear(which) {
      // A short fade: a jump would click.
      gains.now.gain.setTargetAtTime(which === "now" ? 1 : 0, audio.currentTime, FADE_SECONDS);
      gains.normal.gain.setTargetAtTime(which === "normal" ? 1 : 0, audio.currentTime, FADE_SECONDS);
    },
    wake: () => audio.resume(),
    end() {
      source.disconnect();
      Object.values(gains).forEach((gain) => gain.disconnect());
    },
  };
}
