import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import type { OwnWords } from '../own-words.ts';
import { isItemOfOurs } from './response-object.ts';
import { isSealed } from './sealed-thinking.ts';

/**
 * A request without the thoughts of other providers; undefined where there are
 * none. This provider finds a thought without `encrypted_content` by its id
 * among those that it keeps, where there is none of ours.
 */
export function withoutForeign(body: JsonObject): OwnWords | undefined {
  const input = arrayOf(body.input);
  if (input === undefined || !input.some(isForeign)) return undefined;
  const dropped: string[] = [];
  const kept: JsonValue[] = [];
  for (const [index, item] of input.entries())
    if (isForeign(item)) dropped.push(`input[${index}]`);
    else kept.push(item);
  return { body: { ...body, input: kept }, dropped };
}

function isForeign(value: JsonValue): boolean {
  const item = objectOf(value);
  if (item?.type !== 'reasoning') return false;
  const sealed = stringOf(item.encrypted_content);
  return sealed === undefined ? isItemOfOurs(stringOf(item.id)) : isSealed(sealed);
}
