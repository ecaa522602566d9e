/** What is charged by its number, each at a price of its own. */
export const countedUnits = [
  'searchUnits',
  'pages',
  'annotatedPages',
  'audioSeconds',
  'characters',
  'webSearches',
  'previewSearches',
  'fileSearches',
  'xSearches',
  'attachmentSearches',
  'mapSearches',
  'codeExecutions',
  'imageGenerations',
  'trainedTokens',
  'trainingSeconds',
] as const;

export type CountedUnit = (typeof countedUnits)[number];

/** Nano-dollars for one of each; absent = no price is listed. */
export type UnitRates = { readonly [Unit in CountedUnit]?: number | undefined };
