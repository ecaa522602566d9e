import { operations } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { type NotedWork, WorkNotes, type WorkNotesOptions } from './work-notes.ts';

const [made] = operations.createModelResponse.objects?.makes ?? [];
const document = (id: string) => ({ id, status: 'queued', background: true });
const who = () => ({
  owner: { organisationId: 'o', workspaceId: 'w', apiKeyId: 'k' },
  provider: '@p',
  traceId: 't',
  madeAtMs: Date.now(),
});

function notes(over: Partial<WorkNotesOptions> = {}) {
  const told: NotedWork[] = [];
  const said: string[] = [];
  const all = new WorkNotes({
    async tell(works) {
      told.push(...works);
      return 0;
    },
    onOutcome: (outcome, count) => count > 0 && said.push(`${outcome} ${count}`),
    onAway: () => said.push('away'),
    onBack: () => said.push('back'),
    lingerMs: 1,
    pauseMsMax: 1,
    ...over,
  });
  const note = (id: string) => made && all.note(made, document(id), who());
  return { all, note, told, said };
}

describe('notes of work at providers', () => {
  it('are told once each, together', async () => {
    const { all, note, told, said } = notes();
    for (const id of ['a', 'b', 'a']) note(id);
    await expect.poll(() => [said, all.waiting]).toEqual([['noted 2'], 0]);
    expect(told.map(({ path }) => path)).toEqual(['/v1/responses/a', '/v1/responses/b']);
  });

  it('wait while nobody hears them, for a time and up to a number', async () => {
    let isAway = true;
    const { all, note, said } = notes({
      waitingMax: 2,
      async tell(works) {
        if (isAway) throw new Error('away');
        return works.length - 1;
      },
    });
    for (const id of ['a', 'b', 'c']) note(id);
    await expect.poll(() => [said, all.waiting]).toEqual([['lost 1', 'away'], 2]);
    isAway = false;
    await expect.poll(() => said).toEqual(['lost 1', 'away', 'noted 1', 'refused 1', 'back']);
  });

  it('are given up when they were tried for long, and told once more at the end', async () => {
    const tell = () => Promise.reject(new Error('away'));
    const old = notes({ tell, triedMs: -1 });
    old.note('a');
    await expect.poll(() => [old.said, old.all.waiting]).toEqual([['away', 'lost 1'], 0]);
    const last = notes({ lingerMs: 60_000 });
    last.note('a');
    await last.all.stop();
    expect(last.said).toEqual(['noted 1']);
  });
});
