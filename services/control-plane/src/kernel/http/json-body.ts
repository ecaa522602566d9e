import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, parseText, repeatedPath, scanJson } from '@sluice/json';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { faultPath } from './parse-input.ts';

const backslash = 0x5c;
/** Passes over a byte order mark. */
const utf8 = new TextDecoder();
/** Validation walks a body several times: it may hold less than a model's request. */
const bounds = { ...jsonBounds.request, depthMax: 64, workMax: 200_000 };

/**
 * Reads the body as JSON, whatever content type it claims: half of all clients
 * forget to claim one. Text that Postgres cannot store, and members that stand twice, are refused here.
 */
export function jsonBody(options: { bytesMax: number }): RequestHandler {
  const bytesOf = new WeakMap<IncomingMessage, Buffer>();
  const parse = express.json({
    limit: options.bytesMax,
    type: () => true,
    strict: false,
    verify(req, _res, raw, encoding) {
      bytesOf.set(req, raw);
      // JSON is UTF-8; what follows counts its bytes.
      if (encoding !== 'utf-8') throw new GatewayError('request.unsupported_content_type');
      refuseCostlyJson(raw);
    },
  });
  return (req, res, next) =>
    parse(req, res, (error: unknown) => {
      if (error !== undefined && error !== null) return next(fromBodyParser(error));
      // The parser takes a body of no bytes for an empty object; it is no body.
      const raw = bytesOf.get(req);
      if (raw?.length === 0) req.body = undefined;
      try {
        // Names with escapes are not always read as they are by `JSON.parse`.
        if (raw?.includes(backslash) === true) req.body = parseText(utf8.decode(raw));
        if (raw !== undefined) refuseRepeatedMembers(raw);
        refuseUnstorableText(req.body, 'body');
      } catch (fault) {
        return next(fault);
      }
      next();
    });
}

/** Reads the body now, when the caller is known to be somebody. */
export function readBody(req: Request, res: Response, jsonBody: RequestHandler): Promise<void> {
  return new Promise((resolve, reject) => {
    jsonBody(req, res, (error: unknown) =>
      error === undefined || error === null ? resolve() : reject(error),
    );
  });
}

/**
 * What parsing would cost is counted on the bytes, before anything is built from them.
 * @throws GatewayError `request.too_deep`, `request.too_many_values`
 */
export function refuseCostlyJson(raw: Buffer): void {
  const { fault } = scanJson(raw, bounds);
  if (fault === 'too-deep') throw new GatewayError('request.too_deep');
  if (fault !== undefined) throw new GatewayError('request.too_many_values');
}

/** Of two members of one name the parser keeps the last, and says nothing. */
export function refuseRepeatedMembers(raw: Buffer): void {
  const path = repeatedPath(raw);
  if (path === undefined) return;
  const field = faultPath('body', path);
  throw new GatewayError('admin.validation', { message: `${field}: stands there twice`, field });
}

/**
 * NUL and lone surrogates are JSON, but no text for Postgres; `__proto__` is a
 * name that copying an object would lose or obey.
 */
export function refuseUnstorableText(root: unknown, part?: 'body' | 'query' | 'path'): void {
  const pending: Pending[] = [{ value: root, parent: undefined, step: '' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value } = next;
    if (typeof value === 'string') {
      if (!isUnstorable(value)) continue;
      throw unstorable(part && faultPath(part, stepsTo(next)));
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      // The name itself could not be told either.
      if (isUnstorable(name)) throw unstorable(part && faultPath(part, stepsTo(next)));
      const step = Array.isArray(value) ? Number(name) : name;
      pending.push({ value: inner, parent: next, step });
    }
  }
}

interface Pending {
  readonly value: unknown;
  readonly parent: Pending | undefined;
  readonly step: string | number;
}

function stepsTo({ parent, step }: Pending): (string | number)[] {
  return parent === undefined ? [] : [...stepsTo(parent), step];
}

function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed() || text === '__proto__';
}

function unstorable(field: string | undefined): GatewayError {
  const what = 'holds text that cannot be stored (NUL, half a character or __proto__)';
  return new GatewayError('admin.validation', {
    message: field === undefined ? `The request ${what}.` : `${field}: ${what}`,
    field,
  });
}

function fromBodyParser(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  const type = (error as { type?: string }).type;
  switch (type) {
    case 'entity.too.large':
      return new GatewayError('request.too_large', { cause: error });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new GatewayError('request.unsupported_content_type', { cause: error });
    case 'request.aborted':
      return new GatewayError('request.aborted', { cause: error });
    default:
      return new GatewayError('request.malformed_json', { cause: error });
  }
}
