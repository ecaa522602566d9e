import { ownTime } from '@sluice/testkit/own-time';
import { expect, it } from 'vitest';
import { checkKinds } from './check-kinds.ts';
import { answering } from './example-contexts.ts';

/** What one of the rules begins with, and then never ends. */
const seeds = [
  ...['a', 'a ', 'ignore ', 'ignore all previous instructions ', 'do not ', 'you ', "don't "],
  ...['"role":', '</user_input> ', '--------', '[INST', '<system>x', '\nsystem ', '\n\nassistant'],
  ...['%49', '&#105;', '\\u0041', 'QUJD', '41 ', 'a.b.', 'i g n o r e ', 'i.', '1!$@', 'f*', 'aaa'],
  ...['а', 'aа', 'а\u200b', '\u202e', '\u{e0041}', '忽略', '\u0301', 'ﷺ', '@a.b', '```'],
  ...[
    '<',
    '<s> ',
    '<img ',
    '<img a="',
    '<img a=\'"',
    '![',
    '![a](',
    '![](\\)',
    '![](x)',
    '](',
    '[a]: ',
    '[a]:\n',
    '> ',
    '1. ',
    '\n> [a',
    '((',
  ],
  '%49%49%49%49%49%49&#105;\\u0041\\u0041\\u0041 vtaber flfgrz erongi metsys ',
  ...['http://', 'https://a.bb?c=', '\\', 'url(', '<div style="url('],
];

it.each(['promptInjection', 'toxicity', 'imageHosts'])(
  'default.%s gives way to others within any text',
  async (name) => {
    const run = checkKinds.get(`default.${name}`)?.compile({}).run;
    if (run === undefined) throw new Error(`there is no check ${name}`);
    const slow: [seed: string, ms: number][] = [];
    for (const seed of seeds) {
      // A slice and a bit, which a check looks at without a break or with one.
      const context = answering(seed.repeat(Math.ceil(sliceLength / seed.length)));
      const cpuMs = async () => {
        const spentMs = ownTime();
        await Promise.resolve(run(context)).catch(() => {});
        return spentMs();
      };
      const best = Math.min(await cpuMs(), await cpuMs(), await cpuMs());
      if (best > perSliceMs) slow.push([seed, best]);
    }
    expect(slow).toEqual([]);
  },
);

const sliceLength = 6_000;
/** A quarter of it on a quiet machine. */
const perSliceMs = 40;
