import { expect, it } from 'vitest';
import { subjectId } from './subject-id.ts';

it('is a UUID, the same for one user of one organisation and for nobody else', () => {
  expect(subjectId('o', 'alice')).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(subjectId('o', 'alice')).toBe(subjectId('o', 'alice'));
  const ids = [
    ['o', 'alice'],
    ['o', 'bob'],
    ['p', 'alice'],
    ['o', undefined],
    ['o', ''],
  ] as const;
  expect(new Set(ids.map(([organisation, user]) => subjectId(organisation, user))).size).toBe(5);
});
