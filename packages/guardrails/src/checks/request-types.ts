import { type CheckContext, CheckError, type CheckKind, type CheckParameters } from '../check.ts';
import { optionalTexts } from '../parameters.ts';

/**
 * Which endpoints a request may use. Without lists of its own the check takes
 * those of the metadata; with one it takes none from there, since callers can
 * write metadata and a list of theirs must not undo the config's.
 */
export const allowedRequestTypes: CheckKind = {
  id: 'default.allowedRequestTypes',
  compile(parameters) {
    const configured = {
      allowed: listOf(parameters, 'allowedTypes'),
      blocked: listOf(parameters, 'blockedTypes'),
    };
    const isConfigured = configured.allowed.length > 0 || configured.blocked.length > 0;
    if (isConfigured) refuseContradiction(configured);
    return (context) => {
      const lists = isConfigured ? configured : listsOfMetadata(context);
      refuseContradiction(lists);
      const { allowed, blocked } = lists;
      const requestType = context.endpoint;
      const isBlocked = blocked.includes(requestType);
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
  },
};

interface TypeLists {
  allowed: string[];
  blocked: string[];
}

function listsOfMetadata({ metadata }: CheckContext): TypeLists {
  return {
    allowed: splitList(metadata.supported_endpoints ?? ''),
    blocked: splitList(metadata.blocked_endpoints ?? ''),
  };
}

function listOf(parameters: CheckParameters, name: string): string[] {
  const value = parameters[name];
  return typeof value === 'string' ? splitList(value) : [...optionalTexts(parameters, name)];
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function refuseContradiction({ allowed, blocked }: TypeLists): void {
  const both = allowed.filter((type) => blocked.includes(type));
  if (both.length > 0)
    throw new CheckError('InvalidParameters', `Both allowed and blocked: ${both.join(', ')}.`);
}
