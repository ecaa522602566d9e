import {
  canonicalPrefix,
  type HeaderPrefixes,
  operations,
  storedId,
  uuidOfStored,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';
import { arrivedHeaders } from '../http/header-names.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { fileUuid, readFiles, type StoredOwner, secondsAfterCreation } from './files.ts';
import { withPlan } from './managed-plan.ts';
import { readMetadata } from './metadata.ts';
import { presentBatch, presentPage } from './present.ts';
import type { StoredRegister } from './register.ts';
import { jsonReply, readPage } from './requests.ts';

/** Where lines may be sent to: endpoints of one JSON question and one answer. */
export const batchEndpoints: readonly string[] = [
  operations.chatComplete,
  operations.complete,
  operations.embed,
  operations.createModelResponse,
  operations.messages,
  operations.rerank,
].map(({ at }) => at.slice(at.indexOf(' ') + 1));

/** What may be said for the lines of a batch. No credential is: lines use what is saved. */
const lineHeaders: ReadonlySet<string> = new Set([
  'provider',
  'virtual-key',
  'config',
  'metadata',
  'request-timeout',
  'max-cost',
  'cache-namespace',
  'cache-force-refresh',
  'strict-params',
  'strict-open-ai-compliance',
  'debug',
]);
/** Of the request that makes the batch. */
const inherited = ['config', 'metadata', 'debug'];
const headersLengthMax = 16 * 1024;
const hourMs = 3_600_000;
const windowHoursMax = 7 * 24;
/** As of the data service. */
const retryName = ':retry';
const outputExpiresName = ':output-expires';
/** What is wanted at once ends some time, too. */
const immediateMs = 24 * hourMs;

export async function createBatch(
  exchange: Exchange,
  owner: StoredOwner,
  register: StoredRegister,
  prefixes: HeaderPrefixes,
  newer: Pick<NewerBundles, 'after'>,
): Promise<Reply> {
  const { arrival } = exchange;
  const sent = parseJsonBody(await arrival.readBody());
  const retried = await retriedBy(sent, owner, register);
  const body = { ...sent, ...retried?.asked };
  const { input_file_id: file, endpoint, completion_window: window, metadata } = body;
  if (typeof file !== 'string') throw invalid('input_file_id', 'must be the id of a file');
  if (typeof endpoint !== 'string' || !batchEndpoints.includes(endpoint))
    throw invalid('endpoint', `must be one of ${batchEndpoints.join(', ')}`);
  const windowMs = windowOf(window);
  if (owner.apiKeyId === '') throw new GatewayError('batch.needs_key');
  const named = headersOfLines(arrival, body, prefixes);
  // What failed at a provider's batch is tried again line by line.
  const headers =
    retried === undefined
      ? await withPlan(exchange, named, body, newer)
      : { ...named, [retryName]: retried.errorFileId };
  const { batch } = await register.ask(register.batches.createBatch, {
    owner,
    inputFileId: fileUuid(file, 'body.input_file_id'),
    endpoint,
    completionWindow: window as string,
    windowMs: BigInt(windowMs),
    metadataJson:
      metadata === undefined || metadata === null ? '' : JSON.stringify(readMetadata(metadata)),
    headersJson: JSON.stringify({ ...headers, ...expiryOfOutput(body) }),
  });
  if (batch === undefined) throw new GatewayError('file.unavailable');
  return jsonReply(presentBatch(batch));
}

/** In seconds after each of its files is made. */
function expiryOfOutput({ output_expires_after: asked }: JsonObject): Record<string, string> {
  if (asked === undefined || asked === null) return {};
  const seconds = secondsAfterCreation(isObject(asked) ? asked : {}, 'body.output_expires_after');
  return { [outputExpiresName]: String(seconds) };
}

/** The lines that failed of a batch, as a new one: of the same file, for the same endpoint. */
async function retriedBy(
  { retry_of: of, input_file_id: file, endpoint }: JsonObject,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<{ asked: JsonObject; errorFileId: string } | undefined> {
  if (of === undefined || of === null) return undefined;
  if (typeof of !== 'string') throw invalid('retry_of', 'must be the id of a batch');
  for (const [name, value] of Object.entries({ input_file_id: file, endpoint }))
    if (value !== undefined)
      throw invalid(name, 'must not stand beside retry_of, which says it already');
  const request = { workspaceId, id: batchUuid(of) };
  const { batch } = await register.ask(register.batches.getBatch, request);
  if (batch === undefined) throw new GatewayError('batch.not_found');
  if (!endStates.has(batch.status) || batch.errorFileId === '')
    throw invalid(
      'retry_of',
      endStates.has(batch.status)
        ? 'is a batch of which no line failed'
        : `is a batch that is ${batch.status}: what failed is known when it has ended`,
    );
  const { endpoint: to, inputFileId, errorFileId } = batch;
  return { asked: { input_file_id: storedId('file', inputFileId), endpoint: to }, errorFileId };
}

function windowOf(window: JsonValue | undefined): number {
  if (window === 'immediate') return immediateMs;
  const [, count = '', unit] = /^(\d{1,3})(h|d)$/.exec(String(window)) ?? [];
  const hours = Number(count) * (unit === 'd' ? 24 : 1);
  if (typeof window !== 'string' || hours < 1 || hours > windowHoursMax)
    throw invalid(
      'completion_window',
      `must be immediate, or 1h to ${windowHoursMax}h (or 1d to 7d)`,
    );
  return hours * hourMs;
}

/** By the names that they have inside: `service_options` names them with the prefix of headers, or without. */
export function headersOfLines(
  arrival: ArrivedRequest,
  { service_options: options }: JsonObject,
  prefixes: HeaderPrefixes,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of inherited) {
    const value = arrival.headers[canonicalPrefix + name];
    if (typeof value === 'string') headers[canonicalPrefix + name] = value;
  }
  if (options === undefined || options === null) return headers;
  if (!isObject(options)) throw invalid('service_options', 'must be an object');
  for (const [given, value] of Object.entries(options)) {
    const name = nameInside(given, prefixes);
    if (!lineHeaders.has(name))
      throw invalid(
        'service_options',
        `may have ${[...lineHeaders].map((each) => each.replaceAll('-', '_')).join(', ')}`,
      );
    headers[canonicalPrefix + name] = textOf(name, value);
  }
  if (JSON.stringify(headers).length > headersLengthMax)
    throw invalid('service_options', `must not be longer than ${headersLengthMax} characters`);
  return headers;
}

function nameInside(given: string, prefixes: HeaderPrefixes): string {
  const lower = given.toLowerCase();
  const [known = lower] = Object.keys(arrivedHeaders(prefixes, { [lower]: 'x' }));
  const name = known.startsWith(canonicalPrefix) ? known.slice(canonicalPrefix.length) : known;
  return name.replaceAll('_', '-');
}

function textOf(name: string, value: JsonValue): string {
  if (isObject(value) && (name === 'config' || name === 'metadata')) return JSON.stringify(value);
  if (typeof value === 'object' || /[^\x20-\x7e]/.test(String(value)))
    throw invalid(
      `service_options.${name.replaceAll('-', '_')}`,
      'must be a text that a header can hold',
    );
  return String(value);
}

export async function listBatches(
  arrival: ArrivedRequest,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { after, limit } = readPage(arrival, 'batch', { usual: 20, most: 100 });
  const request = { workspaceId, after, limit };
  const { batches, hasMore } = await register.ask(register.batches.listBatches, request);
  return jsonReply(presentPage(batches.map(presentBatch), hasMore));
}

function batchUuid(id: string): string {
  const uuid = uuidOfStored('batch', id);
  if (uuid === undefined)
    throw new GatewayError('batch.not_found', {
      message: `There is no batch ${id.slice(0, 80)} here. Batches of a provider are asked for by naming it.`,
    });
  return uuid;
}

export async function getBatch(
  id: string,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const request = { workspaceId, id: batchUuid(id) };
  const { batch } = await register.ask(register.batches.getBatch, request);
  if (batch === undefined) throw new GatewayError('batch.not_found');
  return jsonReply(presentBatch(batch));
}

export async function cancelBatch(
  id: string,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const request = { workspaceId, id: batchUuid(id) };
  const { batch } = await register.ask(register.batches.cancelBatch, request);
  if (batch === undefined) throw new GatewayError('batch.not_found');
  return jsonReply(presentBatch(batch));
}

const endStates: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Every line that was run, answers before errors. */
export async function readOutput(
  id: string,
  owner: StoredOwner,
  register: StoredRegister,
  signal: AbortSignal,
): Promise<Reply> {
  const request = { workspaceId: owner.workspaceId, id: batchUuid(id) };
  const { batch } = await register.ask(register.batches.getBatch, request);
  if (batch === undefined) throw new GatewayError('batch.not_found');
  if (!endStates.has(batch.status))
    throw new GatewayError('batch.not_finished', {
      message: `The batch is ${batch.status}: its output is there when it has ended.`,
      headers: { 'retry-after': '5' },
    });
  const files = [batch.outputFileId, batch.errorFileId].filter((each) => each !== '');
  return readFiles(files, `${storedId('batch', batch.id)}.jsonl`, owner, register, signal);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} ${what}.`,
  });
}
