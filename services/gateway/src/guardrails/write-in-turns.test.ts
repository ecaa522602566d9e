import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeInTurns } from './write-in-turns.ts';

it('is the JSON of any document, also of texts that are written piece by piece', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (document) => {
      const written = await writeInTurns(document as Parameters<typeof writeInTurns>[0]);
      expect(written.toString()).toBe(JSON.stringify(document));
    }),
  );
  // Pairs of units on both sides of where pieces end.
  const text = `x${'😀é"\n'.repeat(300_000)}`;
  expect(JSON.parse((await writeInTurns({ text })).toString())).toEqual({
    text,
  });
});
