import type { JsonValue } from '@sluice/contracts';
import { isObject, type McpRequest } from '../envelope/read-message.ts';

/** Whether a client said that it can this, e.g. `elicitation` or `elicitation.url`. */
export function declares(capabilities: JsonValue | undefined, path: string): boolean {
  let value: JsonValue | undefined = capabilities;
  for (const step of path.split('.'))
    value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value !== undefined;
}

/** Whether a server may ask this of a client with these capabilities. */
export function mayBeAsked(
  capabilities: JsonValue | undefined,
  { method, params }: Pick<McpRequest, 'method' | 'params'>,
): boolean {
  switch (method) {
    case 'roots/list':
      return declares(capabilities, 'roots');
    case 'sampling/createMessage':
      return declares(capabilities, 'sampling');
    case 'elicitation/create':
      if (params?.mode === 'url') return declares(capabilities, 'elicitation.url');
      // Who says no more than that forms are meant, as before there was another mode.
      return (
        declares(capabilities, 'elicitation.form') ||
        (declares(capabilities, 'elicitation') && !declares(capabilities, 'elicitation.url'))
      );
    default:
      return false;
  }
}
