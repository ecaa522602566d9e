import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { authorisationFailed } from './failure.ts';
import { type TokenReply, tokenFailure, tokenReplyBytesMax } from './token-endpoint.ts';

export interface MetadataRequest {
  step: string;
  /** Of the environment's making. Never what a request names: these addresses are closed to callers. */
  url: string;
  method?: 'GET' | 'PUT';
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Where there is no such service, nobody answers at all. */
  timeoutMs?: number;
}

/**
 * Asks a service of the machine we run on, at an address that the host rules
 * close to all else (169.254.169.254 and the like): so not over the pools, not
 * through a proxy, and without following redirects.
 */
export function askMetadata(request: MetadataRequest): Promise<TokenReply> {
  const { step, url, signal, timeoutMs = 5_000 } = request;
  const open = url.startsWith('https:') ? overHttps : overHttp;
  return new Promise<TokenReply>((resolve, reject) => {
    const settled = () => clearTimeout(timer);
    const fail = (error: unknown) => {
      settled();
      reject(tokenFailure(step, error, signal));
    };
    const call = open(
      url,
      // No shared agent: what is asked once an hour need not hold a connection.
      { method: request.method ?? 'GET', headers: { ...request.headers }, agent: false, signal },
      (reply) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        reply.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > tokenReplyBytesMax) reply.destroy(new Error('the reply is too large'));
          else chunks.push(chunk);
        });
        reply.on('end', () => {
          settled();
          resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
        reply.on('error', fail);
        reply.on('close', () => fail(new Error('the reply broke off')));
      },
    );
    const timer = setTimeout(
      () => call.destroy(authorisationFailed(step, `did not answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    call.on('error', fail);
    call.end();
  });
}
