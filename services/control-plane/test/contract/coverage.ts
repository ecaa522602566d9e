/** Published operations that are not built yet, by operationId, and why. */
export const leftOut: Readonly<Record<string, string>> = {};

/** Operations that the gateway answers itself; `scripts/docs/code-blocks.test.ts` sends their examples. */
export const answeredElsewhere: Readonly<Record<string, string>> = {
  createPromptCompletion: 'answered by the gateway',
  createPromptRender: 'answered by the gateway',
};

/** One line for whoever runs the test: how much of the published description it reaches. */
export function coverageLine(published: readonly string[], covered: ReadonlySet<string>): string {
  const reasons = new Map<string, number>();
  for (const reason of published.map((id) => leftOut[id] ?? answeredElsewhere[id]))
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const count = published.filter((id) => covered.has(id)).length;
  const others = [...reasons].map(([reason, number]) => `${number} (${reason})`).join(', ');
  return `contract: ${count} of ${published.length} published admin operations are covered, left out: ${others}`;
}
