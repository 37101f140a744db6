// Colours of spectrograms: dark blue over teal to pale yellow, evenly lighter, so that they can be told apart by everybody.

const STOPS = [
  [13, 16, 42],
  [33, 40, 96],
  [33, 84, 125],
  [28, 127, 135],
  [63, 168, 128],
  [150, 203, 100],
  [247, 236, 146],
] as const;

/** 256 colours as bytes of red, green and blue. */
export const PALETTE: Uint8ClampedArray = (() => {
  const table = new Uint8ClampedArray(256 * 3);
  for (let index = 0; index < 256; index += 1) {
    const place = (index / 255) * (STOPS.length - 1);
    const below = Math.min(Math.floor(place), STOPS.length - 2);
    const share = place - below;
    for (let part = 0; part < 3; part += 1) {
      table[index * 3 + part] = STOPS[below]![part]! * (1 - share) + STOPS[below + 1]![part]! * share;
    }
  }
  return table;
})();
