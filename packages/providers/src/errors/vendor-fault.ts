import type { ChatStreamEvent, JsonValue, VendorFault } from '@sluice/contracts';
import type { StreamFault } from '../contract.ts';
import { stringOf } from '../json/json-access.ts';

/** What is told of these two, of a fault; nothing where neither is a text. */
export function vendorFault(
  saidCode: JsonValue | undefined,
  saidParam?: JsonValue,
): { vendor?: VendorFault } {
  const code = stringOf(saidCode);
  const param = stringOf(saidParam);
  if (code === undefined && param === undefined) return {};
  return { vendor: { ...(code !== undefined && { code }), ...(param !== undefined && { param }) } };
}

/** A fault within a stream, in the form that all formats share. */
export function faultEvent({ type, message, status, vendor }: StreamFault): ChatStreamEvent {
  return { type: 'fault', kind: type, message, status, ...(vendor !== undefined && { vendor }) };
}
