import { jsonBounds, readJson } from '@sluice/json';

/** A body as a log shows it: always an object, as is published. */
export type KeptBody = Readonly<Record<string, unknown>>;

export interface BodyFacts {
  readonly contentType: string;
  /** How long it was in all, where it is not all here. */
  readonly bytes?: number;
}

/**
 * An object as it is; other JSON under `json`, text under `text`. Of what is
 * neither only the size is told. What was cut is text, whatever it was.
 */
export function keptBody(content: Uint8Array, { contentType, bytes }: BodyFacts): KeptBody {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const isCut = bytes !== undefined && bytes > buffer.length;
  const told = isCut ? { truncated: true, bytes } : {};
  if (!isCut) {
    const json = parsed(buffer);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as KeptBody;
    if (json !== undefined) return { json };
  }
  return isText(contentType, buffer)
    ? { text: wholeText(buffer), ...told }
    : { content_type: contentType, bytes: bytes ?? buffer.length, omitted: 'binary' };
}

function parsed(buffer: Buffer): unknown {
  const first = buffer.find((byte) => byte > 0x20);
  if (first === undefined || !jsonStarts.has(first)) return undefined;
  try {
    return readJson(buffer, jsonBounds.reply);
  } catch {
    return undefined;
  }
}

/** `{`, `[` and `"`. */
const jsonStarts: ReadonlySet<number> = new Set([0x7b, 0x5b, 0x22]);

function isText(contentType: string, buffer: Buffer): boolean {
  if (/^(?:audio|video|image|font)\/|octet-stream|multipart\//i.test(contentType)) return false;
  return !buffer.subarray(0, 1024).includes(0);
}

/** Cut in the middle of a character, it ends before it. */
function wholeText(buffer: Buffer): string {
  return buffer.toString('utf8').replace(/\uFFFD+$/, '');
}
