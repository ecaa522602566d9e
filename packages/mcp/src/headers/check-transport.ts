import { McpFault, rpcCodes } from '../fault.ts';
import { type HeaderMap, headerValue } from './header-value.ts';

/**
 * What a POST must accept and send. Both eras ask the same.
 * @throws McpFault 406 or 415
 */
export function checkPostHeaders(headers: HeaderMap): void {
  if (!acceptsBoth(headers))
    throw new McpFault({
      status: 406,
      code: rpcCodes.refused,
      message: 'Accept must list both application/json and text/event-stream.',
    });
  const type = headerValue(headers, 'content-type') ?? '';
  if (type !== 'application/json' && mediaType(type) !== 'application/json')
    throw new McpFault({
      status: 415,
      code: rpcCodes.refused,
      message: 'Content-Type must be application/json.',
    });
}

/** What a GET must accept. @throws McpFault 406 */
export function checkStreamHeaders(headers: HeaderMap): void {
  if (accepts(headers, 'text/event-stream')) return;
  throw new McpFault({
    status: 406,
    code: rpcCodes.refused,
    message: 'Accept must list text/event-stream.',
  });
}

/** As the last client wrote it that accepts both: nearly all write the same. */
let lastAccepting: string | undefined;

function acceptsBoth(headers: HeaderMap): boolean {
  const accept = headerValue(headers, 'accept');
  if (accept !== undefined && accept === lastAccepting) return true;
  if (!accepts(headers, 'application/json') || !accepts(headers, 'text/event-stream')) return false;
  lastAccepting = accept;
  return true;
}

const acceptLengthMax = 4096;

function accepts(headers: HeaderMap, wanted: string): boolean {
  const accept = headerValue(headers, 'accept');
  if (accept === undefined || accept.length > acceptLengthMax) return false;
  const family = `${wanted.slice(0, wanted.indexOf('/'))}/*`;
  return accept.split(',').some((entry) => {
    const [range = '', ...parameters] = entry.split(';');
    const type = range.trim().toLowerCase();
    if (type !== wanted && type !== family && type !== '*/*') return false;
    return !parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter));
  });
}

function mediaType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}
