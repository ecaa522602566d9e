import { isObject, McpFault, type McpRequest, rpcCodes } from '@sluice/mcp';
import type { LetterBox } from './mailbox.ts';
import type { McpCall } from './mcp-call.ts';
import { failureOf, faultBytes } from './server-reply.ts';

/** What a caller brings back with the answer to a question. */
export type ParkedState = {
  /** Of the call that waits. */
  readonly handle: string;
  /** The life of the gateway that has it. */
  readonly at: string;
  /** Which question of the call it answers, from 1: an answer that comes twice is none to the next one. */
  readonly number: number;
};

export function isParkedState(state: unknown): state is ParkedState {
  return isObject(state) && typeof state.handle === 'string' && typeof state.number === 'number';
}

/** Where answers to the question of a parked call are left (`in`), and what came of them (`out`). */
export function boxOf(
  { key }: McpCall,
  handle: string,
  number: number,
  way: 'in' | 'out',
): LetterBox {
  return { organisationId: key.source.organisationId, name: `${handle}:${number}:${way}` };
}

/** In the place of an outcome that somebody has. */
export const givenOut = Buffer.alloc(0);

/** What became of a call that its server lost while it was parked, for whoever answers its question. */
export function lostBytes(error: unknown, asked: McpRequest): Buffer {
  const failure = failureOf(error, asked, undefined);
  const fault =
    failure instanceof McpFault
      ? failure
      : new McpFault({
          status: 200,
          code: rpcCodes.internalError,
          message: 'The call was lost while it waited for an answer: ask again.',
        });
  return faultBytes(fault, asked);
}
