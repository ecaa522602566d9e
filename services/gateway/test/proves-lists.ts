import { gzipSync } from 'node:zlib';
import { bytes, eventually, freshName, json, startUpstream } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, errorOf, type Scenario } from './scenario.ts';
import { shareAccount } from './share-account.ts';

type Ask = (path: string, config: object | undefined, over?: CallOptions) => Promise<Response>;

interface Installation {
  scenario(): Scenario;
  ask: Ask;
  look: Ask;
  idOf(response: Response): Promise<string>;
}

/** What is listed where, and what the object calls itself. */
const listed: Record<string, string> = {
  files: 'file',
  batches: 'batch',
  vector_stores: 'vector_store',
  assistants: 'assistant',
  containers: 'container',
  videos: 'video',
  'fine_tuning/jobs': 'fine_tuning.job',
  'chat/completions': 'chat.completion',
  'audio/voice_consents': 'audio.voice_consent',
};

/** An account: what it has, in the order in which it was made, by the path of its list. */
async function startAccount() {
  const shelves = new Map(Object.keys(listed).map((root) => [root, [] as { id: string }[]]));
  let made = 0;
  const put = (root: string, name?: string) => {
    const object = listed[root] ?? '';
    const id = name ?? `${object.replace('.', '_')}_of_${++made}`;
    const choice = {
      index: 0,
      message: { role: 'assistant', content: 'Hi' },
      finish_reason: 'stop',
    };
    const said = object === 'chat.completion' ? { model: 'gpt-4o-mini', choices: [choice] } : {};
    const thing = { id, object, created_at: 1, ...said };
    shelves.get(root)?.push(thing);
    return thing;
  };
  const upstream = await startUpstream();
  upstream.handle(({ method, path, headers }) => {
    const { pathname, searchParams } = new URL(path, 'http://account');
    // As a lenient server reads it.
    const root = pathname.split('/').filter(Boolean).slice(1).join('/');
    const all = shelves.get(root);
    if (all === undefined) return json(404, { error: { message: 'not here' } });
    if (method === 'POST') return json(200, put(root));
    const from = all.findIndex(({ id }) => id === searchParams.get('after')) + 1;
    const data = all.slice(from, from + Number(searchParams.get('limit') ?? 20));
    const page = {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: from + data.length < all.length,
    };
    const text = Buffer.from(JSON.stringify(page));
    const type = { 'content-type': 'application/json' };
    if (headers['accept-encoding']?.includes('gzip') === true)
      return bytes(200, gzipSync(text), { ...type, 'content-encoding': 'gzip' });
    if (headers.range !== undefined) return bytes(206, text.subarray(0, 90), type);
    return bytes(200, text, { ...type, etag: '"of-all"' });
  });
  return { upstream, put, shelves };
}

