/** Fields and parameters that have another name as well, as published clients spell them: both mean the same. */
export const secondNames = {
  pageSize: 'page_size',
  currentPage: 'current_page',
  isDefault: 'is_default',
  prompt_metadata: 'template_metadata',
  workspaceId: 'workspace_id',
  scimGroupId: 'scim_group_id',
} as const;

export const secondNameWords: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(secondNames).map(([name, first]) => [name, `The same as \`${first}\`.`]),
);

/** `page` of lists that count from 0 is what the usual names are; where there is only `page`, they are nothing that is known. */
const pairs: readonly (readonly [name: string, first: string])[] = [
  ...Object.entries(secondNames),
  ['page', 'current_page'],
  ['page', 'currentPage'],
];

export interface Contradiction {
  readonly name: string;
  readonly first: string;
}

/** Where an input has a field under both of its names, and says two things. */
export function contradictions(value: unknown): Contradiction[] {
  if (typeof value !== 'object' || value === null) return [];
  const sent = value as Readonly<Record<string, unknown>>;
  return pairs
    .filter(
      ([name, first]) =>
        sent[name] !== undefined &&
        sent[first] !== undefined &&
        said(sent[name]) !== said(sent[first]),
    )
    .map(([name, first]) => ({ name, first }));
}

/** Flags are sent as booleans and as numbers. */
function said(value: unknown): string {
  return typeof value === 'boolean' ? String(Number(value)) : JSON.stringify(value);
}
