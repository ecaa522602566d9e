import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usage } from '@sluice/proto-stubs';
import { ownTime } from '@sluice/testkit/own-time';
import { readEntry } from '@sluice/usage';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outbox, OutboxFullError } from './outbox.ts';
import {
  entriesOf,
  headerBytes,
  kindAttempt,
  kindBegin,
  kindNote,
  noId,
} from './outbox-entries.ts';
import { PendingEntries } from './pending-entries.ts';
import type { OutboxLoss } from './segment-reader.ts';
import { uuidV7 } from './uuid.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-outbox-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** An outbox whose entries are written as soon as they are taken, as after a turn of the event loop. */
const open = (bytesMax = 1024 ** 3) => {
  const outbox = new Outbox({ dir, bytesMax });
  const { begin, end } = outbox;
  outbox.begin = (id, bytes, note) => {
    const written = begin.call(outbox, id, bytes, note);
    outbox.flush();
    return written;
  };
  outbox.end = (id, bytes, note) => {
    const written = end.call(outbox, id, bytes, note);
    outbox.flush();
    return written;
  };
  return outbox;
};
const payload = (text: string) => Buffer.from(text);

/** Everything not yet acknowledged, in order. */
function contents(outbox: Outbox, batchMax = 100): string[] {
  const texts: string[] = [];
  for (
    let batch = outbox.read(batchMax);
    batch !== undefined;
    batch = outbox.read(batchMax, batch.next)
  )
    texts.push(...batch.records.map((record) => Buffer.from(record).toString()));
  return texts;
}