/** That lists of an account that workspaces share are narrowed. Told by the file that has the installation: two gateways with one Redis. */
export function provesLists({ scenario, ask, look, idOf }: Installation): void {
  describe('a list of what stays at a provider', () => {
    let account: Awaited<ReturnType<typeof startAccount>>;
    let others: string;
    const config = { provider: '@shared-lists' };
    beforeAll(async () => {
      account = await startAccount();
      others = await shareAccount(scenario(), 'shared-lists', account.upstream);
    });
    afterAll(() => account.upstream.close());

    const idsIn = async (path: string, over: CallOptions = {}) => {
      const response = await look(path, config, over);
      const list = (await response.json()) as { data?: { id: string }[] };
      expect(response.status, JSON.stringify(list)).toBe(200);
      return list.data?.map(({ id }) => id);
    };
    const make = async (root: string, key?: string) =>
      idOf(
        await ask(`/v1/${root}`, config, {
          body: { model: 'gpt-4o-mini', store: true, messages: [{ role: 'user', content: 'Hi' }] },
          ...(key === undefined ? {} : { key }),
        }),
      );

    it('shows a workspace what it made, of each kind, at every gateway', async () => {
      for (const root of Object.keys(listed)) {
        account.shelves.get(root)?.splice(0);
        account.put(root);
        const mine = await make(root);
        const theirs = await make(root, others);
        const paths = [`/v1/${root}`, `/v1/proxy//${root}/?limit=3`];
        for (const [gateway, path] of paths.entries()) {
          expect(await idsIn(path, { gateway }), path).toEqual([mine]);
          expect(await idsIn(path, { gateway, key: others }), path).toEqual([theirs]);
        }
      }
    });

    it('cannot be had compressed, in part, or in pages of thousands', async () => {
      const [mine] = (await idsIn('/v1/files')) ?? [];
      const ways: Record<string, string>[] = [
        { 'accept-encoding': 'gzip' },
        { range: 'bytes=0-89' },
      ];
      for (const headers of ways) {
        const reply = await look('/v1/files', config, {
          headers,
        });
        expect(reply.headers.get('etag')).toBe(null);
        expect(((await reply.json()) as { data: unknown[] }).data).toMatchObject([{ id: mine }]);
      }
      for (const query of ['', '?limit=10000', '?limit=5&limit=10000', '?limit=100']) {
        await idsIn(`/v1/files${query}`);
        expect(account.upstream.requests.at(-1)?.path).toBe('/v1/files?limit=100');
      }
    });

    it('is paged to its end by OpenAI’s client, past pages that are others’', async () => {
      const shelf = account.shelves.get('files') ?? [];
      shelf.length = 0;
      const mine: string[] = [];
      for (const outside of [0, 7, 4]) {
        for (let at = 0; at < outside; at++) account.put('files');
        mine.push(await make('files'));
      }
      await make('files', others);
      const client = new OpenAI({
        apiKey: scenario().stack.credentials.workspace_key,
        baseURL: `${scenario().stack.gatewayUrls[1]}/v1`,
        maxRetries: 0,
        defaultHeaders: { 'x-service-config': JSON.stringify(config) },
      });
      const seen: string[] = [];
      for await (const { id } of client.files.list({ limit: 2 })) seen.push(id);
      expect(seen).toEqual(mine);
      // Ten pages are looked at, and the caller told where to go on.
      for (let at = 0; at < 30; at++) account.put('files');
      const behind = await make('files');
      const page = async (after: string | undefined) =>
        (await look(`/v1/files?limit=2&after=${after}`, config)).json();
      const empty = (await page(mine.at(-1))) as { last_id: string };
      expect(empty).toMatchObject({ data: [], has_more: true });
      expect(await page(empty.last_id)).toMatchObject({ data: [{ id: behind }], has_more: false });
    });

    it('is refused where nobody can tell whose it is', async () => {
      const answers = [
        bytes(200, Buffer.from('file_of_others'), { 'content-type': 'text/plain' }),
        bytes(200, Buffer.from('data: {"id":"file_1"}\n\n'), {
          'content-type': 'text/event-stream',
        }),
        json(200, { result: { files: [{ id: 'file_1' }] } }),
      ];
      const odd = await startUpstream();
      const slug = freshName('odd-lists');
      await shareAccount(scenario(), slug, odd);
      for (const answer of answers) {
        odd.handle(answer);
        const refused = await look('/v1/files', { provider: `@${slug}` });
        expect(await errorOf(refused)).toMatchObject({
          status: 502,
          code: 'upstream.invalid_response',
        });
      }
      odd.handle(json(403, { error: { message: 'no' } }));
      expect((await look('/v1/files', { provider: `@${slug}` })).status).toBe(403);
      await odd.close();
    });

    it('shows all of it where the integration says nothing', async () => {
      const { admin } = scenario();
      const all = account.shelves.get('videos')?.map(({ id }) => id);
      expect(all?.length).toBe(3);
      await admin('PUT', '/integrations/shared-lists', { configurations: { lists: null } });
      await eventually(async () => expect(await idsIn('/v1/videos')).toEqual(all));
      await admin('PUT', '/integrations/shared-lists', { configurations: { lists: 'own' } });
      await eventually(async () => expect((await idsIn('/v1/videos'))?.length).toBe(1));
    });
  });
}

/** While the ledger is away, and nobody remembers: a list of one object that is nobody's here. */
export async function refusesUnsureLists(scenario: Scenario, look: Ask): Promise<void> {
  const unsure = await startUpstream(
    json(200, { object: 'list', data: [{ id: 'file_of_whom', object: 'file' }] }),
  );
  await shareAccount(scenario, 'unsure-lists', unsure);
  const refused = () => look('/v1/files', { provider: '@unsure-lists' });
  await scenario.stack.part('data-service').stop();
  await eventually(async () =>
    expect(await errorOf(await refused())).toMatchObject({
      status: 503,
      code: 'object.owners_unavailable',
    }),
  );
  await unsure.close();
}
