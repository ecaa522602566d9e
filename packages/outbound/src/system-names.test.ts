import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemNames, readHosts, readResolvConf } from './system-names.ts';

const folder = mkdtempSync(join(tmpdir(), 'names-'));
afterEach(() => {
  for (const name of ['hosts', 'resolv.conf']) rmSync(join(folder, name), { force: true });
});
const files = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') };
const systemWith = (hosts: string, resolvConf: string) => {
  writeFileSync(files.hosts, hosts);
  writeFileSync(files.resolvConf, resolvConf);
  return createSystemNames(files.hosts, files.resolvConf);
};

describe('the hosts file', () => {
  it('gives all addresses of a name, aliases and comments as hosts(5) has them', () => {
    const hosts = readHosts(
      [
        '# 9.9.9.9 nobody',
        '127.0.0.1\tlocalhost loop',
        '::1 localhost # and more',
        '10.0.0.5   LLM.corp',
        'fe80::1%eth0 link',
        'nonsense here',
        '',
        '10.0.0.5 llm.corp',
      ].join('\r\n'),
    );
    expect([...hosts]).toEqual([
      [
        'localhost',
        [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ],
      ],
      ['loop', [{ address: '127.0.0.1', family: 4 }]],
      ['llm.corp', [{ address: '10.0.0.5', family: 4 }]],
    ]);
  });

  it('is read again when it changes', async () => {
    const system = systemWith('10.0.0.5 llm.corp', '');
    expect(system.known('llm.corp')).toEqual([{ address: '10.0.0.5', family: 4 }]);
    writeFileSync(files.hosts, '10.0.0.66 llm.corp other.corp');
    await delay(1_050);
    expect(system.known('llm.corp')).toEqual([{ address: '10.0.0.66', family: 4 }]);
  });

  it('need not be there, nor be small enough to be one', () => {
    const missing = createSystemNames(join(folder, 'none'), join(folder, 'none'));
    expect(missing.known('llm.corp')).toBeUndefined();
    expect(missing.candidates('llm.corp')[0]).toBe('llm.corp');
    const large = systemWith('10.0.0.5 llm.corp\n'.repeat(70_000), '');
    expect(large.known('llm.corp')).toBeUndefined();
  });

  it('has the last word on localhost, which is this machine otherwise, with all names below it', () => {
    const unsaid = systemWith('', '');
    expect(unsaid.known('localhost')).toHaveLength(2);
    expect(unsaid.known('a.localhost')).toEqual(unsaid.known('localhost'));
    const said = systemWith('127.0.0.1 localhost', '');
    expect(said.known('a.localhost')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  });
});

describe('search domains', () => {
  const kubernetes =
    'search models.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n';

  it('complete a short name as in Kubernetes', () => {
    const system = systemWith('', kubernetes);
    expect(system.candidates('vllm')).toEqual([
      'vllm.models.svc.cluster.local',
      'vllm.svc.cluster.local',
      'vllm.cluster.local',
      'vllm',
    ]);
    expect(system.candidates('vllm.other')[1]).toBe('vllm.other.svc.cluster.local');
    expect(system.candidates('api.openai.com').at(-1)).toBe('api.openai.com');
    expect(system.candidates('a.b.c.d.e.example.com')[0]).toBe('a.b.c.d.e.example.com');
  });

  it('never complete a name into one that is not called', () => {
    expect(systemWith('', 'search google.internal corp').candidates('metadata')).toEqual([
      'metadata.corp',
      'metadata',
    ]);
    expect(systemWith('', 'search svc.cluster.local').candidates('kubernetes.default')).toEqual([
      'kubernetes.default',
    ]);
  });

  it('are read as resolv.conf(5) has them: the last line wins', () => {
    expect(
      readResolvConf('search a b\n# search no\ndomain corp.\noptions rotate ndots:99'),
    ).toEqual({ search: ['corp'], dotsMin: 15 });
    expect(readResolvConf(`search ${'x '.repeat(500)}`).search).toHaveLength(10);
  });
});
