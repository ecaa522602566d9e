import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrival, HeaderPrefixes } from '@sluice/contracts';
import { uuidText } from '@sluice/usage';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { takeCallMark } from '../http/call-mark.ts';
import { readCallerHeaders } from '../http/caller-headers.ts';
import { type Carrier, HttpCarrier } from '../http/carrier.ts';
import { arrivedHeaders } from '../http/header-names.ts';
import { freeBytes, type HeldBytes, Holding } from '../http/held-bytes.ts';
import { requestTarget, searchWithout } from '../http/request-target.ts';
import type { RequestsUnderWay } from '../http/requests-under-way.ts';
import type { SlowBodies } from '../http/slow-bodies.ts';
import { uuidV7 } from '../usage/uuid.ts';

export interface ArrivalDeps {
  readonly headerPrefixes: HeaderPrefixes;
  readonly heldBytes: HeldBytes;
  readonly bodyBytesMax: { readonly json: number; readonly form: number };
  readonly slowBodies: SlowBodies;
  readonly underWay: RequestsUnderWay;
}

/** What each request has of its own. */
export interface ArrivalOwn {
  /** Aborted when the caller leaves. */
  readonly abort: AbortController;
  /** On whose account its body is held; empty while that is not known. */
  readonly owner: () => string;
}

/** A request that came over HTTP. */
export function openArrival(
  req: IncomingMessage & { originalUrl?: string },
  res: ServerResponse,
  deps: ArrivalDeps & { readonly readArrival: (req: IncomingMessage) => Arrival },
  own: ArrivalOwn,
): ArrivedRequest {
  return arrivalBy(new HttpCarrier(req, res, deps.readArrival), deps, own);
}

/** A request as it came, whatever it is about and whatever carries it: nothing of its body is read yet. */
export function arrivalBy(
  carrier: Carrier,
  deps: ArrivalDeps,
  { abort, owner }: ArrivalOwn,
): ArrivedRequest {
  const url = requestTarget(carrier.target);
  const query = url.indexOf('?');
  const startedAtMs = Date.now();
  const requestId = uuidV7(startedAtMs);
  const requestIdText = uuidText(requestId);
  const headers = arrivedHeaders(deps.headerPrefixes, carrier.headers);
  const callMark = takeCallMark(headers);
  const caller = readCallerHeaders(headers);
  carrier.onceGone(() => abort.abort());
  carrier.onceOver(deps.underWay.begin(abort));
  let holding: Holding | undefined;
  let held = 0;
  const hold = (bytes: number): boolean => {
    if (carrier.isOver) return false;
    if (holding !== undefined) return holding.grow(bytes);
    held += bytes;
    // What nobody counts needs nobody to let go of it.
    if (held <= freeBytes) return true;
    holding = new Holding(deps.heldBytes, owner());
    carrier.onceOver(() => holding?.release());
    return holding.grow(held);
  };
  const reading = (kind: 'json' | 'form') => ({
    bytesMax: deps.bodyBytesMax[kind],
    slowBodies: deps.slowBodies,
    hold,
  });
  return {
    method: carrier.method,
    pathname: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : searchWithout(caller.serviceKey, url.slice(query)),
    headers,
    caller,
    requestId,
    requestIdText,
    traceId: caller.traceId ?? requestIdText,
    callMark,
    startedAt: performance.now(),
    startedAtMs,
    asksStream: carrier.asksStream,
    signal: abort.signal,
    callerAddress: () => carrier.address(),
    readBody: (kind = 'json') => carrier.readBody(reading(kind)),
    holdBytes: hold,
    holdApart: () => new Holding(deps.heldBytes, owner()),
    bodyStream: () => carrier.bodyStream(reading('json')),
  };
}
