import { create } from '@bufbuild/protobuf';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import { config } from '@sluice/proto-stubs';
import { eventually, type Issuer, startIssuer } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import type { ConfigSource } from './config-source.ts';
import { workspaceOf } from './held-organisation.ts';
import { Organisations, type OrganisationsOptions } from './organisations.ts';

const logger = { info: () => {}, warn: () => {}, error: () => {} } as never;
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
});
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A control plane that knows a few organisations; answers are computed at once and may be held back. */
class FakeControlPlane implements Pick<ConfigSource, 'getOrganisation'> {
  readonly organisations = new Map<string, config.Organisation>();
  readonly asked: string[] = [];
  isAway = false;
  heldBack: (() => void)[] | undefined;

  set(id: string, hash: string, settings: object | undefined = undefined): void {
    this.organisations.set(
      id,
      create(config.OrganisationSchema, {
        id,
        hash,
        jwtSettingsJson: settings === undefined ? '' : JSON.stringify(settings),
        workspaces: [
          { id: '0190c8a0-0000-7000-8000-00000000000a', slug: 'main' },
          { id: 'w-2', slug: 'second' },
        ],
        defaultWorkspaceId: 'w-2',
      }),
    );
  }
  async getOrganisation(id: string, knownHash: string) {
    this.asked.push(id);
    if (this.isAway) throw new Error('away');
    const found = this.organisations.get(id);
    const answer = found === undefined ? 'gone' : found.hash === knownHash ? 'unchanged' : found;
    if (this.heldBack !== undefined)
      await new Promise<void>((resolve) => this.heldBack?.push(resolve));
    return answer;
  }
}

function organisationsOf(source: FakeControlPlane, over: Partial<OrganisationsOptions> = {}) {
  const made = new Organisations({ source, fetch, logger, listed: [], retryMs: 10, ...over });
  cleanups.push(() => made.stop());
  return made;
}

async function issuerWithSettings(): Promise<{ issuer: Issuer; settings: object }> {
  const issuer = await startIssuer();
  cleanups.push(() => issuer.close());
  const settings = {
    jwks_url: issuer.jwksUrl,
    algorithms: ['RS256'],
    clock_tolerance_s: 5,
    jwks_max_age_s: 600,
  };
  return { issuer, settings };
}