describe('Outbox', () => {
  it('gives back records in order, in batches, and only records', () => {
    const outbox = open();
    for (let index = 0; index < 10; index++) {
      const id = uuidV7(1);
      outbox.begin(id, payload(`begin ${index}`));
      outbox.end(id, payload(`record ${index}`));
    }
    expect(outbox.read(3)?.records).toHaveLength(3);
    expect(contents(outbox, 3)).toEqual(
      Array.from({ length: 10 }, (_, index) => `record ${index}`),
    );
  });

  it('has nothing more to send while only begins were written, and does not read them again', () => {
    const outbox = open();
    const id = uuidV7(1);
    outbox.begin(id, payload('begin'));
    expect(outbox.hasMore).toBe(true);
    expect(outbox.read(10)).toBeUndefined();
    expect(outbox.hasMore).toBe(false);
    outbox.saveCursor();
    expect(open().recover((begin) => begin)).toBe(1);
    outbox.end(id, payload('record'));
    expect(contents(outbox)).toEqual(['record']);
  });

  it('keeps what was written when the process dies without closing', () => {
    const first = open();
    first.end(uuidV7(1), payload('a'));
    first.end(uuidV7(1), payload('b'));
    expect(contents(open())).toEqual(['a', 'b']);
  });

  it('sends again from the saved cursor, so that nothing acknowledged before it comes twice', () => {
    const first = open();
    for (const text of ['a', 'b', 'c']) first.end(uuidV7(1), payload(text));
    const batch = first.read(2);
    first.acknowledge(batch?.next ?? { segment: 0, offset: 0 });
    first.saveCursor();
    expect(contents(open())).toEqual(['c']);
  });

  it('writes the entries of one turn together, and resolves when they are on disk', async () => {
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    const first = outbox.end(uuidV7(1), payload('a'));
    const second = outbox.end(uuidV7(1), payload('b'));
    expect(second).toBe(first);
    expect(outbox.read(10)).toBeUndefined();
    await first;
    expect(contents(new Outbox({ dir, bytesMax: 1024 ** 3 }))).toEqual(['a', 'b']);
  });

  it('hands back attempts that began and never ended, once', () => {
    const first = open();
    const finished = uuidV7(1);
    first.begin(finished, payload('begin finished'));
    first.begin(uuidV7(1), payload('begin lost'));
    first.end(finished, payload('finished'));
    const second = open();
    expect(second.recover((begin) => Buffer.concat([begin, payload(' +lost')]))).toBe(1);
    expect(contents(second)).toEqual(['finished', 'begin lost +lost']);
    expect(open().recover((begin) => begin)).toBe(0);
  });

  it('gives entries of other kinds with their tag, also of a kind only a later release knows', async () => {
    const laterKind: number = 200;
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    const id = uuidV7(1);
    outbox.begin(id, payload('begin'));
    outbox.add(usage.EntryKind.FEEDBACK, id, payload('feedback'));
    outbox.add(laterKind, uuidV7(1), payload('later'));
    await outbox.end(id, payload('\nrecord'));
    const entries = new Outbox({ dir, bytesMax: 1024 ** 3 }).read(10)?.records.map(readEntry);
    expect(entries?.map(({ kind, body }) => [kind, Buffer.from(body).toString()])).toEqual([
      [usage.EntryKind.FEEDBACK, 'feedback'],
      [laterKind, 'later'],
      [usage.EntryKind.ATTEMPT, '\nrecord'],
    ]);
  });

  it('does not take an entry of another kind for the end of an attempt', () => {
    const first = open();
    const id = uuidV7(1);
    first.begin(id, payload('begin'));
    first.add(usage.EntryKind.BODY_POINTER, id, payload('pointer'));
    first.flush();
    expect(first.attemptsUnderWay).toBe(1);
    expect(open().recover((begin) => begin)).toBe(1);
  });

  it('reads the files of the release before', () => {
    copyFileSync(
      join(import.meta.dirname, 'fixtures/outbox-of-two-kinds.bin'),
      join(dir, '0000000001.log'),
    );
    const outbox = open();
    expect(outbox.recover((begin) => Buffer.concat([begin, payload(' +lost')]))).toBe(1);
    expect(contents(outbox)).toEqual(['record 0', 'record 1', 'record 2', 'begin lost +lost']);
  });

  it('deletes acknowledged segments, but remembers attempts still under way there', () => {
    const outbox = open();
    const long = uuidV7(1);
    outbox.begin(long, payload('begin long'));
    for (let index = 0; index < 20; index++)
      outbox.end(uuidV7(1), Buffer.alloc(1024 * 1024, index));
    expect(readdirSync(dir).filter((name) => name.endsWith('.log')).length).toBeGreaterThan(1);
    for (let batch = outbox.read(100); batch !== undefined; batch = outbox.read(100))
      outbox.acknowledge(batch.next);
    expect(readdirSync(dir).filter((name) => name.endsWith('.log'))).toHaveLength(1);
    outbox.saveCursor();
    const next = open();
    expect(next.recover((begin) => begin)).toBe(1);
    expect(contents(next)).toEqual(['begin long']);
  });

  it('tells the next life the last note of each key, and the ledger none', () => {
    const first = open();
    const id = uuidV7(1);
    first.begin(id, payload('begin'), { key: 'one', text: 'of its begin' });
    first.end(id, payload('end'), { key: 'one', text: 'of its end' });
    first.keep({ key: 'two', text: 'of\nno entry' });
    first.flush();
    const second = open();
    expect(second.recover((begin) => begin)).toBe(0);
    expect(second.recalled()).toEqual([
      ['one', 'of its end'],
      ['two', 'of\nno entry'],
    ]);
    expect(contents(second)).toEqual(['end']);
  });

  it('takes a note for told with its entry only, where the process died between the two', () => {
    const first = open();
    const id = uuidV7(1);
    first.begin(id, payload('begin'), { key: 'one', text: 'of its begin' });
    first.end(id, payload('end'), { key: 'one', text: 'of its end' });
    const segment = join(dir, readdirSync(dir).filter((name) => name.endsWith('.log'))[0] ?? '');
    truncateSync(segment, statSync(segment).size - 1);
    const second = open();
    expect(second.recover((begin) => begin)).toBe(1);
    expect(second.recalled()).toEqual([['one', 'of its begin']]);
  });

  it('deletes acknowledged segments, and remembers notes that are not forgotten', () => {
    const outbox = open();
    outbox.end(uuidV7(1), payload('a'), { key: 'settled', text: 'x' });
    outbox.end(uuidV7(1), payload('b'), { key: 'unsettled', text: 'y' });
    outbox.forget('settled');
    for (let index = 0; index < 20; index++)
      outbox.end(uuidV7(1), Buffer.alloc(1024 * 1024, index));
    for (let batch = outbox.read(100); batch !== undefined; batch = outbox.read(100))
      outbox.acknowledge(batch.next);
    expect(readdirSync(dir).filter((name) => name.endsWith('.log'))).toHaveLength(1);
    const next = open();
    next.recover((begin) => begin);
    expect(next.recalled()).toEqual([['unsettled', 'y']]);
  });

  it('survives a torn tail: what stands before it is sent, writing goes on', () => {
    const first = open();
    for (const text of ['a', 'b', 'c']) first.end(uuidV7(1), payload(text));
    const segment = join(dir, readdirSync(dir).filter((name) => name.endsWith('.log'))[0] ?? '');
    truncateSync(segment, 26 * 3 - 1);
    const second = open();
    second.end(uuidV7(1), payload('d'));
    expect(contents(second)).toEqual(['a', 'b', 'd']);
  });

  it('stops at bytes that are not its own', () => {
    const first = open();
    first.end(uuidV7(1), payload('a'));
    appendFileSync(
      join(dir, readdirSync(dir).filter((name) => name.endsWith('.log'))[0] ?? ''),
      Buffer.alloc(200, 0xff),
    );
    const second = open();
    second.end(uuidV7(1), payload('b'));
    expect(contents(second)).toEqual(['a', 'b']);
  });

  it('refuses new attempts when it is full, and still takes the ends of old ones', () => {
    const outbox = open(1000);
    const id = uuidV7(1);
    outbox.begin(id, payload('x'.repeat(1000)));
    expect(() => outbox.begin(uuidV7(1), payload('y'))).toThrow(OutboxFullError);
    outbox.end(id, payload('end'));
    expect(contents(outbox)).toEqual(['end']);
  });

  it('has room again once all was sent, however small it is', () => {
    const outbox = open(1024 * 1024);
    while (!outbox.isFull) {
      const id = uuidV7(1);
      void outbox.begin(id, payload('x'.repeat(500)));
      void outbox.end(id, payload('y'.repeat(500)));
      outbox.flush();
    }
    for (let batch = outbox.read(1000); batch !== undefined; batch = outbox.read(1000))
      outbox.acknowledge(batch.next);
    expect(outbox.pendingBytes).toBeLessThan(128 * 1024);
  });
});

