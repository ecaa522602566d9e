import type { JsonObject, JsonValue } from '@sluice/contracts';
import { objectOf, parseObject, stringOf } from '../json/json-access.ts';

/** Without these a request is another request, or none. */
const essential = new Set(
  `model messages input contents prompt system systemInstruction instructions tools toolConfig stream
  max_tokens anthropic_version inferenceConfig generationConfig additionalModelRequestFields`.split(
    /\s+/,
  ),
);

export interface WithoutParameter {
  /** As it stands in the body that was sent: `temperature`, `output_config.effort`. */
  name: string;
  /** What was sent, without it. */
  body: JsonObject;
}

/**
 * The parameter that a refusal names, and what was sent without it; undefined
 * when it names none, or one that a request cannot do without. Taken for a name
 * is only what stands apart: in quotes, before a colon, or as the error's `param`.
 */
export function withoutRefusedParameter(
  sent: JsonObject,
  refusal: Buffer,
): WithoutParameter | undefined {
  const body = parseObject(refusal);
  const error = objectOf(body?.error) ?? body;
  const message = stringOf(error?.message) ?? '';
  const param = stringOf(error?.param);
  const names = parametersOf(sent);
  const named = names.filter((name) => name === param || isNamed(name, message));
  // The longest says most: what is within a parameter rather than all of it.
  const name = named.sort((a, b) => b.length - a.length)[0];
  return name === undefined ? undefined : { name, body: without(sent, name.split('.')) };
}

/** Those of the body and of the objects in it, by their paths. */
function parametersOf(sent: JsonObject): string[] {
  return Object.entries(sent).flatMap(([key, value]) => {
    const inner = essential.has(key) && !key.includes('Config') && !key.startsWith('additional');
    if (inner) return [];
    const members = Object.keys(objectOf(value) ?? {}).map((member) => `${key}.${member}`);
    return essential.has(key) ? members : [key, ...members];
  });
}

/** By its whole path, or by the last word of it, as vendors behind a gateway of their own do. */
function isNamed(name: string, message: string): boolean {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return [...new Set([name, last])].some((word) => {
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`["'\`]${escaped}["'\`]|(?:^|[\\s:])${escaped}: `).test(message);
  });
}

/** An object that loses its last member goes, too. */
function without(value: JsonObject, [first = '', ...rest]: string[]): JsonObject {
  const { [first]: inner, ...others } = value;
  const left = rest.length === 0 ? undefined : without(objectOf(inner) ?? {}, rest);
  const isGone = left === undefined || Object.keys(left).length === 0;
  return isGone ? others : { ...value, [first]: left as JsonValue };
}
