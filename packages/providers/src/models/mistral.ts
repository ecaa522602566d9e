import type { ModelFacts, ModelFamily, ModelRow } from './model-facts.ts';

const facts: Omit<ModelFacts, 'model'> = {
  efforts: [],
  endpoints: ['chat'],
  source: 'https://github.com/dust-tt/dust/pull/27613',
  checked: '2026-11-28',
};

/** They think when they are told to, and know one effort; those that always thought are served by these. */
const thinks: Omit<ModelFacts, 'model'> = {
  ...facts,
  efforts: ['none', 'high'],
  effortDefault: 'none',
  source: 'https://github.com/UKGovernmentBEIS/inspect_ai/pull/4711',
};

const rows: readonly ModelRow[] = [
  { line: 'thinks', version: [4, 0], facts: { model: 'mistral-medium-3-5', ...thinks } },
  { line: 'talks', version: [3, 0], facts: { model: 'mistral-large', ...facts } },
];

/** Of the month of Small 4, the first that can be told to think. */
const firstToThink = 2603;

/** Names come as `mistral-medium-2604`, `mistral-small-latest`, `mistralai/Mistral-Small-3.2-24B`, `magistral-medium-2509`. */
export const mistral: ModelFamily = {
  name: 'Mistral',
  rows,
  read(name) {
    const [, line = '', rest = ''] =
      /(?:^|[^a-z])(mistral-(?:large|medium|small)|magistral|ministral|devstral)(?![a-z])(.*)$/s.exec(
        name.toLowerCase(),
      ) ?? [];
    if (line === 'magistral') return { line: 'thinks' };
    if (line !== 'mistral-medium' && line !== 'mistral-small')
      return line === '' ? undefined : { line: 'talks' };
    const [, month] = /(?:^|\D)(2[3-9](?:0[1-9]|1[0-2]))(?!\d)/.exec(rest) ?? [];
    if (month !== undefined) return { line: Number(month) < firstToThink ? 'talks' : 'thinks' };
    const [, version, minor = '0'] = /^-(\d)(?:[.-](\d)(?!\d))?/.exec(rest) ?? [];
    if (version === undefined) return { line: 'thinks' };
    // https://github.com/dimetron/pi-go/pull/245: the bare third of the medium ones is 3.5.
    const isNew =
      line === 'mistral-small' ? Number(version) >= 4 : Number(version) > 3 || minor >= '5';
    return { line: isNew || (line === 'mistral-medium' && rest === '-3') ? 'thinks' : 'talks' };
  },
};
