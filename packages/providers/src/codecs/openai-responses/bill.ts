import type { JsonObject, ReplyBill } from '@sluice/contracts';
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
  let webSearches = 0;
  let fileSearches = 0;
  let codeExecutions = 0;
  for (const value of arrayOf(output) ?? []) {
    const item = objectOf(value);
    switch (item?.type) {
      case 'web_search_call':
        if (isSearch(item)) webSearches += 1;
        break;
      case 'file_search_call':
        fileSearches += 1;
        break;
      case 'code_interpreter_call':
        codeExecutions += 1;
        break;
    }
  }
  return countedUnits({ webSearches, fileSearches, codeExecutions });
}

/** Opening a page and looking for words in it are no search, and are charged as tokens alone. */
function isSearch(item: JsonObject): boolean {
  const action = objectOf(item.action)?.type;
  return action === undefined || action === 'search';
}
