import { posix } from 'node:path';
import type { ToolAccess } from '@sluice/contracts';
import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type McpRequest, readMessage } from '../envelope/read-message.ts';
import { askedBy, refusalOf } from './asked-by-message.ts';
import { type Asked, type Decision, decide, type Who } from './decide.ts';
import { compileGlob } from './glob.ts';
import {
  type CapabilityRow,
  type CapabilityType,
  compileServer,
  exposedName,
  type ServerRules,
  upstreamName,
} from './server-view.ts';
import { uriForms } from './uri-forms.ts';
import { compileUriTemplate, newMatchBudget } from './uri-template.ts';

const row = (
  type: CapabilityType,
  name: string,
  over: Partial<CapabilityRow> = {},
): CapabilityRow => ({
  type,
  name,
  enabled: true,
  pin: '',
  renamedTo: '',
  description: '',
  fixedArguments: undefined,
  hiddenArguments: [],
  ...over,
});
const off = { enabled: false };
const server = (over: Partial<ServerRules> = {}) =>
  compileServer({
    enabled: true,
    usersAllowed: true,
    userAccess: {},
    capabilities: [],
    allowsNew: true,
    onDrift: 'alert',
    access: [],
    deniedAs: 'disabled',
    ...over,
  });
const who: Who = {
  key: { id: 'k', slug: 'k', name: 'K' },
  userId: 'u',
  metadata: {},
  claims: undefined,
};
const asked = (type: CapabilityType, name: string, over: Partial<Asked> = {}): Asked => ({
  type,
  name,
  arguments: {},
  hash: undefined,
  ...over,
});
const told = (decision: Decision) => (decision.allowed ? 'allowed' : decision.reason);

