import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openState, type StateOwner, sealState } from './request-state.ts';
import { createSealer, sealedLengthMax } from './sealer.ts';

const key = randomBytes(32);
const sealer = createSealer([key]);

describe('createSealer', () => {
  it('opens what it sealed, as the kind it was sealed as', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (payload) => {
        const value = JSON.parse(JSON.stringify(payload));
        const text = sealer.seal('session', value, 10_000);
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(sealer.open('session', text)).toEqual(value);
        expect(sealer.open('cursor', text)).toBeUndefined();
      }),
    );
  });

  it('opens nothing that was changed: each bit, each character, cut, longer', () => {
    const text = sealer.seal('session', { upstream: 'abc', user: 7 });
    const bytes = Buffer.from(text, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(sealer.open('session', changed.toString('base64url'))).toBeUndefined();
    }
    for (let length = 0; length < text.length; length++)
      expect(sealer.open('session', text.slice(0, length))).toBeUndefined();
  });

  it('knows one text for one id', () => {
    // 61 bytes are 82 characters, the last of which has bits to spare.
    for (const payload of ['a', 'ab', 'abc', 'abcd']) {
      const text = sealer.seal('session', payload);
      const others = [
        `${text}=`,
        `${text} `,
        `${text}!`,
        `!${text}`,
        `${text.slice(0, 5)}\n${text.slice(5)}`,
        text.replaceAll('-', '+').replaceAll('_', '/'),
      ];
      for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
        others.push(text.slice(0, -1) + last);
      for (const other of others)
        if (other !== text) expect(sealer.open('session', other), other).toBeUndefined();
    }
  });

  it('opens with any key, seals with the first', () => {
    const next = randomBytes(32);
    const both = createSealer([next, key]);
    expect(both.open('session', sealer.seal('session', 1))).toBe(1);
    expect(createSealer([next]).open('session', both.seal('session', 2))).toBe(2);
    expect(sealer.open('session', both.seal('session', 3))).toBeUndefined();
  });

  it('seals the same twice as two texts', () => {
    expect(sealer.seal('session', 1)).not.toBe(sealer.seal('session', 1));
  });

  it('refuses keys that are too short, and ids that are too long', () => {
    expect(() => createSealer([])).toThrow();
    expect(() => createSealer([randomBytes(16)])).toThrow();
    expect(() => sealer.seal('session', 'x'.repeat(sealedLengthMax))).toThrow(RangeError);
    const fits = sealer.seal('session', 'x'.repeat(1480));
    expect(fits.length).toBeLessThanOrEqual(sealedLengthMax);
    expect(sealer.open('session', 'A'.repeat(10_000_000))).toBeUndefined();
  });
});

describe('states of modern requests', () => {
  const owner: StateOwner = {
    principal: 'user 1',
    server: 's1',
    method: 'tools/call',
    params: { name: 'a', arguments: { x: 1 } },
  };
  const text = sealState(sealer, owner, { parked: 'p' }, 1000);

  it('opens for the same request, with answers, in any order of names', () => {
    const params = {
      arguments: { x: 1 },
      name: 'a',
      requestState: text,
      inputResponses: { i: {} },
      _meta: { a: 1 },
    };
    expect(openState(sealer, { ...owner, params }, text, 999)).toEqual({ parked: 'p' });
  });

  it.each<[string, Partial<StateOwner>, number]>([
    ['another caller', { principal: 'user 2' }, 0],
    ['another server', { server: 's2' }, 0],
    ['another method', { method: 'prompts/get' }, 0],
    ['another tool', { params: { name: 'b', arguments: { x: 1 } } }, 0],
    ['other arguments', { params: { name: 'a', arguments: { x: 2 } } }, 0],
    ['a minute later', {}, 1000],
  ])('does not open for %s', (_, over, now) => {
    expect(openState(sealer, { ...owner, ...over }, text, now)).toBeUndefined();
  });

  it('takes nothing that was sealed as something else', () => {
    expect(
      openState(sealer, owner, sealer.seal('session', { o: '', e: 9e9, s: 1 }), 0),
    ).toBeUndefined();
    expect(openState(sealer, owner, sealer.seal('state', [1]), 0)).toBeUndefined();
  });
});
