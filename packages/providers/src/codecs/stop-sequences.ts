/**
 * The stop sequences that a provider takes: undefined where none is left. Those beyond
 * `most`, and those of blanks alone where such are refused, are named as dropped.
 */
export function takenStops(
  stop: readonly string[] | undefined,
  rule: { most?: number | undefined; refusesBlank?: boolean },
  dropped: string[],
): string[] | undefined {
  const { most = Number.POSITIVE_INFINITY, refusesBlank = false } = rule;
  const kept: string[] = [];
  for (const [index, sequence] of (stop ?? []).entries()) {
    const isRefused = sequence === '' || (refusesBlank && sequence.trim() === '');
    if (!isRefused && kept.length < most) kept.push(sequence);
    // One without a letter never stopped anything.
    else if (sequence !== '') dropped.push(`stop[${index}]`);
  }
  return kept.length === 0 ? undefined : kept;
}
