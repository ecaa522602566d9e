import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { countedUnits } from '../../bills/counted-units.ts';
import { compact, countOf, objectOf } from '../../json/json-access.ts';
import { countsIn } from './wire.ts';

/** What is charged is told beside what the model saw: its own additions to the prompt are free. */
export function readBill(body: JsonObject): ReplyBill {
  const billed = objectOf(objectOf(body.usage)?.billed_units);
  if (billed === undefined) return {};
  return compact<ReplyBill>({
    chargedTokens:
      countsIn(billed) === undefined
        ? undefined
        : {
            inputTokens: countOf(billed.input_tokens),
            outputTokens: countOf(billed.output_tokens),
          },
    units: countedUnits({ searchUnits: billed.search_units }),
  });
}
