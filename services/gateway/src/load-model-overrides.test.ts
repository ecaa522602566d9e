import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFolder } from '@sluice/signed-files';
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
  it('is read once, and may be absent', async () => {
    expect(await loadModelOverrides(undefined)).toBeUndefined();
    const path = fileOf('{"models":[{"match":"mine","like":"claude-opus-5"}]}');
    expect((await loadModelOverrides(path))?.realName('mine')).toBe('claude-opus-5');
  });

  it.each([
    ['{"models":[{"match":"x","facts":{"sampling":"some"}}]}', 'models[0].facts.sampling must be'],
    ['not json', 'the file is not JSON'],
  ])('is refused with its path and the reason: %s', async (text, reason) => {
    const path = fileOf(text);
    await expect(loadModelOverrides(path)).rejects.toThrow(`MODEL_FACTS_FILE: ${path}: ${reason}`);
  });

  it('is refused where it is not', async () => {
    const path = join(folder, 'missing.json');
    await expect(loadModelOverrides(path)).rejects.toThrow(
      /MODEL_FACTS_FILE: .*missing\.json: ENOENT/,
    );
  });

  it('is refused without the signature that is asked for, and with one of other bytes', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const dir = mkdtempSync(join(folder, 'signed-'));
    const path = join(dir, 'models.json');
    writeFileSync(path, '{"models":[{"match":"mine","like":"claude-opus-5"}]}');
    await expect(loadModelOverrides(path, [publicKey])).rejects.toThrow(
      `MODEL_FACTS_FILE: ${path}: SHA256SUMS: is missing`,
    );
    await signFolder(dir, privateKey);
    expect((await loadModelOverrides(path, [publicKey]))?.realName('mine')).toBe('claude-opus-5');
    writeFileSync(path, '{"models":[]}');
    await expect(loadModelOverrides(path, [publicKey])).rejects.toThrow(
      `MODEL_FACTS_FILE: ${path}: models.json: is not what was signed`,
    );
  });
});
