import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

const openai = findProvider('openai')!;

describe('a translated stream', () => {
  it('without an end is given up after 64 MiB: the format it becomes repeats all of it at its end', () => {
    const reader = findTranslation(openai, 'messages').openStream(contextFor(openai), {
      model: 'm',
    });
    const delta = { choices: [{ index: 0, delta: { content: 'x'.repeat(1024 * 1024) } }] };
    const event = Buffer.from(`data: ${JSON.stringify(delta)}\n\n`);
    for (let pushed = 0; pushed < 60; pushed++) reader.push(event);
    expect(reader.phase).toBe('content');
    for (let pushed = 0; pushed < 10; pushed++) reader.push(event);
    expect(reader.phase).toBe('failed');
    expect(reader.fault?.message).toContain('too long');
    expect(reader.faultForwarded).toBe(false);
  });
});
