import { expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleReply } from '../../../test/exchange.ts';
import type { CompiledBundle } from '../../compiled/compiled-bundle.ts';
import type { FoundPrompt, PromptCompiler } from '../../compiled/prompt-compiler.ts';
import { findPrompt } from './find-prompt.ts';

it.each([
  ['looks in what is held', {}, 'held'],
  [
    'asks first whether something newer is on its way',
    { 'x-service-refresh-prompt-cache': 'true' },
    'newer',
  ],
])('%s', async (_what, headers, expected) => {
  const [held, newer] = [exampleBundle(), exampleBundle()];
  const find = (bundle: CompiledBundle) =>
    ({ slug: bundle === held ? 'held' : 'newer', template: { kind: 'text' } }) as FoundPrompt;
  const stage = findPrompt({ find } as unknown as PromptCompiler, { after: async () => newer });
  const exchange = Object.assign(exampleExchange({ headers }), { bundle: held });
  await stage(exchange, async () => exampleReply);
  expect(exchange.subject.prompt?.slug).toBe(expected);
  expect(exchange.subject.operation.id).toBe('complete');
});
