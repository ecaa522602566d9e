import { parseConfigDocument } from '@sluice/contracts';
import { compileConfig, directConfig, type ResolvedTarget } from '@sluice/engine';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey, refusal } from '../../../test/exchange.ts';
import { resolveTarget } from './resolve-target.ts';

// Every provider, setting and way are in test/abuse/stored-credentials.test.ts; here is what they have in common.

const provider = (slug: string, id: string, over: object) => ({
  slug,
  provider: id,
  status: 'active',
  allowAllModels: true,
  models: [],
  rateLimits: [],
  ...over,
});
const settings = (values: object) => ({ configurationsJson: JSON.stringify(values) });
const bundle = exampleBundle({
  providers: [
    provider('key', 'openai', { apiKey: 'sk-saved', customHeaders: { 'X-Team': 'a' } }),
    provider('hosted', 'openai', { apiKey: 'sk', customHost: 'https://admin.example/v1' }),
    provider('none', 'bedrock', settings({ aws_region: 'eu-west-1' })),
    provider(
      'role',
      'bedrock',
      settings({ aws_auth_type: 'serviceRole', aws_region: 'eu-west-1' }),
    ),
    provider('odd', 'openai', settings({ something_new: 'x' })),
    provider('headers', 'openai', { customHeaders: { 'x-auth': 's' } }),
    provider('tls', 'openai', settings({ tls_cert: 'c', tls_key: 'k' })),
    provider('model', 'openai', {
      models: [{ slug: 'm', enabled: true, customHeaders: { 'x-auth': 's' } }],
    }),
  ] as never,
});

interface Request {
  headers?: Record<string, string>;
  config?: object;
  /** The config is an admin's. */
  saves?: boolean;
  savedOnly?: boolean;
  model?: string;
}

function settle({ headers = {}, config, saves, savedOnly, model = 'm' }: Request) {
  const exchange = exampleExchange({ bundle, key: exampleKey(), headers });
  exchange.subject.model = model;
  exchange.isSavedOnly = savedOnly === true;
  const parsed = config === undefined ? undefined : parseConfigDocument(config, 'ignore');
  if (parsed?.ok === false) throw new Error(parsed.faults.join());
  const compiled =
    parsed === undefined
      ? directConfig
      : compileConfig(parsed.config, saves === true ? { slug: 'saved' } : {});
  return resolveTarget(exchange, compiled.targets[0] as ResolvedTarget);
}
const asking = (slug: string, headers: Record<string, string> = {}) => ({
  headers: { 'x-service-provider': `@${slug}`, ...headers },
});
const host = { 'x-service-custom-host': 'https://callers.example/v1' };

