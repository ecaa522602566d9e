import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SharedStore } from '../redis/shared-store.ts';
import { OwnerNotes } from './owner-notes.ts';

let server: SpawnedServer;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await server.stop();
});

const note = {
  kind: 'response' as const,
  workspaceId: 'w',
  origin: 'https://a',
  provider: '@p',
  account: 'a',
  model: 'm',
};

async function openGateway(): Promise<OwnerNotes> {
  const client = new Redis(server.url);
  const store = new SharedStore({
    client,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  closing.push(() => store.close());
  const notes = new OwnerNotes(store);
  await eventually(() => !store.isDegraded('owners'));
  return notes;
}

it('asks Redis once for what it did not see made, and nobody for what it did', async () => {
  const [maker, other] = await Promise.all([openGateway(), openGateway()]);
  // The server holds both scripts from here on.
  await maker.note('o', 'first', note);
  await other.of('o', 'first');
  const watching = new Redis(server.url);
  const monitor = await watching.monitor();
  // A monitor is a connection of its own.
  closing.push(() => watching.disconnect());
  closing.push(() => monitor.disconnect());
  const heard: { command: string; by: string }[] = [];
  monitor.on('monitor', (_time: string, [command = '', ...words]: string[], by: string) => {
    if (words.some((word) => word.includes('{o}:object:') || word === 'the end'))
      heard.push({ command: command.toLowerCase(), by });
  });
  /** What gateways sent meanwhile; not what scripts call at the server. */
  const sentDuring = async (work: () => unknown): Promise<string[]> => {
    const from = heard.length;
    await work();
    const marker = new Redis(server.url);
    await marker.echo('the end');
    marker.disconnect();
    // Its own, which is heard a little later, and not the one before it.
    await eventually(() => heard.length > from && heard.at(-1)?.command === 'echo');
    return heard.slice(from, -1).flatMap(({ command, by }) => (by === 'lua' ? [] : [command]));
  };
  expect(await sentDuring(() => maker.note('o', 'second', note))).toEqual(['evalsha']);
  const found = { notes: [note], isAll: true };
  expect(
    await sentDuring(async () => expect(await other.of('o', 'second')).toEqual(found)),
  ).toEqual(['evalsha']);
  const inMemory = () => {
    for (const notes of [maker, other]) expect(notes.of('o', 'second')).toEqual(found);
  };
  expect(await sentDuring(inMemory)).toEqual([]);
  const unknown = { notes: [], isAll: true };
  expect(await sentDuring(async () => expect(await other.of('o', 'no')).toEqual(unknown))).toEqual([
    'evalsha',
  ]);
});
