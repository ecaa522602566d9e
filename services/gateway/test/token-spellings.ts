/** Orders of the curves: with s, order − s signs the same. */
const orders: Readonly<Record<string, bigint>> = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  ES384:
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  ES512:
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
};
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Every text that may be taken for this token by somebody: with the same claims and a signature over them. */
export function spellingsOf(token: string, algorithm: string): readonly string[] {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const signatures = [signature, ...mirrored(signature, algorithm)].flatMap(withSlack);
  return [
    ...signatures.map((text) => `${header}.${payload}.${text}`),
    ...withSlack(header).map((text) => `${text}.${payload}.${signature}`),
    ...withSlack(payload).map((text) => `${header}.${text}.${signature}`),
    ...['=', '==', '.', '\n', '%3D'].map((end) => `${token}${end}`),
    `${header}.${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}=`,
  ];
}

/** All that decode to the same bytes: the last character has bits to spare. */
function withSlack(part: string): string[] {
  const spare = [0, 0, 4, 2][part.length % 4] ?? 0;
  const last = alphabet.indexOf(part.at(-1) ?? 'A');
  return Array.from(
    { length: 2 ** spare },
    (_, bits) => part.slice(0, -1) + alphabet[((last >> spare) << spare) | bits],
  );
}

function mirrored(signature: string, algorithm: string): string[] {
  const order = orders[algorithm];
  if (order === undefined) return [];
  const bytes = Buffer.from(signature, 'base64url');
  const half = bytes.length / 2;
  const s = BigInt(`0x${bytes.subarray(half).toString('hex')}`);
  const other = Buffer.from((order - s).toString(16).padStart(half * 2, '0'), 'hex');
  return [Buffer.concat([bytes.subarray(0, half), other]).toString('base64url')];
}
