import { expect, it } from 'vitest';
import { createSeldom } from './say-seldom.ts';

it('says the same once in a while, with how often it was left out, and something else at once', () => {
  let at = 0;
  const seldom = createSeldom(60_000, () => at);
  const said: [string, number][] = [];
  const say = (key: string) => seldom.say(key, (repeats) => said.push([key, repeats]));
  for (; at < 120_000; at += 1_000) {
    say('refused');
    if (at === 5_000) say('timeout');
  }
  expect(said).toEqual([
    ['refused', 0],
    ['timeout', 0],
    ['refused', 59],
  ]);
});

it('keeps a bounded number of things apart', () => {
  const seldom = createSeldom(60_000, () => 0);
  let said = 0;
  for (let n = 0; n < 10_000; n += 1) seldom.say(String(n), () => said++);
  expect(said).toBe(65);
});
