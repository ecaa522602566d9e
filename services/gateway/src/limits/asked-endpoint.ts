import { type OperationId, operations } from '@sluice/contracts';
import type { Exchange } from '../exchange/exchange.ts';

const byAddress = new Map<string, OperationId>(
  Object.entries(operations).map(([id, { at }]) => [at, id as OperationId]),
);

/**
 * What a request asks for, as policies name it: a call that is passed through
 * to an address which is an operation's own is that operation, so that nobody
 * escapes a limit by another prefix.
 */
export function askedEndpoint({ subject, arrival }: Exchange): OperationId {
  if (subject.operation.id !== 'proxy') return subject.operation.id;
  const path = subject.pathname.replace(/^\/v1\/proxy(?=\/)/, '/v1').replace(/\/+$/, '');
  return byAddress.get(`${arrival.method} ${path}`) ?? 'proxy';
}

/** What an agent says of itself. */
const agentCard = /^\/\.well-known\/agent(?:-card)?\.json\/?$/;

const readOnly = /^\/v1\/(?:proxy\/)?(?:batches|files)(?:\/|$)/;

/** Lists, counts of tokens, and looks at batches and files use nothing up. */
export function spendsNothing(exchange: Exchange): boolean {
  const { subject, arrival } = exchange;
  if (subject.operation.spends === 'nothing') return true;
  if (subject.kind === 'agent-call') return agentCard.test(subject.remainder);
  if (subject.operation.id !== 'proxy') return false;
  if (arrival.method === 'GET' && readOnly.test(subject.pathname)) return true;
  return operations[askedEndpoint(exchange)].spends === 'nothing';
}
