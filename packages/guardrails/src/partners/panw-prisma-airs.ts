import { below } from './address.ts';
import { partnerCheck } from './partner-check.ts';

export const panwPrismaAirsPartners = {
  'panw-prisma-airs.intercept': partnerCheck('panw-prisma-airs.intercept', {
    name: 'Prisma AIRS',
    request({ credentials, parameters, event, text, context }) {
      const { profile_name, profile_id, ai_model, app_user, app_name } = parameters;
      return {
        url: below(
          credentials.apiEndpoint ?? 'https://service.api.aisecurity.paloaltonetworks.com',
          '/v1/scan/sync/request',
        ),
        headers: { 'x-pan-token': credentials.AIRS_API_KEY },
        body: {
          tr_id: context.requestId,
          ai_profile: {
            ...(profile_name === undefined ? {} : { profile_name }),
            ...(profile_id === undefined ? {} : { profile_id }),
          },
          metadata: {
            ai_model: ai_model ?? 'unknown-model',
            app_user: app_user ?? 'sluice',
            app_name: app_name ?? 'sluice',
          },
          contents: [{ [event === 'beforeRequest' ? 'prompt' : 'response']: text }],
        },
      };
    },
    verdict(reply) {
      const action = reply.at('action').oneOf('allow', 'block', 'alert');
      return {
        found: action === 'block',
        data: { action, category: reply.maybe('category')?.text() ?? null },
      };
    },
  }),
};
