import type { JsonObject, JsonValue, ReplyUnits } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';

export type ToolUnit =
  | 'webSearches'
  | 'previewSearches'
  | 'fileSearches'
  | 'xSearches'
  | 'attachmentSearches'
  | 'mapSearches'
  | 'codeExecutions'
  | 'imageGenerations';

/** A tool that providers run themselves and charge by the use, in the words of all formats. */
interface ChargedTool {
  /** Types among a request's `tools`, without the dates that some end in. */
  readonly types: readonly string[];
  /** Of Gemini's tools the member that asks for it. */
  readonly members: readonly string[];
  /** Items of OpenAI's responses, each of which is a use. */
  readonly item?: string;
  /** Blocks of Anthropic's messages, each of which is what a use found. */
  readonly block?: string;
  /** What usage counts it as; the first that is there is right. */
  readonly counters: readonly string[];
}

/** What requests ask for and replies tell, by what prices are listed for. */
export const chargedTools: Readonly<Record<ToolUnit, ChargedTool>> = {
  webSearches: {
    types: ['web_search'],
    members: ['googleSearch', 'googleSearchRetrieval', 'enterpriseWebSearch'],
    item: 'web_search_call',
    block: 'web_search_tool_result',
    counters: ['web_search_calls', 'web_search_requests', 'num_search_queries'],
  },
  // Answers tell it as any search of the web, and repeat the tool that was named.
  previewSearches: { types: ['web_search_preview'], members: [], counters: [] },
  xSearches: { types: ['x_search'], members: [], counters: ['x_search_calls'] },
  attachmentSearches: { types: [], members: [], counters: ['document_search_calls'] },
  fileSearches: {
    types: ['file_search', 'collections_search'],
    members: [],
    item: 'file_search_call',
    counters: ['file_search_calls'],
  },
  mapSearches: { types: [], members: ['googleMaps'], counters: [] },
  codeExecutions: {
    types: ['code_interpreter', 'code_execution'],
    members: ['codeExecution'],
    item: 'code_interpreter_call',
    counters: ['code_interpreter_calls', 'code_execution_requests'],
  },
  imageGenerations: {
    types: ['image_generation'],
    members: [],
    item: 'image_generation_call',
    counters: [],
  },
};

const units = Object.keys(chargedTools) as ToolUnit[];

/** Of parts of a usage what each tool is counted as, whatever that is; undefined where none of them is there. */
export function countersIn(...parts: readonly (JsonObject | undefined)[]): {
  [Unit in ToolUnit]?: JsonValue;
} {
  const told: { [Unit in ToolUnit]?: JsonValue } = {};
  for (const unit of units)
    for (const name of chargedTools[unit].counters) {
      const count = parts.find((part) => part?.[name] != null)?.[name];
      if (count === undefined) continue;
      told[unit] = count;
      break;
    }
  return told;
}

/** Uses of the hosted shell, which are such where it runs at the provider. */
export const shellItem = 'shell_call';

/** Types of the parts of an answer that may be a use. */
export const usesShown: readonly string[] = [
  ...units.flatMap((unit) => [chargedTools[unit].item, chargedTools[unit].block]),
  shellItem,
].filter((type) => type !== undefined);

/** Whether an answer tells no more of its price than which tools it used: its text is charged beside them. */
export function areToolsAlone(told: ReplyUnits): boolean {
  return Object.keys(told).every((unit) => unit in chargedTools || unit === 'searchContext');
}

const unitOfBlock = new Map(units.map((unit) => [chargedTools[unit].block, unit]));

/** Which tool a block of a message shows to be used: one that failed is not charged. */
export function unitOfResult({ type, content }: JsonObject): ToolUnit | undefined {
  const unit = typeof type === 'string' ? unitOfBlock.get(type) : undefined;
  return unit !== undefined && arrayOf(content) !== undefined ? unit : undefined;
}

const unitOfItem = new Map(units.map((unit) => [chargedTools[unit].item, unit]));

/** Which tool an item of a response is a use of. */
export function unitOfCall(type: JsonValue | undefined): ToolUnit | undefined {
  return typeof type === 'string' ? unitOfItem.get(type) : undefined;
}

/** How often a request lets each tool be used: what callers are known to allow, else once. */
export interface AskedToolUses {
  /** One of each. */
  readonly expected: ReplyUnits;
  /** As often as the request says at most. */
  readonly most: ReplyUnits;
}

/** Of a request in any format; undefined = it asks for none of them. */
export function askedToolUses(request: JsonObject): AskedToolUses | undefined {
  const tools = arrayOf(request.tools);
  if (tools === undefined) return undefined;
  const most: Partial<Record<ToolUnit, number>> = {};
  const inAll = usesOf(request.max_tool_calls) ?? usesMax;
  const add = (unit: ToolUnit, uses: number | undefined) => {
    const allowed = Math.min(uses ?? usesOf(request.max_tool_calls) ?? 1, inAll);
    most[unit] = Math.min((most[unit] ?? 0) + allowed, usesMax);
  };
  for (const value of tools) {
    const tool = objectOf(value);
    const unit = tool && unitOfTool(tool);
    if (unit !== undefined) add(unit, usesOf(tool?.max_uses));
  }
  const expected: Partial<Record<ToolUnit, number>> = {};
  let isAsked = false;
  for (const [unit, uses] of Object.entries(most)) {
    expected[unit as ToolUnit] = Math.min(uses, 1);
    isAsked = true;
  }
  return isAsked ? { expected, most } : undefined;
}

const unitOfType = new Map(
  units.flatMap((unit) => chargedTools[unit].types.map((type) => [type, unit] as const)),
);
const unitOfMember = new Map(
  units.flatMap((unit) => chargedTools[unit].members.map((member) => [member, unit] as const)),
);

function unitOfTool(tool: JsonObject): ToolUnit | undefined {
  const type = stringOf(tool.type);
  if (type === 'shell') return runsAtCaller(tool) ? undefined : 'codeExecutions';
  if (type !== undefined) return unitOfType.get(type.replace(dateAtEnd, ''));
  for (const name in tool) {
    const unit = unitOfMember.get(name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()));
    if (unit !== undefined) return unit;
  }
  return undefined;
}

/** Of OpenAI's `shell`: in a container it runs at the provider, as its own code interpreter does. */
export function runsAtCaller(tool: JsonObject): boolean {
  const environment = objectOf(tool.environment);
  return environment === undefined || environment.type === 'local';
}

const dateAtEnd = /_\d{4}_?\d{2}_?\d{2}$/;

function usesOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.min(Math.floor(value), usesMax) : undefined;
}

/** More than any vendor does for one reply. */
const usesMax = 1000;
