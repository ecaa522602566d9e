import { expect, it } from 'vitest';
import type { ReplySink } from '../exchange/reply.ts';
import { wholeBytesMax, wholeReply } from './whole-reply.ts';

it('leaves a reply of which there is too much, and holds none of it', async () => {
  let sink: ReplySink | undefined;
  let discarded = 0;
  const whole = wholeReply({
    kind: 'stream',
    status: 200,
    headers: {},
    pipeTo: (given) => {
      sink = given;
    },
    discard: () => {
      discarded += 1;
      sink?.end();
    },
    wasWhole: () => false,
  });
  const refused = expect(whole).rejects.toMatchObject({ code: 'upstream.response_too_large' });
  const piece = Buffer.alloc(1024 * 1024);
  for (let sent = 0; sent < 2 * wholeBytesMax; sent += piece.length) sink?.write(piece);
  await refused;
  expect(discarded).toBe(1);
});
