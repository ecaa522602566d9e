import type { GuardedFetch } from '@sluice/outbound';
import { allowInsecureRequests, customFetch } from 'oauth4webapi';
import { refuseCostlyJson } from '../../kernel/http/json-body.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';

const bytesMax = 64 * 1024;
const requestMsMax = 5_000;

export interface AskerOptions {
  readonly fetch: GuardedFetch;
  /** The MCP server that it is all about. */
  readonly server: URL;
  /** For all requests together. */
  readonly timeoutMs: number;
}

/**
 * Requests to addresses that a server or its documents name: by the guarded fetch, small, in time, redirects not followed. Plain HTTP
 * only where the admin gave the server itself such an address.
 */
export class Asker {
  readonly server: URL;
  readonly #fetch: GuardedFetch;
  readonly #endsAt: number;

  constructor({ fetch, server, timeoutMs }: AskerOptions) {
    this.server = server;
    this.#fetch = fetch;
    this.#endsAt = performance.now() + timeoutMs;
  }

  /** For functions of oauth4webapi. */
  get options() {
    return {
      [customFetch]: (address: string, init: RequestInit) => this.request(address, init),
      // What is allowed is decided below.
      [allowInsecureRequests]: true,
    };
  }

  /** From a server on https nothing leads to http. */
  isSafe({ protocol }: URL): boolean {
    return protocol === 'https:' || (protocol === 'http:' && this.server.protocol === 'http:');
  }

  /** @throws SignInFault, GatewayError */
  async request(address: string, init: RequestInit = {}): Promise<Response> {
    const url = URL.parse(address);
    if (url === null || !isPlain(address) || !this.isSafe(url))
      throw new SignInFault(
        'invalid_metadata',
        'An address in the metadata of the authorisation server is not an https address.',
      );
    const leftMs = Math.round(this.#endsAt - performance.now());
    if (leftMs <= 0)
      throw new SignInFault('timeout', 'The authorisation server did not answer in time.');
    const { body } = init;
    const {
      status,
      headers,
      body: bytes,
    } = await this.#fetch(url.href, {
      method: (init.method ?? 'GET') as 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(body == null ? {} : { body: String(body) }),
      timeoutMs: Math.min(leftMs, requestMsMax),
      bytesMax,
    });
    // Read by others, who do not count first.
    if (bytes.length > 0) refuseCostlyJson(bytes);
    const kept = new Headers();
    for (const name of ['content-type', 'www-authenticate']) {
      const value = headers[name];
      if (typeof value === 'string') kept.set(name, value);
    }
    const isEmpty = bytes.length === 0 || [204, 205, 304].includes(status);
    return new Response(isEmpty ? null : new Uint8Array(bytes), { status, headers: kept });
  }
}

/**
 * Whether a host is written as it is read: `http://134744072/` is 8.8.8.8 to some. Asked of the text, for what has been parsed is
 * written anew.
 */
export function isPlain(address: string): boolean {
  const url = URL.parse(address);
  const [, authority = ''] = /^https?:\/\/([^/?#\\]*)/i.exec(address) ?? [];
  if (url === null || authority === '') return false;
  const port = url.protocol === 'https:' ? 443 : 80;
  return [url.host, `${url.hostname}:${port}`].includes(authority.toLowerCase());
}
