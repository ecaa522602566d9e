import { GatewayError } from '@sluice/errors';
import { McpFault, type McpRequest } from '@sluice/mcp';
import { describe, expect, it } from 'vitest';
import type { McpCall } from './mcp-call.ts';
import { tellFailure } from './server-reply.ts';

function told(failure: unknown) {
  const said: string[] = [];
  const reply = {
    isStreaming: true,
    write: (bytes: Buffer) => said.push(bytes.toString()) > 0,
    endStream: () => said.push('end'),
  };
  let thrown: unknown;
  try {
    tellFailure({ reply } as unknown as McpCall, { idText: '7' } as McpRequest, failure);
  } catch (error) {
    thrown = error;
  }
  return { said, thrown };
}

describe('tellFailure', () => {
  it('answers whoever waits on a stream, whatever went wrong, and lets faults of ours be seen', () => {
    const ofServer = told(new McpFault({ status: 200, code: -32001, message: 'late' }));
    expect(ofServer.said).toEqual([
      'event: message\ndata: {"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"late"}}\n\n',
      'end',
    ]);
    expect(ofServer.thrown).toBeUndefined();
    for (const [failure, code] of [
      [new GatewayError('overloaded'), 'overloaded'],
      [new TypeError('x is not a function'), 'internal'],
    ] as const) {
      const { said, thrown } = told(failure);
      expect(said).toEqual([expect.stringContaining(`"data":{"code":"${code}"}`), 'end']);
      expect(said[0]).toContain('"id":7,"error":{"code":-32603');
      expect(said[0]).not.toContain('function');
      expect(thrown).toBe(failure);
    }
  });
});
