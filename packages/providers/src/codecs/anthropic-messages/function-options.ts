import type { ChatTool, FunctionTool, JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, stringOf } from '../../json/json-access.ts';
import { encodeProviderTool } from './encode-provider-tool.ts';

/**
 * Fields of a function tool that this format knows and the chat model does not. Two of them
 * other vendors have under the same names: those are sent as far as they mean the same here.
 */
export class FunctionOptions {
  readonly #isSearched: boolean;

  constructor(tools: readonly ChatTool[]) {
    this.#isSearched = tools.some(isSearch);
  }

  encode(tool: FunctionTool, dropped: string[]): JsonObject {
    const options: JsonObject = {};
    for (const [name, value] of Object.entries(tool.extensions ?? {})) {
      const taken = this.#taken(name, value);
      if (taken !== undefined) options[name] = taken;
      if (taken === undefined || (Array.isArray(value) && arrayOf(taken)?.length !== value.length))
        dropped.push(`${tool.path}.function.${name}`);
    }
    return options;
  }

  #taken(name: string, value: JsonValue | undefined): JsonValue | undefined {
    switch (name) {
      case 'input_examples':
        return value;
      case 'defer_loading':
        // Without a search nothing would ever show it to the model; a list of nothing else is refused.
        return value === true && !this.#isSearched ? undefined : value;
      case 'allowed_callers': {
        const known = arrayOf(value)?.filter(isCaller) ?? [];
        return known.length === 0 ? undefined : known;
      }
      default:
        return undefined;
    }
  }
}

function isSearch(tool: ChatTool): boolean {
  if (tool.type !== 'provider') return false;
  return stringOf(encodeProviderTool(tool, [])?.type)?.startsWith('tool_search_tool') === true;
}

/** OpenAI calls its own `programmatic`. */
function isCaller(value: JsonValue): boolean {
  return value === 'direct' || (stringOf(value)?.startsWith('code_execution_') ?? false);
}
