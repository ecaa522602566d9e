import { below } from './address.ts';
import { messagesOf, partnerCheck } from './partner-check.ts';

export const aporiaPartners = {
  'aporia.validateProject': partnerCheck('aporia.validateProject', {
    name: 'Aporia',
    request(asked) {
      const { credentials, parameters, event, question, text } = asked;
      const isAnswer = event === 'afterRequest';
      return {
        url: below(
          credentials.apiEndpoint ?? 'https://gr-prd.aporia.com',
          `/${encodeURIComponent(parameters.projectID)}/validate`,
        ),
        headers: { 'x-aporia-api-key': credentials.apiKey },
        body: {
          messages: isAnswer ? [{ role: 'user', content: question }] : messagesOf(asked),
          ...(isAnswer ? { response: text } : {}),
          validation_target: isAnswer ? 'response' : 'prompt',
          explain: true,
        },
      };
    },
    verdict(reply) {
      const action = reply.at('action').text();
      return { found: action !== 'passthrough', data: { action } };
    },
  }),
};
