import type { JsonObject, JsonValue, Reasoning } from '@sluice/contracts';
import { compact, numberOf, stringOf } from '../json/json-access.ts';

const modes: readonly NonNullable<Reasoning['mode']>[] = [
  'enabled',
  'adaptive',
  'between_tools',
  'disabled',
];

/** `thinking`, which callers of several formats may send, beside their own word for an effort. */
export function readReasoning(
  thinking: JsonObject | undefined,
  effort: string | undefined,
): Reasoning | undefined {
  if (thinking === undefined && effort === undefined) return undefined;
  return compact<Reasoning>({
    mode: modeOf(thinking?.type),
    budgetTokens: numberOf(thinking?.budget_tokens),
    display: stringOf(thinking?.display),
    effort,
  });
}

function modeOf(type: JsonValue | undefined): Reasoning['mode'] {
  return modes.find((mode) => mode === type);
}
