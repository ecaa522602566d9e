import type { AnswerOf } from '@sluice/contracts/admin';
import type { analytics } from '@sluice/proto-stubs';
import { centsOf } from '../logs/record-parts.ts';
import type { ExportedUse } from './exported-use.ts';

type Compared = AnswerOf<'ledger.imports.create'>['data'];
type Figures = Compared[number]['ledger'];

interface Sums {
  requests?: number;
  inputTokens?: number;
  outputTokens?: number;
  costNanoUsd?: bigint;
}

/** What an export and the ledger say of each model and day: of all that one of them knows. */
export function compareUse(
  exported: readonly ExportedUse[],
  ledger: readonly analytics.ModelDay[],
  keyOf: (model: string) => string,
): Compared {
  const rows = new Map<string, { day: string; model: string; told: Sums; kept: Sums }>();
  const rowOf = (day: string, model: string) => {
    const key = `${day} ${keyOf(model)}`;
    const row = rows.get(key) ?? { day, model, told: {}, kept: {} };
    rows.set(key, row);
    return row;
  };
  for (const use of exported) add(rowOf(use.day, use.model).told, use);
  for (const { day, model, requests, inputTokens, outputTokens, costNanoUsd } of ledger)
    add(rowOf(day, model).kept, {
      requests: Number(requests),
      inputTokens: Number(inputTokens),
      outputTokens: Number(outputTokens),
      costNanoUsd,
    });
  // Where an export has nothing of a model, it tells of it what it tells of others.
  const kinds = new Set(exported.flatMap((use) => Object.keys(use)));
  return [...rows.values()]
    .sort((one, other) => (one.day + one.model < other.day + other.model ? -1 : 1))
    .map(({ day, model, told, kept }) => {
      const figures = figuresOf(told, (kind) => kinds.has(kind));
      const own = figuresOf(kept, () => true);
      return {
        day,
        ai_model: model,
        exported: figures,
        ledger: own,
        difference: less(figures, own),
      };
    });
}

function add(sums: Sums, more: Sums): void {
  for (const name of ['requests', 'inputTokens', 'outputTokens'] as const) {
    const value = more[name];
    if (value !== undefined) sums[name] = (sums[name] ?? 0) + value;
  }
  if (more.costNanoUsd !== undefined)
    sums.costNanoUsd = (sums.costNanoUsd ?? 0n) + more.costNanoUsd;
}

function figuresOf(sums: Sums, tells: (kind: keyof Sums) => boolean): Figures {
  return {
    requests: tells('requests') ? (sums.requests ?? 0) : null,
    input_tokens: tells('inputTokens') ? (sums.inputTokens ?? 0) : null,
    output_tokens: tells('outputTokens') ? (sums.outputTokens ?? 0) : null,
    cost: tells('costNanoUsd') ? centsOf(sums.costNanoUsd ?? 0n) : null,
  };
}

function less(told: Figures, own: Figures): Figures {
  const of = (name: keyof Figures) => {
    const [one, other] = [told[name], own[name]];
    // Cents have seven places.
    return one === null || other === null ? null : Math.round((one - other) * 1e7) / 1e7;
  };
  return {
    requests: of('requests'),
    input_tokens: of('input_tokens'),
    output_tokens: of('output_tokens'),
    cost: of('cost'),
  };
}
