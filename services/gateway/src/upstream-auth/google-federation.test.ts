import { defineSettings } from '@sluice/env';
import { makeHostRules, OpenedKeys } from '@sluice/outbound';
import { describe, expect, it } from 'vitest';
import { cloudSettings } from '../cloud-settings.ts';
import { tradeAwsIdentity } from './google-federation.ts';
import { TokenCache } from './token-cache.ts';
import type { TokenReply, TokenRequest } from './token-endpoint.ts';

const audience =
  '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/a';
const nowMs = () => Date.UTC(2026, 0, 1);

/** Stands for Google, whose addresses no variable changes. */
function trade(answers: readonly TokenReply[], environment: Record<string, string> = {}) {
  const asked: TokenRequest[] = [];
  const cloud = defineSettings({ Clouds: cloudSettings }).readEnv({
    AWS_ACCESS_KEY_ID: 'AKIDMACHINE',
    AWS_SECRET_ACCESS_KEY: 'SECRETMACHINE',
    AWS_SESSION_TOKEN: 'session',
    AWS_REGION: 'eu-west-1',
    ...environment,
  });
  const result = tradeAwsIdentity(
    audience,
    {
      cloud,
      nowMs,
      tokens: new TokenCache({ nowMs }),
      keys: new OpenedKeys(),
      hostRules: makeHostRules({ trusted: [], production: true }),
      askTokenEndpoint: async (request) => {
        asked.push(request);
        return answers[asked.length - 1] ?? { status: 500, text: '' };
      },
    },
    new AbortController().signal,
  );
  return { asked, result };
}
const reply = (body: object, status = 200): TokenReply => ({ status, text: JSON.stringify(body) });
const federated = reply({ access_token: 'federated', expires_in: 3600 });

describe('tradeAwsIdentity', () => {
  it('shows Google a signed question that AWS answers, and no key', async () => {
    const { asked, result } = trade([federated]);
    expect(await result).toEqual({ value: 'federated', expiresAtMs: nowMs() + 3600_000 });
    const form = new URLSearchParams(asked[0]?.body);
    expect(asked[0]?.url).toBe('https://sts.googleapis.com/v1/token');
    expect(form.get('audience')).toBe(audience);
    expect(form.get('subject_token_type')).toBe('urn:ietf:params:aws:token-type:aws4_request');
    const question = JSON.parse(decodeURIComponent(form.get('subject_token') ?? ''));
    expect(question).toMatchObject({
      url: 'https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15',
      method: 'POST',
    });
    const headers = Object.fromEntries(
      question.headers.map(({ key, value }: { key: string; value: string }) => [key, value]),
    );
    expect(headers).toMatchObject({
      host: 'sts.eu-west-1.amazonaws.com',
      'x-amz-security-token': 'session',
      'x-goog-cloud-target-resource': audience,
    });
    expect(headers.authorization).toMatch(
      /Credential=AKIDMACHINE\/20260101\/eu-west-1\/sts\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource, /,
    );
    expect(asked[0]?.body).not.toContain('SECRETMACHINE');
  });

  it('then takes a service account', async () => {
    const account = reply({ accessToken: 'account', expireTime: '2026-01-01T01:00:00Z' });
    const { asked, result } = trade([federated, account], {
      GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'robot@p.iam.gserviceaccount.com',
    });
    expect(await result).toEqual({ value: 'account', expiresAtMs: nowMs() + 3600_000 });
    expect(asked[1]?.url).toBe(
      'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/robot%40p.iam.gserviceaccount.com:generateAccessToken',
    );
    expect(asked[1]?.headers?.authorization).toBe('Bearer federated');
  });

  it.each([
    [
      [reply({ error: 'invalid_grant' }, 400)],
      'Google’s token exchange answered 400 (invalid_grant).',
    ],
    [[federated, reply({}, 403)], 'Google’s service account credentials answered 403.'],
    [[federated, reply({})], 'Google’s service account credentials answered without a token.'],
  ])('says at which step it failed (%#)', async (answers, message) => {
    const { result } = trade(answers, { GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'r@p' });
    await expect(result).rejects.toMatchObject({ code: 'provider.authorisation_failed', message });
  });
});
