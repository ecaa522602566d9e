import type { ModelFacts, ModelFamily, ModelRow } from './model-facts.ts';

/** Open weights that do not reason, at whatever host: there an effort is refused. */
const facts: Omit<ModelFacts, 'model'> = {
  efforts: [],
  endpoints: ['chat'],
  source: 'https://console.groq.com/docs/reasoning',
  checked: '2026-11-22',
};

const rows: readonly ModelRow[] = ['llama', 'mixtral', 'gemma', 'codestral', 'pixtral'].map(
  (model) => ({ line: model, version: [0, 0], facts: { model, ...facts } }),
);

export const openModels: ModelFamily = {
  name: 'Open weights',
  rows,
  read(name) {
    const words = name.toLowerCase().split(/[^a-z]+/);
    // Others teach the same weights to reason.
    if (words.includes('nemotron') || words.includes('distill')) return undefined;
    const row = rows.find(({ line }) => words.includes(line));
    return row && { line: row.line, version: row.version };
  },
};
