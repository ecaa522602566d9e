import { jsonBounds, readJsonText } from '@sluice/json';
import type { AttributeValue } from '@sluice/otlp';
import type { usage } from '@sluice/proto-stubs';
import type { HookVerdict } from '../exchange/visit.ts';

/** A part of a request that has a span of its own, below that of the attempt. */
export interface RequestPart {
  /** Names it among the parts of one record. */
  readonly id: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly hasFailed: boolean;
  /** What it took. */
  readonly ms: number;
  /** At the end of the attempt, not at its beginning. */
  readonly isLast: boolean;
}

type TellParts = (record: usage.UsageRecord) => readonly RequestPart[];

/** The one place where such parts are declared; each reads what the record says of it. */
export const requestParts: readonly TellParts[] = [cacheParts, guardrailParts];

/** Looking for a kept answer. */
function cacheParts({
  cacheStatus,
  cacheType,
  cacheProcessingMs,
}: usage.UsageRecord): readonly RequestPart[] {
  if (cacheStatus === 'DISABLED' || cacheStatus === '') return [];
  return [
    {
      id: 'cache',
      name: 'service.cache',
      attributes: {
        'service.cache.status': cacheStatus,
        ...(cacheType === '' ? {} : { 'service.cache.type': cacheType }),
      },
      hasFailed: false,
      ms: cacheProcessingMs,
      isLast: false,
    },
  ];
}

/** What the hooks of the target came to. */
function guardrailParts({ decisionJson }: usage.UsageRecord): readonly RequestPart[] {
  if (!decisionJson.includes('"hooks":')) return [];
  return verdictsIn(decisionJson).map((told, at) => {
    const phase = told.event === 'before' ? 'input' : 'output';
    return {
      id: `guardrail:${at}`,
      name: `service.guardrail.${phase}`,
      attributes: {
        'service.guardrail.id': told.id,
        'service.guardrail.phase': phase,
        'service.guardrail.verdict': verdictNames[`${told.verdict}`],
        'service.guardrail.action': told.deny && told.async !== true ? 'deny' : 'none',
        'service.guardrail.deny': told.deny,
        'service.guardrail.async': told.async === true,
        ...(told.errors === undefined
          ? {}
          : {
              'service.guardrail.errors': told.errors.map(
                ({ check, error }) => `${check}: ${error}`,
              ),
            }),
      },
      hasFailed: told.verdict === false,
      ms: told.ms ?? 0,
      isLast: told.event === 'after',
    };
  });
}

const verdictNames = { true: 'passed', false: 'failed', null: 'unknown' } as const;

/** As the record keeps them: we wrote it. */
function verdictsIn(decisionJson: string): readonly HookVerdict[] {
  const { hooks } = readJsonText(decisionJson, jsonBounds.small) as {
    hooks?: readonly HookVerdict[];
  };
  return hooks ?? [];
}
