/** Width and height of a PNG, GIF, WebP or JPEG by its first bytes, given in base64; undefined = they do not say. */
export function pictureSize(base64: string): { width: number; height: number } | undefined {
  const head = Buffer.from(base64.slice(0, headCharsMax), 'base64');
  if (head.length < 30) return undefined;
  if (head.readUInt32BE(0) === 0x89504e47)
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  const word = head.toString('latin1', 0, 4);
  if (word === 'GIF8') return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  if (word === 'RIFF') return webpSize(head);
  return head.readUInt16BE(0) === 0xffd8 ? jpegSize(head) : undefined;
}

/** What cameras put before a JPEG's size fits into it. */
const headCharsMax = 96 * 1024;

function webpSize(head: Buffer): { width: number; height: number } | undefined {
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + head.readUIntLE(24, 3), height: 1 + head.readUIntLE(27, 3) };
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    default:
      return undefined;
  }
}

/** Walks the segments up to the one that begins a frame. */
function jpegSize(head: Buffer): { width: number; height: number } | undefined {
  let at = 2;
  while (at + 9 < head.length) {
    if (head[at] !== 0xff) return undefined;
    const marker = head[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) };
    at += 2 + head.readUInt16BE(at + 2);
  }
  return undefined;
}
