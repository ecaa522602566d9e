/** What an answer to a line says of itself, for the metrics. */
export interface LineFacts {
  /** Of the catalogue; undefined = nobody was asked. */
  readonly provider?: string;
  readonly costUsd?: number;
  readonly inputTokens: number;
  readonly totalTokens: number;
}

/** @param value  the body, read */
export function factsOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  value: unknown,
): LineFacts {
  const provider = headerEnding(headers, '-provider');
  // The header has cents.
  const costUsd = Number(headerEnding(headers, '-cost')) / 100;
  return {
    ...(provider !== undefined && { provider }),
    ...(costUsd > 0 && Number.isFinite(costUsd) && { costUsd }),
    ...tokensIn(value),
  };
}

/** Of `usage` as chat completions, responses and messages have it. */
export function tokensIn(value: unknown): { inputTokens: number; totalTokens: number } {
  const usage = memberOf(value, 'usage');
  const count = (name: string) => {
    const given = memberOf(usage, name);
    return typeof given === 'number' && given > 0 && Number.isFinite(given) ? given : 0;
  };
  // Messages count what was cached apart.
  const inputTokens =
    count('prompt_tokens') ||
    count('input_tokens') + count('cache_read_input_tokens') + count('cache_creation_input_tokens');
  const output = count('completion_tokens') || count('output_tokens');
  return { inputTokens, totalTokens: count('total_tokens') || inputTokens + output };
}

/** Of our own headers, of whichever prefix. */
export function headerEnding(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  end: string,
): string | undefined {
  const [, value] = Object.entries(headers).find(([name]) => name.endsWith(end)) ?? [];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
