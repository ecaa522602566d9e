import { barePath, type OperationId, operations } from '@sluice/contracts';
import type { Exchange } from '../exchange/exchange.ts';

/** By method and path without its version. */
const byAddress = new Map<string, OperationId>(
  Object.entries(operations).map(([id, { at }]) => [
    at.replace(/^(\w+) \/v1(?=\/)/, '$1 '),
    id as OperationId,
  ]),
);

/**
 * What a request asks for, as policies name it: a call that is passed through
 * to an address which is an operation's own is that operation, so that nobody
 * escapes a limit by another prefix.
 */
export function askedEndpoint(exchange: Exchange): OperationId {
  const { subject, arrival } = exchange;
  if (subject.operation.id !== 'proxy') return subject.operation.id;
  return byAddress.get(`${arrival.method} ${barePathOf(exchange)}`) ?? 'proxy';
}

/** As the most lenient server would read it, whatever stands before it. */
function barePathOf({ subject }: Exchange): string {
  return barePath(subject.pathname)?.path.toLowerCase() ?? '';
}

/** What an agent says of itself. */
const agentCard = /^\/\.well-known\/agent(?:-card)?\.json\/?$/;

const readOnly = /^\/(?:batches|files)(?:\/|$)/;

/** Lists, counts of tokens, and looks at batches and files use nothing up. */
export function spendsNothing(exchange: Exchange): boolean {
  const { subject, arrival } = exchange;
  if (subject.operation.spends === 'nothing') return true;
  if (subject.kind === 'agent-call') return agentCard.test(subject.remainder);
  if (subject.operation.id !== 'proxy') return false;
  if (arrival.method === 'GET' && readOnly.test(barePathOf(exchange))) return true;
  return operations[askedEndpoint(exchange)].spends === 'nothing';
}
