import { partnerCheck } from './partner-check.ts';

export const sydelabsPartners = {
  'sydelabs.sydeguard': partnerCheck('sydelabs.sydeguard', {
    name: 'SydeGuard',
    request: ({ credentials: { apiKey }, text }) => ({
      url: 'https://guard.sydelabs.ai/api/v1/guard/generate-score',
      headers: { 'x-api-key': apiKey },
      body: { prompt: text },
    }),
    verdict(reply, { parameters }) {
      const scores = Object.fromEntries(
        reply
          .at('category_scores')
          .list()
          .map((item) => [item.at('category').text(), item.at('score').number()]),
      );
      const { PROMPT_INJECT: injection = 0, TOXIC: toxicity = 0, EVASION: evasion = 0 } = scores;
      return {
        found:
          injection > parameters.prompt_injection_threshold ||
          toxicity > parameters.toxicity_threshold ||
          evasion > parameters.evasion_threshold,
        data: { scores },
      };
    },
  }),
};
