// Recordings for the push source: a motor that hums, made here, as WAV.

export function wav(seconds, take, rate = 16_000) {
  const count = Math.round(seconds * rate);
  const bytes = Buffer.alloc(44 + count * 2);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + count * 2, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(count * 2, 40);
  let state = 1 + take * 7919;
  const noise = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 1073741824 - 1;
  };
  for (let index = 0; index < count; index += 1) {
    const time = index / rate;
    const tone = Math.sin(2 * Math.PI * 147 * time) + 0.5 * Math.sin(2 * Math.PI * 441 * time + take);
    bytes.writeInt16LE(Math.round(3000 * tone + 1500 * noise()), 44 + index * 2);
  }
  return bytes;
}
