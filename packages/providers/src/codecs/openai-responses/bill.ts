import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { shellItem, type ToolUnit, unitOfCall } from '../../bills/charged-tools.ts';
import { countedUnits } from '../../bills/counted-units.ts';
import { arrayOf, compact, countOf, objectOf } from '../../json/json-access.ts';
import { readBill as readChatBill } from '../openai-chat/bill.ts';

/** What a whole response says of its price beside tokens: the calls of tools are among its output. */
export function readBill(response: JsonObject): ReplyBill {
  const told = readChatBill(response);
  return told.units === undefined
    ? compact<ReplyBill>({ ...told, units: unitsOf(response) })
    : told;
}

function unitsOf({ output, tool_usage }: JsonObject): ReplyBill['units'] {
  const uses: Partial<Record<ToolUnit, number>> = {};
  for (const value of arrayOf(output) ?? []) {
    const item = objectOf(value);
    const unit = item === undefined ? undefined : unitOfItem(item);
    if (unit !== undefined) uses[unit] = (uses[unit] ?? 0) + 1;
  }
  const told = objectOf(tool_usage);
  const searches = countOf(objectOf(told?.web_search)?.num_requests);
  // What is charged: some that are made are not.
  if (told?.web_search !== undefined) uses.webSearches = searches;
  // Its calls may be missing among the items of a response that is told at the end of a stream.
  if (countOf(objectOf(told?.image_gen)?.total_tokens) > 0) uses.imageGenerations ??= 1;
  return countedUnits(uses);
}

/** Which charged tool an item that is done is a use of. */
export function unitOfItem(item: JsonObject): ToolUnit | undefined {
  // In a container of the provider's; elsewhere the caller runs it.
  if (item.type === shellItem)
    return objectOf(item.environment)?.type === 'container_reference'
      ? 'codeExecutions'
      : undefined;
  return isCharged(item) ? unitOfCall(item.type) : undefined;
}

/** Opening a page and looking for words in it are no search, and are charged as tokens alone. */
function isCharged(item: JsonObject): boolean {
  if (item.type !== 'web_search_call') return true;
  const action = objectOf(item.action)?.type;
  return action === undefined || action === 'search';
}