describe('Organisations', () => {
  it('holds those that are listed as soon as the control plane is watched', async () => {
    const source = new FakeControlPlane();
    source.set('a', '1');
    const organisations = organisationsOf(source, { listed: ['a', 'b'] });
    organisations.watched();
    await eventually(() => organisations.size === 1);
    source.isAway = true;
    expect(await organisations.find('a')).toMatchObject({ source: { id: 'a' } });
  });

  it('asks once for an organisation that many name at once', async () => {
    const source = new FakeControlPlane();
    source.set('a', '1');
    const organisations = organisationsOf(source);
    await Promise.all(Array.from({ length: 20 }, () => organisations.find('a')));
    await organisations.find('a');
    expect(source.asked).toEqual(['a']);
  });

  it('does not ask again for one that does not exist, until it is told of a change', async () => {
    const source = new FakeControlPlane();
    const organisations = organisationsOf(source);
    expect([await organisations.find('a'), await organisations.find('a')]).toEqual([
      undefined,
      undefined,
    ]);
    expect(source.asked).toEqual(['a']);
    source.set('a', '1');
    organisations.changed('a');
    expect(await organisations.find('a')).toBeDefined();
  });

  it('asks for no more unknown ones at a time than is set', async () => {
    const source = new FakeControlPlane();
    source.heldBack = [];
    const organisations = organisationsOf(source, { lookupsMax: 2 });
    const first = [organisations.find('a'), organisations.find('b')];
    await expect(organisations.find('c')).rejects.toMatchObject({ code: 'auth.unavailable' });
    for (const give of source.heldBack.splice(0)) give();
    expect(await Promise.all(first)).toEqual([undefined, undefined]);
  });

  it('says that it cannot know while the control plane is away', async () => {
    const source = new FakeControlPlane();
    source.isAway = true;
    await expect(organisationsOf(source).find('a')).rejects.toMatchObject({
      code: 'auth.unavailable',
      status: 503,
    });
  });

  it('fetches what changed while it was being fetched again, and tells who asked to know', async () => {
    const source = new FakeControlPlane();
    source.set('a', '1');
    const organisations = organisationsOf(source);
    await organisations.find('a');
    const told: string[] = [];
    organisations.onChange = (id) => told.push(id);
    source.heldBack = [];
    source.set('a', '2');
    organisations.changed('a');
    source.set('a', '3');
    organisations.changed('a');
    const held = source.heldBack;
    source.heldBack = undefined;
    for (const give of held) give();
    await eventually(() => told.length === 1);
    expect(await organisations.find('a')).toMatchObject({ source: { hash: '3' } });
  });

  it('tries again after a failure, as long as the stream is live', async () => {
    const source = new FakeControlPlane();
    source.set('a', '1');
    const organisations = organisationsOf(source);
    await organisations.find('a');
    organisations.watched();
    source.isAway = true;
    source.set('a', '2');
    organisations.changed('a');
    await eventually(() => source.asked.length > 4);
    expect(await organisations.find('a')).toMatchObject({ source: { hash: '1' } });
    source.isAway = false;
    await eventually(async () => (await organisations.find('a'))?.source.hash === '2');
  });

  it('forgets one that is gone', async () => {
    const source = new FakeControlPlane();
    source.set('a', '1');
    const organisations = organisationsOf(source);
    await organisations.find('a');
    source.organisations.delete('a');
    organisations.changed('a');
    await eventually(() => organisations.size === 0);
  });

  it('keeps the keys of an issuer while settings stay, and over a restart', async () => {
    const { issuer, settings } = await issuerWithSettings();
    const source = new FakeControlPlane();
    source.set('a', '1', settings);
    const organisations = organisationsOf(source);
    let kept = 0;
    organisations.onKeep = () => (kept += 1);
    const token = await issuer.sign({ sub: 'x' });
    await (await organisations.find('a'))?.authority?.verify(token);
    expect(kept).toBe(2);
    // Another name of a workspace, and another tolerance: the issuer is the same.
    source.set('a', '2', settings);
    organisations.changed('a');
    await eventually(async () => (await organisations.find('a'))?.source.hash === '2');
    await (await organisations.find('a'))?.authority?.verify(token);
    expect(issuer.fetches).toBe(1);

    issuer.answer = (req) => req.socket.destroy();
    source.isAway = true;
    const restarted = organisationsOf(source);
    restarted.restore(organisations.kept());
    await expect((await restarted.find('a'))?.authority?.verify(token)).resolves.toMatchObject({
      claims: { user: 'x' },
    });
  });

  it('does not take the keys of one issuer for another’s', async () => {
    const { issuer, settings } = await issuerWithSettings();
    const other = await issuerWithSettings();
    const source = new FakeControlPlane();
    source.set('a', '1', settings);
    const organisations = organisationsOf(source);
    const token = await issuer.sign({ sub: 'x' });
    await (await organisations.find('a'))?.authority?.verify(token);
    source.set('a', '2', other.settings);
    organisations.changed('a');
    await eventually(async () => (await organisations.find('a'))?.source.hash === '2');
    other.issuer.answer = (req) => req.socket.destroy();
    await expect((await organisations.find('a'))?.authority?.verify(token)).rejects.toMatchObject({
      code: 'auth.issuer_unavailable',
    });
  });
});

describe('workspaceOf', () => {
  it('finds a workspace by slug and by UUID in any case, and the default one without a name', async () => {
    const source = new FakeControlPlane();
    source.set('a', '1');
    const held = (await organisationsOf(source).find('a'))!;
    expect(
      ['main', '0190C8A0-0000-7000-8000-00000000000A', undefined, 'other'].map(
        (name) => workspaceOf(held, name)?.slug,
      ),
    ).toEqual(['main', 'main', 'second', undefined]);
  });
});
