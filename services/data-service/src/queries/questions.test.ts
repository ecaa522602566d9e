import { expect, it } from 'vitest';
import { createQuestions, type Reader } from './questions.ts';

it('a question that is left as its turn comes takes nobody else’s place', async () => {
  const first = Promise.withResolvers<unknown>();
  const asked: string[] = [];
  const query = ({ query: text }: { query: string }) => {
    asked.push(text);
    return text === 'first' ? first.promise : Promise.resolve();
  };
  const questions = createQuestions({ query } as unknown as Reader, {
    atOnce: 1,
    waitingMax: 10,
  });
  const leaving = new AbortController();
  const ask = (text: string, { signal } = new AbortController()) =>
    questions.one({ signal }).query({ query: text });
  const begun = ask('first');
  await expect.poll(() => asked).toEqual(['first']);
  // Behind the answer that gives the turn on, and before whoever gets it goes on.
  void first.promise.then(() => leaving.abort());
  const others = [ask('left', leaving), ask('last')];
  first.resolve(undefined);
  await begun;
  await Promise.all(others);
  expect(asked).toEqual(['first', 'left', 'last']);
});
