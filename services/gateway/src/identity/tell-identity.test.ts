import { generateKeyPairSync } from 'node:crypto';
import { signIdentityToken } from '@sluice/jwt';
import { describe, expect, it } from 'vitest';
import { type CallerToTell, Identities, identityPlan } from './tell-identity.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'a-key' };
const plan = identityPlan({ method: 'jwt_header' });
const caller: CallerToTell = {
  claims: { sub: 'ada', email: '', scope: 'mcp.invoke' },
  audience: 'https://a.example/mcp',
  userToken: undefined,
  credential: 'a-key-of-the-gateway',
};

/** A control plane that signs, until it is away. */
function lab(answer?: string) {
  const state = { asked: 0, isAway: false, now: Date.now() };
  const identities = new Identities({
    now: () => state.now,
    tokensMax: 2,
    async sign({ audience, claimsJson }) {
      state.asked += 1;
      if (state.isAway) throw new Error('away');
      const signed = await signIdentityToken(claimsJson, audience, jwk, state.now);
      return { token: answer ?? signed.token, expiresAtMs: BigInt(signed.expiresAtMs) };
    },
  });
  return { state, identities };
}

const payloadOf = (headers: Record<string, string>) =>
  JSON.parse(
    Buffer.from(String(headers['x-user-jwt']).split('.')[1] ?? '', 'base64url').toString(),
  );

describe('a signed statement of who calls', () => {
  it('is asked for once, and again half a minute before its end', async () => {
    const { state, identities } = lab();
    const many = await Promise.all(
      Array.from({ length: 20 }, async () => identities.headers(plan, caller)),
    );
    expect([state.asked, new Set(many.map((each) => each['x-user-jwt'])).size]).toEqual([1, 1]);
    state.now += 268_000;
    await identities.headers(plan, caller);
    expect(state.asked).toBe(1);
    state.now += 3_000;
    await identities.headers(plan, caller);
    expect(state.asked).toBe(2);
  });

  it('is of one caller to one server, and no more of them are kept than may be', async () => {
    const { identities } = lab();
    const others = [
      caller,
      { ...caller, audience: 'https://b.example/mcp' },
      { ...caller, claims: { sub: 'bob' } },
    ];
    const told = await Promise.all(others.map(async (each) => identities.headers(plan, each)));
    expect(told.map(payloadOf).map(({ sub, aud, email }) => [sub, aud, email])).toEqual([
      ['ada', 'https://a.example/mcp', undefined],
      ['ada', 'https://b.example/mcp', undefined],
      ['bob', 'https://a.example/mcp', undefined],
    ]);
    expect(identities.size).toBe(2);
  });

  it('goes on while the control plane is away where there is one, and else is refused', async () => {
    const { state, identities } = lab();
    const held = await identities.headers(plan, caller);
    state.isAway = true;
    expect(await identities.headers(plan, caller)).toEqual(held);
    const refused = { code: 'auth.unavailable', status: 503 };
    const other = { ...caller, claims: { sub: 'bob' } };
    await expect(identities.headers(plan, other)).rejects.toMatchObject(refused);
    state.isAway = false;
    expect(payloadOf(await identities.headers(plan, other)).sub).toBe('bob');
  });

  it.each(['', '{"sub":"ada"}', 'eyJhbGciOiJub25lIn0.e30.'])(
    'is never unsigned: %j',
    async (text) => {
      const { identities } = lab(text);
      await expect(identities.headers(plan, caller)).rejects.toMatchObject({
        code: 'auth.unavailable',
      });
    },
  );

  it('says nothing of what only its issuer may say', async () => {
    const claims = { sub: 'ada', iss: 'me', aud: 'you', exp: '1', admin: 'yes', scope: 'x' };
    const { token } = await signIdentityToken(JSON.stringify(claims), 'https://a', jwk, 1_000_000);
    expect(payloadOf({ 'x-user-jwt': token })).toEqual({
      sub: 'ada',
      scope: 'x',
      iss: 'service-mcp-gateway',
      aud: 'https://a',
      iat: 1_000,
      exp: 1_300,
    });
  });
});

it('passes a token on where an administrator insists, and never a key', () => {
  expect(identityPlan({ method: 'bearer' })?.unkept).toMatch(/forward_gateway_token/);
  const insisted = identityPlan({ method: 'bearer', forward_gateway_token: true });
  expect(insisted?.unkept).toBeUndefined();
  const { identities } = lab();
  const token = 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln';
  expect(identities.headers(insisted, { ...caller, credential: token })).toEqual({
    authorization: `Bearer ${token}`,
  });
  expect(identities.headers(insisted, { ...caller, userToken: 'opaque' })).toEqual({
    authorization: 'Bearer opaque',
  });
  expect(() => identities.headers(insisted, caller)).toThrow(/a key is not passed on/);
});

it('is not told in a header of the transport, nor in a way that nobody knows', () => {
  for (const header_name of ['Host', 'Connection', 'MCP-Session-Id'])
    expect(identityPlan({ method: 'jwt_header', header_name })?.unkept).toBeDefined();
  expect(identityPlan({ method: 'smoke' })?.unkept).toMatch(/smoke/);
  expect(identityPlan(undefined)).toBeUndefined();
});
