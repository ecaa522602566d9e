import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import { expect, it } from 'vitest';
import { rpcPart, served } from './rpc-part.ts';

const { OwnerService } = usage;

it('tells handlers how long they are waited for, and logs calls that failed, not those that were refused', async () => {
  const lines: [level: string, ...unknown[]][] = [];
  const levels = ['debug', 'info', 'warn', 'error'];
  const logger = Object.fromEntries(
    levels.map((level) => [level, (...said: unknown[]) => void lines.push([level, ...said])]),
  ) as unknown as Logger;
  let fault = new GatewayError('request.invalid_field', { field: 'cursor' });
  const deadlines: (number | undefined)[] = [];
  const part = rpcPart({
    host: '127.0.0.1',
    port: 0,
    token: 'a-token-of-the-test',
    logger,
    services: [
      served(OwnerService, {
        findOwners: async (_, { deadlineMs }) => {
          deadlines.push(deadlineMs);
          throw fault;
        },
      }),
    ],
  });
  await part.start?.(new AbortController().signal);
  const client = createRpcClient(OwnerService, {
    address: `127.0.0.1:${part.ports?.().grpc_port}`,
    token: 'a-token-of-the-test',
  });
  const ask = () => client.unary(OwnerService.method.findOwners, {}, { timeoutMs: 5000 });
  try {
    await expect(ask()).rejects.toThrow('INVALID_ARGUMENT');
    expect(lines).toEqual([
      [
        'debug',
        { code: 'request.invalid_field', method: expect.stringContaining('indOwners') },
        expect.any(String),
      ],
    ]);
    const [deadlineMs = 0] = deadlines;
    expect(deadlineMs - Date.now()).toBeGreaterThan(0);
    expect(deadlineMs - Date.now()).toBeLessThan(5000);
    fault = new GatewayError('internal', { cause: new Error('a fault of ours') });
    await expect(ask()).rejects.toThrow('INTERNAL');
    expect(lines.slice(1)).toMatchObject([
      ['error', { err: fault, cause: fault.cause, code: 'internal' }, 'a gRPC call failed'],
    ]);
    // Another service is away, which is said where it is watched.
    const refused = { code: 14, details: 'refused' };
    const cause = Object.assign(new Error('14 UNAVAILABLE: refused'), refused);
    fault = new GatewayError('file.unavailable', { cause });
    await expect(ask()).rejects.toThrow();
    fault = new GatewayError('file.unavailable');
    await expect(ask()).rejects.toThrow();
    expect(lines.slice(2)).toMatchObject([
      ['debug', { reason: cause.message, code: 'file.unavailable' }, 'a gRPC call was put off'],
      ['warn', { err: fault, code: 'file.unavailable' }, 'a gRPC call was put off'],
    ]);
  } finally {
    client.close();
    await part.drain?.(1000);
  }
});
