import { describe, expect, it } from 'vitest';
import { holdsSecrets, maskDocument, restoreSecrets } from './secret-fields.ts';

const [first, second] = ['sk-first-secret-0001', 'sk-second-secret-01'];

describe('maskDocument', () => {
  it('hides credentials wherever a config may hold them, and nothing else', () => {
    const document = {
      targets: [
        { provider: 'openai', apiKey: first, forward_headers: ['authorization'] },
        {
          aws_access_key_id: 'AKIA000000000001',
          aws_secret_access_key: second,
          aws_region: 'eu-central-1',
          vertex_service_account_json: { private_key_id: 'short', type: 'service_account' },
        },
      ],
      before_request_hooks: [
        {
          credentials: { apiKey: first, pat: 'personal-token-01' },
          checks: [{ parameters: { headers: { 'X-Auth': first }, keys: ['a'], value: 'b' } }],
        },
      ],
      override_params: {
        max_tokens: 5,
        tools: [{ server_url: 'https://example.org', authorization: second }],
        schema: { properties: { api_key: { type: 'string' } } },
      },
      strategy: { mode: 'conditional', conditions: [{ query: { token: 'x' }, default: 'a' }] },
      virtual_key: 'main',
    };
    expect(maskDocument(document)).toEqual({
      ...document,
      targets: [
        { ...document.targets[0], apiKey: 'sk*******01' },
        {
          aws_access_key_id: 'AK*******01',
          aws_secret_access_key: 'sk*******01',
          aws_region: 'eu-central-1',
          vertex_service_account_json: { private_key_id: '*******', type: 'se*******nt' },
        },
      ],
      before_request_hooks: [
        {
          credentials: { apiKey: 'sk*******01', pat: 'pe*******01' },
          checks: [
            { parameters: { headers: { 'X-Auth': 'sk*******01' }, keys: ['a'], value: 'b' } },
          ],
        },
      ],
      override_params: {
        ...document.override_params,
        tools: [{ server_url: 'https://example.org', authorization: 'sk*******01' }],
      },
    });
    expect(holdsSecrets(document)).toBe(true);
    expect(holdsSecrets({ provider: '@main', override_params: { max_tokens: 5 } })).toBe(false);
  });
});

describe('restoreSecrets', () => {
  const target = (key: string, provider = 'openai') => ({ provider, api_key: key });
  const restore = (sent: object, stored: object) => restoreSecrets(sent, stored, 'body.config');
  const masked = (document: object) => maskDocument(document) as { targets: object[] };

  it('takes masks for the secrets they were shown for, and new values for what they are', () => {
    const stored = { api_key: first, targets: [target(second)] };
    expect(restore({ ...masked(stored), retry: { attempts: 1 } }, stored)).toEqual({
      ...stored,
      retry: { attempts: 1 },
    });
    expect(restore({ api_key: 'a-new-secret' }, stored)).toEqual({ api_key: 'a-new-secret' });
  });

  it('follows a target that moved within its list', () => {
    const [a, b] = [target('aa-secret-of-one-aa'), target('bb-secret-of-two-bb', 'anthropic')];
    const stored = { targets: [a, b] };
    expect(restore({ targets: masked(stored).targets.toReversed() }, stored)).toEqual({
      targets: [b, a],
    });
    expect(restore({ targets: masked(stored).targets.slice(1) }, stored)).toEqual({ targets: [b] });
  });

  it('keeps targets whose masks look the same while nothing about them changed', () => {
    const stored = { targets: [target('short-1'), target('short-2')] };
    const sent = { ...masked(stored), strategy: { mode: 'fallback' } };
    expect(restore(sent, stored)).toEqual({ ...stored, strategy: sent.strategy });
  });

  it.each([
    ['one of them is gone', [target('*******')]],
    ['one of them changed', [target('*******', 'anthropic'), target('*******')]],
    ['another came', [target('*******'), target('*******'), target('*******')]],
  ])('asks for the value when masks look the same and %s', (_case, targets) => {
    const stored = { targets: [target('short-1'), target('short-2')] };
    expect(() => restore({ targets }, stored)).toThrow(
      'body.config.targets[0].api_key: is masked, and could be one of several secrets: send its value',
    );
  });

  it('asks for the value of a mask that stands for nothing', () => {
    for (const stored of [
      {},
      { api_key: second.replace('01', '02') },
      { targets: [{ api_key: first }] },
    ])
      expect(() => restore({ api_key: 'sk*******01' }, stored)).toThrow(
        'body.config.api_key: is masked: send its value',
      );
  });
});

describe('credentials in addresses', () => {
  const address =
    'https://ann:pa55word@hooks.example:8443/in/a?user=ann&token=t0k3n&x=1&sig=abc#top';
  const shown =
    'https://*******@hooks.example:8443/in/a?user=ann&token=*******&x=1&sig=*******#top';
  const checkOf = (webhookURL: string) => ({
    before_request_hooks: [{ checks: [{ parameters: { webhookURL } }] }],
  });

  it('are masked alone, and all else is shown', () => {
    expect(maskDocument(checkOf(address))).toEqual(checkOf(shown));
    expect(holdsSecrets(checkOf(address))).toBe(true);
    const open = checkOf('https://hooks.example/in?user=ann&x=1');
    expect(maskDocument(open)).toEqual(open);
    expect(holdsSecrets(open)).toBe(false);
    const prompt = { text: 'See https://hooks.example/?token=t0k3n for more' };
    expect(maskDocument(prompt)).toEqual(prompt);
    // What is secret by its name stays so as a whole.
    expect(maskDocument({ api_key: address })).toEqual({ api_key: 'ht*******op' });
  });

  it('are meant where the address is sent back as it was shown', () => {
    const stored = checkOf(address);
    expect(restoreSecrets(checkOf(shown), stored, 'body.config')).toEqual(stored);
    const fresh = checkOf('https://hooks.example/in/a?token=new');
    expect(restoreSecrets(fresh, stored, 'body.config')).toEqual(fresh);
  });

  it.each([
    ['another host', shown.replace('hooks', 'evil')],
    ['another path', shown.replace('/in/a', '/in/b')],
    ['one of its secrets anew', shown.replace('token=*******', 'token=new')],
    ['a mask alone', 'https://hooks.example/?token=*******'],
    ['the name of a mask that is no secret', 'https://hooks.example/?x=*******'],
  ])('go nowhere with %s', (_what, sent) => {
    expect(() => restoreSecrets(checkOf(sent), checkOf(address), 'body.config')).toThrow(
      'webhookURL',
    );
  });
});
