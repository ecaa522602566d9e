import { describe, expect, it } from 'vitest';
import { contextFor, everywhere, insideCharacters, play } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import type { Unframer } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { linewise } from './linewise-sse.ts';
import { sseEventBytesMax } from './sse.ts';

const chunk = (content: string, finish: string | null = null): string =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
const lines = [chunk('Grüße'), chunk(' ✓'), chunk('', 'stop'), '[DONE]'].map((d) => `data: ${d}`);

function unframe(bytes: Buffer, cuts: readonly number[]): string {
  const unframer = linewise.openUnframer?.() as Unframer;
  const edges = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
  const out = edges.slice(1).map((end, index) => unframer.push(bytes.subarray(edges[index], end)));
  return Buffer.concat([...out, unframer.end()]).toString();
}

describe('linewise', () => {
  const framed = lines.map((line) => `${line}\n\n`).join('');

  it.each([
    ['line ends alone', `${lines.join('\n')}\n`, framed],
    ['blank lines already', framed, framed],
    ['CRLF alone', `${lines.join('\r\n')}\r\n`, framed.replaceAll('\n', '\r\n')],
    ['CRLF and blank lines', framed.replaceAll('\n', '\r\n'), framed.replaceAll('\n', '\r\n')],
    ['comments between', `: ping\n${lines.join('\n')}\n`, `: ping\n\n${framed}`],
    ['an end without a line end', lines.join('\n'), framed.slice(0, -2)],
  ])('makes each line an event where there are %s, however it is cut', (_, input, expected) => {
    const bytes = Buffer.from(input);
    for (const cuts of [[], everywhere(bytes), insideCharacters(bytes)])
      expect(unframe(bytes, cuts)).toBe(expected);
  });

  it('lets go of a line too long to keep', () => {
    const unframer = linewise.openUnframer?.() as Unframer;
    const long = Buffer.alloc(sseEventBytesMax + 1, 'x');
    expect(unframer.push(long).equals(long)).toBe(true);
    expect(unframer.end()).toHaveLength(0);
  });

  it.each(['deepinfra', 'sambanova'])('lets %s be read, natively and translated', (id) => {
    const provider = findProvider(id)!;
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    for (const endpoint of ['chatComplete', 'messages'] as const) {
      const call = findTranslation(provider, endpoint);
      const played = play(call.openStream(contextFor(provider), {}), bytes, everywhere(bytes));
      expect(played.phases.at(-1)).toBe('complete');
      expect(played.facts.finishReason).toBe('stop');
    }
  });
});
