import { randomUUID } from 'node:crypto';
import { matchObject, type ObjectOperation } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  type EndpointEntry,
  type JobAnswer,
  type JobCall,
  type JobUse,
  type JobWork,
  readDocument,
  type VendorJobs,
  VendorRefusal,
  vendorJobsAt,
} from '@sluice/providers';
import { addressAuthor } from '../calls/prepare/address-author.ts';
import { checkedBase } from '../calls/prepare/call-address.ts';
import { contextOf } from '../calls/prepare/call-context.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedRequest } from '../exchange/prepared-call.ts';
import type { BodyReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { AskVendor, VendorWork } from '../exchange/vendor-work.ts';
import { asksForPart, byteRange } from '../http/byte-range.ts';
import { withoutTrailingSlashes } from '../http/request-target.ts';
import { contentOf, json as jsonReply, refusal, send, workHeaders } from './prepare-files.ts';
import type { VendorPlace } from './vendor-place.ts';

/** What a vendor says of jobs in its own words; undefined = it says it in OpenAI's, or the caller in the vendor's. */
export function vendorJobsOf(
  { id, of }: ObjectOperation & { id: string },
  { subject }: ModelExchange,
  { entry }: Target,
): { jobs: VendorJobs; work: JobWork } | undefined {
  const jobs = vendorJobsAt(entry, of);
  const work = jobs?.operations[id as keyof VendorJobs['operations']];
  if (jobs === undefined || work === undefined) return undefined;
  return /^\/v1\/proxy(?:\/|$)/.test(subject.pathname) ? undefined : { jobs, work };
}

type JobPlace = VendorPlace & { readonly exchange: ModelExchange };

/** An answer that is a document. */
const answerBytesMax = 4 * 1024 * 1024;

/**
 * One operation of jobs at a vendor that has them its own way.
 * @throws GatewayError for hosts that may not be called, and settings that are missing
 */
export function prepareJobs(
  { jobs, work }: { jobs: VendorJobs; work: JobWork },
  exchange: ModelExchange,
  target: Target,
  rules: CallRules,
): PreparedRequest {
  const { arrival, subject } = exchange;
  const body = { ...subject.json };
  if (target.rewritesModel) body.model = target.model;
  const context = contextOf(exchange, target, body, rules);
  const entry: EndpointEntry | undefined = jobs.base && {
    format: 'raw',
    path: '',
    baseUrl: (facts) => jobs.base?.(facts) ?? '',
  };
  const addressBy = addressAuthor(target);
  const base = checkedBase(target, entry, context, rules.hostRules, addressBy);
  const headers = workHeaders(target);
  const parameters = matchObject(arrival.method, subject.pathname)?.parameters ?? {};
  const [id = ''] = Object.values(parameters);
  if (/^\.+$/.test(id)) throw new GatewayError('object.owner_unknown', { field: 'path' });
  const call: JobCall = {
    id,
    body,
    query: new URLSearchParams(subject.search),
    name: randomUUID(),
  };
  const sending: JobPlace = { exchange, base, addressBy, headers, target, rules };
  return {
    translation: undefined,
    context,
    origin: base.origin,
    addressBy,
    method: 'GET',
    path: base.pathname,
    auth: target.entry.auth,
    headers,
    body: null,
    work: workOf(work, call, sending, context),
    sentJson: body,
    droppedParams: [],
    hidesUsage: false,
  };
}

function workOf(
  work: JobWork,
  call: JobCall,
  sending: JobPlace,
  context: PreparedRequest['context'],
): VendorWork {
  const base = withoutTrailingSlashes(`${sending.base.origin}${sending.base.pathname}`);
  return async (askVendor, signal) => {
    const use: JobUse = {
      facts: context,
      nowMs: sending.exchange.arrival.startedAtMs,
      base,
      hasCustomHost: sending.target.customHost !== undefined,
      async ask({ method, path, json, headers, bytesMax = answerBytesMax }) {
        const request = {
          method,
          url: `${base}${path}`,
          headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
          ...(json && { body: Buffer.from(JSON.stringify(json)) }),
        };
        const answer = await send(request, sending, askVendor, signal);
        const bytes = await answer.readAll(bytesMax);
        if (answer.status >= 400) throw new VendorRefusal(answer, bytes);
        return readDocument(bytes);
      },
    };
    try {
      return await told(await work(call, use), sending, askVendor, signal);
    } catch (error) {
      if (!(error instanceof VendorRefusal)) throw error;
      return refusal(error, context);
    }
  };
}

function told(
  answer: JobAnswer,
  sending: JobPlace,
  askVendor: AskVendor,
  signal: AbortSignal,
): ReturnType<VendorWork> {
  if ('content' in answer) return contentOf(answer.content, sending, askVendor, signal);
  if ('document' in answer) return Promise.resolve(jsonReply(answer.document));
  return Promise.resolve(partOf(answer, sending.exchange.arrival.headers.range));
}

/** Bytes that lay in an answer, or the part of them that is asked for. */
function partOf(
  { bytes, contentType }: { readonly bytes: Buffer; readonly contentType: string },
  asked: string | undefined,
): BodyReply {
  const whole = {
    'content-type': contentType,
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
  };
  if (!asksForPart(asked)) return { kind: 'body', status: 200, headers: whole, body: bytes };
  const range = byteRange(asked, bytes.length);
  const told = range && `${range.offset}-${range.offset + range.length - 1}`;
  return {
    kind: 'body',
    status: range === undefined ? 416 : 206,
    headers: { ...whole, 'content-range': `bytes ${told ?? '*'}/${bytes.length}` },
    body: range ? bytes.subarray(range.offset, range.offset + range.length) : Buffer.alloc(0),
  };
}
