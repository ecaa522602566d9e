/** Keccak-256 as Ethereum has it, which Node does not: SHA-3 pads otherwise. For short texts, one block. */
export function keccak256(text: string): string {
  const state = new Array<bigint>(25).fill(0n);
  const block = Buffer.alloc(rate);
  block.write(text, 'latin1');
  block[text.length] = 1;
  block[rate - 1] = (block[rate - 1] ?? 0) | 0x80;
  for (let lane = 0; lane < rate / 8; lane++) state[lane] = block.readBigUInt64LE(lane * 8);
  permute(state);
  const hash = Buffer.alloc(32);
  for (let lane = 0; lane < 4; lane++) hash.writeBigUInt64LE(lane64(state, lane), lane * 8);
  return hash.toString('hex');
}

const rate = 136;
const mask = (1n << 64n) - 1n;

function lane64(state: readonly bigint[], at: number): bigint {
  return state[at] ?? 0n;
}

function rotated(value: bigint, by: number): bigint {
  const bits = BigInt(by % 64);
  return ((value << bits) | (value >> (64n - bits))) & mask;
}

function permute(state: bigint[]): void {
  let register = 1;
  for (let round = 0; round < 24; round++) {
    const columns = Array.from({ length: 5 }, (_, x) =>
      [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ lane64(state, x + y), 0n),
    );
    for (let at = 0; at < 25; at++)
      state[at] =
        lane64(state, at) ^
        lane64(columns, (at + 4) % 5) ^
        rotated(lane64(columns, (at + 1) % 5), 1);
    let [x, y, carried] = [1, 0, lane64(state, 1)];
    for (let step = 0; step < 24; step++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = lane64(state, x + 5 * y);
      state[x + 5 * y] = rotated(carried, ((step + 1) * (step + 2)) / 2);
      carried = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const lanes = state.slice(row, row + 5);
      for (let column = 0; column < 5; column++)
        state[row + column] =
          lane64(lanes, column) ^
          (~lane64(lanes, (column + 1) % 5) & mask & lane64(lanes, (column + 2) % 5));
    }
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) state[0] = lane64(state, 0) ^ (1n << BigInt((1 << bit) - 1));
      register = (register << 1) ^ (register >> 7 ? 0x171 : 0);
    }
  }
}