describe('decide', () => {
  it.each<[string, Partial<ServerRules>, string]>([
    ['a known tool', { capabilities: [row('tool', 't')] }, 'allowed'],
    ['a new tool', {}, 'allowed'],
    ['a new tool where new ones are off', { allowsNew: false }, 'capability_new'],
    [
      'a known tool where new ones are off',
      { allowsNew: false, capabilities: [row('tool', 't')] },
      'allowed',
    ],
    ['a disabled tool', { capabilities: [row('tool', 't', off)] }, 'capability_disabled'],
    ['a disabled prompt of the same name', { capabilities: [row('prompt', 't', off)] }, 'allowed'],
    ['a disabled server', { enabled: false }, 'server_disabled'],
    ['a server for others', { usersAllowed: false }, 'user_denied'],
    ['a server for this user', { usersAllowed: false, userAccess: { u: true } }, 'allowed'],
    ['a server for all but this user', { userAccess: { u: false } }, 'user_denied'],
    ['a denied name', { access: [{ deny: [{ name: 't*' }] }] }, 'name_denied'],
    [
      'a name denied to prompts',
      { access: [{ deny: [{ type: 'prompt', name: 't' }] }] },
      'allowed',
    ],
    ['an allowed name', { access: [{ allow: [{ name: '?' }] }] }, 'allowed'],
    ['another allowed name', { access: [{ allow: [{ name: 'x' }] }] }, 'name_not_allowed'],
    [
      'a name that one level allows and the other does not',
      { access: [{ allow: [{ name: 't' }] }, { allow: [{ name: 'x' }] }] },
      'name_not_allowed',
    ],
    [
      'a denied and allowed name',
      { access: [{ allow: [{ name: 't' }], deny: [{ name: 't' }] }] },
      'name_denied',
    ],
    [
      'a rule that denies',
      { access: [{ rules: [{ effect: 'deny', query: { 'key.id': 'k' } }] }] },
      'rule_denied',
    ],
    [
      'a rule about a claim that is not there',
      {
        access: [
          {
            rules: [
              { effect: 'allow', query: { 'claims.role': 'x' } },
              { effect: 'deny', query: { 'capability.type': 'tool' } },
            ],
          },
        ],
      },
      'rule_denied',
    ],
    ['drift that is told', { capabilities: [row('tool', 't', { pin: 'a' })] }, 'allowed'],
    ['a new tool where drift blocks', { onDrift: 'block' }, 'definition_new'],
    [
      'a tool that nobody has seen where drift blocks',
      { onDrift: 'block', capabilities: [row('tool', 't', { pin: 'a' })] },
      'definition_not_seen',
    ],
    ['a word for drift that nobody knows', { onDrift: 'x' }, 'definition_new'],
  ])('%s', (_, rules, expected) => {
    expect(told(decide(server(rules), who, asked('tool', 't')))).toBe(expected);
  });

  it.each([
    ['alert', 'allowed', 'allowed'],
    ['hide', 'definition_changed', 'allowed'],
    ['block', 'definition_changed', 'definition_changed'],
  ])('on_drift %s: lists %s, calls %s', (onDrift, listed, called) => {
    const view = server({ onDrift, capabilities: [row('tool', 't', { pin: 'a' })] });
    const list = decide(view, who, asked('tool', 't', { arguments: undefined, hash: 'b' }));
    expect([told(list), told(decide(view, who, asked('tool', 't', { hash: 'b' })))]).toEqual([
      listed,
      called,
    ]);
    expect(told(decide(view, who, asked('tool', 't', { hash: 'a' })))).toBe('allowed');
  });

  it('shows what some arguments are let pass with, and looks at them when it is called', () => {
    const access: ToolAccess[] = [
      {
        rules: [
          { effect: 'allow', query: { 'arguments.path': { $regex: '^/public/' } } },
          { effect: 'deny', query: { 'capability.name': 'read' } },
          { effect: 'deny', query: { 'arguments.force': true } },
        ],
      },
    ];
    const view = server({ access });
    const decided = (name: string, args: object | undefined) =>
      told(decide(view, who, asked('tool', name, { arguments: args as Asked['arguments'] })));
    expect(decided('read', undefined)).toBe('allowed');
    expect(decided('read', { path: '/public/a' })).toBe('allowed');
    expect(decided('read', { path: '/etc' })).toBe('rule_denied');
    expect(decided('read', {})).toBe('rule_denied');
    expect(decided('write', undefined)).toBe('allowed');
    expect(decided('write', { force: true })).toBe('rule_denied');
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'knows nothing of %s',
    (name) => {
      expect(told(decide(server({ allowsNew: false }), who, asked('tool', name)))).toBe(
        'capability_new',
      );
      const view = server({ capabilities: [row('tool', name, off)] });
      expect(told(decide(view, who, asked('tool', name)))).toBe('capability_disabled');
      expect(
        told(decide(server({ usersAllowed: false }), { ...who, userId: name }, asked('tool', 't'))),
      ).toBe('user_denied');
    },
  );

  it('says the same of lists and calls, whatever is set', () => {
    const names = ['a', 'b', 'c', 'd'];
    const name = fc.constantFrom(...names);
    const pattern = fc.record({ name: fc.constantFrom('a', 'b*', '*', '?', 'z') });
    const rules = fc.record({
      enabled: fc.boolean(),
      usersAllowed: fc.boolean(),
      userAccess: fc.dictionary(fc.constantFrom('u', 'v'), fc.boolean()),
      capabilities: fc.uniqueArray(
        fc.record({
          name,
          enabled: fc.boolean(),
          renamedTo: fc.oneof(fc.constant(''), name),
          pin: fc.constantFrom('', 'p'),
        }),
        { selector: (entry) => entry.name },
      ),
      allowsNew: fc.boolean(),
      onDrift: fc.constantFrom('alert', 'block'),
      access: fc.array(
        fc.record({
          allow: fc.option(fc.array(pattern), { nil: undefined }),
          deny: fc.array(pattern, { maxLength: 1 }),
        }),
        { maxLength: 2 },
      ),
      deniedAs: fc.constantFrom('disabled' as const, 'unknown' as const),
    });
    fc.assert(
      fc.property(rules, fc.constantFrom('p', 'q'), (given, hash) => {
        const view = compileServer({
          ...given,
          capabilities: given.capabilities.map((entry) => row('tool', entry.name, entry)),
        });
        const shown = new Set<string>();
        for (const upstream of names) {
          const decision = decide(
            view,
            who,
            asked('tool', upstream, { arguments: undefined, hash }),
          );
          const exposed = exposedName(view, 'tool', upstream);
          if (decision.allowed) {
            expect(exposed).toBeDefined();
            // No two tools have one name.
            expect(shown.has(exposed as string)).toBe(false);
            shown.add(exposed as string);
          }
        }
        for (const called of names) {
          const upstream = upstreamName(view, 'tool', called);
          const decision = decide(view, who, { ...asked('tool', 'x', { hash }), name: upstream });
          expect(decision.allowed).toBe(shown.has(called));
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('names', () => {
  const view = server({
    capabilities: [
      row('tool', 'a', { renamedTo: 'b' }),
      row('tool', 'b'),
      row('tool', 'c', { renamedTo: 'x' }),
      row('tool', 'd', { renamedTo: 'x' }),
    ],
  });

  it.each([
    ['a', 'b'],
    ['b', undefined],
    ['c', 'x'],
    ['d', undefined],
    ['e', 'e'],
    ['x', undefined],
  ])('%s is shown as %s', (upstream, exposed) => {
    expect(exposedName(view, 'tool', upstream)).toBe(exposed);
    if (exposed !== undefined) expect(upstreamName(view, 'tool', exposed)).toBe(upstream);
  });

  it('a name that was given away is nobody else’s', () => {
    expect(upstreamName(view, 'tool', 'a')).toBeUndefined();
    expect(upstreamName(view, 'prompt', 'a')).toBe('a');
  });
});

/** Each is, to some server, the file that is switched off. */
const spellings = [
  'file:///data/secret.txt',
  'FILE:///data/secret.txt',
  'file://localhost/data/secret.txt',
  'file:///data/../data/secret.txt',
  'file:///data/./secret.txt',
  'file:///data//secret.txt',
  'file:///data/secret%2Etxt',
  'file:///data/%73ecret.txt',
  'file:///data%2Fsecret.txt',
  'file:///data%252Fsecret.txt',
  'file:///data/x/%2e%2e/secret.txt',
  'file:///data/x/%252e%252e/secret.txt',
  'file:///data/secret.txt#part',
  'file:///data/secret.txt/',
  'file:///data\\secret.txt',
  ' file:///data/secret.txt',
  // Parsers of URLs leave out tabs, ends of lines, and what is no character at either end.
  'file:///data/se\tcret.txt',
  'file:///da\r\nta/secret.txt',
  'file:///data/x/.\n./secret.txt',
  'file:///data/secret.txt\0',
  '\u0001file:///data/secret.txt',
  // The path is found first, and then decoded.
  'file:///data/x%3f/../secret.txt',
  'file:///data/x%23%2f..%2fsecret.txt',
  'file:///data/x%3f%5c..%5csecret.txt',
];

describe('resources', () => {
  it.each(spellings)('%s is switched off with the file', (uri) => {
    const view = server({ capabilities: [row('resource', 'file:///data/secret.txt', off)] });
    expect(told(decide(view, who, asked('resource', uri)))).toBe('capability_disabled');
    expect(told(decide(view, who, asked('resource', 'file:///data/other.txt')))).toBe('allowed');
  });

  it.each(spellings)('%s is denied with a pattern of it', (uri) => {
    const view = server({ access: [{ deny: [{ name: 'file:///data/secret*' }] }] });
    expect(told(decide(view, who, asked('resource', uri)))).toBe('name_denied');
  });

  it.each([...spellings, 'file:///data/{x}', 'file:///data/'])(
    '%s is read by no template that is switched off',
    (uri) => {
      const view = server({ capabilities: [row('resource_template', 'file:///data/{name}', off)] });
      expect(told(decide(view, who, asked('resource', uri)))).toBe('template_disabled');
    },
  );

  it('are denied and allowed by patterns however their admin writes a URI', () => {
    const decided = (access: ToolAccess, uri: string) =>
      told(decide(server({ access: [access] }), who, asked('resource', uri)));
    const deny = [{ name: 'HTTP://Host.example:80/docs/../private/*' }, { name: 'File:///A//b' }];
    expect(decided({ deny }, 'http://host.example/private/a')).toBe('name_denied');
    expect(decided({ deny }, 'file:///A/b')).toBe('name_denied');
    expect(decided({ deny }, 'file:///a/b')).toBe('allowed');
    const allow = [{ type: 'resource' as const, name: 'http://Host.example/docs/*' }];
    for (const host of ['Host.example', 'host.example'])
      expect(decided({ allow }, `http://${host}/docs/a`)).toBe('allowed');
    expect(decided({ allow }, 'http://host.example/docs')).toBe('name_not_allowed');
    // Names of tools are no URIs.
    const view = server({ access: [{ allow: [{ name: 'Git:log' }] }] });
    expect(told(decide(view, who, asked('tool', 'git:log')))).toBe('name_not_allowed');
  });

  it('a template that is on lets pass what is below it, and nothing that leaves it', () => {
    const view = server({
      allowsNew: false,
      capabilities: [row('resource_template', 'file:///public/{+path}')],
    });
    const decided = (uri: string) => told(decide(view, who, asked('resource', uri)));
    expect(decided('file:///public/a/b.txt')).toBe('allowed');
    for (const uri of [
      'file:///public/../secret',
      'file:///public/%2e%2e/secret',
      'file:///public/a/..%2f..%2fsecret',
      'file:///public/%252e%252e%252fsecret',
      'file:///public\\..\\secret',
      'file:///public/.\t./secret',
      'file:///public/x%23%2f..%2f..%2fsecret',
      'file:///secret',
      'file:///publicity',
      'http://public/a',
    ])
      expect(decided(uri), uri).toBe('capability_new');
  });

  it('a template and a resource that is off within it', () => {
    const view = server({
      allowsNew: false,
      capabilities: [
        row('resource_template', 'db://{table}/{id}'),
        row('resource', 'db://users/1', off),
      ],
    });
    expect(told(decide(view, who, asked('resource', 'db://users/2')))).toBe('allowed');
    expect(told(decide(view, who, asked('resource', 'db://users/1')))).toBe('capability_disabled');
    expect(told(decide(view, who, asked('resource', 'db://users/%31')))).toBe(
      'capability_disabled',
    );
    expect(told(decide(view, who, asked('resource', 'db://users/1/x')))).toBe('capability_new');
  });

  it('with block, what only a template defines is read as long as the template is as it was approved', () => {
    const capabilities = [
      row('resource_template', 'db://{id}', { pin: 'good' }),
      row('resource', 'db://7', { pin: 'seven' }),
    ];
    const view = server({ capabilities, onDrift: 'block' });
    const read = (uri: string, hashes: Record<string, string>) =>
      told(
        decide(view, who, {
          ...asked('resource', uri),
          hash: hashes[uri],
          hashOfTemplate: (name) => hashes[name],
        }),
      );
    expect(read('db://1', { 'db://{id}': 'good' })).toBe('allowed');
    expect(read('db://1', { 'db://{id}': 'bad' })).toBe('definition_changed');
    expect(read('db://1', {})).toBe('definition_not_seen');
    expect(read('other://1', { 'db://{id}': 'good' })).toBe('definition_new');
    // What was approved under its own name is held to that.
    expect(read('db://7', { 'db://{id}': 'good', 'db://7': 'seven' })).toBe('allowed');
    expect(read('db://7', { 'db://{id}': 'good', 'db://7': 'other' })).toBe('definition_changed');
    // What is listed anew waits, whatever a template says of its address.
    const listed = { ...asked('resource', 'db://1'), arguments: undefined, hash: 'x' };
    expect(told(decide(view, who, listed))).toBe('definition_new');
  });

  it('are let pass by a name, a pattern or an approved template only in each of their forms', () => {
    const uri = 'file:///public/x/%2e%2e/a';
    const rest = 'file:///public/a';
    const decided = (over: Partial<ServerRules>, name: string) =>
      told(decide(server(over), who, asked('resource', name)));
    const listed = { allowsNew: false, capabilities: [row('resource', rest)] };
    expect([rest, uri].map((name) => decided(listed, name))).toEqual(['allowed', 'capability_new']);
    const named = { access: [{ allow: [{ name: rest }] }] };
    expect([rest, uri].map((name) => decided(named, name))).toEqual([
      'allowed',
      'name_not_allowed',
    ]);
    const below = { access: [{ allow: [{ name: 'file:///public/x/*' }] }] };
    expect([`${rest}/../x/b`, uri].map((name) => decided(below, name))).toEqual([
      'name_not_allowed',
      'name_not_allowed',
    ]);
  });

  it('of two templates are held to the one that is as it was approved', () => {
    const capabilities = [
      row('resource_template', 'db://{id}', { pin: 'good' }),
      row('resource_template', 'db://{+all}', { pin: 'fine' }),
    ];
    const judged = (onDrift: string, hashes: readonly (string | undefined)[]) =>
      decide(server({ capabilities, onDrift }), who, {
        ...asked('resource', 'db://1'),
        hashOfTemplate: (name) => hashes[name === 'db://{id}' ? 0 : 1],
      });
    const shown = (hashes: readonly (string | undefined)[]) => {
      const decision = judged('block', hashes);
      return decision.allowed ? 'allowed' : [decision.reason, decision.by];
    };
    for (const hashes of [
      ['good', 'bad'],
      ['bad', 'fine'],
      [undefined, 'fine'],
    ])
      expect(shown(hashes)).toBe('allowed');
    expect(shown(['bad', 'bad'])).toEqual(['definition_changed', 'db://{id}']);
    // The one that was not looked at may be what lets it pass.
    expect(shown(['bad', undefined])).toEqual(['definition_not_seen', 'db://{+all}']);
    // What is hidden is read all the same, and told of.
    for (const onDrift of ['hide', 'alert'])
      expect(judged(onDrift, ['bad', 'bad'])).toMatchObject({ allowed: true, isDrifted: true });
  });

  it.each([
    ['', 'x', false],
    ['x', 'x', false],
    ['x', undefined, false],
    ['x', 'y', true],
  ])('approved as %j and seen as %j have changed: %j', (pin, hash, isDrifted) => {
    const view = server({ capabilities: [row('tool', 'a', { pin })] });
    const decision = decide(view, who, asked('tool', 'a', { hash }));
    expect(decision).toMatchObject({ allowed: true, isDrifted });
  });

  it('a template that is denied or allowed by name is so for what is read by it', () => {
    const capabilities = [row('resource_template', 'db://{id}')];
    const denied = server({
      capabilities,
      access: [{ deny: [{ type: 'resource_template', name: 'db://{id}' }] }],
    });
    expect(told(decide(denied, who, asked('resource', 'db://1')))).toBe('template_disabled');
    const allowed = server({
      capabilities,
      access: [{ allow: [{ type: 'resource_template', name: 'db://{id}' }] }],
    });
    expect(told(decide(allowed, who, asked('resource', 'db://1')))).toBe('allowed');
    expect(told(decide(allowed, who, asked('resource', 'other://1')))).toBe('name_not_allowed');
  });

  it('holds rules against every form of a URI', () => {
    const rules: ToolAccess['rules'] = [
      { effect: 'allow', query: { 'capability.name': { $regex: '^file:///public/' } } },
      { effect: 'deny', query: { 'capability.type': 'resource' } },
    ];
    const view = server({ access: [{ rules }] });
    expect(told(decide(view, who, asked('resource', 'file:///public/a')))).toBe('allowed');
    expect(told(decide(view, who, asked('resource', 'file:///public/../a')))).toBe('rule_denied');
  });
});

describe('compileUriTemplate', () => {
  const budget = newMatchBudget;
  it.each<[string, string, boolean, boolean]>([
    ['a://{x}', 'a://b', true, true],
    ['a://{x}', 'a://', true, false],
    ['a://{x}', 'a://b/c', false, false],
    ['a://{x}', 'a://b?c', true, false],
    ['a://{+x}', 'a://b/c', true, true],
    ['a://h{/x}', 'a://h/1', true, true],
    ['a://h{/x*}', 'a://h/1/2', true, true],
    ['a://h{?q,r}', 'a://h?q=1&r=2', true, true],
    ['a://h{?q}', 'a://h', true, true],
    ['a://h{?q}', 'a://h/x', false, false],
    ['a://{x}-{y}.txt', 'a://1-2.txt', true, true],
    ['a://{x}-{y}.txt', 'a://12.txt', false, false],
    ['a://{x', 'anything', true, false],
    [`a://${'{x}'.repeat(40)}`, 'a://q', true, false],
    ['a://fixed', 'a://fixed', true, true],
    ['', 'a', false, false],
  ])('%s and %s: may %s, surely %s', (template, uri, may, surely) => {
    const compiled = compileUriTemplate(template);
    expect([compiled.mayMatch([uri], budget()), compiled.surelyMatches([uri], budget())]).toEqual([
      may,
      surely,
    ]);
  });

  it('surely matches nothing that it may not match, and all that it was expanded to', () => {
    const parts = fc.array(fc.constantFrom('{x}', '{+y}', 'a', '/', '-', '{/z}', '{?q}', '.'), {
      maxLength: 6,
    });
    const value = fc.stringMatching(/^[a-z]{1,3}$/);
    fc.assert(
      fc.property(parts, value, fc.string(), (list, text, other) => {
        const template = `s://${list.join('')}`;
        const expanded = template.replaceAll(/\{([+/?]?)[a-z]\}/g, (_, operator) =>
          operator === '/' ? `/${text}` : operator === '?' ? `?q=${text}` : text,
        );
        const compiled = compileUriTemplate(template);
        expect(compiled.mayMatch([expanded], budget())).toBe(true);
        for (const uri of [expanded, `s://${other}`]) {
          if (compiled.surelyMatches([uri], budget()))
            expect(compiled.mayMatch([uri], budget())).toBe(true);
        }
      }),
    );
  });

  it('costs no more than its budget, and denies what it cannot find out', () => {
    const hostile = Array.from({ length: 1000 }, (_, index) =>
      row('resource_template', `a://${'a{+x}'.repeat(30)}${index}z`, off),
    );
    const view = server({ capabilities: hostile });
    const spentMs = ownTime();
    expect(told(decide(view, who, asked('resource', `a://${'a'.repeat(8000)}`)))).toBe(
      'template_disabled',
    );
    expect(spentMs()).toBeLessThan(500);
  });
});

describe('uriForms', () => {
  it('has what parsers of URLs make of it among them', () => {
    const piece = fc.constantFrom(
      ...[
        '..',
        '.',
        'a',
        'b?c',
        '#',
        '%2e',
        '%2E.',
        '%2f',
        '%5c',
        '%3f',
        '%23',
        '%252e',
        '\t',
        '\n',
        '\0',
        ' ',
        '\\',
      ],
    );
    const path = fc.array(fc.oneof(piece, fc.constant('/')), { maxLength: 12 });
    fc.assert(
      fc.property(path, (pieces) => {
        const uri = `file:///public/${pieces.join('')}`;
        const { pathname } = new URL(uri);
        // As servers go on: they decode what a parser took for the path, and leave dots and slashes out.
        for (const read of [pathname, decodeURIComponent(pathname)]) {
          const isBelow = posix.normalize(read.replaceAll('\\', '/')).startsWith('/public');
          const isAllowed = uriForms(uri).every((form) => form.startsWith('file:///public'));
          expect(isBelow || !isAllowed).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['http://LOCALHOST:80/a', 'http://localhost/a'],
    ['https://host:443/a', 'https://host/a'],
    ['https://host:0443/a', 'https://host/a'],
    ['https://host:08443/a', 'https://host:8443/a'],
    ['https://host./a', 'https://host/a'],
    ['https://some@body@host:443/a', 'https://host/a'],
    ['http://host:a/a', 'http://host:a/a'],
    ['http://80/a', 'http://80/a'],
    ['http://[::1]:80/a', 'http://[::1]/a'],
    ['http://[::1]/a', 'http://[::1]/a'],
    ['https://somebody@host/a', 'https://host/a'],
    ['https://some%40body:else@HOST.:443/a', 'https://host/a'],
    ['db://somebody@host/a', 'db://somebody@host/a'],
    ['http://host:8080/a', 'http://host:8080/a'],
    ['https://host:4430', 'https://host:4430'],
    ['http://host/a/../b?c=/../d', 'http://host/b?c=/../d'],
    ['db:users/../keys?x', 'db:keys?x'],
  ])('%s is %s', (uri, regular) => expect(uriForms(uri)).toContain(regular));

  it('is done in linear time, of anything', () => {
    for (const uri of [
      '%25'.repeat(2700),
      '../'.repeat(2700),
      'a:'.repeat(4000),
      `http://${'a.'.repeat(4000)}`,
      '\\'.repeat(8000),
      `http://a:${'0'.repeat(8000)}x@`,
    ]) {
      const spentMs = ownTime();
      uriForms(uri);
      expect(spentMs()).toBeLessThan(50);
    }
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => uriForms(text).length >= 1));
  });
});

describe('compileGlob', () => {
  it('says what the regular expression of the same pattern says', () => {
    const letters = fc.constantFrom('a', 'b', '*', '?', '.');
    const pattern = fc.array(letters, { maxLength: 7 }).map((list) => list.join(''));
    const text = fc
      .array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 })
      .map((list) => list.join(''));
    fc.assert(
      fc.property(pattern, text, (glob, name) => {
        const regex = new RegExp(
          `^${glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`,
        );
        expect(compileGlob(glob)(name)).toBe(regex.test(name));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('askedBy', () => {
  const view = server({
    capabilities: [row('tool', 'a', { renamedTo: 'b' }), row('resource_template', 'x://{id}')],
  });
  const request = (method: string, params: object) =>
    readMessage(
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
    ) as McpRequest;
  const of = (method: string, params: object) => askedBy(view, request(method, params), () => 'h');

  it.each<[string, object, object | undefined]>([
    [
      'tools/call',
      { name: 'b', arguments: { x: 1 } },
      { type: 'tool', name: 'a', arguments: { x: 1 }, hash: 'h' },
    ],
    [
      'tools/call',
      { name: 'a' },
      { type: 'tool', name: undefined, arguments: {}, hash: undefined },
    ],
    ['resources/subscribe', { uri: 'x://1' }, { type: 'resource', name: 'x://1', arguments: {} }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'p' }, argument: {} },
      { type: 'prompt', name: 'p' },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'x://{id}' } },
      { type: 'resource_template', name: 'x://{id}' },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'x://1' } },
      { type: 'resource', name: 'x://1' },
    ],
    ['tools/list', {}, undefined],
    ['ping', {}, undefined],
  ])('%s %j', (method, params, expected) => {
    if (expected === undefined) expect(of(method, params)).toBeUndefined();
    else expect(of(method, params)).toMatchObject(expected);
  });

  it.each<[string, object]>([
    ['tools/call', {}],
    ['tools/call', { name: ['a'] }],
    ['tools/call', { name: 'b', arguments: [1] }],
    ['completion/complete', { ref: { type: 'ref/other' } }],
    ['resources/read', { name: 'a' }],
  ])('%s %j is refused', (method, params) => {
    expect(() => of(method, params)).toThrow(
      expect.objectContaining({ status: 200, code: -32602, idText: '1' }),
    );
  });

  it('tells a denial as admins want it told', () => {
    const denial = (reason: 'capability_disabled' | 'user_denied' | 'no_such_name') =>
      ({ allowed: false, reason, by: undefined }) as const;
    const named = { type: 'tool', name: 'x', idText: '7' } as const;
    expect(refusalOf(view, denial('capability_disabled'), named)).toMatchObject({
      status: 200,
      code: -32602,
      message: "Tool 'x' is disabled",
      idText: '7',
    });
    const discreet = server({ deniedAs: 'unknown' });
    const told = refusalOf(discreet, denial('capability_disabled'), named);
    const missing = refusalOf(discreet, denial('no_such_name'), named);
    expect([told.message, told.data]).toEqual([missing.message, missing.data]);
    expect(refusalOf(view, denial('user_denied'), named)).toMatchObject({ status: 403 });
  });
});
