import { partnerCheck } from './partner-check.ts';

export const mistralPartners = {
  'mistral.moderateContent': partnerCheck('mistral.moderateContent', {
    name: 'Mistral',
    request: ({ credentials: { apiKey }, parameters: { model }, parts }) => ({
      url: 'https://api.mistral.ai/v1/moderations',
      headers: { authorization: `Bearer ${apiKey}` },
      body: { model, input: [...parts] },
    }),
    verdict(reply, { parameters, parts }) {
      const asked: readonly string[] = parameters.categories;
      const flagged = reply
        .at('results')
        .listOf(parts.length)
        .flatMap((result) => result.at('categories').entries())
        .flatMap(([category, value]) =>
          value.flag() && asked.includes(category) ? [category] : [],
        );
      return { found: flagged.length > 0, data: { flagged_categories: [...new Set(flagged)] } };
    },
  }),
};
