import { describe, expect, it } from 'vitest';
import { parseConfigDocument } from './config.ts';

describe('parseConfigDocument', () => {
  it('accepts camelCase names and leaves user-owned maps alone', () => {
    const parsed = parseConfigDocument(
      { provider: 'openai', apiKey: 'k', overrideParams: { maxTokens: 5 } },
      'refuse',
    );
    expect(parsed).toEqual({
      ok: true,
      config: { provider: 'openai', api_key: 'k', override_params: { maxTokens: 5 } },
    });
  });

  it('names the path of every fault', () => {
    const parsed = parseConfigDocument(
      { targets: [{ provider: 'a', weight: -1 }, { retry: { attempts: 9 } }] },
      'refuse',
    );
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) {
      expect(parsed.field).toBe('config.targets[0].weight');
      expect(
        parsed.faults.some((fault) => fault.includes('config.targets[1].retry.attempts')),
      ).toBe(true);
    }
  });

  it('refuses unknown keys when saving and leaves them out inline', () => {
    const document = { provider: 'openai', bogus: 1, targets: [{ provider: 'a', extra: true }] };
    expect(parseConfigDocument(document, 'refuse').ok).toBe(false);
    expect(parseConfigDocument(document, 'ignore')).toEqual({
      ok: true,
      config: { provider: 'openai', targets: [{ provider: 'a' }] },
    });
  });

  it('answers the old format with what to do', () => {
    const parsed = parseConfigDocument({ options: [] }, 'ignore');
    expect(parsed).toMatchObject({ ok: false, field: 'config.options' });
  });

  it.each([null, 'text', 5, []])('refuses %j', (value) => {
    expect(parseConfigDocument(value, 'ignore').ok).toBe(false);
  });

  it('refuses very deep nesting without running out of stack', () => {
    let document: unknown = { provider: 'openai' };
    for (let depth = 0; depth < 10_000; depth++) document = { targets: [document] };
    expect(parseConfigDocument(document, 'ignore').ok).toBe(false);
  });
});
