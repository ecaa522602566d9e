import { matchObject, type ObjectOperation, uuidOfStored } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  type AskedBatch,
  type BatchUse,
  batchRowMapper,
  type FileRequest,
  type JsonObject,
  objectOf,
  type VendorBatches,
  VendorRefusal,
  vendorBatchesOf,
} from '@sluice/providers';
import { addressAuthor } from '../calls/prepare/address-author.ts';
import { checkedBase, joinPaths } from '../calls/prepare/call-address.ts';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { rewrittenHeaders } from '../calls/reply-headers.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { BodyReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { AskVendor, MadeReply } from '../exchange/vendor-work.ts';
import { linesOf } from '../http/lines-of.ts';
import { withoutTrailingSlashes } from '../http/request-target.ts';
import { documentOf } from '../owners/ids-in-reply.ts';
import type { AskingBatches, BatchesOperation, BatchParts } from './asking-batches.ts';
import { outputOf } from './batch-output.ts';
import { answerBytesMax, askWhole, json, refusal, send, workHeaders } from './prepare-files.ts';
import { proxyEntry } from './proxy-entry.ts';
import { proxyHeaders } from './proxy-headers.ts';
import { rowBytesMax } from './row-bytes-max.ts';
import type { TargetVisit } from './target-visit.ts';
import { proxyPathOf } from './targets/served-model.ts';

const operations: Readonly<Record<string, BatchesOperation>> = {
  createBatch: 'create',
  retrieveBatch: 'retrieve',
  listBatches: 'list',
  cancelBatch: 'cancel',
  getBatchOutput: 'output',
  createMessageBatch: 'message',
  retrieveMessageBatch: 'message',
  listMessageBatches: 'message',
  cancelMessageBatch: 'message',
  getMessageBatchResults: 'results',
};

/** What is done for a batch at a vendor; undefined = the request passes through as it came. */
export function vendorBatchesFor(
  { id }: ObjectOperation & { id: string },
  { exchange }: TargetVisit,
  { entry, customHost, saved }: Target,
): VendorBatches | undefined {
  const operation = operations[id];
  if (operation === undefined || /^\/v1\/proxy(?:\/|$)/.test(exchange.subject.pathname))
    return undefined;
  const isNative = operation === 'message' || operation === 'results';
  // A custom host may be anybody, who has batches as those have whose paths are asked.
  const batches = isNative
    ? vendorBatchesOf('anthropic')
    : (vendorBatchesOf(entry.id) ?? (customHost && vendorBatchesOf('openai')));
  if (batches === undefined || !isUnified(operation)) return batches;
  if (batches[operation] !== undefined) return batches;
  if (operation === 'create') {
    refuseStored(exchange.subject.json);
    if (saved?.limitsModels === true)
      throw new GatewayError('provider.model_unreadable', {
        field: 'body.input_file_id',
        message: `The provider @${saved.slug} is limited to certain models, and nobody reads which ones the lines of its file name: run the batch here, over a file uploaded without naming a provider.`,
      });
  }
  return undefined;
}

function isUnified(
  operation: BatchesOperation,
): operation is 'create' | 'retrieve' | 'list' | 'cancel' {
  return operation !== 'output' && operation !== 'results' && operation !== 'message';
}

function refuseStored(body: JsonObject | undefined): void {
  if (typeof body?.input_file_id !== 'string') return;
  if (uuidOfStored('file', body.input_file_id) === undefined) return;
  throw new GatewayError('request.invalid_field', {
    field: 'body.input_file_id',
    message:
      'body.input_file_id is a file that this service keeps, which the provider does not have: upload it there, or make the batch without naming a provider and name it in service_options.',
  });
}

/**
 * One operation of batches at a vendor that has them its own way, and their output, which hardly any has.
 * @throws GatewayError for hosts that may not be called, and settings that are missing
 */
export function prepareBatches(
  batches: VendorBatches,
  visit: TargetVisit,
  target: Target,
  rules: CallRules & Partial<BatchParts>,
): PreparedRequest {
  const { exchange } = visit;
  const { arrival, subject } = exchange;
  const operation = operations[subject.operation.id] as BatchesOperation;
  const context = contextOf(exchange, target, subject.json ?? {}, rules);
  const addressBy = addressAuthor(target);
  const entry =
    batches.base === undefined
      ? proxyEntry(target)
      : { format: 'raw' as const, path: '', baseUrl: batches.base };
  const base = checkedBase(target, entry, context, rules.hostRules, addressBy);
  const headers =
    operation === 'results' || operation === 'message'
      ? proxyHeaders(exchange, target, true)
      : workHeaders(target);
  const asking: AskingBatches = {
    batches,
    operation,
    id: matchObject(arrival.method, subject.pathname)?.parameters.batch_id ?? '',
    context,
    nowMs: arrival.startedAtMs,
    visit,
    target,
    rules,
    base,
    addressBy,
    headers,
  };
  const asked = operation === 'create' ? askedBatch(asking) : undefined;
  return {
    translation: undefined,
    context,
    origin: base.origin,
    addressBy,
    method: 'GET',
    path: base.pathname,
    auth: batches.auth ?? target.entry.auth,
    headers,
    body: null,
    work: (askVendor, signal) => work(asking, asked, askVendor, signal),
    sentJson: {},
    droppedParams: [],
    hidesUsage: false,
  };
}

