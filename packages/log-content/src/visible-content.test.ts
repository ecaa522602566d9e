import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ContentFacts,
  type LogOwner,
  type LogReader,
  reachOf,
  visibleContent,
} from './visible-content.ts';

const call: ContentFacts = {
  kind: 'model-call',
  mode: 'full',
  isEnforced: false,
  isUnwanted: false,
  hasFailed: false,
};
const owner: LogOwner = {
  organisationId: 'org',
  workspaceId: 'ws',
  apiKeyId: 'key-1',
  userId: 'alice',
};
const reader: LogReader = {
  organisationId: 'org',
  workspaceId: 'ws',
  keyId: 'key-2',
  userId: undefined,
  scopes: new Set(['logs.view']),
  seesOwnDataOnly: false,
};

/** As docs/logs.md has it. */
describe('what is kept', () => {
  it.each<[string, Partial<ContentFacts>, string, string | undefined]>([
    ['a model call', {}, 'request response provider', undefined],
    ['one that failed', { hasFailed: true }, 'request response provider', undefined],
    ['mode metrics', { mode: 'metrics' }, '', 'metrics-only'],
    ['mode metrics, failed', { mode: 'metrics', hasFailed: true }, '', 'metrics-only'],
    ['x-service-debug: false', { isUnwanted: true }, '', 'debug-off'],
    [
      'the same, enforced',
      { isUnwanted: true, isEnforced: true },
      'request response provider',
      undefined,
    ],
    [
      'the same, enforced, metrics',
      { isUnwanted: true, isEnforced: true, mode: 'metrics' },
      '',
      'metrics-only',
    ],
    ['an embedding', { kind: 'embedding' }, 'request', 'embedding'],
    [
      'an embedding that failed',
      { kind: 'embedding', hasFailed: true },
      'request response provider',
      undefined,
    ],
    ['a tool call', { kind: 'tool-call' }, 'request response provider', undefined],
    ['a tool call, metrics', { kind: 'tool-call', mode: 'metrics' }, '', 'metrics-only'],
    [
      'a tool call, metrics, failed',
      { kind: 'tool-call', mode: 'metrics', hasFailed: true },
      'response',
      'metrics-only',
    ],
    [
      'a tool call, debug off, failed',
      { kind: 'tool-call', isUnwanted: true, hasFailed: true },
      '',
      'debug-off',
    ],
  ])('%s: %s', (_name, over, parts, hidden) => {
    const visible = visibleContent({ ...call, ...over });
    expect([partsOf(visible), visible.hidden, visible.log]).toEqual([parts, hidden, true]);
  });
});

describe('who is shown it', () => {
  it.each<[string, Partial<LogReader>, Partial<LogOwner>, string, string | undefined]>([
    ['logs.view', {}, {}, 'log request response provider', undefined],
    [
      'logs.read',
      { scopes: new Set(['logs.read']) },
      {},
      'log request response provider',
      undefined,
    ],
    [
      'an organisation’s key',
      { workspaceId: undefined },
      {},
      'log request response provider',
      undefined,
    ],
    ['logs.list alone', { scopes: new Set(['logs.list']) }, {}, 'log', 'no-scope'],
    [
      'a key that calls models, of its own',
      { scopes: new Set(['completions.write']), keyId: 'key-1' },
      {},
      'log',
      'no-scope',
    ],
    [
      'a key that calls models, of another',
      { scopes: new Set(['completions.write']) },
      {},
      '',
      'not-yours',
    ],
    ['another workspace', { workspaceId: 'other' }, {}, '', 'not-yours'],
    [
      'another organisation',
      { organisationId: 'other', workspaceId: undefined },
      {},
      '',
      'not-yours',
    ],
    [
      'own data only, hers',
      { seesOwnDataOnly: true, userId: 'alice' },
      {},
      'log request response provider',
      undefined,
    ],
    ['own data only, another’s', { seesOwnDataOnly: true, userId: 'bob' }, {}, '', 'not-yours'],
    [
      'own data only, a service key’s',
      { seesOwnDataOnly: true, userId: 'bob' },
      { userId: '' },
      '',
      'not-yours',
    ],
    [
      'own data only, of nobody who can be told',
      { seesOwnDataOnly: true },
      { userId: '' },
      '',
      'not-yours',
    ],
  ])('%s', (_name, asks, of, parts, hidden) => {
    const who = { reader: { ...reader, ...asks }, owner: { ...owner, ...of } };
    const visible = visibleContent(call, who);
    expect([`${visible.log ? 'log ' : ''}${partsOf(visible)}`.trim(), visible.hidden]).toEqual([
      parts,
      hidden,
    ]);
  });
});

