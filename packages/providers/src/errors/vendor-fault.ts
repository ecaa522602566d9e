import type { ChatStreamEvent, JsonValue, VendorFault } from '@sluice/contracts';
import type { StreamFault } from '../contract.ts';
import { stringOf } from '../json/json-access.ts';

/** What is told of these two, of a fault; nothing where neither is a text. */
export function vendorFault(
  code: JsonValue | undefined,
  param?: JsonValue,
): { vendor?: VendorFault } {
  const said = {
    ...(stringOf(code) !== undefined && { code: stringOf(code) as string }),
    ...(stringOf(param) !== undefined && { param: stringOf(param) as string }),
  };
  return Object.keys(said).length === 0 ? {} : { vendor: said };
}

/** A fault within a stream, in the form that all formats share. */
export function faultEvent({ type, message, status, vendor }: StreamFault): ChatStreamEvent {
  return { type: 'fault', kind: type, message, status, ...(vendor !== undefined && { vendor }) };
}
