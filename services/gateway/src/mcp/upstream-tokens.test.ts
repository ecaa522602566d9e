import { expect, it } from 'vitest';
import { type TokenCall, UpstreamTokens } from './upstream-tokens.ts';

type Answer = Awaited<ReturnType<ConstructorParameters<typeof UpstreamTokens>[0]['ask']>>;

const call = (version: string, url = 'https://server.example/mcp'): TokenCall =>
  ({
    server: { version, source: { id: 'one', url, authType: 'oauth_client_credentials' } },
  }) as unknown as TokenCall;

function tokens() {
  let answer: Answer | Error = given('first');
  let nowMs = 0;
  let asked = 0;
  const made = new UpstreamTokens({
    now: () => nowMs,
    ask: async () => {
      asked += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return {
    tokenFor: async (of: TokenCall) => made.tokenFor(of),
    asked: () => asked,
    next: (said: Answer | Error) => {
      answer = said;
    },
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

const given = (accessToken: string) =>
  ({ accessToken, expiresInMs: 60_000, renewInMs: 30_000 }) as Answer;
const refused = {
  accessToken: '',
  fault: { code: 'sign_in_failed', message: 'No.' },
} as unknown as Answer;

it('is held while the control plane is away, also when something else about the server changed', async () => {
  const held = tokens();
  expect(await held.tokenFor(call('1'))).toBe('first');
  held.next(new Error('away'));
  for (let time = 0; time < 3; time += 1) expect(await held.tokenFor(call('2'))).toBe('first');
  // Who is away is not asked for each call.
  expect(held.asked()).toBe(2);
  // Elsewhere it has no business, and after its end none anywhere.
  await expect(held.tokenFor(call('3', 'https://other.example/mcp'))).rejects.toThrow('no token');
  held.wait(60_000);
  await expect(held.tokenFor(call('2'))).rejects.toThrow('no token');
});

it('is another one where the change is the reason, and none where there is none any more', async () => {
  const held = tokens();
  expect(await held.tokenFor(call('1'))).toBe('first');
  held.next(given('second'));
  expect(await held.tokenFor(call('2'))).toBe('second');
  held.next(refused);
  await expect(held.tokenFor(call('3'))).rejects.toThrow('No.');
});
