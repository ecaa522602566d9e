import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadModelOverrides } from './load-model-overrides.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-facts-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, text);
  return path;
}

describe('MODEL_FACTS_FILE', () => {
  it('is read once, and may be absent', () => {
    expect(loadModelOverrides(undefined)).toBeUndefined();
    const path = fileOf('{"models":[{"match":"mine","like":"claude-opus-5"}]}');
    expect(loadModelOverrides(path)?.realName('mine')).toBe('claude-opus-5');
  });

  it.each([
    ['{"models":[{"match":"x","facts":{"sampling":"some"}}]}', 'models[0].facts.sampling must be'],
    ['not json', 'the file is not JSON'],
  ])('is refused with its path and the reason: %s', (text, reason) => {
    const path = fileOf(text);
    expect(() => loadModelOverrides(path)).toThrow(`MODEL_FACTS_FILE: ${path}: ${reason}`);
  });

  it('is refused where it is not', () => {
    const path = join(folder, 'missing.json');
    expect(() => loadModelOverrides(path)).toThrow(/^MODEL_FACTS_FILE: .*missing\.json: ENOENT/);
  });
});
