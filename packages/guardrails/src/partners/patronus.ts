import { CheckError } from '../check.ts';
import type { Asked, PartnerRequest, PartnerVerdict } from './partner.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

const name = 'Patronus';

function evaluation(
  { credentials: { apiKey } }: { credentials: { apiKey: string } },
  evaluator: string,
  criteria: string | undefined,
  texts: { input?: string; output: string },
): PartnerRequest {
  return {
    url: 'https://api.patronus.ai/v1/evaluate',
    headers: { 'x-api-key': apiKey },
    body: {
      evaluators: [
        {
          evaluator,
          explain_strategy: 'always',
          ...(criteria === undefined ? {} : { criteria }),
        },
      ],
      ...(texts.input === undefined ? {} : { evaluated_model_input: texts.input }),
      evaluated_model_output: texts.output,
    },
  };
}

function resultOf(reply: Reply): Reply {
  const [result] = reply.at('results').listOf(1);
  if (result === undefined) return reply.refuse('one result');
  if (result.maybe('error_message') !== undefined)
    throw new CheckError('HostFailed', `${name} could not evaluate.`);
  return result.at('evaluation_result');
}

const judged = (reply: Reply): PartnerVerdict => ({ found: !resultOf(reply).at('pass').flag() });

/** Judges an answer by what was asked. */
const judging = (evaluator: string, criteria?: string) => ({
  name,
  only: 'afterRequest' as const,
  request: ({ credentials, question, text }: Asked<'patronus.toxicity'>) =>
    evaluation({ credentials }, evaluator, criteria, { input: question, output: text }),
  verdict: judged,
});

/** Finds personal data, and where it stands. */
const finding = (evaluator: string) => ({
  name,
  each: true,
  request: ({ credentials, text }: Asked<'patronus.pii'>) =>
    evaluation({ credentials }, evaluator, undefined, { output: text }),
  verdict(reply: Reply, { text, parameters: { redact } }: Asked<'patronus.pii'>): PartnerVerdict {
    const result = resultOf(reply);
    const found = !result.at('pass').flag();
    if (!found || !redact) return { found };
    const positions = result
      .at('additional_info')
      .at('positions')
      .list()
      .map((position) => position.listOf(2).map((end) => end.number()));
    const masked = positions.reduce(
      (all, [start = 0, end = 0]) =>
        `${all.slice(0, start)}${'*'.repeat(Math.max(0, end - start))}${all.slice(end)}`,
      text,
    );
    return masked === text ? { found } : { found: false, redacted: [masked] };
  },
});

export const patronusPartners = {
  'patronus.phi': partnerCheck('patronus.phi', finding('phi')),
  'patronus.pii': partnerCheck('patronus.pii', finding('pii')),
  'patronus.isConcise': partnerCheck('patronus.isConcise', judging('judge', 'patronus:is-concise')),
  'patronus.isHelpful': partnerCheck('patronus.isHelpful', judging('judge', 'patronus:is-helpful')),
  'patronus.isPolite': partnerCheck('patronus.isPolite', judging('judge', 'patronus:is-polite')),
  'patronus.noApologies': partnerCheck(
    'patronus.noApologies',
    judging('judge', 'patronus:no-apologies'),
  ),
  'patronus.noGenderBias': partnerCheck(
    'patronus.noGenderBias',
    judging('judge', 'patronus:no-gender-bias'),
  ),
  'patronus.noRacialBias': partnerCheck(
    'patronus.noRacialBias',
    judging('judge', 'patronus:no-racial-bias'),
  ),
  'patronus.retrievalAnswerRelevance': partnerCheck(
    'patronus.retrievalAnswerRelevance',
    judging('answer-relevance'),
  ),
  'patronus.toxicity': partnerCheck('patronus.toxicity', judging('toxicity')),
  'patronus.custom': partnerCheck('patronus.custom', {
    name,
    only: 'afterRequest',
    request({ credentials, parameters: { profile }, question, text }) {
      // `evaluator:criteria`; criteria alone are for the judge.
      const [evaluator = '', ...rest] = profile.split(':');
      const [by, criteria] = rest.length === 0 ? ['judge', profile] : [evaluator, rest.join(':')];
      return evaluation({ credentials }, by, criteria, { input: question, output: text });
    },
    verdict: judged,
  }),
};
