import { createHash } from 'node:crypto';
import type { Envelope, JsonObject, JsonValue } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';

/** What Mistral takes for the id of a tool call. */
const ownId = /^[A-Za-z0-9]{9}$/;

/**
 * Conversations that another provider began have ids Mistral refuses. Call and
 * result get the same new id, since it is made of the old one.
 */
export const toolCallIds: Envelope = {
  wrap(body: JsonObject): JsonObject | undefined {
    const messages = arrayOf(body.messages);
    if (messages?.some(hasForeignId) !== true) return undefined;
    return { ...body, messages: messages.map(withOwnIds) };
  },
};

function hasForeignId(message: JsonValue): boolean {
  const object = objectOf(message);
  if (object === undefined) return false;
  return (
    isForeign(object.tool_call_id) ||
    (arrayOf(object.tool_calls)?.some((call) => isForeign(objectOf(call)?.id)) ?? false)
  );
}

function isForeign(id: JsonValue | undefined): id is string {
  return typeof id === 'string' && !ownId.test(id);
}

function withOwnIds(message: JsonValue): JsonValue {
  const object = objectOf(message);
  if (object === undefined || !hasForeignId(object)) return message;
  const edited: JsonObject = { ...object };
  if (isForeign(object.tool_call_id)) edited.tool_call_id = shortened(object.tool_call_id);
  const calls = arrayOf(object.tool_calls);
  if (calls !== undefined)
    edited.tool_calls = calls.map((call) => {
      const id = objectOf(call)?.id;
      return isForeign(id) ? { ...objectOf(call), id: shortened(id) } : call;
    });
  return edited;
}

function shortened(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
