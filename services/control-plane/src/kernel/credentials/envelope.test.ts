import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCredentialVault } from './envelope.ts';

describe('createCredentialVault', () => {
  const row = { table: 'integrations', id: '1' };
  const vault = createCredentialVault(randomBytes(32));

  it('gives back what was sealed, and seals the same text differently each time', () => {
    const sealed = vault.seal('sk-secret ✓', row);
    expect(vault.open(sealed, row)).toBe('sk-secret ✓');
    expect(vault.seal('sk-secret ✓', row).equals(sealed)).toBe(false);
    expect(sealed.includes('sk-secret')).toBe(false);
  });

  it('opens nothing in another row or table, under another key, or after a change', () => {
    const sealed = vault.seal('sk-secret', row);
    expect(() => vault.open(sealed, { table: 'integrations', id: '2' })).toThrow();
    expect(() => vault.open(sealed, { table: 'providers', id: '1' })).toThrow();
    expect(() => createCredentialVault(randomBytes(32)).open(sealed, row)).toThrow();
    for (const index of [0, 1, 20, 40, 65, 80, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] as number) ^ 1;
      expect(() => vault.open(changed, row), `byte ${index}`).toThrow();
    }
  });
});
