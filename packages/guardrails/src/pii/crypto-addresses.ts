import { hash } from 'node:crypto';
import type { Finder } from './finding.ts';
import { keccak256 } from './keccak256.ts';

/** Addresses of wallets, by their checksums: Bitcoin and its kin, Tron, Ethereum and its kin. */
export const findCryptoAddresses: Finder = function* (text) {
  let checked = 0;
  for (const { 0: written, index } of text.matchAll(shapes)) {
    // Who writes a hundred of them into a page means addresses: no more are proved than have the time.
    if (checked++ < checkedMax && !isAddress(written)) continue;
    const value = written.startsWith('0x') ? written.toLowerCase() : written;
    yield { type: 'CRYPTO_ADDRESS', start: index, end: index + written.length, value };
  }
};

/** Each takes up to a quarter of a millisecond. */
const checkedMax = 20;

const shapes =
  /(?<![A-Za-z0-9])(?:0x[0-9a-fA-F]{40}|(?:bc1|tb1|ltc1)[02-9ac-hj-np-z]{11,71}|(?:BC1|LTC1)[02-9AC-HJ-NP-Z]{11,71}|[13DLMT][1-9A-HJ-NP-Za-km-z]{25,34})(?![A-Za-z0-9])/g;

function isAddress(text: string): boolean {
  if (text.startsWith('0x')) return isEthereum(text.slice(2));
  return /^(bc|tb|ltc)1/i.test(text) ? isBech32(text.toLowerCase()) : isBase58Check(text);
}

/** Its capitals are its checksum (EIP-55); without any, or with nothing else, it has none. */
function isEthereum(address: string): boolean {
  const lower = address.toLowerCase();
  if (/^0+$/.test(address)) return false;
  if (address === lower || address === address.toUpperCase()) return /[a-f]/.test(lower);
  const digest = keccak256(lower);
  return [...address].every((character, at) =>
    /[0-9]/.test(character)
      ? true
      : (character === character.toUpperCase()) === Number.parseInt(digest[at] ?? '0', 16) > 7,
  );
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function isBase58Check(text: string): boolean {
  let number = 0n;
  for (const character of text) number = number * 58n + BigInt(base58.indexOf(character));
  const hex = number.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  const twice = hash('sha256', hash('sha256', bytes.subarray(0, 21), 'buffer'), 'buffer');
  return twice.subarray(0, 4).equals(bytes.subarray(21));
}

const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function isBech32(text: string): boolean {
  const prefix = text.slice(0, text.lastIndexOf('1'));
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  const data = [...text.slice(prefix.length + 1)].map((letter) => bech32.indexOf(letter));
  let check = 1;
  for (const value of [
    ...codes.map((code) => code >> 5),
    0,
    ...codes.map((code) => code & 31),
    ...data,
  ]) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [bit, term] of generator.entries()) if ((top >>> bit) & 1) check ^= term;
  }
  return check === 1 || check === 0x2bc830a3;
}
