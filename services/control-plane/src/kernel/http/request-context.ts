import type { IncomingHttpHeaders } from 'node:http';
import {
  type Arriving,
  arrivalReader,
  canonicalHeaders,
  type ForwardedCallerSeal,
  forwardedCallerHeader,
  type HeaderPrefixes,
  lenientInputHeader,
  requestIdHeader,
  shownRequestIdHeader,
  spelledHeaders,
  spellingOf,
} from '@sluice/contracts';
import { type Access, generalFields } from '@sluice/contracts/admin';
import type { RequestHandler, Response } from 'express';
import { newId } from '../names/ids.ts';
import { noteArrival } from './arrival.ts';
import type { InputNotes } from './parse-input.ts';

const traceIdHeader = 'x-service-trace-id';

export interface RequestContextParts {
  trustedProxies: readonly string[];
  /** Reads what our gateways state of the callers they forward. */
  forwardedCallers: ForwardedCallerSeal;
  headerPrefixes: HeaderPrefixes;
  /** Whether everybody's unknown fields are taken, with a warning. */
  isLenient: boolean;
}

/**
 * Reads our own headers under every prefix that is set, and gives every request
 * an id and sends it back. The id is ours or a gateway's, and so is what is
 * known of the caller's address: a gateway proves itself by its signature, other
 * proxies are listed. An id that a caller chose is kept beside, as their trace.
 */
export function requestContext(parts: RequestContextParts): RequestHandler {
  const { headerPrefixes, forwardedCallers } = parts;
  const readArrival = arrivalReader(parts.trustedProxies);
  return (req, res, next) => {
    const spelling = spellingOf(headerPrefixes, req.headers);
    req.headers = canonicalHeaders(headerPrefixes, req.headers);
    const forwarded = forwardedCallers.read(req.headers[forwardedCallerHeader], Date.now());
    // Not to be seen in an audit entry, whose reader could send it again.
    delete req.headers[forwardedCallerHeader];
    keepTraceId(req.headers);
    res.locals.isLenient =
      askedLenient(req.headers) ?? (parts.isLenient || spelling !== headerPrefixes.mainSpelling);
    const arriving: Arriving = {
      address: req.socket.remoteAddress,
      encrypted: false,
      headers: req.headers,
    };
    noteArrival(req, forwarded ?? readArrival(arriving));
    const id = forwarded?.requestId ?? newId();
    res.locals.requestId = id;
    const headers = spelledHeaders(headerPrefixes, spelling, {
      [requestIdHeader]: id,
      [shownRequestIdHeader]: id,
    });
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    next();
  };
}

function askedLenient(headers: IncomingHttpHeaders): boolean | undefined {
  const asked = headers[lenientInputHeader];
  return typeof asked === 'string' ? asked.trim().toLowerCase() === 'true' : undefined;
}

/** How strictly the input of a request is to be read. */
export function inputNotes(res: Response, access?: Access): InputNotes {
  return {
    isLenient: res.locals.isLenient === true,
    general: access === undefined ? [] : generalFields(access),
    warnings: [],
  };
}

/** What a caller calls the request is no id of ours; of a name that is one, it is the trace. */
function keepTraceId(headers: IncomingHttpHeaders): void {
  const chosen = headers[traceIdHeader] ?? headers[requestIdHeader];
  delete headers[requestIdHeader];
  delete headers[traceIdHeader];
  if (typeof chosen === 'string' && /^[A-Za-z0-9_.:-]{1,128}$/.test(chosen))
    headers[traceIdHeader] = chosen;
}
