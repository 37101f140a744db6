"use strict";
// Two sounds on one clock: both play all the time, and one of them is heard. A switch keeps the moment.
let shared = null;
let active = null;

const element = (tag, properties) => Object.assign(document.createElement(tag), properties);

async function decode(context, address) {
  const text = atob(address.slice(address.indexOf(",") + 1));
  return context.decodeAudioData(Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer);
}

function setUp(player) {
  const sounds = [...player.querySelectorAll("audio")];
  if (sounds.length !== 2 || !window.AudioContext) return;
  const figures = sounds.map((sound) => sound.closest("figure"));
  const names = ["This clip", "Closest normal clip"];
  let buffers = null, sources = [], gains = [], side = 0, offset = 0, startedAt = 0, isPlaying = false;

  const controls = element("div", { className: "controls" });
  controls.setAttribute("role", "group");
  controls.setAttribute("aria-label", player.getAttribute("aria-label") ?? "");
  const play = element("button", { type: "button", className: "play" });
  const sides = names.map((name) => element("button", { type: "button", className: "side", textContent: name }));
  const position = element("input", { type: "range", min: "0", max: "10", step: "0.01", value: "0" });
  position.setAttribute("aria-label", "Position in seconds");
  const clock = element("output", { textContent: "0.0 s" });
  const hint = element("span", { className: "hint", textContent: "S switches at the same moment" });
  controls.append(play, ...sides, position, clock, hint);

  const length = () => (buffers ? Math.min(...buffers.map((buffer) => buffer.duration)) : 0);
  const now = () => (isPlaying ? (offset + shared.currentTime - startedAt) % length() : offset);

  function show() {
    play.textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
    sides.forEach((button, at) => button.setAttribute("aria-pressed", String(at === side)));
    Object.assign(player.dataset, { playing: String(isPlaying), side: ["clip", "normal"][side] });
  }
  function tick() {
    position.value = String(now());
    clock.textContent = now().toFixed(1) + " s";
    if (isPlaying) requestAnimationFrame(tick);
  }
  function stop() {
    if (!isPlaying) return;
    offset = now();
    sources.forEach((source) => source.stop());
    isPlaying = false;
    show();
    // Where it stopped is shown now and not a frame later.
    tick();
  }
  async function start() {
    active?.();
    shared ??= new AudioContext();
    await shared.resume();
    buffers ??= await Promise.all(sounds.map((sound) => decode(shared, sound.src)));
    position.max = String(length());
    gains = buffers.map((_, at) => new GainNode(shared, { gain: at === side ? 1 : 0 }));
    sources = buffers.map((buffer, at) => {
      const source = new AudioBufferSourceNode(shared, { buffer, loop: true, loopStart: 0, loopEnd: length() });
      source.connect(gains[at]).connect(shared.destination);
      return source;
    });
    // A moment ahead, so that both begin at the same sample.
    startedAt = shared.currentTime + 0.05;
    sources.forEach((source) => source.start(startedAt, offset));
    isPlaying = true;
    active = stop;
    show();
    tick();
  }
  function choose(at) {
    side = at;
    gains.forEach((gain, index) => gain.gain.setTargetAtTime(index === side ? 1 : 0, shared.currentTime, 0.004));
    show();
  }
  // A browser that cannot decode the sound this way has two plain players.
  const fallBack = () => { controls.remove(); figures.forEach((figure) => { figure.hidden = false; }); };

  play.addEventListener("click", () => (isPlaying ? stop() : start().catch(fallBack)));
  sides.forEach((button, at) => button.addEventListener("click", () => choose(at)));
  position.addEventListener("input", () => {
    const wasPlaying = isPlaying, wanted = Number(position.value);
    stop();
    offset = wanted;
    tick();
    if (wasPlaying) start().catch(fallBack);
  });
  player.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "s" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(1 - side);
  });
  figures.forEach((figure) => { figure.hidden = true; });
  player.append(controls);
  show();
}
document.querySelectorAll(".player").forEach(setUp);
