import type { JsonObject, JsonValue } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/** One thing to embed: text, or an image by its address or data URI. */
export type EmbeddingInput = { text: string } | { image: string };

/**
 * The inputs of an embeddings request, one or many.
 * @throws GatewayError `request.invalid_field` for token ids and what is no input at all
 */
export function inputsOf(body: JsonObject): EmbeddingInput[] {
  const { input } = body;
  if (Array.isArray(input)) {
    if (input.length === 0) throw invalidField('input', 'must not be empty');
    return input.map((item, index) => inputOf(item, `input[${index}]`));
  }
  if (input === undefined || input === null) throw invalidField('input', 'is required');
  return [inputOf(input, 'input')];
}

/**
 * The same where only text is taken.
 * @throws GatewayError `request.invalid_field`
 */
export function textInputsOf(body: JsonObject): string[] {
  return inputsOf(body).map((item, index) => {
    if ('text' in item) return item.text;
    throw invalidField(
      Array.isArray(body.input) ? `input[${index}]` : 'input',
      'must be text: this provider embeds nothing else',
    );
  });
}

function inputOf(value: JsonValue, path: string): EmbeddingInput {
  if (typeof value === 'string') return { text: value };
  if (typeof value === 'number' || arrayOf(value) !== undefined)
    throw invalidField(path, 'must be text: this provider does not take token ids');
  const object = objectOf(value);
  const image = imageOf(object?.image ?? object?.image_url);
  if (image !== undefined) return { image };
  const text = stringOf(object?.text);
  if (text !== undefined) return { text };
  throw invalidField(path, 'must be a string, or an object with text or image');
}

function imageOf(value: JsonValue | undefined): string | undefined {
  const object = objectOf(value);
  if (object === undefined) return stringOf(value);
  const base64 = stringOf(object.base64);
  if (base64 === undefined) return stringOf(object.url);
  return base64.startsWith('data:') ? base64 : `data:image/png;base64,${base64}`;
}
