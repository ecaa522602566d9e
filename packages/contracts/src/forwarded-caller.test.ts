import { describe, expect, it } from 'vitest';
import { forwardedCallerSeal } from './forwarded-caller.ts';

const caller = {
  address: '203.0.113.9',
  host: 'sluice.example',
  proto: 'https',
  requestId: '0197b1b0-0000-7000-8000-000000000000',
} as const;
const now = 1_800_000_000_000;
const ours = forwardedCallerSeal('a-token-shared-by-the-services');

describe('a statement on a forwarded caller', () => {
  it('is read by whoever has the token, for five minutes', () => {
    const sealed = ours.sign(caller, now);
    expect(ours.read(sealed, now + 60_000)).toEqual(caller);
    expect(ours.read(sealed, now - 60_000)).toEqual(caller);
    expect(ours.read(sealed, now + 301_000)).toBeUndefined();
  });

  it('is nothing without the token, altered, or of another form', () => {
    const sealed = ours.sign(caller, now);
    const [text = '', mac = ''] = sealed.split('.');
    const other = Buffer.from(text, 'base64url').toString().replace('203', '204');
    for (const forged of [
      forwardedCallerSeal('another-token-of-a-stranger').sign(caller, now),
      `${Buffer.from(other).toString('base64url')}.${mac}`,
      text,
      `${text}.`,
      `.${mac}`,
      '',
      'x'.repeat(100_000),
      [sealed, sealed],
      undefined,
    ])
      expect(ours.read(forged, now)).toBeUndefined();
  });
});
