import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { jobTokenSeal } from '@sluice/contracts';
import { testDatabase } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchHandlers } from '../src/batches/batch-service.ts';
import { fileHandlers } from '../src/batches/file-service.ts';
import { jobHandlers } from '../src/batches/job-service.ts';
import { followHandlers } from '../src/followed/follow-service.ts';
import { createCredentialVault } from '../src/kernel/credentials/envelope.ts';
import { createDatabaseClient, type DatabaseClient } from '../src/kernel/database/client.ts';
import { applyMigrations } from '../src/kernel/migrations/apply.ts';
import { newId } from '../src/kernel/names/ids.ts';

let db: DatabaseClient;
/** How far the clock of files is ahead. */
let aheadMs = 0;
let files: ReturnType<typeof fileHandlers>;
let batches: ReturnType<typeof batchHandlers>;
let jobs: ReturnType<typeof jobHandlers>;
let followed: ReturnType<typeof followHandlers>;
const context = { signal: new AbortController().signal };
const tokens = jobTokenSeal('services');
const leaseMs = 60_000n;

beforeAll(async () => {
  const url = await testDatabase();
  await applyMigrations(url);
  db = createDatabaseClient({ url, connectionsMax: 4 });
  const parts = {
    client: db,
    vault: createCredentialVault(randomBytes(32)),
    now: () => new Date(),
  };
  files = fileHandlers({
    ...parts,
    now: () => new Date(Date.now() + aheadMs),
    responses: { countMax: 2, bytesMax: 1000, keptMs: 60_000 },
    filesMax: 3,
    keptMs: 0,
  });
  batches = batchHandlers({ ...parts, pepper: randomBytes(32), batchesMax: 2, backgroundMax: 2 });
  jobs = jobHandlers({ ...parts, tokens });
  followed = followHandlers({ ...parts, tokens, followedMax: 40 });
});
afterAll(() => db.$disconnect());

// Messages of protobuf have more than a handler reads.
// biome-ignore lint/suspicious/noExplicitAny: as above
const ask = (handler: (request: any, context: any) => Promise<any>, request: object) =>
  handler({ kind: '', uploadId: '', ...request }, context);

const owner = () => ({
  organisationId: randomUUID(),
  workspaceId: randomUUID(),
  apiKeyId: randomUUID(),
});

async function newFile(whose: ReturnType<typeof owner>): Promise<string> {
  const { id } = await ask(files.beginFile, { owner: whose, filename: 'lines', batchId: '' });
  const done = { id, purpose: 'batch', bytes: 7n, segments: 1, expiresAfterS: 0n };
  await ask(files.finishFile, done);
  return id;
}

async function newBatch(whose = owner()): Promise<string> {
  const made = await ask(batches.createBatch, {
    owner: whose,
    inputFileId: await newFile(whose),
    endpoint: '/v1/embeddings',
    completionWindow: 'immediate',
    metadataJson: '',
    headersJson: '{"x-service-provider":"@openai"}',
    windowMs: 3_600_000n,
  });
  return made.batch.id;
}

const claim = async (ms = leaseMs) => (await ask(jobs.claimBatch, { leaseMs: ms })).claim;
const part = { number: 1, lines: Uint8Array.of(1, 1), completed: 2n, failed: 1n };

