import { countText, type TextCount } from '@sluice/engine';

/** Characters of one body that are read. */
const readMax = 4096;

/** Tokens of a body's text, estimated: the beginning is read, and the rest counts alike. */
export function tokensOfBytes(bytes: Buffer | undefined): number {
  if (bytes === undefined || bytes.length === 0) return 0;
  const read = Math.min(bytes.length, readMax);
  const count: TextCount = { tokens: 0, bytes: 0 };
  countText(bytes.toString('utf8', 0, read), count);
  return Math.min(bytes.length, Math.ceil((count.tokens * bytes.length) / read));
}

/** Longer arguments are not written out again for this. */
const writtenMax = 16 * 1024;

/** @param message that is sent @param asked what of it a tool reads, where that is known */
export function tokensOfAsked(message: Buffer | undefined, asked: unknown): number {
  if (asked === undefined || message === undefined || message.length > writtenMax)
    return tokensOfBytes(message);
  const text = JSON.stringify(asked);
  // A UTF-16 unit is three bytes at most: this is read whole.
  if (3 * text.length > readMax) return tokensOfBytes(Buffer.from(text));
  const count: TextCount = { tokens: 0, bytes: 0 };
  countText(text, count);
  return Math.min(Buffer.byteLength(text), Math.ceil(count.tokens));
}

/** What a picture, a sound or a document counts that nobody measures, by its size: base64 has four characters for three bytes. */
const mediaTokens = [
  { charactersMax: 100_000, tokens: 300 },
  { charactersMax: 1_000_000, tokens: 1_000 },
  { charactersMax: Number.POSITIVE_INFINITY, tokens: 3_000 },
] as const;

/** More parts than a result has; what is beyond counts nothing. */
const partsMax = 10_000;

/** Tokens of what a server answers to a call of a tool, a read of a resource or for a prompt: its texts, its structured content where it has no text, and its media by their size. */
export function tokensOfResult(result: unknown): number {
  const count: TextCount = { tokens: 0, bytes: 0 };
  let media = 0;
  let hasText = false;
  for (const part of partsOf(result)) {
    const text = member(part, 'text') ?? member(member(part, 'resource'), 'text');
    if (typeof text === 'string') {
      hasText = true;
      countText(text, count);
    }
    const data = member(part, 'data') ?? member(member(part, 'resource'), 'blob');
    if (typeof data === 'string')
      media += mediaTokens.find(({ charactersMax }) => data.length <= charactersMax)?.tokens ?? 0;
  }
  const structured = member(result, 'structuredContent');
  // Servers repeat it as text, for clients that know no other.
  if (!hasText && structured !== undefined) countText(JSON.stringify(structured), count);
  return Math.ceil(count.tokens) + media;
}

function partsOf(result: unknown): readonly unknown[] {
  for (const name of ['content', 'contents'] as const) {
    const parts = member(result, name);
    if (Array.isArray(parts)) return parts.slice(0, partsMax);
  }
  const messages = member(result, 'messages');
  if (!Array.isArray(messages)) return [];
  return messages.slice(0, partsMax).map((message) => member(message, 'content'));
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
