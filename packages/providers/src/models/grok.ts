import type { ModelFacts, ModelFamily, ModelRow } from './model-facts.ts';

const facts: Omit<ModelFacts, 'model'> = {
  endpoints: ['chat', 'responses'],
  source: 'https://docs.x.ai/developers/model-capabilities/text/reasoning',
  checked: '2026-11-22',
};

/** Whether they reason is told by their names, and an effort refused. */
const withoutEffort: Omit<ModelFacts, 'model'> = { ...facts, efforts: [] };

const rows: readonly ModelRow[] = [
  row('grok', 4, 7, {
    ...{ ...facts, efforts: ['low', 'medium', 'high', 'xhigh'], effortDefault: 'high' },
    source: 'https://docs.rs/crate/mindfork/0.17.0/source/src/shared/api/openai/xai_tests.rs',
    checked: '2026-11-28',
  }),
  row('grok', 4, 5, { ...facts, efforts: ['low', 'medium', 'high'], effortDefault: 'high' }),
  row('grok', 4, 3, { ...facts, efforts: ['none', 'low', 'medium', 'high'], effortDefault: 'low' }),
  row('grok', 4, 0, withoutEffort),
  row('grok', 3, 0, withoutEffort),
  row('mini', 3, 0, { ...facts, efforts: ['low', 'high'], effortDefault: 'low' }),
  { line: 'code', version: [1, 0], facts: { model: 'grok-code', ...withoutEffort } },
];

function row(
  line: string,
  major: number,
  minor: number,
  abilities: Omit<ModelFacts, 'model'>,
): ModelRow {
  const version = minor === 0 ? `${major}` : `${major}.${minor}`;
  const model = line === 'grok' ? `grok-${version}` : `grok-${version}-${line}`;
  return { line, version: [major, minor], facts: { model, ...abilities } };
}

/** Names come as `grok-4.3`, `grok-4-1-fast-reasoning`, `grok-4-0709`, `xai.grok-4.20-reasoning`. */
export const grok: ModelFamily = {
  name: 'Grok',
  rows,
  read(name) {
    const [, rest = ''] = /(?:^|[^a-z0-9])grok-(.+)$/s.exec(name.toLowerCase()) ?? [];
    // Of several agents, and of what builds, the effort says something else.
    if (rest === '' || /multi-agent|build|imagine|voice/.test(rest)) return undefined;
    if (rest.startsWith('code')) return { line: 'code' };
    const line = /\bmini\b/.test(rest) ? 'mini' : 'grok';
    const [, major, minor = '0'] = /^(\d)(?:[.-](\d{1,2})(?!\d))?/.exec(rest) ?? [];
    // 4.20 came between 4.1 and 4.3.
    return major === undefined
      ? { line }
      : { line, version: [Number(major), Number(minor.replace(/0$/, '') || 0)] };
  },
};
