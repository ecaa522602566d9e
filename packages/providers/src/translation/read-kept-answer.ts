import type { JsonObject } from '@sluice/contracts';
import type { ReplyFacts, WireFormat } from '../contract.ts';
import { objectOf, parseJson } from '../json/json-access.ts';
import { nativeFormat } from './native-formats.ts';
import { NativeStreamReader } from './native-stream.ts';
import { bytesSaidIn } from './said-in-bytes.ts';

/** What an answer tells that was kept in its caller's format; `{}` where the format tells nothing. */
export function readKeptAnswer(
  format: WireFormat,
  { body, isStream }: { readonly body: Buffer; readonly isStream: boolean },
  request: JsonObject,
): ReplyFacts {
  const { read, openTap } = nativeFormat(format);
  if (isStream) {
    const tap = openTap?.(request);
    if (tap === undefined) return {};
    const reader = new NativeStreamReader(tap);
    reader.push(body);
    reader.end();
    return reader.facts;
  }
  const json = objectOf(parseJson(body));
  const facts = json === undefined ? undefined : read?.(json);
  if (json === undefined || facts === undefined) return {};
  return facts.usage === undefined ? { ...facts, saidBytes: bytesSaidIn(json) } : facts;
}
