import { expect, it } from 'vitest';
import { ManagedOutput } from './managed-output.ts';
import type { PutTogetherParts } from './put-together.ts';

it('a line is told by what it says, however much is in it, and a broken one is an error', async () => {
  // Nothing of it is written before 256 kB.
  const output = new ManagedOutput({} as PutTogetherParts);
  const kept: unknown[] = [];
  for (const [id, data] of [
    ['small', '[0.5]'],
    ['large', `[${'0.5,'.repeat(700_000)}1]`],
  ]) {
    const line = `{"custom_id":"${id}","response":{"status_code":200,"body":{"data":${data},"usage":{"prompt_tokens":3,"total_tokens":3}}},"error":null}`;
    // It cannot be written here: what was read of it stands.
    await output.keep(line).then(
      (told) => kept.push(told),
      () => kept.push('not written'),
    );
    expect(output.tells(id ?? '')).toBe(true);
  }
  expect(kept).toEqual([
    { isError: false, tokens: { inputTokens: 3, totalTokens: 3 } },
    'not written',
  ]);
  expect(output.counts).toEqual({ completed: 2n, failed: 0n });
  expect(await new ManagedOutput({} as PutTogetherParts).keep('{"custom_id":')).toMatchObject({
    isError: true,
  });
});