describe('a batch', () => {
  it('is one runner’s at a time, with a token for its endpoint', async () => {
    const ids = [await newBatch(), await newBatch(), await newBatch()];
    const claims = await Promise.all([claim(), claim(), claim(), claim(), claim()]);
    const found = claims.filter((each) => each !== undefined);
    expect(found.map(({ batch }) => batch.id).sort()).toEqual([...ids].sort());
    for (const { token, batch, headersJson, dataKey } of found) {
      expect(tokens.read(token, Date.now())).toEqual({
        batchId: batch.id,
        endpoint: '/v1/embeddings',
      });
      expect(JSON.parse(headersJson)).toEqual({ 'x-service-provider': '@openai' });
      expect(dataKey).toHaveLength(32);
    }
    for (const { batch, run } of found)
      await ask(jobs.endBatch, {
        id: batch.id,
        run,
        status: 'cancelled',
        errorsJson: '',
        notRun: 0n,
      });
    expect(await claim()).toBeUndefined();
  });

  it('is taken up by another when its lease has ended, and hears nothing of the one before', async () => {
    const id = await newBatch();
    const first = await claim(1n);
    expect(await ask(jobs.noteChecked, { id, run: first.run, total: 9n })).toMatchObject({
      isHeld: true,
    });
    await expect.poll(() => claim()).toMatchObject({ run: first.run + 1, isChecked: true });
    const run = first.run + 1;
    for (const [method, more] of [
      [jobs.holdBatch, { leaseMs }],
      [jobs.noteChecked, { total: 1n }],
      [jobs.notePart, part],
      [jobs.noteFinalizing, {}],
      [jobs.endBatch, { status: 'completed', errorsJson: '', notRun: 0n }],
    ] as const)
      expect(await ask(method, { id, run: first.run, ...more })).toMatchObject({ isHeld: false });
    expect(await ask(jobs.holdBatch, { id, run, leaseMs })).toMatchObject({
      isHeld: true,
      status: 'in_progress',
    });
    await ask(jobs.endBatch, { id, run, status: 'failed', errorsJson: '', notRun: 0n });
  });

  it('counts a part once, however often it is told', async () => {
    const whose = owner();
    const id = await newBatch(whose);
    const { run } = await claim();
    await ask(jobs.noteChecked, { id, run, total: 9n });
    for (let told = 0; told < 3; told += 1) await ask(jobs.notePart, { id, run, ...part });
    await ask(jobs.notePart, { id, run, ...part, number: 2 });
    const { batch } = await ask(batches.getBatch, { id, workspaceId: whose.workspaceId });
    expect(batch).toMatchObject({ completed: 4n, failed: 2n, total: 9n });
    const parts = [];
    for await (const message of jobs.listParts({ id } as never, context))
      parts.push(...(message.parts ?? []));
    expect(parts.map(({ number }) => number)).toEqual([1, 2]);
    await ask(jobs.endBatch, { id, run, status: 'completed', errorsJson: '', notRun: 0n });
  });

  it('is told as cancelled to whoever runs it, and stays so', async () => {
    const whose = owner();
    const id = await newBatch(whose);
    const { workspaceId } = whose;
    const { run } = await claim();
    expect((await ask(batches.cancelBatch, { id, workspaceId })).batch.status).toBe('cancelling');
    expect((await ask(jobs.noteChecked, { id, run, total: 9n })).isHeld).toBe(true);
    expect((await ask(jobs.notePart, { id, run, ...part })).status).toBe('cancelling');
    await ask(jobs.endBatch, { id, run, status: 'cancelled', errorsJson: '', notRun: 0n });
    expect((await ask(batches.cancelBatch, { id, workspaceId })).batch.status).toBe('cancelled');
  });

  it('and files are no more than a workspace may have, and nobody else’s', async () => {
    const whose = owner();
    const id = await newBatch(whose);
    await newBatch(whose);
    await expect(newBatch(whose)).rejects.toMatchObject({ code: 'batch.too_many' });
    await expect(newFile(whose)).rejects.toMatchObject({ code: 'file.too_many' });
    const { workspaceId } = owner();
    for (const method of [batches.getBatch, batches.cancelBatch])
      await expect(ask(method, { id, workspaceId })).rejects.toMatchObject({
        code: 'batch.not_found',
      });
    const { files: own } = await ask(files.listFiles, {
      ...whose,
      after: '',
      limit: 9,
      ascending: true,
      purpose: '',
    });
    const [file] = own;
    for (const method of [files.getFile, files.openFile, files.deleteFile])
      await expect(ask(method, { id: file.id, workspaceId })).rejects.toMatchObject({
        code: 'file.not_found',
      });
    expect(
      (await ask(files.openFile, { id: file.id, workspaceId: whose.workspaceId })).dataKey,
    ).toHaveLength(32);
  });

  it('no more than that is kept of responses and conversations, in number and in bytes', async () => {
    const full = { code: 'response.too_many' };
    const begin = (whose: object, kind: string, id: string, version: number) =>
      ask(files.beginFile, { owner: whose, kind, id, version });
    const keep = async (
      whose: object,
      kind: string,
      bytes: number,
      id = randomUUID(),
      version = 0,
    ) => {
      await begin(whose, kind, id, version);
      const done = { id, kind, version, content: `${version}`, bytes: BigInt(bytes), segments: 1 };
      await ask(files.finishFile, { ...done, purpose: '', expiresAfterS: 0n, itemIds: [] });
      return id;
    };
    const many = owner();
    const first = await keep(many, 'response', 1);
    await keep(many, 'conversation', 1);
    await expect(keep(many, 'response', 1)).rejects.toMatchObject(full);
    await keep(owner(), 'response', 1);
    await ask(files.deleteFile, { ...many, id: first, kind: 'response' });
    // As of a look at most ten seconds ago.
    aheadMs += 10_001;
    await keep(many, 'response', 1);

    const large = owner();
    const talk = await keep(large, 'conversation', 400);
    await keep(large, 'conversation', 1100, talk, 1);
    await expect(keep(large, 'response', 1)).rejects.toMatchObject(full);
    await expect(keep(large, 'conversation', 1101, talk, 2)).rejects.toMatchObject(full);
    await keep(large, 'conversation', 900, talk, 2);
    aheadMs += 10_001;
    await keep(large, 'conversation', 1200, talk, 3);
    await expect(keep(large, 'conversation', 1201, talk, 4)).rejects.toMatchObject(full);
  });

  it('responses are found by the items that they answered, the newest first, in their workspace alone', async () => {
    const ours = owner();
    const keep = async (
      itemIds: string[],
      kind = 'response',
      version = 0,
      id = newId(Date.now() + aheadMs),
    ) => {
      await ask(files.beginFile, { owner: ours, kind, id, version });
      const done = { id, kind, version, content: `${version}`, bytes: 1n, segments: 1, itemIds };
      await ask(files.finishFile, { ...done, purpose: '', expiresAfterS: 0n });
      return id;
    };
    const found = async (itemIds: string[], { workspaceId } = ours) =>
      (await ask(files.findItems, { workspaceId, itemIds })).ids;
    const many = Array.from({ length: 501 }, (_, at) => `fc_${at}`);
    const first = await keep(['msg_a', 'x'.repeat(257), '']);
    const second = await keep(['msg_b', 'msg_a', ...many]);
    expect(await found(['msg_a'])).toEqual([second, first]);
    expect(await found(['msg_none', 'msg_b'])).toEqual([second]);
    for (const none of [['msg_none'], [], ['x'.repeat(257), ''], ['fc_500']])
      expect(await found(none)).toEqual([]);
    expect(await found(['msg_a'], owner())).toEqual([]);

    await ask(files.deleteFile, { ...ours, id: second, kind: 'response' });
    expect(await found(['msg_a', 'msg_b'])).toEqual([first]);

    // One that is made in the background answers later. There is room for two, as of a look at most ten seconds ago.
    aheadMs += 10_001;
    const later = await keep([]);
    expect(await found(['msg_late'])).toEqual([]);
    await keep(['msg_late'], 'response', 1, later);
    expect(await found(['msg_late'])).toEqual([later]);
  });

  it('goes with a workspace that was deleted, but for what is being uploaded', async () => {
    const organisationId = randomUUID();
    await db.organisation.create({
      data: { id: organisationId, name: 'Files', auditHash: Buffer.alloc(32) },
    });
    const workspace = async (status: string) => {
      const whose = { ...owner(), organisationId };
      const id = whose.workspaceId;
      await db.workspace.create({ data: { id, organisationId, slug: id, name: id, status } });
      const upload = { owner: whose, filename: 'lines', batchId: '' };
      return {
        whole: await newFile(whose),
        begun: (await ask(files.beginFile, upload)).id as string,
      };
    };
    const active = await workspace('active');
    const archived = await workspace('archived');
    const { files: obsolete } = await ask(files.listObsolete, { max: 100 });
    expect(obsolete).toContain(archived.whole);
    for (const id of [archived.begun, active.begun, active.whole])
      expect(obsolete).not.toContain(id);
    await db.organisation.delete({ where: { id: organisationId } });
  });

  it('goes with its workspace, once its content is gone', async () => {
    // None of these workspaces was ever there.
    const all = await ask(files.listObsolete, { max: 100 });
    const some = { files: [] as string[], batches: [] as string[] };
    for (let left = all.files.length + all.batches.length; left > 0; left -= 1) {
      const page = await ask(files.listObsolete, {
        max: 1,
        filesAfter: some.files.at(-1) ?? '',
        batchesAfter: some.batches.at(-1) ?? '',
      });
      some.files.push(...page.files);
      some.batches.push(...page.batches);
      if (page.files.length + page.batches.length === 0) break;
    }
    expect(some.files).toEqual(all.files);
    expect(some.batches).toEqual(all.batches);
    expect(Math.min(all.files.length, all.batches.length)).toBeGreaterThan(1);
    for (;;) {
      const obsolete = await ask(files.listObsolete, { max: 100 });
      if (obsolete.files.length + obsolete.batches.length === 0) break;
      await ask(files.noteEmptied, obsolete);
    }
    expect([
      await db.serviceFile.count(),
      await db.batch.count(),
      await db.batchPart.count(),
    ]).toEqual([0, 0, 0]);
  });
});

