import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { checkDnsServers, createDnsLookup } from './dns-lookup.ts';
import type { SystemNames } from './system-names.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

type Records = Record<string, { 4?: string; 6?: 'silent'; fails?: true; truncated?: true }>;

/** A DNS server on loopback that knows these names, and over TCP what it cut short over UDP. */
async function serve(records: Records) {
  const asked: string[] = [];
  const udp: Socket = createSocket('udp4');
  cleanups.push(() => udp.close());
  const answer = (query: Buffer, isTcp: boolean): Buffer | undefined => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const isA = query.readUInt16BE(at + 1) === 1;
    asked.push(`${name} ${isA ? 4 : 6}${isTcp ? ' tcp' : ''}`);
    const record = records[name];
    if (!isA && record?.[6] === 'silent') return undefined;
    const isCut = record?.truncated === true && !isTcp;
    const address = isA && !isCut ? record?.[4] : undefined;
    const head = Buffer.from(query.subarray(0, 12));
    const status = record?.fails ? 2 : record === undefined ? 3 : 0;
    head.writeUInt16BE(0x8180 | status | (isCut ? 0x0200 : 0), 2);
    head.writeUInt16BE(address === undefined ? 0 : 1, 6);
    head.writeUInt32BE(0, 8);
    const data = address === undefined ? [] : [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4];
    const bytes = address?.split('.').map(Number) ?? [];
    return Buffer.concat([head, query.subarray(12, at + 5), Buffer.from([...data, ...bytes])]);
  };
  udp.on('message', (query, { port, address }) => {
    const reply = answer(query, false);
    if (reply !== undefined) udp.send(reply, port, address);
  });
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (framed) => {
      const reply = answer(framed.subarray(2), true) ?? Buffer.alloc(0);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      socket.write(Buffer.concat([length, reply]));
    });
  });
  await new Promise<void>((ready) => tcp.listen(0, '127.0.0.1', ready));
  cleanups.push(() => tcp.close());
  const { port } = tcp.address() as AddressInfo;
  await new Promise<void>((ready, fail) => {
    udp.once('error', fail);
    udp.bind(port, '127.0.0.1', ready);
  });
  return { servers: [`127.0.0.1:${port}`], asked };
}

const plain: SystemNames = { known: () => undefined, candidates: (name) => [name] };
const signal = () => new AbortController().signal;
const v4 = (address: string) => ({ address, family: 4 });

describe('a look-up', () => {
  it('asks for both families, and finds the name', async () => {
    const { servers, asked } = await serve({ 'llm.corp': { 4: '10.0.0.5' } });
    const lookup = createDnsLookup({ servers, system: plain });
    expect(await lookup('llm.corp', signal())).toEqual([v4('10.0.0.5')]);
    expect(asked.sort()).toEqual(['llm.corp 4', 'llm.corp 6']);
  });

  it('asks nobody for what the system knows', async () => {
    const { servers, asked } = await serve({});
    const system = { ...plain, known: () => [{ address: '::1', family: 6 }] as const };
    const lookup = createDnsLookup({ servers, system });
    expect(await lookup('localhost', signal())).toEqual([{ address: '::1', family: 6 }]);
    expect(asked).toEqual([]);
  });

  it('goes through the candidates until one exists', async () => {
    const { servers } = await serve({ 'vllm.svc.cluster.local': { 4: '10.96.0.7' } });
    const candidates = (name: string) => [
      `${name}.models.svc.cluster.local`,
      `${name}.svc.cluster.local`,
      name,
    ];
    const lookup = createDnsLookup({ servers, system: { ...plain, candidates } });
    expect(await lookup('vllm', signal())).toEqual([v4('10.96.0.7')]);
  });

  it('asks again over TCP when an answer was cut short', async () => {
    const { servers, asked } = await serve({ 'llm.corp': { 4: '10.0.0.5', truncated: true } });
    const lookup = createDnsLookup({ servers, system: plain });
    expect(await lookup('llm.corp', signal())).toEqual([v4('10.0.0.5')]);
    expect(asked).toContain('llm.corp 4 tcp');
  });

  it('does not wait for long for a family that is never answered', async () => {
    const { servers } = await serve({ 'llm.corp': { 4: '10.0.0.5', 6: 'silent' } });
    const lookup = createDnsLookup({ servers, system: plain });
    const startedAt = performance.now();
    expect(await lookup('llm.corp', signal())).toEqual([v4('10.0.0.5')]);
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  it('tells a name that does not exist from servers that do not know', async () => {
    const { servers } = await serve({ 'broken.corp': { fails: true } });
    const lookup = createDnsLookup({ servers, system: plain });
    await expect(lookup('nowhere.corp', signal())).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(lookup('broken.corp', signal())).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  it('is over at once when it is given up', async () => {
    const udp = createSocket('udp4');
    cleanups.push(() => udp.close());
    await new Promise<void>((ready) => udp.bind(0, '127.0.0.1', ready));
    const servers = [`127.0.0.1:${(udp.address() as AddressInfo).port}`];
    const lookup = createDnsLookup({ servers, system: plain });
    const stop = new AbortController();
    const startedAt = performance.now();
    const answer = lookup('slow.corp', stop.signal).catch((error: Error) => error);
    stop.abort();
    expect(await answer).toMatchObject({ code: 'EAI_AGAIN' });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('asks servers that are addresses only', () => {
    expect(() => checkDnsServers(['10.0.0.1', '[::1]:53', '10.0.0.1:5353'])).not.toThrow();
    for (const server of ['dns.example.com', '10.0.0.1:99999', ''])
      expect(() => checkDnsServers(['10.0.0.1', server])).toThrow(
        `has ${server}, which is neither`,
      );
  });
});
