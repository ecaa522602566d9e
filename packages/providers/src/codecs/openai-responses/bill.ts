import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { type ToolUnit, unitOfCall } from '../../bills/charged-tools.ts';
import { countedUnits } from '../../bills/counted-units.ts';
import { arrayOf, compact, objectOf } from '../../json/json-access.ts';
import { readBill as readChatBill } from '../openai-chat/bill.ts';

/** What a whole response says of its price beside tokens: the calls of tools are among its output. */
export function readBill(response: JsonObject): ReplyBill {
  const told = readChatBill(response);
  return told.units === undefined
    ? compact<ReplyBill>({ ...told, units: unitsOf(response) })
    : told;
}

function unitsOf({ output }: JsonObject): ReplyBill['units'] {
  const uses: Partial<Record<ToolUnit, number>> = {};
  for (const value of arrayOf(output) ?? []) {
    const item = objectOf(value);
    const unit = unitOfCall(item?.type);
    if (item === undefined || unit === undefined || !isCharged(item)) continue;
    uses[unit] = (uses[unit] ?? 0) + 1;
  }
  return countedUnits(uses);
}

/** Opening a page and looking for words in it are no search, and are charged as tokens alone. */
function isCharged(item: JsonObject): boolean {
  if (item.type !== 'web_search_call') return true;
  const action = objectOf(item.action)?.type;
  return action === undefined || action === 'search';
}
