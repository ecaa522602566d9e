import { PrivateKeyFault } from './private-key-fault.ts';

/** A private key out of its armour. */
export interface PemKey {
  /** Without `PRIVATE KEY`: `''` is PKCS#8, else `RSA`, `EC`, `ENCRYPTED` … */
  readonly form: string;
  readonly der: Buffer;
  /** `Proc-Type` and its kind, by which keys were encrypted before PKCS#8. */
  readonly hasHeaders: boolean;
  /** The block as it stood, its line ends restored. */
  readonly text: string;
}

/** An RSA key of 4,096 bits takes 3.3 KB, in base64 once more 4.4 KB; the rest is for what may stand beside it. */
export const privateKeyCharsMax = 16_384;
const blocksMax = 8;
const opening = '-----BEGIN ';
const dashes = '-----';

/**
 * The first private key in a text: PEM, with its line ends as they should be,
 * written out as `\n` or replaced by spaces, since headers hold none; or all of it in base64.
 * Looks at each character a fixed number of times.
 * @throws PrivateKeyFault
 */
export function readPem(text: string): PemKey {
  if (text.length > privateKeyCharsMax)
    throw new PrivateKeyFault(`is longer than ${privateKeyCharsMax} characters`);
  const plain = text.includes(opening) ? text : Buffer.from(text, 'base64').toString('latin1');
  const lines = plain.replaceAll('\\n', '\n');
  let at = 0;
  for (let block = 0; block < blocksMax; block += 1) {
    const begin = lines.indexOf(opening, at);
    const labelEnd = begin < 0 ? -1 : lines.indexOf(dashes, begin + opening.length);
    if (labelEnd < 0) break;
    const label = lines.slice(begin + opening.length, labelEnd);
    const closing = `-----END ${label}-----`;
    const end = lines.indexOf(closing, labelEnd);
    if (end < 0) break;
    at = end + closing.length;
    // Certificates and curve parameters may stand in the same file.
    if (!label.endsWith('PRIVATE KEY')) continue;
    return readBlock(
      label.slice(0, -'PRIVATE KEY'.length).trim(),
      lines.slice(labelEnd + dashes.length, end),
      lines.slice(begin, at),
    );
  }
  throw new PrivateKeyFault('is not a private key as PEM');
}

function readBlock(form: string, body: string, text: string): PemKey {
  if (body.includes(':')) return { form, der: Buffer.alloc(0), hasHeaders: true, text };
  const base64 = body.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw new PrivateKeyFault('is not a private key as PEM');
  return { form, der: Buffer.from(base64, 'base64'), hasHeaders: false, text };
}
