import { hasAddress, header, isForbidden, masked, textAt, textsAt, type Vendor } from './vendor.ts';

const host = 'guardrails.service.test';
const knows = header('x-service-api-key');
const path = (check: string) => `/v1/execute-guardrails/${check}`;

export const serviceVendors: readonly Vendor[] = [
  {
    host,
    path: path('moderations'),
    knows,
    answer({ body }) {
      const input = textAt(body, 'input');
      if (input === undefined) return undefined;
      const categories = { hate: isForbidden(input), violence: true, sexual: false };
      return { results: [{ flagged: true, categories }] };
    },
  },
  {
    host,
    path: path('language'),
    knows,
    answer({ body }) {
      const input = textAt(body, 'input');
      if (input === undefined) return undefined;
      const label = isForbidden(input) ? 'fra_Latn' : 'eng_Latn';
      return [
        [
          { label, score: 0.98 },
          { label: 'deu_Latn', score: 0.01 },
        ],
      ];
    },
  },
  {
    host,
    path: path('gibberish'),
    knows,
    answer({ body }) {
      const input = textAt(body, 'input');
      if (input === undefined) return undefined;
      return [[{ label: isForbidden(input) ? 'word salad' : 'clean', score: 0.9 }]];
    },
  },
  {
    host,
    path: path('pii'),
    knows,
    answer: ({ body }) =>
      textsAt(body, 'input')?.map((text) => ({
        entities: hasAddress(text)
          ? [{ text: 'ada@example.com', labels: { EMAIL_ADDRESS: 0.99 } }]
          : [],
        processed_text: masked(text, '{{EMAIL_ADDRESS_1}}'),
      })),
  },
];
