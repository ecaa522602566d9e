import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { choiceReasons } from '@sluice/engine';
import { describe, expect, it } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../docs/explain.md'), 'utf8');

describe('docs/explain.md', () => {
  it('has every reason of a choice, and no other', () => {
    const [, table = ''] = page.split('| reason ');
    const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
    const listed = rows.flatMap((row) => row.split('|')[1]?.match(/[a-z-]+(?=`)/g) ?? []);
    expect(listed.toSorted()).toEqual(choiceReasons.toSorted());
  });
});
