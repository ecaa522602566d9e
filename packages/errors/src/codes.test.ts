import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCodes } from './codes.ts';
import { failureCauses } from './failure-cause.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const sections = new Map(
  page
    .split('\n## ')
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', section]),
);

describe('docs/errors.md', () => {
  it('has a heading for each code, and no other', () => {
    expect([...sections.keys()].sort()).toEqual(Object.keys(errorCodes).sort());
  });

  it('has a row for each cause of failures, in its words, and no other', () => {
    const table = page.split('### Failure causes')[1]?.split('\n## ')[0] ?? '';
    const rows = [...table.matchAll(/^\| `(\w+)` *\| (.*?) *\|/gm)].map(([, cause, words]) => [
      cause,
      words,
    ]);
    expect(Object.fromEntries(rows)).toEqual(failureCauses);
  });

  it.each(Object.entries(errorCodes))('states status and retry rule of %s', (code, spec) => {
    expect(sections.get(code)).toMatch(
      new RegExp(`^${spec.status}[ ,].*retry: ${spec.retry}\\.`, 'm'),
    );
  });
});
