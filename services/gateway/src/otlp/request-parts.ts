import { jsonBounds, readJsonText } from '@sluice/json';
import type { AttributeValue } from '@sluice/otlp';
import type { usage } from '@sluice/proto-stubs';

/** A part of a request that has a span of its own, below that of the attempt. */
export interface RequestPart {
  /** Names it among the parts of one record. */
  readonly id: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly hasFailed: boolean;
}

type TellParts = (record: usage.UsageRecord) => readonly RequestPart[];

/** The one place where such parts are declared; each reads what the record says of it. */
export const requestParts: readonly TellParts[] = [guardrailParts];

/** What the checks of the target came to. */
function guardrailParts({ decisionJson }: usage.UsageRecord): readonly RequestPart[] {
  if (!decisionJson.includes('"hooks":')) return [];
  return verdictsIn(decisionJson).map(({ id, event, verdict, deny }, at) => ({
    id: `guardrail:${at}`,
    name: `service.guardrail.${event === 'before' ? 'input' : 'output'}`,
    attributes: {
      'service.guardrail.id': id,
      'service.guardrail.phase': event === 'before' ? 'input' : 'output',
      'service.guardrail.verdict': verdict ? 'passed' : 'failed',
      'service.guardrail.deny': deny,
    },
    hasFailed: !verdict,
  }));
}

interface Verdict {
  readonly id: string;
  readonly event: 'before' | 'after';
  readonly verdict: boolean;
  readonly deny: boolean;
}

/** As the record keeps them: we wrote it. */
function verdictsIn(decisionJson: string): readonly Verdict[] {
  const { hooks } = readJsonText(decisionJson, jsonBounds.small) as { hooks?: readonly Verdict[] };
  return hooks ?? [];
}
