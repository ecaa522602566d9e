import type { JsonObject, JsonValue } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/**
 * The fields that every rerank request must have.
 * @throws GatewayError `request.invalid_field`
 */
export function documentsOf(body: JsonObject): JsonValue[] {
  if (stringOf(body.query) === undefined) throw invalidField('query', 'must be a string');
  const documents = arrayOf(body.documents);
  if (documents === undefined || documents.length === 0)
    throw invalidField('documents', 'must be a list with at least one document');
  return documents;
}

/** Each document as text, for vendors that take nothing else. */
export function textDocuments(body: JsonObject): string[] {
  const fields = rankFields(body);
  return documentsOf(body).map((document, index) =>
    documentText(document, `documents[${index}]`, fields),
  );
}

/** The fields of a document that count, in the caller's words; undefined = all. */
export function rankFields(body: JsonObject): string[] | undefined {
  return arrayOf(body.rank_fields)?.filter((field) => typeof field === 'string');
}

/**
 * A string as it is, the `text` of an object that has nothing else that counts,
 * and any other object as lines of `name: value`, which rerankers are trained on.
 */
export function documentText(
  document: JsonValue,
  path: string,
  fields: readonly string[] | undefined,
): string {
  if (typeof document === 'string') return document;
  const object = objectOf(document);
  if (object === undefined) throw invalidField(path, 'must be a string or an object');
  const all = Object.keys(object);
  const counting = all.filter((name) => fields?.includes(name) ?? true);
  // A document without any of the named fields is still a document.
  const names = counting.length === 0 ? all : counting;
  if (names.length === 1 && names[0] === 'text' && typeof object.text === 'string')
    return object.text;
  return names.map((name) => `${name}: ${lineOf(object[name])}`).join('\n');
}

function lineOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
