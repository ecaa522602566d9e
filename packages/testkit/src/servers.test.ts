import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { bringAllBack } from './bring-back.ts';
import { eventually, type SpawnedServer, startNats, startRedis } from './index.ts';

const started: SpawnedServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

describe('startRedis', () => {
  it('answers, and comes back on the same port after being killed', async () => {
    const redis = await startRedis();
    started.push(redis);
    expect(await ask(redis.port, 'PING\r\nQUIT\r\n')).toContain('+PONG');
    await redis.kill();
    await expect(ask(redis.port, 'PING\r\nQUIT\r\n')).rejects.toThrow('ECONNREFUSED');
    await redis.restart();
    expect(await ask(redis.port, 'PING\r\nQUIT\r\n')).toContain('+PONG');
  });

  it('is brought back after a test that failed, killed or silent, unless it was stopped', async () => {
    const [killed, silent, stopped] = await Promise.all([startRedis(), startRedis(), startRedis()]);
    started.push(killed, silent);
    await Promise.all([killed.kill(), stopped.stop()]);
    process.kill(silent.pid, 'SIGSTOP');
    await bringAllBack();
    for (const { port } of [killed, silent])
      expect(await ask(port, 'PING\r\nQUIT\r\n')).toContain('+PONG');
    await expect(ask(stopped.port, 'PING\r\nQUIT\r\n')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('startNats', () => {
  it('offers JetStream', async () => {
    const nats = await startNats();
    started.push(nats);
    const socket = connect(nats.port, '127.0.0.1');
    const info = await firstLine(socket);
    socket.destroy();
    expect(JSON.parse(info.slice('INFO '.length))).toMatchObject({ jetstream: true });
  });
});

describe('eventually', () => {
  it('fails with the last error once the deadline has passed', async () => {
    let calls = 0;
    const check = () => {
      calls += 1;
      throw new Error(`failure ${calls > 1 ? 'again' : 'once'}`);
    };
    await expect(eventually(check, { timeoutMs: 60, intervalMs: 5 })).rejects.toThrow(
      'failure again',
    );
  });
});

async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(command);
  return text(socket);
}

function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (chunk) => resolve(chunk.toString().split('\r\n')[0] ?? ''));
  });
}
