import { arrayOf, objectOf, parseJson, stringOf } from '../json/json-access.ts';

/**
 * How long a refusal says that its caller should wait, in ms; undefined = it
 * does not say. Google says it in the body alone, among the details of the
 * error: `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}`
 * (a Duration of protobuf's JSON, https://protobuf.dev/programming-guides/json/,
 * and google/rpc/error_details.proto).
 */
export function toldWaitMs(body: Buffer): number | undefined {
  if (body.length > bodyBytesMax || !body.includes('RetryInfo')) return undefined;
  const parsed = parseJson(body);
  const error = objectOf(objectOf(arrayOf(parsed)?.[0] ?? parsed)?.error);
  for (const entry of arrayOf(error?.details)?.slice(0, detailsMax) ?? []) {
    const detail = objectOf(entry);
    if (detail?.['@type'] !== 'type.googleapis.com/google.rpc.RetryInfo') continue;
    const seconds = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(stringOf(detail.retryDelay) ?? '')?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}

const bodyBytesMax = 256 * 1024;
const detailsMax = 20;
