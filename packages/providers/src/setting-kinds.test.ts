import { credentialKeys } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { baseUrlOf } from './address.ts';
import { authHeaders } from './auth-headers.ts';
import { findProvider, providerIds } from './catalog.ts';
import { accountHeaders, declaredSettings, proofHeaders } from './declared-settings.ts';
import { addressSettings, isPlain, settingKind } from './setting-kinds.ts';

const entries = providerIds().map((id) => findProvider(id)!);

describe('settingKinds', () => {
  it('says of every setting of every provider what it decides', () => {
    const declared = entries.flatMap((entry) => [
      ...declaredSettings(entry).map(({ name }) => name),
    ]);
    expect(declared.length).toBeGreaterThan(80);
    expect(declared.filter((name) => settingKind(name) === undefined)).toEqual([]);
  });

  it('says it of all that a config may hold, too', () => {
    const names = [...credentialKeys, 'vertex_service_account_json', 'deployments'].filter(
      (key) => key !== 'api_key',
    );
    expect(names.filter((key) => settingKind(key.replaceAll('_', '-')) === undefined)).toEqual([]);
  });

  it('calls nothing an option that moves the address', () => {
    for (const entry of entries)
      for (const { name, kind } of declaredSettings(entry)) {
        const at = (value: string | undefined) => {
          const setting = (asked: string) =>
            asked === name ? value : asked.endsWith('-url') ? undefined : 'abc';
          try {
            return baseUrlOf(entry, undefined, { model: 'm', stream: false, setting });
          } catch {
            // Without a setting that it needs there is no address.
            return '';
          }
        };
        const moves = at('abc') !== at('xyz') || at('abc') !== at('eu-west-1');
        if (moves) expect([entry.id, name, isPlain(kind)]).toEqual([entry.id, name, false]);
      }
  });

  it('calls nothing an option that becomes a part of a proof', () => {
    for (const entry of entries)
      for (const { name, kind } of declaredSettings(entry)) {
        const configurations = { [name.replaceAll('-', '_')]: 'changed' };
        const sent = authHeaders(entry, { apiKey: 'key', configurations }, {});
        const plain = authHeaders(entry, { apiKey: 'key', configurations: {} }, {});
        const changed = Object.keys(sent).filter((header) => sent[header] !== plain[header]);
        for (const header of changed)
          if (isPlain(kind)) {
            expect([entry.id, name, proofHeaders(entry).has(header)]).toEqual([
              entry.id,
              name,
              false,
            ]);
            expect([entry.id, name, accountHeaders(entry).has(header)]).toEqual([
              entry.id,
              name,
              false,
            ]);
          }
      }
  });

  it('knows the settings that are addresses', () => {
    expect([...addressSettings].sort()).toEqual([
      'azure-foundry-url',
      'databricks-workspace',
      'huggingface-base-url',
    ]);
  });
});