async function work(
  asking: AskingBatches,
  asked: AskedBatch | undefined,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<BodyReply | MadeReply> {
  const { batches, operation, id, context, visit } = asking;
  const use = useOf(asking, askVendor, signal);
  try {
    switch (operation) {
      case 'create':
        if (batches.create === undefined || asked === undefined) break;
        return json(await batches.create(asked, use));
      case 'retrieve':
        if (batches.retrieve === undefined) break;
        return json(await batches.retrieve(id, use));
      case 'cancel':
        if (batches.cancel === undefined) break;
        return json(await batches.cancel(id, use));
      case 'list':
        if (batches.list === undefined) break;
        return json(await batches.list(new URLSearchParams(visit.exchange.subject.search), use));
      case 'message':
        return await messageBatch(asking, askVendor, signal);
      case 'output':
      case 'results':
        return await outputOf(asking, use, askVendor, signal);
    }
    throw new Error(`${asking.target.entry.id} does not ${operation} batches`);
  } catch (error) {
    if (!(error instanceof VendorRefusal)) throw error;
    if (operation !== 'results') return refusal(error, context);
    const { status, headers, bytes: body } = error;
    return { kind: 'body', status, headers: rewrittenHeaders(headers), body };
  }
}

/**
 * Anthropic's own words, passed on: but for where results are read, which its
 * clients go to by themselves, and with the key that they have for us.
 */
async function messageBatch(
  asking: AskingBatches,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<BodyReply> {
  const { exchange, passedBody } = asking.visit;
  const { subject, arrival } = exchange;
  const body = passedBody ?? subject.body;
  const request: FileRequest = {
    method: arrival.method as FileRequest['method'],
    url: `${asking.base.origin}${joinPaths(asking.base, proxyPathOf(subject.pathname), subject.search)}`,
    ...(body === undefined ? {} : { body }),
  };
  const answer = await send(request, asking, askVendor, signal);
  const bytes = await answer.readAll(answerBytesMax);
  const document = answer.status < 400 ? documentOf(bytes) : undefined;
  return {
    kind: 'body',
    status: answer.status,
    headers: rewrittenHeaders(answer.headers),
    body: document === undefined ? bytes : Buffer.from(JSON.stringify(withOwnResults(document))),
  };
}

function withOwnResults(document: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(document.data))
    return {
      ...document,
      data: document.data.map((one) => {
        const batch = objectOf(one);
        return batch === undefined ? one : withOwnResults(batch);
      }),
    };
  if (typeof document.results_url !== 'string') return document;
  // Whatever name we are called by.
  const own = `/v1/messages/batches/${encodeURIComponent(String(document.id))}/results`;
  return { ...document, results_url: own };
}

function useOf(asking: AskingBatches, askVendor: AskVendor, signal: AbortSignal): BatchUse {
  return {
    facts: asking.context,
    nowMs: asking.visit.exchange.arrival.startedAtMs,
    base: withoutTrailingSlashes(`${asking.base.origin}${asking.base.pathname}`),
    ask: (request) => askWhole(request, asking, askVendor, signal),
  };
}

/** What the body asks for, in the words of all vendors. */
function askedBatch({ batches, visit, target, context, rules }: AskingBatches): AskedBatch {
  const { subject, key, bundle } = visit.exchange;
  const {
    input_file_id: file,
    endpoint = '/v1/chat/completions',
    completion_window: window,
    metadata,
    model: _model,
    provider_options: further,
    service_options: _service,
    ...rest
  } = subject.json ?? {};
  if (typeof endpoint !== 'string') throw invalid('endpoint', 'must be a text');
  const options = { ...rest, ...objectOf(further) };
  const { setting } = context;
  const model = [
    target.model,
    setting('provider-model'),
    setting('aws-bedrock-model'),
    options.model,
  ].find((name): name is string => typeof name === 'string' && name !== '');
  const inputFileId = typeof file === 'string' ? file : undefined;
  const stored = uuidOfStored('file', inputFileId ?? '');
  if (stored !== undefined && batches.takesLines !== true) refuseStored(subject.json);
  if (stored !== undefined && bundle?.enforced !== undefined)
    throw invalid(
      'input_file_id',
      'must not be a file of this service here: guardrails are enforced that have not seen its lines. Make the batch without naming a provider',
    );
  const mapper = batchRowMapper(target.entry.id, {
    setting,
    endpoint,
    ...(model === undefined ? {} : { model }),
  });
  const limited = target.saved?.limitsModels === true;
  return {
    inputFileId,
    endpoint,
    completionWindow: typeof window === 'string' ? window : undefined,
    metadata: objectOf(metadata),
    model,
    options,
    lines:
      stored === undefined || rules.readStored === undefined || limited
        ? undefined
        : linesOf<never>(rules.readStored(key?.source.workspaceId ?? '', stored), rowBytesMax),
    row: (line, number) => mapper?.(line, number) ?? line,
  };
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} ${what}.`,
  });
}
