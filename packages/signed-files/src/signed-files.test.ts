import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSignedFolder, readPublicKeys, signFolder, sumsName } from './index.ts';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, pem: publicKey.export({ type: 'spki', format: 'pem' }) as string };
};
const signer = newKey();
const stranger = newKey();

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'signed-'));
  mkdirSync(join(dir, '2026-12-01'));
  writeFileSync(join(dir, 'openai.json'), '{"a":1}');
  writeFileSync(join(dir, '2026-12-01/openai.json'), '{"a":2}');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const opened = (pem = signer.pem) => openSignedFolder(dir, readPublicKeys(pem));

describe('a signed folder', () => {
  it('has what was signed, and says which file has not', async () => {
    expect(await signFolder(dir, signer.privateKey)).toEqual([
      '2026-12-01/openai.json',
      'openai.json',
    ]);
    const folder = await opened(`${stranger.pem}${signer.pem}`);
    folder.check('openai.json', Buffer.from('{"a":1}'));
    folder.expectAll(['openai.json', '2026-12-01/openai.json']);
    expect(() => folder.check('openai.json', Buffer.from('{"a":3}'))).toThrow(
      'openai.json: is not what was signed',
    );
    // A file in the place of another is not what was signed there.
    expect(() => folder.check('openai.json', Buffer.from('{"a":2}'))).toThrow('is not what was');
    expect(() => folder.check('other.json', Buffer.from('{}'))).toThrow(
      'other.json: is not signed',
    );
    expect(() => folder.expectAll(['openai.json'])).toThrow(
      '2026-12-01/openai.json: was signed, and is missing',
    );
  });

  it('is nothing by another key, without a signature, or with another list', async () => {
    await expect(opened()).rejects.toThrow('SHA256SUMS: is missing');
    await signFolder(dir, signer.privateKey);
    await expect(opened(stranger.pem)).rejects.toThrow('SHA256SUMS: is not what was signed');
    writeFileSync(
      join(dir, sumsName),
      `${readFileSync(join(dir, sumsName), 'utf8')}`.replace('a', 'b'),
    );
    await expect(opened()).rejects.toThrow('SHA256SUMS: is not what was signed');
  });

  it('is checked by openssl and sha256sum alike', async () => {
    await signFolder(dir, signer.privateKey);
    writeFileSync(join(dir, '../signed-key.pub'), signer.pem);
    const options = { cwd: dir, encoding: 'utf8' } as const;
    expect(
      execFileSync(
        'openssl',
        [
          'dgst',
          '-sha256',
          '-verify',
          '../signed-key.pub',
          '-signature',
          'SHA256SUMS.sig',
          sumsName,
        ],
        options,
      ),
    ).toBe('Verified OK\n');
    expect(execFileSync('sha256sum', ['-c', sumsName], options)).toContain('openai.json: OK');
  });
});

describe('readPublicKeys', () => {
  it.each([
    ['', 'holds no PEM block'],
    [signer.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 'a private one belongs'],
    [
      generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'not ECDSA on P-256',
    ],
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'cannot be read'],
  ])('refuses what is none %#', (pem, message) => {
    expect(() => readPublicKeys(pem)).toThrow(message);
  });
});
