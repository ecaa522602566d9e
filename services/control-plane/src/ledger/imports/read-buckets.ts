import { type JsonBounds, JsonError, jsonBounds, readJsonText } from '@sluice/json';
import { faultAt } from './exported-use.ts';

/** A result of a usage or cost report, with where it stands and the bucket around it. */
export interface BucketResult {
  readonly place: string;
  readonly bucket: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

const bounds: JsonBounds = { ...jsonBounds.request, depthMax: 16 };

/**
 * The results of a report as both providers' APIs answer it: a page of buckets of results, or a list of all pages.
 * @throws GatewayError with the path of the fault
 */
export function readBuckets(text: string): BucketResult[] {
  const results: BucketResult[] = [];
  const report = parse(text);
  const pages = Array.isArray(report) ? report : [report];
  pages.forEach((page: unknown, number) => {
    const at = Array.isArray(report) ? `[${number}]` : '';
    for (const [index, bucket] of listIn(page, `${at}.data`).entries())
      for (const [each, result] of listIn(bucket, `${at}.data[${index}].results`).entries()) {
        const place = `${at}.data[${index}].results[${each}]`.replace(/^\./, '');
        if (!isObject(bucket) || !isObject(result)) throw faultAt(place, 'is no object');
        results.push({ place, bucket, fields: result });
      }
    const isLast = number === pages.length - 1;
    if (isLast && isObject(page) && page.has_more === true)
      throw faultAt(
        `${at}.has_more`.replace(/^\./, ''),
        'says that pages are missing: send a list of all',
      );
  });
  return results;
}

function parse(text: string): unknown {
  try {
    return readJsonText(text.replace(/^\uFEFF/, ''), bounds);
  } catch (error) {
    if (error instanceof JsonError) throw faultAt('the text', `is ${error.message}`);
    throw error;
  }
}

function listIn(holder: unknown, place: string): unknown[] {
  const name = place.slice(place.lastIndexOf('.') + 1);
  const list = isObject(holder) ? holder[name] : undefined;
  if (!Array.isArray(list)) throw faultAt(place.replace(/^\./, ''), 'is no list');
  return list;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