const facts = fc.record<ContentFacts>({
  kind: fc.constantFrom('model-call', 'embedding', 'tool-call'),
  mode: fc.constantFrom('full', 'metrics'),
  isEnforced: fc.boolean(),
  isUnwanted: fc.boolean(),
  hasFailed: fc.boolean(),
});
const names = fc.constantFrom('a', 'b', '');
const readers = fc.record<LogReader>({
  organisationId: names,
  workspaceId: fc.option(names, { nil: undefined }),
  keyId: names,
  userId: fc.option(names, { nil: undefined }),
  scopes: fc
    .subarray(['logs.view', 'logs.read', 'logs.list', 'logs.write', 'completions.write'])
    .map((scopes) => new Set(scopes)),
  seesOwnDataOnly: fc.boolean(),
});
const owners = fc.record<LogOwner>({
  organisationId: names,
  workspaceId: names,
  apiKeyId: names,
  userId: names,
});
const parts = ['log', 'request', 'response', 'provider'] as const;

describe('visibleContent', () => {
  it('shows nobody what would not be kept', () => {
    fc.assert(
      fc.property(facts, readers, owners, (of, asking, whose) => {
        const kept = visibleContent(of);
        const shown = visibleContent(of, { reader: asking, owner: whose });
        for (const part of parts) expect(shown[part] && !kept[part]).toBe(false);
      }),
    );
  });

  it('shows no content of a log that may not be known of, and always says why something is hidden', () => {
    fc.assert(
      fc.property(facts, readers, owners, (of, asking, whose) => {
        const shown = visibleContent(of, { reader: asking, owner: whose });
        if (!shown.log) expect(partsOf(shown)).toBe('');
        expect(shown.hidden === undefined).toBe(parts.every((part) => shown[part]));
      }),
    );
  });

  it('a scope more never hides, data visibility never shows', () => {
    fc.assert(
      fc.property(facts, readers, owners, (of, asking, whose) => {
        const now = visibleContent(of, { reader: asking, owner: whose });
        const more = new Set([...asking.scopes, 'logs.view']);
        const wider = visibleContent(of, { reader: { ...asking, scopes: more }, owner: whose });
        const narrower = visibleContent(of, {
          reader: { ...asking, seesOwnDataOnly: true },
          owner: whose,
        });
        for (const part of parts) {
          expect(now[part] && !wider[part]).toBe(false);
          expect(narrower[part] && !now[part]).toBe(false);
        }
      }),
    );
  });

  it('a log is known of by exactly those whose reach it is in', () => {
    fc.assert(
      fc.property(facts, readers, owners, (of, asking, whose) => {
        const reach = reachOf(asking);
        const isIn =
          reach.organisationId === whose.organisationId &&
          (reach.workspaceIds.length === 0 || reach.workspaceIds.includes(whose.workspaceId)) &&
          (reach.apiKeyId === undefined || reach.apiKeyId === whose.apiKeyId) &&
          (reach.userId === undefined || (reach.userId !== '' && reach.userId === whose.userId));
        expect(visibleContent(of, { reader: asking, owner: whose }).log).toBe(isIn);
      }),
    );
  });
});

function partsOf(visible: ReturnType<typeof visibleContent>): string {
  return (['request', 'response', 'provider'] as const).filter((part) => visible[part]).join(' ');
}
