import { describe, expect, it } from 'vitest';
import { readStreaming } from './hook-streaming.ts';
import { savedHook } from './saved-guardrail.ts';

describe('readStreaming', () => {
  it('holds nothing where nothing is said, and has bounds where something is', () => {
    expect(readStreaming({}, 'hook')).toBeUndefined();
    expect(readStreaming({ stream_mode: 'end', hold_chars: 100 }, 'hook')).toBeUndefined();
    expect(readStreaming({ stream_mode: 'window' }, 'hook')).toEqual({
      mode: 'window',
      holdChars: 256,
      holdMs: 1_000,
    });
    expect(readStreaming({ streamMode: 'sentence', holdChars: 64, holdMs: 200 }, 'hook')).toEqual({
      mode: 'sentence',
      holdChars: 64,
      holdMs: 200,
    });
  });

  it('keeps what a saved guardrail says where a config says nothing else', () => {
    const actions = { stream_mode: 'window', hold_chars: 512 };
    const saved = savedHook({ slug: 'pg', versionId: 'v', checks: [], actions }).streaming;
    expect(readStreaming({ hold_ms: 300 }, 'hook', saved)).toEqual({
      mode: 'window',
      holdChars: 512,
      holdMs: 300,
    });
    expect(readStreaming({ stream_mode: 'end' }, 'hook', saved)).toBeUndefined();
  });

  it.each([
    [{ stream_mode: 'sometimes' }, 'hook.stream_mode'],
    [{ stream_mode: 'window', hold_chars: 5 }, 'hook.hold_chars'],
    [{ stream_mode: 'window', hold_chars: 100.5 }, 'hook.hold_chars'],
    [{ stream_mode: 'window', hold_ms: '1000' }, 'hook.hold_ms'],
    [{ hold_ms: 60_000 }, 'hook.hold_ms'],
  ])('refuses %j with its path', (said, field) => {
    expect(() => readStreaming(said, 'hook')).toThrow(
      expect.objectContaining({ code: 'config.invalid', field }),
    );
  });
});
