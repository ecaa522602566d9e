import { firstChoice, modelOf, streamedChoice } from './choices.ts';
import type { AnswerFormat } from './text-format.ts';
import { contentTexts, noTexts } from './texts.ts';

export const openAiCompletionsTexts: AnswerFormat = {
  ofRequest: (request) => contentTexts(request.prompt, '\n', (prompt) => ({ ...request, prompt })),
  ofReply(reply) {
    const { choice, put } = firstChoice(reply);
    if (choice === undefined) return noTexts(reply);
    return contentTexts(choice.text, '\n', (text) => put({ ...choice, text }));
  },
  ofEvent(chunk) {
    const { choice, put } = streamedChoice(chunk);
    if (choice === undefined) return modelOf(chunk);
    return {
      ...modelOf(chunk),
      texts: contentTexts(choice.text, '', (text) => put({ ...choice, text })),
    };
  },
  replyOf: ({ model, text }) => ({
    object: 'text_completion',
    model,
    choices: [{ index: 0, text }],
  }),
  namesEvents: false,
};
