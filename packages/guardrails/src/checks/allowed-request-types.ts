import { areApart, type ParametersOf } from '@sluice/contracts/checks';
import { type CheckContext, CheckError, type CheckFunction } from '../check.ts';

/**
 * Which endpoints a request may use. Without lists of its own the check takes
 * those of the metadata; with one it takes none from there, since callers can
 * write metadata and a list of theirs must not undo the config's.
 */
export function allowedRequestTypes({
  allowedTypes = [],
  blockedTypes = [],
}: ParametersOf<'default.allowedRequestTypes'>): CheckFunction {
  const isConfigured = allowedTypes.length > 0 || blockedTypes.length > 0;
  const configured: TypeLists = { allowed: allowedTypes, blocked: blockedTypes };
  return (context) => {
    const { allowed, blocked } = isConfigured ? configured : listsOfMetadata(context);
    const requestType = context.endpoint;
    // Nobody gets past a blocked endpoint by its path below /v1/proxy.
    const isBlocked =
      blocked.includes(requestType) ||
      (context.passesAs !== undefined && blocked.includes(context.passesAs));
    const verdict = !isBlocked && (allowed.length === 0 || allowed.includes(requestType));
    return {
      verdict,
      data: {
        verdict,
        explanation: `Requests of type "${requestType}" are ${verdict ? '' : 'not '}allowed.`,
        requestType,
        allowedTypes: allowed,
        blockedTypes: blocked,
        source: isConfigured ? 'parameters' : 'metadata',
      },
    };
  };
}

interface TypeLists {
  allowed: string[];
  blocked: string[];
}

function listsOfMetadata({ metadata }: CheckContext): TypeLists {
  const allowed = splitList(metadata.supported_endpoints ?? '');
  const blocked = splitList(metadata.blocked_endpoints ?? '');
  if (!areApart(allowed, blocked))
    throw new CheckError('InvalidParameters', 'The metadata allows and blocks the same type.');
  return { allowed, blocked };
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
