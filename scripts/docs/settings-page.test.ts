import { graceMs } from '@sluice/env';
import { expect, it } from 'vitest';
import { settingsOfServices, settingsPage } from './settings-page.ts';

it('docs/settings.md names every setting of every service, and says what it is', () => {
  const page = settingsPage();
  for (const { described } of Object.values(settingsOfServices)) {
    expect(described.length).toBeGreaterThan(10);
    for (const { name, about } of described) {
      expect(page).toContain(`| \`${name}\` |`);
      expect(page).toContain(`| ${about.replaceAll('|', '\\|')} |`);
    }
  }
});

it('a secret has no default, and an optional one is never shown', () => {
  for (const { described } of Object.values(settingsOfServices))
    for (const setting of described) if (setting.secret) expect(setting.fallback).toBeUndefined();
});

it('settings of two services under one name are of one kind', () => {
  const all = Object.values(settingsOfServices).flatMap(({ described }) => described);
  for (const { name, kind, secret } of all)
    for (const other of all.filter((setting) => setting.name === name))
      expect({ name, kind: other.kind, secret: other.secret }).toEqual({ name, kind, secret });
});

it('by default each service has ended 30 s after SIGTERM, when orchestrators kill', () => {
  for (const [name, { described }] of Object.entries(settingsOfServices)) {
    const fallback = (setting: string) =>
      Number(described.find((each) => each.name === setting)?.fallback);
    const env = {
      SHUTDOWN_DELAY: fallback('SHUTDOWN_DELAY'),
      DRAIN_TIMEOUT: fallback('DRAIN_TIMEOUT'),
    };
    expect(graceMs(env), name).toBeLessThan(30_000);
  }
});
