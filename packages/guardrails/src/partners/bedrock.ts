import { below } from './address.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

/** One thing that a policy of the guardrail took exception to. */
interface Exception {
  readonly policy: string;
  readonly action: string;
  readonly match: string | undefined;
  /** What it is, as `{NAME}` in what was masked. */
  readonly label: string;
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ApplyGuardrail.html */
export const bedrockPartners = {
  'bedrock.guard': partnerCheck('bedrock.guard', {
    name: 'Bedrock Guardrails',
    each: true,
    request({ parameters, credentials, event, text }) {
      const { awsRegion: region, customHost } = credentials;
      const { guardrailId, guardrailVersion } = parameters;
      return {
        url: below(
          customHost ?? `https://bedrock-runtime.${region}.amazonaws.com`,
          `/guardrail/${encodeURIComponent(guardrailId)}/version/${guardrailVersion}/apply`,
        ),
        body: {
          source: event === 'beforeRequest' ? 'INPUT' : 'OUTPUT',
          content: [{ text: { text } }],
        },
        signing: {
          service: 'bedrock',
          region,
          accessKeyId: credentials.awsAccessKeyId,
          secretAccessKey: credentials.awsSecretAccessKey,
          sessionToken: credentials.awsSessionToken,
        },
      };
    },
    /**
     * `GUARDRAIL_INTERVENED` also says that something was masked or only seen:
     * what blocks is an exception with the action `BLOCKED`.
     */
    verdict(reply, { text, parameters: { redact } }) {
      const action = reply.at('action').oneOf('NONE', 'GUARDRAIL_INTERVENED');
      const exceptions = reply.at('assessments').list().flatMap(exceptionsIn);
      if (action === 'GUARDRAIL_INTERVENED' && exceptions.length === 0)
        reply.at('assessments').refuse('about what it intervened for');
      const data = {
        action,
        exceptions: exceptions.map(({ policy, action: taken, label }) => ({
          policy,
          action: taken,
          label,
        })),
      };
      const blocking = exceptions.filter((exception) => exception.action === 'BLOCKED');
      const personal = exceptions.filter(({ policy }) => policy === personalPolicy);
      if (!redact || personal.length === 0) return { found: blocking.length > 0, data };
      const isMasked = personal.some((exception) => exception.action === 'ANONYMIZED');
      const [masked] = isMasked ? reply.at('outputs').list() : [];
      const redacted = personal.reduce(
        (result, { match, label }) =>
          match === undefined ? result : result.replaceAll(match, `{${label}}`),
        masked?.at('text').text() ?? text,
      );
      const others = blocking.some(({ policy }) => policy !== personalPolicy);
      return {
        found: others || (redacted === text && blocking.length > 0),
        data,
        redacted: [redacted === text ? null : redacted],
      };
    },
  }),
};

const personalPolicy = 'sensitiveInformationPolicy';

/** Policies hold lists by kind, of things with an action each; new policies have the same form. */
function exceptionsIn(assessment: Reply): Exception[] {
  return assessment.entries().flatMap(([policy, value]) => {
    if (!policy.endsWith('Policy')) return [];
    return value
      .entries()
      .flatMap(([, kind]) => (isList(kind) ? kind.list() : []))
      .map((item) => ({
        policy,
        action: item.maybe('action')?.text() ?? 'NONE',
        match: item.maybe('match')?.text(),
        label: (item.maybe('type') ?? item.maybe('name'))?.text() ?? policy,
      }));
  });
}

function isList(reply: Reply): boolean {
  return Array.isArray(reply.json());
}
