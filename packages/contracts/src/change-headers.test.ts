import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Changed, readChanged, writeChanged } from './change-headers.ts';

describe('readChanged', () => {
  it('reads what is written, up to the first twenty', () => {
    const changes: Changed[] = [
      { key: randomUUID() },
      { workspace: randomUUID(), revision: '12' },
      { organisation: randomUUID() },
    ];
    expect(readChanged(writeChanged(changes))).toEqual(changes);
    const many = Array.from({ length: 21 }, () => ({ key: randomUUID() }));
    expect(readChanged(writeChanged(many))).toEqual(many.slice(0, 20));
    expect(readChanged(writeChanged([]))).toEqual([]);
  });

  it.each(['', 'x', 'key=1', `workspace=${randomUUID()}`, `key=${randomUUID()}x`, 'key=, key'])(
    'takes nothing from %j',
    (text) => expect(readChanged(text)).toEqual([]),
  );
});
