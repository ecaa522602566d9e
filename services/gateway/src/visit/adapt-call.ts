import { withoutRefusedParameter } from '@sluice/providers';
import type { PreparedCall } from '../exchange/prepared-call.ts';

/**
 * The call without the parameter that a refusal names, which is named as left
 * out; undefined when it names none. Only JSON bodies that are sent as they are
 * known: neither forms nor what flows through.
 */
export function withoutRefused(
  call: PreparedCall,
  refusal: Buffer,
): { call: PreparedCall; name: string } | undefined {
  const { translation, requester, body, sentJson, droppedParams } = call;
  const isJson =
    translation !== undefined &&
    translation.entry.dialect === undefined &&
    requester.subject.form === undefined &&
    Buffer.isBuffer(body);
  const found = isJson ? withoutRefusedParameter(sentJson, refusal) : undefined;
  if (found === undefined) return undefined;
  return {
    name: found.name,
    call: {
      ...call,
      body: Buffer.from(JSON.stringify(found.body)),
      sentJson: found.body,
      droppedParams: [...droppedParams, found.name],
    },
  };
}
