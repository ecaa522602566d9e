import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { KeptDeps } from './current-response.ts';
import { eventsReply } from './events-reply.ts';

it('passes events that are no JSON as their provider said them', () => {
  const source = Object.assign(new EventEmitter(), {
    pause() {},
    resume() {},
    cancel() {},
  });
  const register = { events: () => source };
  const reply = eventsReply(
    {
      id: 'x',
      owner: { organisationId: 'o', workspaceId: 'w', apiKeyId: 'k' },
      after: -1,
      signal: new AbortController().signal,
    },
    { register } as unknown as KeptDeps,
  );
  const got: string[] = [];
  let ends = 0;
  reply.pipeTo({
    write: (chunk) => got.push(chunk.toString()) > 0,
    onDrain() {},
    end: () => (ends += 1),
    cut() {},
  });
  const events = [
    'data: {"type":"response.created","sequence_number":0}\n\n',
    'data: {"type":"response.output_te\n\n',
    `data: {"deep":${'['.repeat(500)}${']'.repeat(500)}}\n\n`,
    'data: {"type":"response.completed","sequence_number":1}\n\n',
  ];
  for (const event of events) source.emit('data', { events: Buffer.from(event) });
  source.emit('end');
  expect(got).toEqual(events);
  expect(ends).toBe(1);
});
