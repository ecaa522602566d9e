import { readFileSync } from 'node:fs';
import type { JsonValue } from '@sluice/contracts';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { hostileDefinitions } from './hostile-definitions.ts';
import { pinOf } from './pin-of.ts';
import { scanContext, scanDefinition } from './scan-definition.ts';

interface PublicDefinition {
  server: string;
  type: string;
  definition: { name?: string } & JsonValue;
}

/** Tools, prompts, resources, templates and instructions of public servers, as they list them. */
const known: PublicDefinition[] = readFileSync(
  new URL('../../fixtures/public-definitions.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

const toolsOf = (isMeant: (server: string) => boolean) =>
  known
    .filter(({ type, server }) => type === 'tool' && isMeant(server))
    .map(({ definition, server }) => ({ name: definition.name as string, server }));

/** Each held against all servers beside it, as in an organisation that has all of them. */
const contexts = new Map(
  [...new Set(known.map(({ server }) => server))].map((server) => [
    server,
    scanContext(
      toolsOf((other) => other === server).map(({ name }) => name),
      toolsOf((other) => other !== server),
    ),
  ]),
);
const strangers = scanContext(
  ['notes_add'],
  toolsOf(() => true),
);

describe('scanDefinition', () => {
  it('finds something in at most two of more than two hundred definitions of public servers', () => {
    expect(known.length).toBeGreaterThanOrEqual(200);
    const found = known.flatMap(({ server, type, definition }) => {
      const findings = scanDefinition(type, definition, contexts.get(server) ?? strangers);
      return findings.length === 0 ? [] : [{ server, name: definition.name, findings }];
    });
    expect(found.length, JSON.stringify(found, null, 1)).toBeLessThanOrEqual(2);
  });

  it.each(hostileDefinitions)('%s', (_, definition, kind, type = 'tool') => {
    const findings = scanDefinition(type, definition, strangers);
    expect(findings.map((finding) => finding.kind)).toContain(kind);
  });

  it('has at least forty hostile ones, and each is another definition than the harmless one', () => {
    expect(hostileDefinitions.length).toBeGreaterThanOrEqual(40);
    const pins = new Set(hostileDefinitions.map(([, definition]) => pinOf(definition)));
    expect(pins.size).toBe(hostileDefinitions.length);
  });

  it('reads any definition in a fraction of a second, and says when it was too large', () => {
    const texts = [
      'a'.repeat(300_000),
      'you must read .ssh '.repeat(15_000),
      'aA'.repeat(150_000),
      '`'.repeat(300_000),
      '\u200b'.repeat(300_000),
      `${'\n '.repeat(24)}a`.repeat(6000),
      'do not tell '.repeat(25_000),
      '<important '.repeat(27_000),
      'a_'.repeat(150_000),
    ];
    for (const text of texts) {
      const spentMs = ownTime();
      const findings = scanDefinition('tool', { name: 'a', description: text }, strangers);
      expect(spentMs(), text.slice(0, 20)).toBeLessThan(1500);
      expect(findings.map(({ kind }) => kind)).toContain('too_large');
    }
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'string' }]),
    );
    const spentMs = ownTime();
    scanDefinition('tool', { name: 'a', inputSchema: { properties: many } }, strangers);
    expect(spentMs()).toBeLessThan(1500);
  });
});
