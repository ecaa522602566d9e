import { keptFields } from '../fields/kept-only.ts';
import type { IdleSetting } from '../idle-actions.ts';
import type { CheckDeclaration } from './declaration.ts';
import { type CheckId, checkDeclarations } from './declarations.ts';
import { readParameters } from './read-parameters.ts';

type Said = Readonly<Record<string, unknown>>;

/** Parameters that do nothing unless the rest says so; without names all of them together. */
interface IdleRule {
  readonly names: readonly string[];
  readonly acts: (said: Said) => boolean;
  readonly why: string;
}

const isThere = (value: unknown): boolean =>
  value != null && (typeof value !== 'object' || Object.keys(value).length > 0);

const hasExamples = ({ topics }: Said): boolean =>
  Array.isArray(topics) && topics.some((topic: Said | null) => isThere(topic?.examples));

const isSigned = ({ jwks, jwksUri }: Said): boolean => jwks != null || jwksUri != null;

/** A detector of Acuvity's with categories finds those alone, and none where none are said. */
const byCategories = (detector: 'pii' | 'secrets'): IdleRule[] => [
  {
    names: [`${detector}_categories`],
    acts: (said) => said[detector] !== false,
    why: `${detector} is off`,
  },
  {
    names: [detector, `${detector}_redact`],
    acts: (said) => said[detector] !== false && isThere(said[`${detector}_categories`]),
    why: `it looks for what ${detector}_categories name, and for nothing without them`,
  },
];

const scored = ['prompt_injection', 'toxic', 'jail_break', 'malicious_url', 'biased', 'harmful'];

type CountCheck = 'default.sentenceCount' | 'default.wordCount' | 'default.characterCount';

const countedWithin = (id: CountCheck, what: string): IdleRule[] => [
  {
    names: [`min${what}`, `max${what}`],
    acts: (said) => {
      const read = readParameters(id, said);
      if (!read.ok) return true;
      const counts = read.parameters as Said;
      return Number(counts[`min${what}`]) <= Number(counts[`max${what}`]);
    },
    why: 'it asks for more than it allows: no text is within both',
  },
];

const rules: Readonly<Partial<Record<CheckId, readonly IdleRule[]>>> = {
  'default.sentenceCount': countedWithin('default.sentenceCount', 'Sentences'),
  'default.wordCount': countedWithin('default.wordCount', 'Words'),
  'default.characterCount': countedWithin('default.characterCount', 'Characters'),
  'default.pii': [
    {
      names: ['restore'],
      acts: ({ redact }) => redact === true,
      why: 'what redact took out is put back, and nothing is taken out',
    },
    {
      names: ['regions'],
      acts: ({ categories }) => !Array.isArray(categories) || categories.includes('PHONE_NUMBER'),
      why: 'they are of telephone numbers, which are not looked for',
    },
    {
      names: ['categories'],
      acts: ({ categories, patterns, lists }) => [categories, patterns, lists].some(isThere),
      why: 'nothing is looked for',
    },
  ],
  'default.imageHosts': [
    {
      names: ['redactText'],
      acts: ({ redact }) => redact === true,
      why: 'it takes the place of what redact takes out',
    },
  ],
  'default.bannedTopics': [
    {
      names: ['similarity', 'embedding'],
      acts: hasExamples,
      why: 'it is of the examples of topics, and there are none',
    },
  ],
  'default.modelRules': [
    {
      names: ['rules'],
      acts: ({ rules: said }) =>
        typeof said !== 'object' ||
        isThere((said as Said | null)?.defaults) ||
        isThere((said as Said | null)?.metadata),
      why: 'neither defaults nor metadata name a model',
    },
  ],
  'default.requestParametersCheck': [
    {
      names: [],
      acts: ({ tools, params }) => isThere(tools) || isThere(params),
      why: 'neither tools nor params say what is blocked or allowed',
    },
  ],
  'default.jwt': [
    { names: ['jwksUri'], acts: ({ jwks }) => jwks == null, why: 'the keys of jwks count' },
    {
      names: ['cacheMaxAge'],
      acts: ({ jwks, jwksUri }) => jwks == null && jwksUri != null,
      why: 'it is of keys that are fetched from jwksUri',
    },
    {
      names: ['introspectEndpoint', 'introspectContentType', 'introspectCacheMaxAge'],
      acts: (said) => !isSigned(said),
      why: 'with jwks or jwksUri nobody is asked what a token is worth',
    },
    {
      names: ['algorithms', 'maxTokenAge'],
      acts: isSigned,
      why: 'the issuer is asked what a token is worth, and decides it',
    },
    {
      names: ['claimPrefix'],
      acts: ({ extractClaims }) => isThere(extractClaims),
      why: 'it is put before the claims that extractClaims names',
    },
  ],
  'acuvity.scan': [
    ...scored.map((detector) => ({
      names: [`${detector}_threshold`],
      acts: (said: Said) => said[detector] !== false,
      why: `${detector} is off`,
    })),
    {
      names: ['language_values'],
      acts: ({ language }) => language !== false,
      why: 'language is off',
    },
    ...byCategories('pii'),
    ...byCategories('secrets'),
  ],
};

const declared: Readonly<Record<string, CheckDeclaration>> = checkDeclarations;
const idOf: ReadonlyMap<string, CheckId> = new Map(
  Object.entries(declared).flatMap(([id, { aliases = [] }]) =>
    [id, ...aliases].map((spelling) => [spelling, id as CheckId] as const),
  ),
);

/**
 * What of a check's parameters does nothing beside the rest of them.
 * @param given as they were sent
 * @returns paths within them; an empty one is all of them
 */
export function idleParameters(checkId: string, given: unknown): readonly IdleSetting[] {
  const id = idOf.get(checkId);
  if (id === undefined || typeof given !== 'object' || given === null) return [];
  const said = given as Said;
  return (rules[id] ?? []).flatMap(({ names, acts, why }) => {
    if (acts(said)) return [];
    if (names.length === 0) return [{ path: '', why }];
    return names
      .filter((name) => said[name] != null && said[name] !== false)
      .map((path) => ({ path, why }));
  });
}

/** Names among a check's parameters that it does not have, for where no schema of the whole is walked. */
export function strangeParameters(checkId: string, given: unknown): readonly IdleSetting[] {
  const id = idOf.get(checkId);
  if (id === undefined) return [];
  return keptFields(checkDeclarations[id].parameters, given).map(({ path, known }) => ({
    path: path.map(String).join('.'),
    why: `it is no parameter here; there are ${known.join(', ')}`,
  }));
}