describe('work at a provider', () => {
  const workOf = (at: number, whose = owner()) => ({
    kind: 'response',
    objectId: `resp_${at}`,
    owner: whose,
    provider: '@openai',
    path: `/v1/responses/resp_${at}`,
    traceId: 'a trace',
    madeAtMs: BigInt(Date.now() - 20_000),
  });
  const claimLooks = async (over: object = {}) =>
    await ask(followed.claimLooks, {
      max: 10,
      leaseMs,
      kinds: ['response'],
      withCounts: true,
      ...over,
    });

  it('is one runner’s at a time, once noted however often it is told of, up to so many a workspace', async () => {
    const whose = owner();
    const works = Array.from({ length: 45 }, (_, at) => workOf(at, whose));
    expect(await ask(followed.noteWork, { works: works.slice(0, 30) })).toEqual({ refused: 0 });
    expect(await ask(followed.noteWork, { works: works.slice(30) })).toEqual({ refused: 5 });
    await ask(followed.noteWork, { works: works.slice(0, 3) });
    expect((await claimLooks({ kinds: ['video'] })).looks).toEqual([]);
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimLooks()));
    const looks = claims.flatMap((each) => each.looks);
    expect(looks).toHaveLength(40);
    expect(new Set(looks.map(({ id }) => id)).size).toBe(40);
    expect(claims[0]?.counts.followed).toBe(40n);
    for (const { id, token, work } of looks)
      expect(tokens.read(token, Date.now())).toEqual({
        workId: id,
        apiKeyId: whose.apiKeyId,
        provider: '@openai',
        path: work.path,
        traceId: 'a trace',
      });
    for (const { id, run } of looks) {
      const told = { id, run, reason: 'completed', afterMs: 0n, failures: 0 };
      expect(await ask(followed.noteLook, { ...told, state: 'ended' })).toEqual({ isHeld: true });
      expect(await ask(followed.noteLook, { ...told, state: 'open' })).toEqual({ isHeld: false });
    }
    // What has ended is not begun anew by who tells of it late.
    await ask(followed.noteWork, { works: works.slice(0, 3) });
    expect(await claimLooks()).toMatchObject({ looks: [], counts: { followed: 0n } });
  });

  it('is another runner’s after its lease, and what the first says is not heard then', async () => {
    await ask(followed.noteWork, { works: [workOf(100)] });
    const [first] = (await claimLooks({ leaseMs: 1n })).looks;
    await delay(20);
    const [second] = (await claimLooks()).looks;
    expect([second.id, second.run]).toEqual([first.id, first.run + 1]);
    const open = { id: first.id, state: 'open', reason: '', afterMs: 60_000n, failures: 2 };
    expect(await ask(followed.noteLook, { ...open, run: first.run })).toEqual({ isHeld: false });
    expect(await ask(followed.noteLook, { ...open, run: second.run })).toEqual({ isHeld: true });
    expect((await claimLooks()).looks).toEqual([]);
  });
});
