import type { ResponseFormat } from '@sluice/contracts';

/** How an answer has to look, for a model that nothing holds to it. */
export function outputInWords(format: Exclude<ResponseFormat, { type: 'text' }>): string {
  return format.type === 'json'
    ? 'Answer with one valid JSON object and nothing else.'
    : `Answer with one JSON value and nothing else. It must fit this JSON schema:\n${JSON.stringify(format.schema)}`;
}
