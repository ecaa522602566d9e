import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createNatsSink } from './nats-sink.ts';

const info = { server_id: 'me', version: '2.11.0', max_payload: 1_048_576, headers: true };
const refusal = JSON.stringify({
  error: { code: 503, err_code: 10039, description: 'JetStream not enabled for account' },
});

/** A NATS that keeps no streams. */
function natsWithoutStreams() {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    let inbox = '';
    socket.on('data', (data) => {
      for (const line of String(data).split('\r\n')) {
        const [verb, subject, reply] = line.split(' ');
        if (verb === 'PING') socket.write('PONG\r\n');
        if (verb === 'SUB') inbox = line.split(' ').at(-1) ?? '';
        if ((verb === 'PUB' || verb === 'HPUB') && subject?.startsWith('$JS.'))
          socket.write(`MSG ${reply} ${inbox} ${refusal.length}\r\n${refusal}\r\n`);
      }
    });
  });
  return { server, open };
}

let end: (() => Promise<void>) | undefined;
afterEach(() => end?.());

it('keeps no connection to a NATS that takes no stream', async () => {
  const { server, open } = natsWithoutStreams();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sink = createNatsSink({ addresses: `nats://127.0.0.1:${port}`, replicaId: 'me' });
  end = async () => {
    for (const socket of open) socket.destroy();
    await sink.close();
    server.close();
  };
  for (const id of ['1', '2', '3'])
    await expect(sink.send({ id, records: [] })).rejects.toThrow(/jetstream/i);
  await expect.poll(() => open.size).toBe(0);
});
