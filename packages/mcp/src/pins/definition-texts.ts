import type { JsonValue } from '@sluice/contracts';
import { isObject } from '../envelope/read-message.ts';

export interface DefinitionText {
  /** From the definition down, e.g. `inputSchema.properties.path.description`. */
  readonly path: string;
  readonly text: string;
  /** It is the name of a member, not a value. */
  readonly isName: boolean;
}

/** All that a model may be shown of a definition. Depth is bounded where it was parsed. */
export function* definitionTexts(value: JsonValue, path = ''): Generator<DefinitionText> {
  if (typeof value === 'string') yield { path, text: value, isName: false };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* definitionTexts(item, `${path}[${index}]`);
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) {
      const at = path === '' ? shortName(name) : `${path}.${shortName(name)}`;
      yield { path: at, text: name, isName: true };
      yield* definitionTexts(member as JsonValue, at);
    }
}

function shortName(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}
