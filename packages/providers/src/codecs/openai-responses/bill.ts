import type { JsonObject, JsonValue, OtherModel, ReplyBill } from '@sluice/contracts';
import { shellItem, type ToolUnit, unitOfCall } from '../../bills/charged-tools.ts';
import { countedUnits } from '../../bills/counted-units.ts';
import { arrayOf, compact, countOf, objectOf, stringOf } from '../../json/json-access.ts';
import { readBill as readChatBill } from '../openai-chat/bill.ts';
import { pictureModel, svgWriter } from './picture-models.ts';

/** What a whole response says of its price beside tokens: the calls of tools are among its output. */
export function readBill(response: JsonObject): ReplyBill {
  const told = readChatBill(response);
  if (told.units !== undefined) return told;
  const drawn = pictureModel(response);
  return compact<ReplyBill>({
    ...told,
    units: unitsOf(response, drawn !== undefined),
    otherModels: othersOf(response, drawn),
  });
}

/** Who drew pictures, and who wrote them as SVG. */
function othersOf(
  { output }: JsonObject,
  drawn: OtherModel | undefined,
): readonly OtherModel[] | undefined {
  const writers = (arrayOf(output) ?? []).flatMap((item) => svgWriter(objectOf(item) ?? {}) ?? []);
  const others = [...(drawn === undefined ? [] : [drawn]), ...writers.slice(0, writersMax)];
  return others.length === 0 ? undefined : others;
}

/** More than a response draws: each is looked up in lists of prices. */
const writersMax = 200;

/** @param isDrawn the tokens of its pictures are told apart, and those of a model that is known */
function unitsOf(response: JsonObject, isDrawn: boolean): ReplyBill['units'] {
  const { output, tool_usage } = response;
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
  if (isDrawn) delete uses.imageGenerations;
  const { webSearches, ...rest } = uses;
  return countedUnits({ ...rest, [searchUnitOf(response.tools)]: webSearches });
}

const preview = /^web_search_preview(?:_\d{4}_\d{2}_\d{2})?$/;

/**
 * What searches of the web are counted as, by the tools of a response, which repeats them as they were asked for:
 * those of models that do not reason cost more by the tool that came before today's.
 * https://developers.openai.com/api/docs/pricing
 */
export function searchUnitOf(tools: JsonValue | undefined): 'webSearches' | 'previewSearches' {
  const types = (arrayOf(tools) ?? []).map((tool) => stringOf(objectOf(tool)?.type) ?? '');
  return types.some((type) => preview.test(type)) ? 'previewSearches' : 'webSearches';
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
