import { GatewayError } from '@sluice/errors';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { guardKeptSecrets, type SecretHolder } from './guard-kept-secrets.ts';
import { fieldOf, maskDocument, restoreSecrets } from './secret-fields.ts';

function holder(document: unknown): SecretHolder {
  return {
    document,
    shown: maskDocument(document),
    fieldOf: (path) => fieldOf('body.config', path),
  };
}

/** What sending this says of the secrets that are kept; nothing when they may stay. */
function faultsOf(stored: object, sent: object): readonly string[] {
  const meant = restoreSecrets(sent, stored, 'body.config');
  try {
    guardKeptSecrets([holder(stored)], [holder(meant)], sent);
    return [];
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'admin.secret_required')
      return error.faults ?? [];
    throw error;
  }
}

const target = (key: string, host?: string) => ({
  provider: 'openai',
  api_key: `${key}-secret-of-a-target`,
  ...(host === undefined ? {} : { custom_host: host }),
});
const shown = <T extends object>(document: T) => maskDocument(document) as T;

describe('guardKeptSecrets', () => {
  const stored = {
    retry: { attempts: 1 },
    targets: [target('aa', 'https://a.example.org/v1'), target('bb'), target('cc')],
  };

  it('lets a document change where nothing leads elsewhere, and its targets move', () => {
    const { targets } = shown(stored);
    expect(faultsOf(stored, { ...shown(stored), retry: { attempts: 2 } })).toEqual([]);
    expect(faultsOf(stored, { targets: targets.toReversed() })).toEqual([]);
    expect(faultsOf(stored, { targets: targets.slice(1) })).toEqual([]);
    const named = targets.map((each, index) => ({ ...each, name: `t${index}`, weight: index }));
    expect(faultsOf(stored, { targets: named })).toEqual([]);
  });

  it('takes another spelling of the same address', () => {
    const [first, ...others] = shown(stored).targets;
    const sent = {
      targets: [{ ...first, custom_host: 'HTTPS://A.example.org:443/v1/' }, ...others],
    };
    expect(faultsOf(stored, sent)).toEqual([]);
  });

  it('names the secret and the address, and no more than concerns them', () => {
    const [first, second, third] = shown(stored).targets;
    const moved = { ...second, custom_host: 'https://stranger.example.org' };
    expect(faultsOf(stored, { targets: [first, moved, third] })).toEqual([
      'body.config.targets[1].api_key: must be sent again, because body.config.targets[1].custom_host changes',
    ]);
    expect(faultsOf(stored, { targets: [{ ...first, custom_host: undefined }, second] })).toEqual([
      'body.config.targets[0].api_key: must be sent again, because body.config.targets[0].custom_host changes',
    ]);
  });

  it('asks for every secret below an address', () => {
    const sent = { ...shown(stored), custom_host: 'https://stranger.example.org' };
    expect(faultsOf(stored, sent).map((fault) => fault.split(':')[0])).toEqual([
      'body.config.targets[0].api_key',
      'body.config.targets[1].api_key',
      'body.config.targets[2].api_key',
    ]);
  });

  it('lets a secret that is sent go anywhere, and asks for those that are not', () => {
    const [first, second] = shown(stored).targets;
    const known = { ...second, ...target('bb', 'https://elsewhere.example.org') };
    expect(faultsOf(stored, { targets: [first, known] })).toEqual([]);
    expect(
      faultsOf(stored, { targets: [first, known], custom_host: 'https://x.example' }),
    ).toHaveLength(1);
  });

  it('counts a header by which hosts are chosen, and no other', () => {
    const headed = {
      api_key: 'a-secret-of-its-own',
      headers: { authorization: 'a-secret-header-01' },
    };
    const { headers, ...rest } = shown(headed);
    const send = (more: object) => faultsOf(headed, { ...rest, headers: { ...headers, ...more } });
    expect(send({ 'x-tenant-id': 'another' })).toEqual([]);
    expect(send({ Host: 'stranger.example.org' })).toHaveLength(2);
  });

  it('stops at twenty faults', () => {
    const many = { targets: Array.from({ length: 50 }, (_, index) => target(`${index + 10}`)) };
    const sent = { ...shown(many), custom_host: 'https://stranger.example.org' };
    expect(faultsOf(many, sent)).toHaveLength(20);
  });

  it('looks at a document of a thousand targets in less than a second', () => {
    const many = {
      targets: Array.from({ length: 1_000 }, (_, index) => ({
        ...target(`${index}`, `https://h${index}.example.org`),
        before_request_hooks: [{ id: 'h', credentials: { token: `hook-secret-${index}` } }],
      })),
    };
    const spentMs = ownTime();
    guardKeptSecrets([holder(many)], [holder(structuredClone(many))], {});
    expect(spentMs()).toBeLessThan(1_000);
  });
});
