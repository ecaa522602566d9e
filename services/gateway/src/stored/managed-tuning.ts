import { Readable } from 'node:stream';
import {
  canonicalPrefix,
  type HeaderPrefixes,
  isStoredId,
  matchObject,
  storedId,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type JsonObject, objectOf } from '@sluice/providers';
import { uuidText } from '@sluice/usage';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { type Exchange, openExchange } from '../exchange/exchange.ts';
import type { BodyReply, Reply } from '../exchange/reply.ts';
import { modelCall } from '../exchange/subject.ts';
import { readCallerHeaders } from '../http/caller-headers.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { wholeReply } from '../owners/whole-reply.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { uuidV7 } from '../usage/uuid.ts';
import { headersOfLines } from './batches.ts';
import { fileUuid } from './files.ts';
import { type ManagedJob, managedJobId, readManagedJob } from './managed-job.ts';
import { namesNobody } from './names-nobody.ts';
import type { StoredRegister } from './register.ts';
import { documentIn } from './reply-document.ts';
import { ownerOf } from './stored-owner.ts';

const root = '/v1/fine_tuning/jobs';
/** What is trained and validated with, as OpenAI's body names it. */
const fileFields = ['training_file', 'validation_file'] as const;

export interface TuningDeps {
  readonly register: StoredRegister;
  readonly prefixes: HeaderPrefixes;
  readonly resolveConfig: Stage;
}

/**
 * Fine-tuning of what the service keeps (docs/decisions/0123): where no provider is named and the training file is ours, it goes up to the
 * provider that `service_options` name, and the job is made of it there. Upload and job are requests as any of this key. The id that the caller gets says where the job
 * is, so that no later request has to.
 * @param ask  what follows this stage, for the uploads
 */
export function tuneManaged(deps: TuningDeps, ask: (part: Exchange) => Promise<Reply>): Stage {
  return (exchange, next) =>
    exchange.arrival.pathname.startsWith(root) ? tuned(exchange, next) : next();

  async function tuned(exchange: Exchange, next: () => Promise<Reply>): Promise<Reply> {
    const { method, pathname } = exchange.arrival;
    const rest = pathname.slice(root.length);
    if (method === 'POST' && /^\/?$/.test(rest)) return create(exchange, next, deps, ask);
    const [, id = '', below = ''] = /^\/([^/]+)(\/[^/]+)?$/.exec(rest) ?? [];
    const job = readManagedJob(id);
    if (job === undefined) return next();
    send(exchange, `${root}/${encodeURIComponent(job.id)}${below}`, {
      ...exchange.arrival.headers,
      [`${canonicalPrefix}provider`]: `@${job.slug}`,
    });
    return told(await next(), { ...job, shown: id });
  }
}

async function create(
  exchange: Exchange,
  next: () => Promise<Reply>,
  { register, prefixes, resolveConfig }: TuningDeps,
  ask: (part: Exchange) => Promise<Reply>,
): Promise<Reply> {
  let isMeant = false;
  await resolveConfig(exchange, async () => {
    isMeant = namesNobody(exchange);
    return nothing;
  });
  if (!isMeant) return next();
  const bytes = await exchange.arrival.readBody();
  exchange.arrival = withBody(exchange.arrival, bytes);
  const body = parseJsonBody(bytes);
  if (!isStoredId('file', String(body.training_file)) && body.service_options === undefined)
    return next();
  const { service_options: _options, provider_options: options, ...asked } = body;
  const headers = {
    ...exchange.arrival.headers,
    ...headersOfLines(exchange.arrival, body, prefixes),
  };
  if (!namesTarget(headers))
    throw invalid(
      'service_options',
      'must name a provider, a virtual key or a config: one that runs the job',
    );
  const ours: JsonObject = {};
  for (const field of fileFields) {
    const id = asked[field];
    if (id === undefined || id === null) continue;
    if (typeof id !== 'string') throw invalid(field, 'must be the id of a file');
    const { workspaceId } = ownerOf(exchange);
    const uuid = fileUuid(id, `body.${field}`);
    const asking = register.ask(register.files.getFile, { workspaceId, id: uuid });
    const { file } = await asking.catch((error: unknown) => {
      const isUnknown = error instanceof GatewayError && error.code === 'file.not_found';
      throw isUnknown ? new GatewayError('file.not_found', { field: `body.${field}` }) : error;
    });
    if (file === undefined) throw new GatewayError('file.not_found', { field: `body.${field}` });
    if (file.purpose !== 'fine-tune')
      throw invalid(
        field,
        `is a file for ${file.purpose}; what is trained with has the purpose fine-tune`,
      );
    const upload = uploadOf(exchange, headers, {
      filename: `${storedId('file', uuid)}.jsonl`,
      bytes: Number(file.bytes),
      read: () => register.content(workspaceId, uuid),
    });
    let reply: BodyReply;
    try {
      reply = await wholeReply(await ask(upload));
    } finally {
      addProgress(exchange, upload);
    }
    const { id: theirs } = documentIn(reply) ?? {};
    if (reply.status >= 400 || typeof theirs !== 'string') return reply;
    ours[field] = id;
    asked[field] = theirs;
  }
  // Where it is OpenAI that is asked, its body knows no such member; others take it either way.
  const job = { ...objectOf(options), ...asked };
  exchange.arrival = withBody(exchange.arrival, Buffer.from(JSON.stringify(job)));
  send(exchange, root, headers);
  const reply = await next();
  const slug = reply.headers['x-service-provider-slug'];
  return told(reply, typeof slug === 'string' ? { slug, ...ours } : ours);
}

