import { speechFormat } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { type ExampleStream, exampleStreams } from '../../test/example-streams.ts';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import { restoredBody, restoredStream } from './restored-reply.ts';

const originals = new Map([
  ['{{EMAIL_ADDRESS_1}}', 'john@example.com'],
  ['{{PERSON_1}}', 'J. "Jack"\nSmith'],
]);
const told = 'Write to {{EMAIL_ADDRESS_1}}, {{PERSON_1}} or {{PERSON_2}} {{';
const meant = 'Write to john@example.com, J. "Jack"\nSmith or {{PERSON_2}} {{';

/** What a caller gets of a stream whose bytes come in these pieces. */
function play({ format }: ExampleStream, pieces: readonly Buffer[]) {
  let upstream: ReplySink | undefined;
  const reply: StreamReply = {
    kind: 'stream',
    status: 200,
    headers: { 'content-length': '3', 'x-kept': '1' },
    pipeTo: (sink) => {
      upstream = sink;
    },
    discard: () => {},
    wasWhole: () => true,
  };
  const restored = restoredStream(reply, speechFormat(format)!, originals);
  const written: Buffer[] = [];
  let isEnded = false;
  restored.pipeTo({
    write: (chunk) => {
      written.push(chunk);
      return true;
    },
    onDrain: () => {},
    end: () => {
      isEnded = true;
    },
    cut: () => {},
  });
  for (const piece of pieces) upstream?.write(piece);
  upstream?.end();
  expect(isEnded).toBe(true);
  expect(restored.headers).toEqual({ 'x-kept': '1' });
  return Buffer.concat(written).toString();
}

describe.each(exampleStreams)('identifiers in a stream of $format', (stream) => {
  it('are put back, split at every place', () => {
    for (let at = 0; at <= told.length; at++) {
      const pieces = [told.slice(0, at), told.slice(at)].filter((piece) => piece !== '');
      const text = play(stream, [Buffer.from(stream.tell(pieces).join(''))]);
      expect(stream.read(text).said).toBe(meant);
      expect(text).not.toContain('{{EMAIL_ADDRESS_1}}');
    }
  });

  it('are put back letter by letter, and byte by byte', () => {
    const letters = stream.tell([...told]).join('');
    const bytes = Buffer.from(letters);
    expect(stream.read(play(stream, [bytes])).said).toBe(meant);
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(stream.read(play(stream, single)).said).toBe(meant);
  });

  it('are put back into what a tool is called with, which stays JSON', () => {
    if (stream.call === undefined) return;
    const called = JSON.stringify({ to: '{{EMAIL_ADDRESS_1}}', name: 'for {{PERSON_1}}' });
    for (const size of [1, 5, called.length]) {
      const pieces = called.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const text = play(stream, [Buffer.from(stream.call(pieces).join(''))]);
      expect(JSON.parse(stream.read(text).called)).toEqual({
        to: 'john@example.com',
        name: 'for J. "Jack"\nSmith',
      });
    }
  });

  it('leave the bytes alone where there are none', () => {
    const plain = stream.tell(['no { identifier }', ' in {{here}}']).join('');
    expect(play(stream, [Buffer.from(plain)])).toBe(plain);
  });
});

describe('restoredBody', () => {
  const reply = (body: string) =>
    ({ kind: 'body', status: 200, headers: {}, body: Buffer.from(body) }) as const;

  it('puts back what stands for something, wherever it stands', () => {
    const arguments_ = JSON.stringify({ to: '{{EMAIL_ADDRESS_1}}', name: '{{PERSON_1}}' });
    const message = { content: told, tool_calls: [{ function: { arguments: arguments_ } }] };
    const { body } = restoredBody(reply(JSON.stringify({ choices: [{ message }] })), originals);
    const [choice] = JSON.parse(body.toString()).choices;
    expect(choice.message.content).toBe(meant);
    expect(JSON.parse(choice.message.tool_calls[0].function.arguments)).toEqual({
      to: 'john@example.com',
      name: 'J. "Jack"\nSmith',
    });
  });

  it('leaves the bytes alone where there are none, and reads what is no JSON as text', () => {
    const plain = reply('{"a": 1.0}');
    expect(restoredBody(plain, originals)).toBe(plain);
    expect(restoredBody(reply(told), originals).body.toString()).toBe(meant);
  });
});
