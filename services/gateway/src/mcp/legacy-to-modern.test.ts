import { createSealer, type McpMessage, readMessage } from '@sluice/mcp';
import { expect, it } from 'vitest';
import { LegacyToModern, type LegacyToModernDeps } from './legacy-to-modern.ts';
import type { Session } from './session.ts';

it('an answer to what its client was not asked is kept for nobody', async () => {
  const sealer = createSealer([Buffer.alloc(32, 1)]);
  const left: string[] = [];
  const mailbox = { put: async ({ name }: { name: string }) => void left.push(name) };
  const relay = new LegacyToModern({ mailbox, sealer } as unknown as LegacyToModernDeps);
  const session = { name: 'mine', organisationId: 'o' } as Session;
  const said = (message: object): McpMessage =>
    readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  const statuses: number[] = [];
  const reply = { empty: (status: number) => void statuses.push(status) };
  const tell = (message: object) => relay.tell({ reply } as never, session, said(message));
  const asked = sealer.seal('question', 'mine');
  for (const id of [
    7,
    'x',
    `${asked}A`,
    sealer.seal('question', 'theirs'),
    sealer.seal('s', 'mine'),
  ])
    await tell({ id, result: {} });
  await tell({ id: 7, error: { code: 1, message: 'no' } });
  expect(left).toEqual([]);
  await tell({ id: asked, result: {} });
  await tell({ method: 'notifications/cancelled', params: { requestId: 7 } });
  expect(left.length).toBe(2);
  expect(new Set(statuses)).toEqual(new Set([202]));
});
