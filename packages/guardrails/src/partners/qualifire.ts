import type { JsonObject } from '@sluice/providers';
import type { Asked, PartnerRequest, PartnerVerdict } from './partner.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

const name = 'Qualifire';

function evaluation(apiKey: string, body: JsonObject): PartnerRequest {
  return {
    url: 'https://proxy.qualifire.ai/api/evaluation/evaluate',
    headers: { 'x-qualifire-api-key': apiKey },
    body,
  };
}

/** What was asked, and what was answered where there is an answer. */
function exchanged({
  event,
  question,
  text,
}: Pick<Asked<'qualifire.pii'>, 'event' | 'question' | 'text'>): {
  input: string;
  output?: string;
} {
  return event === 'beforeRequest' ? { input: text } : { input: question, output: text };
}

function verdict(reply: Reply): PartnerVerdict {
  const status = reply.at('status').text();
  return { found: status === 'failed', data: { status } };
}

const plain = (option: string) => ({
  name,
  request: (asked: Asked<'qualifire.pii'>) =>
    evaluation(asked.credentials.apiKey, { ...exchanged(asked), [option]: true }),
  verdict,
});

const weighed = (option: string) => ({
  name,
  only: 'afterRequest' as const,
  request: (asked: Asked<'qualifire.grounding'>) =>
    evaluation(asked.credentials.apiKey, {
      ...exchanged(asked),
      [`${option}_check`]: true,
      [`${option}_mode`]: asked.parameters.mode,
    }),
  verdict,
});

export const qualifirePartners = {
  'qualifire.contentModeration': partnerCheck(
    'qualifire.contentModeration',
    plain('content_moderation_check'),
  ),
  'qualifire.pii': partnerCheck('qualifire.pii', plain('pii_check')),
  'qualifire.promptInjections': partnerCheck('qualifire.promptInjections', {
    ...plain('prompt_injections'),
    only: 'beforeRequest',
  }),
  'qualifire.hallucinations': partnerCheck('qualifire.hallucinations', weighed('hallucinations')),
  'qualifire.grounding': partnerCheck('qualifire.grounding', weighed('grounding')),
  'qualifire.policy': partnerCheck('qualifire.policy', {
    name,
    request(asked) {
      const { mode, policies, policy_target: target } = asked.parameters;
      const { input, output } = { output: undefined, ...exchanged(asked) };
      return evaluation(asked.credentials.apiKey, {
        assertions: [...policies],
        assertions_mode: mode,
        ...(target === 'output' && output !== undefined ? {} : { input }),
        ...(target === 'input' || output === undefined ? {} : { output }),
      });
    },
    verdict,
  }),
};
