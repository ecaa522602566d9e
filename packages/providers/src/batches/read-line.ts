import { type JsonObject, operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import { objectOf, stringOf } from '../json/json-access.ts';
import type { BatchLine, RowEndpoint } from './row.ts';

const rowEndpoints: readonly RowEndpoint[] = [
  'chatComplete',
  'complete',
  'embed',
  'createModelResponse',
  'messages',
];

const endpointOfUrl: ReadonlyMap<string, RowEndpoint> = new Map(
  rowEndpoints.map((id) => [operations[id].at.replace(/^POST /, ''), id]),
);

/** The endpoint of an address of ours, e.g. `/v1/chat/completions`; undefined = none that lines may ask. */
export function rowEndpoint(url: string): RowEndpoint | undefined {
  return endpointOfUrl.get(url);
}

export function urlOfEndpoint(endpoint: RowEndpoint): string {
  return operations[endpoint].at.replace(/^POST /, '');
}

/** A fault of a line; `field` is without `line <n>.` */
export function lineFault(number: number, field: string, what: string): GatewayError {
  const at = field === '' ? `line ${number}` : `line ${number}.${field}`;
  return new GatewayError('request.invalid_field', { field: at, message: `${at} ${what}.` });
}

/**
 * A line of a batch's input. `model` stands in the place of what its body names.
 * @throws GatewayError `request.invalid_field` with the line's number
 */
export function readBatchInput(bytes: Uint8Array, number: number, model?: string): BatchLine {
  const line = number === 1 ? withoutMark(bytes) : bytes;
  const { custom_id: customId, url, method = 'POST', body: given } = objectIn(line, number);
  if (typeof customId !== 'string' || customId === '' || customId.length > 256)
    throw lineFault(number, 'custom_id', 'must be a text of 1 to 256 characters');
  if (method !== 'POST') throw lineFault(number, 'method', 'must be POST');
  const endpoint = rowEndpoint(stringOf(url) ?? '');
  if (endpoint === undefined)
    throw lineFault(number, 'url', `must be one of ${[...endpointOfUrl.keys()].join(', ')}`);
  const asked = objectOf(given);
  if (asked === undefined) throw lineFault(number, 'body', 'must be a JSON object');
  const { stream, stream_options: _options, ...body } = asked;
  if (stream === true)
    throw lineFault(number, 'body.stream', 'must not be true: batches do not stream');
  return { customId, endpoint, body: model === undefined ? body : { ...body, model } };
}

function objectIn(bytes: Uint8Array, number: number): JsonObject {
  let value: unknown;
  try {
    value = readJson(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      jsonBounds.request,
    );
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw lineFault(number, '', `is ${error.message}`);
  }
  const object = objectOf(value);
  if (object === undefined) throw lineFault(number, '', 'must be a JSON object');
  return object;
}

/** Editors begin files with a byte order mark. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  const [first, second, third] = bytes;
  return first === 0xef && second === 0xbb && third === 0xbf ? bytes.subarray(3) : bytes;
}