const nothing: BodyReply = { kind: 'body', status: 200, headers: {}, body: Buffer.alloc(0) };

function namesTarget(headers: ArrivedRequest['headers']): boolean {
  return ['provider', 'virtual-key', 'config'].some(
    (name) => headers[canonicalPrefix + name] !== undefined,
  );
}

/** From here on it is a request of this kind. */
function send(exchange: Exchange, pathname: string, headers: ArrivedRequest['headers']): void {
  const { arrival } = exchange;
  const { search, method } = arrival;
  const operation = matchObject(method, pathname)?.operation;
  if (operation === undefined) return;
  // What is told of it is rewritten.
  const sent = { ...headers, 'accept-encoding': 'identity' };
  exchange.arrival = { ...arrival, pathname, headers: sent, caller: callerOf(sent, arrival) };
  exchange.subject = modelCall(operation, pathname, search);
}

function callerOf(headers: ArrivedRequest['headers'], { caller }: ArrivedRequest) {
  const { serviceKey, traceId, spanName } = caller;
  return { ...readCallerHeaders(headers), serviceKey, traceId, spanName };
}

interface FileToSend {
  readonly filename: string;
  readonly bytes: number;
  readonly read: () => AsyncIterable<Buffer>;
}

/** The file's way up: a request of its own, of the same caller. */
function uploadOf(
  exchange: Exchange,
  headers: ArrivedRequest['headers'],
  { filename, bytes, read }: FileToSend,
): Exchange {
  const { arrival, key, bundle, metadata } = exchange;
  const pathname = '/v1/files';
  const boundary = `sluice-${arrival.requestIdText}`;
  const before = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nfine-tune\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: application/jsonl\r\n\r\n`,
  );
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* form(): AsyncGenerator<Buffer, void> {
    yield before;
    yield* read();
    yield after;
  }
  const length = before.length + bytes + after.length;
  const requestId = uuidV7(Date.now());
  const sent = {
    ...headers,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(length),
    'accept-encoding': 'identity',
  };
  const opened = openExchange(
    {
      ...arrival,
      method: 'POST',
      pathname,
      search: '',
      headers: sent,
      caller: callerOf(sent, arrival),
      requestId,
      requestIdText: uuidText(requestId),
      startedAt: performance.now(),
      startedAtMs: Date.now(),
      readBody: () => wholeOf(form(), length, arrival),
      bodyStream: () => Readable.from(form(), { objectMode: false }),
    },
    modelCall(operationAt(pathname), pathname, ''),
  );
  return Object.assign(opened, {
    key,
    bundle,
    metadata: { ...metadata, ...opened.metadata },
  });
}

function operationAt(pathname: string) {
  const operation = matchObject('POST', pathname)?.operation;
  if (operation === undefined) throw new Error(`${pathname} is no operation`);
  return operation;
}

/** Where guardrails are enforced they read all of it, and it is held as long. */
const heldBytesMax = 64 * 1024 * 1024;

async function wholeOf(
  content: AsyncIterable<Buffer>,
  length: number,
  { holdBytes }: ArrivedRequest,
): Promise<Buffer> {
  if (length > heldBytesMax)
    throw new GatewayError('request.too_large', {
      message: `Enforced guardrails read training files up to ${heldBytesMax} bytes.`,
    });
  if (!holdBytes(length)) throw new GatewayError('overloaded');
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

function withBody(arrival: ArrivedRequest, body: Buffer): ArrivedRequest {
  return {
    ...arrival,
    headers: { ...arrival.headers, 'content-length': String(body.length) },
    readBody: () => Promise.resolve(body),
    bodyStream: () => Readable.from([body]),
  };
}

/** What was done for the upload was done for its request. */
function addProgress(exchange: Exchange, { progress, visits }: Exchange): void {
  exchange.visits.push(...visits);
  exchange.progress.attempts += progress.attempts;
  exchange.progress.tries += progress.tries;
  exchange.progress.refusals += progress.refusals;
  exchange.progress.spentNanoUsd += progress.spentNanoUsd;
  exchange.progress.addUse({ ...progress, costKnown: !progress.lacksPrice });
}

/** The provider's answer with the names that the caller knows. */
async function told(
  reply: Reply,
  { slug, id: theirs, shown, ...ours }: Partial<ManagedJob> & JsonObject,
): Promise<Reply> {
  const whole = await wholeReply(reply);
  const document = documentIn(whole);
  if (whole.status >= 400 || document === undefined) return whole;
  const isJob = document.object === 'fine_tuning.job' && typeof document.id === 'string';
  const own =
    isJob && typeof slug === 'string'
      ? { id: shown ?? managedJobId({ slug, id: String(document.id) }), ...ours }
      : {};
  return { ...whole, body: Buffer.from(JSON.stringify({ ...document, ...own })) };
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} ${what}.`,
  });
}
