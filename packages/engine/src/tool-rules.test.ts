import { describe, expect, it } from 'vitest';
import { askToolRules, compileToolRules, type ToolFacts } from './tool-rules.ts';

const facts = (change: Partial<ToolFacts> = {}): ToolFacts => ({
  capability: { type: 'tool', name: 'delete_all' },
  key: { id: 'k', slug: 'ci', name: 'CI' },
  userId: 'u-1',
  metadata: { team: 'red' },
  claims: { role: 'admin', groups: ['a', 'ops', { x: 1 }], none: [], long: Array(2000).fill('a') },
  arguments: { path: '/etc', depth: 3, paths: ['/tmp', '/etc/x'] },
  ...change,
});
const deny = (query: object) =>
  compileToolRules([{ effect: 'deny', query: query as never }], 'rules');

describe('access rules', () => {
  it.each([
    [{ 'capability.name': { $regex: '^delete' } }],
    [{ 'capability.type': 'tool', 'metadata.team': 'red' }],
    [{ 'key.slug': { $in: ['ci'] } }],
    [{ 'user.id': 'u-1' }],
    [{ 'claims.role': { $ne: 'user' } }],
    [{ $or: [{ 'arguments.depth': { $gt: 2 } }, { 'key.id': 'x' }] }],
    [{ 'claims.groups': 'ops' }],
    [{ 'claims.groups': { $in: ['x', 'a'] } }],
    [{ 'claims.groups': { $regex: '^op' } }],
    [{ 'claims.groups': { $ne: 'dev' } }],
    [{ 'claims.groups': { $nin: ['dev', 'x'] } }],
    [{ 'arguments.paths': { $regex: '^/etc' } }],
  ])('%j matches', (query) => {
    expect(askToolRules(deny(query), facts())).toBe('deny');
  });

  it.each([
    ['claims of who has none', { 'claims.role': { $ne: 'user' } }, { claims: undefined }],
    ['a list without it', { 'claims.groups': 'dev' }, {}],
    ['a list that has what must not be in it', { 'claims.groups': { $ne: 'ops' } }, {}],
    ['a list with nothing in it', { 'claims.none': { $ne: 'x' } }, {}],
    ['an inherited name', { 'arguments.constructor': { $ne: 'x' } }, {}],
    ['a key that is none', { 'key.id': { $ne: 'x' } }, { key: undefined }],
  ])('%s matches nothing', (_name, query, change) => {
    expect(askToolRules(deny(query), facts(change))).toBeUndefined();
  });

  it.each([
    ['a list beyond measure', { 'claims.long': { $ne: 'x' } }, {}],
    ['what stands in one', { 'arguments.paths': '/etc' }, [...Array(1000).fill('a'), '/etc']],
    [
      'one beside which nothing is met',
      { 'user.id': 'u-1', 'arguments.paths': 'x' },
      Array(1001).fill(1),
    ],
    [
      'a text that no pattern reads to its end',
      { 'arguments.paths': { $regex: 'z' } },
      'a'.repeat(300_000),
    ],
    [
      'more texts than patterns have time for',
      { 'arguments.paths': { $in: ['x'], $regex: 'z|(a|b)*c' } },
      ['x', ...Array(150).fill('a'.repeat(250_000))],
    ],
  ])('%s is let pass by no rule, and by none that denies it', (_name, query, paths) => {
    const asked = facts({ arguments: { path: '/etc', paths: paths as never } });
    expect(askToolRules(deny(query), asked)).toBe('deny');
    const allow = compileToolRules([{ effect: 'allow', query: query as never }], 'rules');
    expect(askToolRules(allow, asked)).toBeUndefined();
  });

  it('read all of an argument', () => {
    const rule = deny({ 'arguments.command': { $regex: 'rm -rf' } });
    const asked = (command: string) => facts({ arguments: { command } });
    expect(askToolRules(rule, asked(`${' '.repeat(5000)}rm -rf /`))).toBe('deny');
    expect(askToolRules(rule, asked(' '.repeat(5000)))).toBeUndefined();
  });

  it('ends with the first that matches', () => {
    const rules = compileToolRules(
      [
        { effect: 'allow', query: { 'metadata.team': 'red' } },
        { effect: 'deny', query: {} },
      ],
      'rules',
    );
    expect(askToolRules(rules, facts())).toBe('allow');
    expect(askToolRules(rules, facts({ metadata: {} }))).toBe('deny');
  });

  it('about arguments say of a list what they say whatever the arguments are', () => {
    const listed = facts({ arguments: undefined });
    const either = deny({ $or: [{ 'arguments.path': '/etc' }, { 'user.id': { $ne: 'x' } }] });
    expect(askToolRules(either, listed)).toBe('deny');
    expect(askToolRules(either, facts())).toBe('deny');
    const only = deny({ 'arguments.path': '/etc' });
    expect(askToolRules(only, listed)).toBeUndefined();
    expect(askToolRules(only, facts({ arguments: { path: '/etc' } }))).toBe('deny');
    const both = deny({ 'arguments.path': '/etc', 'user.id': { $ne: 'x' } });
    expect(askToolRules(both, listed)).toBeUndefined();
  });

  it('that allow some arguments let a list show what others deny', () => {
    const rules = compileToolRules(
      [
        { effect: 'allow', query: { 'arguments.path': '/ok', 'user.id': { $ne: 'x' } } },
        { effect: 'deny', query: { 'capability.type': 'tool' } },
      ],
      'rules',
    );
    expect(askToolRules(rules, facts({ arguments: undefined }))).toBe('allow');
    expect(askToolRules(rules, facts({ arguments: undefined, userId: 'x' }))).toBe('deny');
    expect(askToolRules(rules, facts({ arguments: { path: '/ok' } }))).toBe('allow');
    expect(askToolRules(rules, facts({ arguments: {} }))).toBe('deny');
  });

  it.each([
    ['arguments.a.b', 'rules[0].query.arguments.a.b'],
    ['tool', 'rules[0].query.tool'],
    ['key.secret', 'rules[0].query.key.secret'],
    ['headers.authorization', 'rules[0].query.headers.authorization'],
  ])('%s is no field', (name, field) => {
    expect(() => deny({ [name]: 'x' })).toThrow(expect.objectContaining({ field }));
  });
});
