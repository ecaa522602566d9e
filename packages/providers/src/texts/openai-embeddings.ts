import type { TextFormat } from './text-format.ts';
import { contentTexts } from './texts.ts';

/** What is embedded; vectors are no texts. */
export const openAiEmbeddingsTexts: TextFormat = {
  ofRequest: (request) => contentTexts(request.input, '\n', (input) => ({ ...request, input })),
};