describe('a disk that refuses', () => {
  const eightMegabytes = Buffer.alloc(8 * 1024 * 1024, 0x61);
  /** The next segment is a device that is always full. */
  const fillDisk = (segment: number) =>
    symlinkSync('/dev/full', join(dir, `${String(segment).padStart(10, '0')}.log`));

  it('fails the waiting, notes no attempt as under way, and keeps records for the next write', async () => {
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    fillDisk(3);
    await outbox.end(uuidV7(1), eightMegabytes);
    const begun = outbox.begin(uuidV7(1), payload('begin'));
    const ended = outbox.end(uuidV7(1), payload('kept'));
    await expect(begun).rejects.toThrow('ENOSPC');
    await expect(ended).rejects.toThrow('ENOSPC');
    expect(outbox.attemptsUnderWay).toBe(0);

    await outbox.end(uuidV7(1), payload('after'));
    expect(contents(outbox).slice(1)).toEqual(['kept', 'after']);
    outbox.close();
    // The device reads without end.
    rmSync(join(dir, '0000000003.log'));
    expect(open().recover(() => payload('lost'))).toBe(0);
  });

  it('keeps the records that memory has room for with their notes, and tells of each of the others', () => {
    const pending = new PendingEntries();
    const path = join(dir, 'kept');
    const megabytes = (count: number) => Buffer.alloc(count * 1024 * 1024);
    const push = (kind: number, id: Buffer, text: string) => pending.push(kind, id, payload(text));
    const [begun, first, second, tooMuch, small, another] = Array.from({ length: 6 }, () =>
      uuidV7(1),
    ) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
    push(kindNote, begun, 'of a begin');
    push(kindBegin, begun, 'begin');
    push(kindNote, first, 'of the first');
    pending.push(kindAttempt, first, megabytes(7));
    pending.push(kindAttempt, second, megabytes(7));
    push(kindNote, tooMuch, 'of too much');
    pending.push(kindAttempt, tooMuch, megabytes(3));
    push(kindAttempt, small, 'small');
    push(kindNote, noId, 'of nothing');
    pending.push(kindAttempt, another, megabytes(4));
    expect(pending.keepRecords()).toEqual({
      records: 2,
      bytes: 3 * headerBytes + 'of too much'.length + megabytes(7).length,
    });
    expect(pending.refusedBytes).toBe(pending.bytes);
    const file = openSync(path, 'w');
    pending.writeTo(file);
    closeSync(file);
    const kept = Array.from(entriesOf(readFileSync(path)), ({ kind, id }) => [kind, id]);
    expect(kept).toEqual([
      [kindNote, first],
      [kindAttempt, first],
      [kindAttempt, second],
      [kindAttempt, small],
      [kindNote, noId],
    ]);
  });

  it('writes them by itself once it can, also when nothing else is to be written', async () => {
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    fillDisk(3);
    await outbox.end(uuidV7(1), eightMegabytes);
    await expect(outbox.end(uuidV7(1), payload('kept'))).rejects.toThrow('ENOSPC');
    expect(contents(outbox)).toHaveLength(1);
    await expect.poll(() => contents(outbox).slice(1)).toEqual(['kept']);
    outbox.close();
  });

  it('works again once segments can be opened again', async () => {
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    renameSync(dir, `${dir}-away`);
    try {
      // Written, but there is no place for the segment after it.
      await outbox.end(uuidV7(1), eightMegabytes);
      await expect(outbox.begin(uuidV7(1), payload('begin'))).rejects.toThrow('ENOENT');
      await expect(outbox.end(uuidV7(1), payload('a'))).rejects.toThrow('ENOENT');
    } finally {
      renameSync(`${dir}-away`, dir);
    }
    await outbox.end(uuidV7(1), payload('b'));
    const sent = outbox.read(100);
    expect(contents(outbox).slice(1)).toEqual(['a', 'b']);
    if (sent !== undefined) outbox.acknowledge(sent.next);
    outbox.close();
  });

  it('takes no record that readers would take for damage', async () => {
    const outbox = open();
    await expect(outbox.end(uuidV7(1), Buffer.alloc(17 * 1024 * 1024))).rejects.toThrow(
      'too large',
    );
    await outbox.end(uuidV7(1), payload('next'));
    expect(contents(outbox)).toEqual(['next']);
  });
});

