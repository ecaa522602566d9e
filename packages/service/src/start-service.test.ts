import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@sluice/telemetry';
import { describe, expect, it } from 'vitest';
import { httpPart } from './http-part.ts';
import type { Part } from './part.ts';
import { startService } from './start-service.ts';
import { stopParts } from './stop-parts.ts';

const env = {
  SERVICE_NAME: 'test',
  LOG_LEVEL: 'silent',
  NODE_ENV: 'test',
  SHUTDOWN_DELAY: 0,
  DRAIN_TIMEOUT: 1000,
  HOST: '127.0.0.1',
  ENABLE_PROMETHEUS: true,
  METRICS_PORT: 0,
};
const logger = createLogger({ service: 'test', level: 'silent' });
const deadlines = { drainMs: 50, partMs: 100, allMs: 1000 };

/** Writes down what it is told. */
function noting(name: string, notes: string[], more: Partial<Part> = {}): Part {
  return {
    name,
    start: () => void notes.push(`start ${name}`),
    drain: () => void notes.push(`drain ${name}`),
    stop: () => notes.push(`stop ${name}`),
    ...more,
  };
}

describe('startService', () => {
  it('starts parts in order, drains all of them before any stops, and stops them the other way round', async () => {
    const notes: string[] = [];
    const service = await startService({
      env,
      logger,
      wire: () => [noting('a', notes), noting('b', notes)],
    });
    expect(notes.splice(0)).toEqual(['start a', 'start b']);
    await service.stop();
    expect(notes).toEqual(['drain a', 'drain b', 'stop b', 'stop a']);
  });

  it('tells all parts that it goes, and lets them go on for SHUTDOWN_DELAY', async () => {
    const notes: string[] = [];
    const retire = () => void notes.push('retire a');
    const service = await startService({
      env: { ...env, SHUTDOWN_DELAY: 200 },
      logger,
      wire: () => [noting('a', notes, { retire })],
    });
    const stopped = service.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(notes).toEqual(['start a', 'retire a']);
    await stopped;
    expect(notes.slice(2)).toEqual(['drain a', 'stop a']);
  });

  it('shows how many events its log lost', async () => {
    const service = await startService({ env, logger, wire: () => [] });
    const answer = await fetch(`http://127.0.0.1:${service.ports.metrics_port}/metrics`);
    expect(await answer.text()).toMatch(/^event_log_lines_dropped\{.*\} 0$/m);
    await service.stop();
  });

  it('lets go of what was opened when a part cannot start, that part too, and says which fault it was', async () => {
    const notes: string[] = [];
    const fault = new Error('no database');
    const start = () => Promise.reject(fault);
    const wire = () => [noting('a', notes), noting('b', notes, { start }), noting('c', notes)];
    await expect(startService({ env, logger, wire })).rejects.toBe(fault);
    expect(notes).toEqual(['start a', 'drain a', 'drain b', 'stop b', 'stop a']);
  });

  it('does not wait for a part that is starting when it is told to stop', async () => {
    const notes: string[] = [];
    const stopping = new AbortController();
    const start = () => {
      queueMicrotask(() => stopping.abort());
      return new Promise<void>(() => {});
    };
    const service = await startService({
      env,
      logger,
      stopping: stopping.signal,
      wire: () => [noting('a', notes, { start }), noting('b', notes)],
    });
    await service.stop();
    expect(notes).toEqual(['drain a', 'stop a']);
  });

  it('shows what parts say of themselves, until everything else is closed', async () => {
    let size = 1;
    let shown = '';
    const service = await startService({
      env,
      logger,
      wire: () => [
        noting('a', [], {
          gauges: () => [{ name: 'size_of_a', help: 'how large', read: () => size }],
          stop: async () => {
            shown = await metricsText();
          },
        }),
      ],
    });
    const url = `http://127.0.0.1:${service.ports.metrics_port}/metrics`;
    const metricsText = async () => (await fetch(url)).text();
    expect(await metricsText()).toMatch(/^size_of_a\{.*\} 1$/m);
    size = 7;
    await service.stop();
    expect(shown).toMatch(/^size_of_a\{.*\} 7$/m);
    await expect(metricsText()).rejects.toThrow();
  });
});

describe('stopParts', () => {
  it('closes the others when one fails and one hangs, within the deadlines, and tells of both', async () => {
    const notes: string[] = [];
    const faults = await stopParts(
      [
        noting('a', notes),
        noting('hangs', notes, { stop: () => new Promise(() => {}) }),
        noting('fails', notes, {
          drain: () => Promise.reject(new Error('drain')),
          stop: () => {
            throw new Error('stop');
          },
        }),
        noting('b', notes),
      ],
      deadlines,
    );
    expect(notes).toEqual(['drain a', 'drain hangs', 'drain b', 'stop b', 'stop a']);
    expect(faults.map((fault) => (fault as Error).message)).toEqual([
      'fails could not drain',
      'fails could not stop',
      'hangs could not stop',
    ]);
  });

  it('gives the last something even when the others have used the time up', async () => {
    const given: number[] = [];
    const slow = (name: string): Part => ({
      name,
      stop(deadlineMs) {
        given.push(deadlineMs);
        return new Promise((resolve) => setTimeout(resolve, deadlineMs));
      },
    });
    const parts = ['a', 'b', 'c', 'd'].map(slow);
    expect(await stopParts(parts, { drainMs: 0, partMs: 400, allMs: 600 })).toEqual([]);
    expect(given[0]).toBe(400);
    expect(given.slice(2)).toEqual([250, 250]);
  });
});

describe('httpPart', () => {
  const listening = async (answerMs: number) => {
    const server = createServer((_req, res) => {
      setTimeout(() => res.end('done'), answerMs);
    });
    const part = httpPart({ server, host: '127.0.0.1', port: 0 });
    await part.start?.(new AbortController().signal);
    return { part, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  const answerOf = (url: string) =>
    new Promise<string>((resolve, reject) => {
      get(url, (res) => {
        res.setEncoding('utf8');
        res.on('data', resolve);
      }).on('error', reject);
    });

  it('lets a request under way end, and does not wait for the connection it leaves', async () => {
    const { part, url } = await listening(200);
    const answer = answerOf(url);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedAt = performance.now();
    await part.drain?.(10_000);
    expect(await answer).toBe('done');
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('cuts what does not end in time', async () => {
    const { part, url } = await listening(60_000);
    const answer = answerOf(url).catch((error: NodeJS.ErrnoException) => error.code);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await part.drain?.(100);
    expect(await answer).toBe('ECONNRESET');
  });

  it('says which port cannot be used', async () => {
    const { url, part } = await listening(0);
    const port = Number(new URL(url).port);
    const second = httpPart({ server: createServer(), host: '127.0.0.1', port });
    await expect(second.start?.(new AbortController().signal)).rejects.toThrow(
      `PORT ${port} cannot be used`,
    );
    await part.drain?.(0);
  });
});
