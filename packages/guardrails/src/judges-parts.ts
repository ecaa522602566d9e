/** Checks that ask of a text what only all of it can have, or that look once. */
const ofTheWhole: ReadonlySet<string> = new Set([
  'characterCount',
  'containsCode',
  'endsWith',
  'gibberish',
  'jsonKeys',
  'jsonSchema',
  'languages',
  'log',
  'notNull',
  'sentenceCount',
  'validUrls',
  'wordCount',
  'patronus.isConcise',
  'patronus.isHelpful',
  'patronus.isPolite',
  'patronus.noApologies',
  'patronus.retrievalAnswerRelevance',
  'qualifire.grounding',
  'qualifire.hallucinations',
  'qualifire.policy',
]);

/**
 * Whether what a check finds in a part of a text it would find in all of it: it
 * can look at an answer while that is told. One that demands something of the
 * text, or is turned around by `not`, has to wait for the end.
 */
export function judgesParts(
  checkId: string,
  parameters: Readonly<Record<string, unknown>>,
): boolean {
  const id = checkId.replace(/^default\./, '');
  if (ofTheWhole.has(id)) return false;
  if (id === 'regexMatch') return parameters.not === true;
  if (id === 'contains') return parameters.operator === 'none';
  if (id === 'bannedTopics') return parameters.not !== true && !needsMoreOfATopic(parameters);
  return parameters.not !== true;
}

/** Several words of a topic may stand far apart, and what a text is like is said by all of it. */
function needsMoreOfATopic({ topics, similarity }: Readonly<Record<string, unknown>>): boolean {
  if (typeof similarity === 'number') return true;
  return (
    Array.isArray(topics) &&
    topics.some((topic: { minWords?: unknown } | null) => Number(topic?.minWords ?? 1) > 1)
  );
}