describe('settleCredential', () => {
  it.each([
    ['a key', 'key', true],
    ['custom headers', 'headers', true],
    ['a client certificate', 'tls', true],
    ['custom headers of the model', 'model', true],
    ['the machine’s own identity', 'role', true],
    ['a setting that nobody knows', 'odd', true],
    ['a region alone', 'none', false],
  ])('takes %s for a stored credential: %s → %s', async (_name, slug, isStored) => {
    expect(settle(asking(slug)).credentialBy).toBe(isStored ? 'admin' : 'caller');
    expect(await refusal(() => settle(asking(slug, host)))).toEqual(
      isStored ? { code: 'host.not_allowed', field: 'x-service-custom-host' } : { code: 'none' },
    );
  });

  it('takes the credential of a saved config for one, and names it to no provider of the caller’s', async () => {
    const config = { provider: 'openai', api_key: 'sk' };
    expect(settle({ config, saves: true }).credentialBy).toBe('admin');
    expect(settle({ config }).credentialBy).toBe('caller');
    const anywhere = { api_key: 'sk', retry: { attempts: 1 } };
    const headers = { 'x-service-provider': 'mistral-ai' };
    expect(await refusal(() => settle({ config: anywhere, saves: true, headers }))).toEqual({
      code: 'credential.mixed',
      field: 'x-service-provider',
    });
    expect(settle({ config: anywhere, headers }).apiKey).toBe('sk');
  });

  it('refuses what a header would add, and lets an admin’s setting stand against one', async () => {
    const role = { 'x-service-aws-role-arn': 'arn:aws:iam::1:role/x' };
    expect(await refusal(() => settle(asking('role', role)))).toEqual({
      code: 'credential.mixed',
      field: 'x-service-aws-role-arn',
    });
    const region = { 'x-service-aws-region': 'us-east-1' };
    expect(settle(asking('role', region)).setting('aws-region')).toBe('eu-west-1');
    expect(settle(asking('role', region)).savedSetting?.('aws-auth-type')).toBe('serviceRole');
  });

  it('hears no setting at all in saved-only mode, but the vendor’s own format', () => {
    const headers = {
      'x-service-aws-role-arn': 'arn:aws:iam::1:role/x',
      'x-service-amzn-sagemaker-session-id': 's',
      'anthropic-beta': 'b',
    };
    const target = settle({ ...asking('role', headers), savedOnly: true });
    expect(target.setting('aws-role-arn')).toBeUndefined();
    expect(target.setting('anthropic-beta')).toBe('b');
    expect(
      settle({ ...asking('none', headers), savedOnly: true }).setting('aws-role-arn'),
    ).toBeUndefined();
  });

  it('refuses keys and settings of an inline config, by their place in it', async () => {
    const config = (over: object) => ({ targets: [{ provider: '@role', ...over }] });
    for (const [name, over] of Object.entries({
      api_key: { api_key: 'sk' },
      aws_region: { aws_region: 'us-east-1' },
      aws_access_key_id: { aws_access_key_id: 'A' },
    }))
      expect(await refusal(() => settle({ config: config(over) }))).toEqual({
        code: 'credential.mixed',
        field: `config.targets[0].${name}`,
      });
    // The same as the admin says is nothing new.
    expect(settle({ config: config({ aws_region: 'eu-west-1' }) }).credentialBy).toBe('admin');
    expect(
      settle({ config: config({ aws_region: 'us-east-1' }), saves: true }).setting('aws-region'),
    ).toBe('us-east-1');
  });

  it('takes the admin’s own address, or the catalogue’s, for what it is when a caller names it', () => {
    const at = (slug: string, url: string) =>
      settle(asking(slug, { 'x-service-custom-host': url }));
    expect(at('hosted', 'https://ADMIN.example/v1/').customHost).toEqual({
      url: 'https://admin.example/v1',
      field: '@hosted.custom_host',
      by: 'admin',
    });
    expect(at('key', 'https://api.openai.com/v1').customHost).toBeUndefined();
  });

  it('lends the machine’s identity to nobody who has a say in the address', () => {
    expect(settle(asking('none')).savedSetting?.('aws-region')).toBe('eu-west-1');
    expect(settle(asking('none', host)).savedSetting).toBeUndefined();
    const key = { 'x-service-aws-session-token': 't' };
    expect(settle(asking('none', key)).savedSetting).toBeUndefined();
    expect(settle({ headers: { 'x-service-provider': 'bedrock' } }).savedSetting).toBeUndefined();
    const inline = { provider: '@none', vertex_project_id: 'p' };
    expect(settle({ config: inline }).savedSetting).toBeUndefined();
  });

  it('forwards no header of the caller’s over one of the admin’s, unless an admin lists it', async () => {
    const forward = { 'x-service-forward-headers': 'X-Team, x-other' };
    expect(settle(asking('key', forward)).forwardHeaders).toEqual(['x-other']);
    const config = { provider: '@key', forward_headers: ['x-team', 'authorization'] };
    expect(settle({ config, saves: true }).forwardHeaders).toEqual(['x-team', 'authorization']);
    expect(await refusal(() => settle({ config }))).toEqual({
      code: 'credential.mixed',
      field: 'config.forward_headers',
    });
  });

  it('shows no value in what it says', async () => {
    try {
      settle(asking('role', { 'x-service-aws-external-id': 'callers-secret' }));
      expect.unreachable();
    } catch (error) {
      expect(String(error)).toContain('x-service-aws-external-id');
      expect(String(error)).not.toContain('callers-secret');
    }
  });
});
