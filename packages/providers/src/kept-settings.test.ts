import { expect, it } from 'vitest';
import { baseUrlOf, pathOf } from './address.ts';
import { authHeaders } from './auth-headers.ts';
import type { CallFacts } from './call-facts.ts';
import { findProvider, providerIds } from './catalog.ts';
import type { EndpointEntry } from './contract.ts';
import { keptSettings } from './kept-settings.ts';

const entries = providerIds().map((id) => findProvider(id)!);

/** Names that are looked for in what is kept, whether or not there is anything under them. */
function readOf(entry: (typeof entries)[number], value: string | undefined): Set<string> {
  const read = new Set<string>();
  const setting = (name: string) => {
    read.add(name.replaceAll('-', '_'));
    return name.endsWith('-url') ? undefined : value;
  };
  const facts: CallFacts = { model: 'm', stream: false, setting };
  const all = Object.values(entry.endpoints).flatMap((offered): EndpointEntry[] =>
    'choose' in offered ? [...offered.all] : [offered],
  );
  const configurations = new Proxy<Record<string, unknown>>(
    {},
    { get: (_, name) => void read.add(String(name)) },
  );
  const looks = [
    () => entry.servedBy?.(facts),
    () => entry.modelBehind?.(facts),
    () => baseUrlOf(entry, undefined, facts),
    ...all.flatMap((each) => [
      () => baseUrlOf(entry, each, facts),
      () => pathOf(each, facts),
      () => authHeaders(entry, { apiKey: 'key', configurations }, {}, each),
    ]),
  ];
  for (const look of looks)
    try {
      look();
    } catch {
      // Without a setting that it needs there is no address.
    }
  return read;
}

it('names all that addresses, deployments and headers are made of', () => {
  const unnamed = entries.flatMap((entry) => {
    const known = new Set(keptSettings(entry).map(({ name }) => name));
    const read = new Set([...readOf(entry, undefined), ...readOf(entry, 'abc')]);
    return [...read]
      .filter((name) => /_/.test(name) && !known.has(name))
      .map((name) => [entry.id, name]);
  });
  expect(unnamed).toEqual([]);
});

it('names each once', () => {
  for (const entry of entries) {
    const names = keptSettings(entry).map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  }
});
