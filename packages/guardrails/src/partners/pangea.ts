import type { JsonObject } from '@sluice/providers';
import { CheckError } from '../check.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

const name = 'Pangea';

/** Some of what it could not do is said with the status 200. */
function resultOf(reply: Reply): Reply {
  if (reply.at('status').text() === 'Success') return reply.at('result');
  throw new CheckError('HostFailed', `${name} did not succeed.`);
}

export const pangeaPartners = {
  'pangea.textGuard': partnerCheck('pangea.textGuard', {
    name,
    request: ({ credentials: { apiKey, domain }, parameters, text }) => ({
      url: `https://ai-guard.${domain}/v1/text/guard`,
      headers: { authorization: `Bearer ${apiKey}` },
      body: {
        text,
        ...(parameters.recipe === undefined ? {} : { recipe: parameters.recipe }),
        debug: parameters.debug,
        ...(parameters.overrides === undefined
          ? {}
          : { overrides: parameters.overrides as JsonObject }),
      },
    }),
    verdict(reply) {
      const detected = resultOf(reply)
        .at('detectors')
        .entries()
        .flatMap(([detector, value]) => (value.at('detected').flag() ? [detector] : []));
      return { found: detected.length > 0, data: { detected } };
    },
  }),

  'pangea.pii': partnerCheck('pangea.pii', {
    name,
    request: ({ credentials: { apiKey, domain }, parts }) => ({
      url: `https://redact.${domain}/v1/redact_structured`,
      headers: { authorization: `Bearer ${apiKey}` },
      body: { data: [...parts] },
    }),
    verdict(reply, { parameters: { redact }, parts }) {
      const result = resultOf(reply);
      const count = result.at('count').number();
      const data = { count };
      if (!redact || count === 0) return { found: count > 0, data };
      const redacted = result
        .at('redacted_data')
        .listOf(parts.length)
        .map((item, index) => (item.text() === parts[index] ? null : item.text()));
      return { found: redacted.every((part) => part === null), data, redacted };
    },
  }),
};
