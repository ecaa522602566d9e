import type { JsonObject } from '@sluice/contracts';
import type { CallContext, FormPart, ReplyFacts } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { objectOf, stringOf } from '../../json/json-access.ts';

/**
 * The sound of a transcription request.
 * @throws GatewayError `request.invalid_field` without a file
 */
export function fileOf(context: CallContext): FormPart {
  const part = context.form?.find(({ name }) => name === 'file');
  if (part === undefined || part.data.length === 0)
    throw invalidField('file', 'must be a file of a multipart form');
  return part;
}

/** @throws GatewayError `request.invalid_field` without one */
export function inputOf(body: JsonObject): string {
  const input = stringOf(body.input);
  if (input === undefined || input === '')
    throw invalidField('input', 'must be a text that is not empty');
  return input;
}

/** OpenAI's `voice`: a name, or an object with the id of a voice of one's own. */
export function voiceOf(body: JsonObject): string | undefined {
  return stringOf(body.voice) ?? stringOf(objectOf(body.voice)?.id);
}

/** What is charged for speech: the characters of the text, as Unicode counts them. */
export function spokenFacts(body: JsonObject): ReplyFacts {
  const input = stringOf(body.input);
  if (input === undefined) return {};
  let characters = 0;
  for (const _ of input) characters += 1;
  return { units: { characters } };
}

/** A query from fields; lists become repeated names, nothing else that is no plain value is told. */
export function queryOf(fields: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value])
      if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
        query.append(name, String(one));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