describe('a damaged outbox', () => {
  /** As a record begins: with the id that its header carries. */
  const record = (id: Buffer, text: string) =>
    Buffer.concat([Buffer.from([0x0a, 0x10]), id, payload(text)]);
  const textOf = (bytes: Uint8Array) => Buffer.from(bytes.subarray(18)).toString();
  const entryBytes = 25 + 18 + 'record 000'.length;

  /** A segment of a hundred records, one byte of it changed; what is read of it. */
  function readDamaged(at: number) {
    const losses: OutboxLoss[] = [];
    const first = open();
    const ids = Array.from({ length: 100 }, () => uuidV7(1));
    for (const [index, id] of ids.entries())
      first.end(id, record(id, `record ${String(index).padStart(3, '0')}`));
    first.close();
    const path = join(dir, '0000000002.log');
    const bytes = readFileSync(path);
    bytes[at] = bytes[at]! ^ 0x55;
    writeFileSync(path, bytes);
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3, onLoss: (loss) => losses.push(loss) });
    outbox.recover((begin) => begin);
    const next = uuidV7(1);
    void outbox.end(next, record(next, 'of the next life'));
    outbox.flush();
    const texts: string[] = [];
    for (let batch = outbox.read(30); batch !== undefined; batch = outbox.read(30)) {
      texts.push(...batch.records.map(textOf));
      outbox.acknowledge(batch.next);
    }
    outbox.close();
    return { texts, losses };
  }

  it('loses the damaged record only, whichever byte it is, tells once where, and keeps the segment', () => {
    for (const byte of Array.from({ length: entryBytes }, (_, index) => index)) {
      const { texts, losses } = readDamaged(40 * entryBytes + byte);
      expect(texts, `byte ${byte}`).toHaveLength(100);
      expect(texts).not.toContain('record 040');
      expect(losses).toEqual([
        { kind: 'damage', segment: 2, from: 40 * entryBytes, to: 41 * entryBytes },
      ]);
      expect(readdirSync(join(dir, 'damaged'))).toEqual(['0000000002.log']);
      rmSync(dir, { recursive: true });
    }
  });

  it('tells of what is damaged while it runs, and goes on behind it', () => {
    const losses: OutboxLoss[] = [];
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3, onLoss: (loss) => losses.push(loss) });
    for (const text of ['record 000', 'record 001', 'record 002']) {
      const id = uuidV7(1);
      void outbox.end(id, record(id, text));
    }
    outbox.flush();
    const path = join(dir, '0000000002.log');
    const bytes = readFileSync(path);
    bytes[2 * entryBytes - 1] = bytes[2 * entryBytes - 1]! ^ 0x55;
    writeFileSync(path, bytes);
    const texts: string[] = [];
    for (let batch = outbox.read(30); batch !== undefined; batch = outbox.read(30)) {
      texts.push(...batch.records.map(textOf));
      outbox.acknowledge(batch.next);
    }
    outbox.close();
    expect(texts).toEqual(['record 000', 'record 002']);
    expect(losses).toEqual([{ kind: 'damage', segment: 2, from: entryBytes, to: 2 * entryBytes }]);
  });

  it('still knows the attempts that began behind the damage', () => {
    const first = open();
    const [id, begun] = [uuidV7(1), uuidV7(1)];
    first.end(id, record(id, 'a'));
    first.begin(begun, record(begun, 'begun'));
    first.close();
    const path = join(dir, '0000000002.log');
    const bytes = readFileSync(path);
    bytes[30] = 0;
    writeFileSync(path, bytes);
    expect(open().recover((begin) => begin)).toBe(1);
  });

  it('is not searched for long, whatever its records hold', () => {
    // Each 43 bytes of this look like a record of four megabytes.
    const id = uuidV7(1);
    const fake = Buffer.concat([
      Buffer.from([0, 0, 0x40, 0, 1, 1, 1, 1, 2]),
      id,
      Buffer.from([0x0a, 0x10]),
      id,
    ]);
    const first = open();
    first.end(id, Buffer.concat(Array.from({ length: 180_000 }, () => fake)));
    first.end(id, record(id, 'behind'));
    first.close();
    const path = join(dir, '0000000002.log');
    const bytes = readFileSync(path);
    bytes[2] = bytes[2]! ^ 0x55;
    writeFileSync(path, bytes);
    const spentMs = ownTime();
    expect(() => open().recover((begin) => begin)).not.toThrow();
    expect(spentMs()).toBeLessThan(1500);
  });

  it('tells of records that the disk refuses and memory has no room for', async () => {
    const losses: OutboxLoss[] = [];
    const outbox = new Outbox({ dir, bytesMax: 1024 ** 3, onLoss: (loss) => losses.push(loss) });
    symlinkSync('/dev/full', join(dir, '0000000003.log'));
    await outbox.end(uuidV7(1), Buffer.alloc(8 * 1024 * 1024));
    const refused = Array.from({ length: 3 }, () =>
      outbox.end(uuidV7(1), Buffer.alloc(7 * 1024 * 1024)),
    );
    await expect(refused[0]).rejects.toThrow('ENOSPC');
    expect(losses).toEqual([{ kind: 'refused', records: 1, bytes: 7 * 1024 * 1024 + 25 }]);
    outbox.close();
    rmSync(join(dir, '0000000003.log'));
  });
});
