import type { IncomingHttpHeaders } from 'node:http';
import type { UsageRecord } from '@sluice/usage';

/** What the caller's client says of itself; nothing is made of it, so it need only be short. */
export function addClient(record: UsageRecord, headers: IncomingHttpHeaders): void {
  record.sdkVersion = short(headers['x-stainless-package-version']);
  const runtime = headers['x-stainless-runtime'];
  if (runtime !== undefined) {
    record.runtime = short(runtime);
    record.runtimeVersion = short(headers['x-stainless-runtime-version']);
    return;
  }
  const agent = headers['user-agent'];
  if (agent === undefined) return;
  // The first product of it, `curl/8.5.0`; what follows are comments, and the libraries it is made of.
  const end = agent.indexOf(' ');
  const product = end < 0 ? agent : agent.slice(0, end);
  const slash = product.indexOf('/');
  record.runtime = short(slash < 0 ? product : product.slice(0, slash));
  if (slash >= 0) record.runtimeVersion = short(product.slice(slash + 1));
}

function short(value: string | string[] | undefined): string {
  if (typeof value !== 'string') return '';
  return value.length <= lengthMax ? value : value.slice(0, lengthMax);
}

const lengthMax = 64;
