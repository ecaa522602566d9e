import { below } from './address.ts';
import type { Asked } from './partner.ts';
import { partnerCheck } from './partner-check.ts';
import type { Reply } from './reply.ts';

/** An installation of this gateway's publisher, by whose paths these checks are known. */
const name = 'The guardrail service';

type ServiceId =
  | 'service.moderateContent'
  | 'service.language'
  | 'service.pii'
  | 'service.gibberish';

function question(
  { credentials }: Pick<Asked<ServiceId>, 'credentials'>,
  check: string,
  input: string | string[],
) {
  return {
    url: below(credentials.baseURL, `/v1/execute-guardrails/${check}`),
    headers: { 'x-service-api-key': credentials.apiKey },
    body: { input },
  };
}

export const servicePartners = {
  'service.moderateContent': partnerCheck('service.moderateContent', {
    name,
    request: (asked) => question(asked, 'moderations', asked.text),
    verdict(reply, { parameters }) {
      const [first] = reply.at('results').listOf(1);
      const flagged = (first ?? reply)
        .at('categories')
        .entries()
        .flatMap(([category, value]) => (value.flag() ? [category] : []));
      const restricted = flagged.filter((category) =>
        (parameters.categories as string[]).includes(category),
      );
      return { found: restricted.length > 0, data: { flaggedCategories: restricted } };
    },
  }),

  'service.language': partnerCheck('service.language', {
    name,
    request: (asked) => question(asked, 'language', asked.text),
    verdict(reply, { parameters: { language } }) {
      const label = firstLabel(reply);
      const allowed: readonly string[] =
        language === undefined ? [] : typeof language === 'string' ? [language] : language;
      const found = allowed.length > 0 && !allowed.includes(label);
      return { found, data: { detectedLanguage: label } };
    },
  }),

  'service.pii': partnerCheck('service.pii', {
    name,
    request(asked) {
      const { url, headers } = question(asked, 'pii', []);
      const { categories } = asked.parameters;
      return { url, headers, body: { input: [...asked.parts], categories } };
    },
    verdict(reply, { parts, parameters }) {
      const { categories, redact } = parameters;
      const texts = reply.listOf(parts.length).map((item) => ({
        labels: item
          .at('entities')
          .list()
          .flatMap((entity) => entity.at('labels').entries())
          .flatMap(([label]) => ((categories as string[]).includes(label) ? [label] : [])),
        processed: item.at('processed_text').text(),
      }));
      const found = texts.some(({ labels }) => labels.length > 0);
      const data = { detectedCategories: [...new Set(texts.flatMap(({ labels }) => labels))] };
      if (!redact) return { found, data };
      const redacted = texts.map(({ labels, processed }) => (labels.length > 0 ? processed : null));
      return { found: false, data, redacted };
    },
  }),

  'service.gibberish': partnerCheck('service.gibberish', {
    name,
    request: (asked) => question(asked, 'gibberish', asked.text),
    verdict(reply) {
      const label = firstLabel(reply);
      return { found: label !== 'clean', data: { label } };
    },
  }),
};

/** Labels come likeliest first, in a list for each text. */
function firstLabel(reply: Reply): string {
  const [labels] = reply.list();
  const [first] = labels?.list() ?? [];
  return (first ?? reply.refuse('a list with labels')).at('label').text();
}
