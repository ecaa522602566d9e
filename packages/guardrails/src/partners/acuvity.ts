import { jsonBounds, readJsonText } from '@sluice/json';
import { CheckError } from '../check.ts';
import { below } from './address.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

const name = 'Acuvity';

/** Its detectors that have a threshold: our switch, the group that answers hold them in, their word for it. */
const scored = [
  ['prompt_injection', 'exploits', 'prompt_injection'],
  ['jail_break', 'exploits', 'jailbreak'],
  ['malicious_url', 'exploits', 'malicious_url'],
  ['toxic', 'malcontents', 'toxic'],
  ['biased', 'malcontents', 'biased'],
  ['harmful', 'malcontents', 'harmful'],
] as const;

export const acuvityPartners = {
  'acuvity.scan': partnerCheck('acuvity.scan', {
    name,
    request({ credentials: { apiKey }, parameters, event, parts }) {
      return {
        url: below(addressIn(apiKey), '/_acuvity/scan'),
        headers: { authorization: `Bearer ${apiKey}` },
        body: {
          anonymization: 'FixedSize',
          messages: [...parts],
          redactions: [
            ...(parameters.pii && parameters.pii_redact ? (parameters.pii_categories ?? []) : []),
            ...(parameters.secrets && parameters.secrets_redact
              ? (parameters.secrets_categories ?? [])
              : []),
          ],
          type: event === 'beforeRequest' ? 'Input' : 'Output',
        },
      };
    },
    verdict(reply, { parameters, parts }) {
      const extractions = reply.at('extractions').listOf(parts.length);
      const texts = extractions.map((extraction) => {
        const scores = scored.flatMap(([option, group, word]) => {
          const score = extraction.maybe(group)?.maybe(word)?.number() ?? 0;
          return parameters[option] && score > 0 && score >= parameters[`${option}_threshold`]
            ? [option]
            : [];
        });
        const isForeign =
          parameters.language &&
          (extraction.maybe('languages')?.entries() ?? []).some(
            ([language, score]) => language !== parameters.language_values && score.number() >= 0.5,
          );
        const hasPersonal = parameters.pii && has(extraction, 'PIIs', parameters.pii_categories);
        const hasSecrets =
          parameters.secrets && has(extraction, 'secrets', parameters.secrets_categories);
        const isRedacted =
          (hasPersonal && parameters.pii_redact) || (hasSecrets && parameters.secrets_redact);
        return {
          detected: [
            ...scores,
            ...(isForeign ? ['language'] : []),
            ...(hasPersonal && !parameters.pii_redact ? ['pii'] : []),
            ...(hasSecrets && !parameters.secrets_redact ? ['secrets'] : []),
          ],
          text: extraction.at('data').text(),
          isRedacted,
        };
      });
      const detected = [...new Set(texts.flatMap((text) => text.detected))];
      return {
        found: detected.length > 0,
        data: { detected },
        redacted: texts.map(({ text, isRedacted }) => (isRedacted ? text : null)),
      };
    },
  }),
};

/** Whether one of the categories is in a group; its name has had two spellings. */
function has(extraction: Reply, group: 'PIIs' | 'secrets', categories: string[] = []): boolean {
  const found =
    extraction.maybe(group) ?? (group === 'PIIs' ? extraction.maybe('piIs') : undefined);
  return (found?.entries() ?? []).some(
    ([category, score]) => categories.includes(category) && score.number() > 0,
  );
}

/** Where a token is for stands in it: whoever chose the token chose the address. */
function addressIn(token: string): string {
  try {
    const claims = readJsonText(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'),
      jsonBounds.small,
    );
    const { opaque } = claims as { opaque?: { 'apex-url'?: unknown } };
    const address = opaque?.['apex-url'];
    if (typeof address === 'string' && /^https:\/\/[a-z0-9.-]+(?::\d+)?\/?$/i.test(address))
      return address;
  } catch {
    // What is no token has no address.
  }
  throw new CheckError('InvalidParameters', `${name} needs a token that says where it is for.`);
}
