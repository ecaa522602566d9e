/**
 * Writes docs/models.md from the facts of models. `npm run generate` runs it;
 * `npm run check` fails when the page has fallen behind.
 */
import { type ModelFacts, type ModelFamily, modelFamilies } from '@sluice/providers';
import { table } from './table.ts';

const head = `# Models

Made from \`packages/providers/src/models/\` by \`npm run generate\`; do not edit.

What models take, so that a request that can be served is not refused: what a model does not take is left out of translated requests, or said as it does take it, and named
in \`x-service-dropped-params\` ([wire formats](wire-formats.md#what-is-left-out)). Native requests lose only what the very model is listed
[to refuse](wire-formats.md#native-requests). A model that is not listed has the row of the
version before it; \`GET /v1/models\` shows the facts of each model a workspace has, and beside them, where they are known, \`prices\` (dollars for a million tokens, as records are priced), \`context_tokens\`, \`output_tokens_max\`,
\`endpoints\`, \`deprecated\` and \`created\`: what its provider says, else the day in the name of a snapshot, else 0. All of them but \`created\` may be absent: what nobody knows is not shown (\`deprecated\` is \`true\` or absent),
and what goes in and out of a model (text, sounds, pictures) nobody here knows: catalogues of prices name sounds, pictures and films of the few models where they cost otherwise, which says nothing of the others. A provider that allows all and of which no list of ours knows – deployments, hosts of your own – is asked for its
list, with its saved credential, within 3 s; the list is kept for ten minutes, at most 2,000 models, and an old one is shown while it is asked for anew or does not answer.

Where your models differ, or a deployment's name does not tell what it is, name a file in \`MODEL_FACTS_FILE\`, in the words that \`GET /v1/models\` shows; the first row that
matches holds, and a file that cannot be read keeps the gateway from starting:

\`\`\`json
{
  "models": [
    { "match": "prod-writer", "like": "claude-opus-4-7" },
    { "match": "claude-opus-4-6*", "facts": { "sampling": "default", "output_tokens_max": 32000 } }
  ]
}
\`\`\`

| column        | says                                                                                                                                  |
| ------------- | ------------------------------------------------------------------------------------------------------------------------------------- |
| sampling      | \`all\` of \`temperature\`, \`top_p\`, \`top_k\`, penalties; \`one\` of the first two; all \`unless-reasoning\`; the \`default\` alone           |
| efforts       | words for an effort, the one of a request that names none in bold                                                                     |
| thinking      | types that a request may name, that of a request without one in bold; \`≤\` the effort up to which it may be off; what is shown of it |
| forced tools  | whether a call may be demanded                                                                                                        |
| schemas       | answers by a JSON schema, and strict tools                                                                                            |
| system turns  | providers that take system messages between the others                                                                                |
| prefill       | the start of the answer may be given                                                                                                  |
| bound         | a signed thought is refused when anything before it has changed                                                                       |
| cache marks   | in its maker's formats parts may say where a prefix of the prompt ends that is [to be kept](prompt-caching.md)                        |
| tokens        | the most of an answer, and of prompt and answer together                                                                              |
| endpoints     | where it is served, in bold those that alone take functions, or take them beside an effort                                            |
`;

/** The whole page. */
export function modelsPage(): string {
  return head + modelFamilies.map(section).join('');
}

const titles = [
  'model',
  'sampling',
  'efforts',
  'thinking',
  'forced tools',
  'schemas',
  'system turns',
  'prefill',
  'bound',
  'cache marks',
  'tokens',
  'endpoints',
  'source',
];

function section({ name, rows }: ModelFamily): string {
  return `\n## ${name}\n\n${table(
    titles,
    rows.map(({ facts }) => cells(facts)),
  )}`;
}

function cells(facts: ModelFacts): string[] {
  return [
    `\`${facts.model}\``,
    facts.sampling ?? '',
    marked(facts.efforts, facts.effortDefault),
    thinkingOf(facts),
    facts.forcedTools ?? '',
    yes(facts.structuredOutputs),
    (facts.systemTurnsAt ?? []).join(', '),
    yes(facts.prefill),
    yes(facts.bindsThoughts),
    yes(facts.cacheBreakpoints),
    [facts.outputTokensMax, facts.contextTokens].map(shownCount).join(' / '),
    endpointsOf(facts),
    `[${facts.checked}](${facts.source})`,
  ];
}

function marked(words: readonly string[] | undefined, strong: string | undefined): string {
  return (words ?? []).map((word) => (word === strong ? `**${word}**` : word)).join(', ');
}

function endpointsOf({
  endpoints,
  toolsAt = [],
  toolsWithReasoningAt = toolsAt,
}: ModelFacts): string {
  return (endpoints ?? [])
    .map((at) => (toolsWithReasoningAt.includes(at) ? `**${at}**` : at))
    .join(', ');
}

function thinkingOf({ thinking }: ModelFacts): string {
  if (thinking === undefined || thinking.types.length === 0) return '';
  const types = marked(thinking.types, thinking.default);
  const off = thinking.offUpTo === undefined ? '' : ` ≤ ${thinking.offUpTo}`;
  return thinking.display === undefined ? `${types}${off}` : `${types}${off}; ${thinking.display}`;
}

function yes(flag: boolean | undefined): string {
  return flag === true ? 'yes' : '';
}

function shownCount(count: number | undefined): string {
  return count === undefined ? '?' : count.toLocaleString('en');
}
