import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import mustache from 'mustache';
import { describe, expect, it } from 'vitest';
import { parseTemplate } from './parse-template.ts';
import { compilePrompt, renderPrompt } from './prompt-template.ts';
import type { FindPartial } from './render-template.ts';
import { TemplateFault } from './template-fault.ts';

const hard = 'say "hi"\n\\ & <b>';
const variables = {
  v: hard,
  o: { s: hard, n: 1 },
  b: true,
  no: false,
  n: 0,
  list: [{ x: 1 }, { x: 2 }],
  words: ['a', 'b'],
  empty: [],
  injected: '{{secret}}',
  secret: 'SECRET',
  part: 'pl-part',
  free: 'free {{n}} text',
};

const partials: Record<string, string> = {
  'pl-part': 'part of {{v}}',
  'pl-part@2': 'second',
  'pl-nested': '<{{>pl-part}}>',
  'pl-circle': '{{>pl-back}}',
  'pl-back': '{{>pl-circle}}',
  'pl-injected': '{{injected}}',
  'pl-lines': 'one\ntwo\n',
};
const findPartial: FindPartial = (name) => {
  const source = partials[name];
  return source === undefined ? undefined : { source, template: parseTemplate(source) };
};

function renderText(template: string): string {
  const prompt = compilePrompt({ template, isRaw: false, type: 'text' });
  return (renderPrompt(prompt, variables, findPartial) as { prompt: string }).prompt;
}

function renderChat(template: unknown, isRaw = false) {
  const text = typeof template === 'string' ? template : JSON.stringify(template);
  const prompt = compilePrompt({ template: text, isRaw, type: undefined });
  return (renderPrompt(prompt, variables, findPartial) as { messages: unknown }).messages;
}

const tags: [string, string][] = [
  ['{{v}}', hard],
  ['{{{v}}}', hard],
  ['{{&v}}', hard],
  ['{{ v }}', hard],
  ['{{o.s}}', hard],
  ['{{{o.s}}}', hard],
  ['{{o}}', JSON.stringify(variables.o)],
  ['{{b}}', 'true'],
  ['{{no}}', 'false'],
  ['{{n}}', '0'],
  ['{{nothing}}', ''],
  ['{{o.nothing.more}}', ''],
  ['{{constructor}}{{toString}}', ''],
  ['a{{! a comment }}b', 'ab'],
  ['{{#list}}{{x}},{{/list}}', '1,2,'],
  ['{{#words}}{{.}};{{/words}}', 'a;b;'],
  ['{{#list}}{{b}}{{/list}}', 'truetrue'],
  ['{{#o}}{{n}}{{/o}}', '1'],
  ['{{#b}}yes{{/b}}{{#no}}never{{/no}}{{#n}}never{{/n}}', 'yes'],
  [
    '{{^b}}never{{/b}}{{^no}}no{{/no}}{{^empty}}empty{{/empty}}{{^nothing}}.{{/nothing}}',
    'noempty.',
  ],
  ['{{>pl-part}}', `part of ${hard}`],
  ['{{>pl-part@2}}', 'second'],
  ['{{>pl-nested}}', `<part of ${hard}>`],
  ['{{>pl-injected}} {{injected}}', '{{secret}} {{secret}}'],
  ['{{>>part}}', `part of ${hard}`],
  ['{{>>free}}', 'free 0 text'],
  ['{{=<% %>=}}<% n %>{{n}}<%={{ }}=%>{{n}}', '0{{n}}0'],
  ['an open {{v', 'an open {{v'],
  ['}} and }}}', '}} and }}}'],
];

describe('a prompt', () => {
  it.each(tags)('of text renders %j', (template, expected) => {
    expect(renderText(template)).toBe(expected);
  });

  it.each(tags)('of messages renders %j inside a message', (template, expected) => {
    const content = [{ type: 'text', text: template }];
    expect(renderChat([{ role: 'user', content }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: expected }] },
    ]);
  });

  it('drops lines that hold nothing but sections, comments and delimiters', () => {
    expect(renderText('a\n{{#b}}\n  b\n{{/b}}\n  {{! gone }}  \nc')).toBe('a\n  b\nc');
    expect(renderText('a {{#b}}\nb{{/b}}\n{{v}}')).toBe(`a \nb\n${hard}`);
  });

  it('indents a partial that has a line to itself', () => {
    expect(renderText('a\n  {{>pl-lines}}\nb')).toBe('a\n  one\n  two\nb');
    expect(renderText('a {{>pl-lines}}b')).toBe('a one\ntwo\nb');
  });

  it('keeps the names of fields as they are', () => {
    expect(renderChat([{ role: 'user', '{{v}}': '{{n}}' }])).toEqual([
      { role: 'user', '{{v}}': '0' },
    ]);
  });

  it('is told apart from text by its looks, unless its type is given', () => {
    const messages = '[{"role":"user","content":"{{n}}"}]';
    const kind = (template: string, isRaw = false, type?: string) =>
      compilePrompt({ template, isRaw, type }).kind;
    expect(kind(messages)).toBe('messages');
    expect(kind(messages, false, 'completion')).toBe('text');
    expect(kind('[INST] {{v}} [/INST]')).toBe('text');
    expect(kind('[{{v}}]')).toBe('text');
    expect(kind('{{{v}}}', true)).toBe('raw-messages');
    expect(kind(' [{{#list}}{}{{/list}}]')).toBe('raw-messages');
    expect(() => kind('text', false, 'chat')).toThrow(TemplateFault);
  });
});

describe('a raw prompt', () => {
  const message = (content: string) => `[{"role":"user","content":"${content}"}]`;

  it('holds values between quotes exactly, and values without as JSON', () => {
    expect(renderChat(message('{{v}} {{o.s}} {{o}} {{>pl-part}}'), true)).toEqual([
      { role: 'user', content: `${hard} ${hard} ${JSON.stringify(variables.o)} part of ${hard}` },
    ]);
    expect(renderChat('[{"role":"user","content":{{{words}}},"n":{{n}}}]', true)).toEqual([
      { role: 'user', content: ['a', 'b'], n: 0 },
    ]);
  });

  it('makes messages of sections, flag or not', () => {
    const template =
      '[{"role":"system","content":""}{{#list}},{"role":"user","content":"{{x}}"}{{/list}}]';
    const expected = ['', '1', '2'].map((content, index) => ({
      role: index === 0 ? 'system' : 'user',
      content,
    }));
    expect(renderChat(template)).toEqual(expected);
    expect(renderChat(template, true)).toEqual(expected);
  });

  it('says where what came out is no JSON', () => {
    expect(() => renderChat(message('{{{v}}}'), true)).toThrow(
      /rendered, it is not JSON: .*position/,
    );
    expect(() => renderChat('{{{secret}}}', true)).toThrow(/not JSON/);
    expect(() => renderChat('[1]', true)).toThrow('message 0 is no object with a role');
  });
});

describe('what is wrong', () => {
  it.each([
    ['{{#a}}', 'section "a" is never closed'],
    ['{{/a}}', 'section "a" is closed without having been opened'],
    ['{{#a}}{{/b}}', 'section "a" is closed as "b"'],
    ['{{=x=}}', '"x" are no delimiters'],
    ['{{#a}}'.repeat(51), 'sections are nested deeper than 50'],
    ['[{"role":"user"', /^it is not a JSON array of messages: /],
    ['[{"content":"x"}]', 'message 0 is no object with a role'],
    [
      `[{"role":"user","content":${'['.repeat(60)}${']'.repeat(60)}}]`,
      'it is nested deeper than 50 levels',
    ],
  ])('is told when %j is compiled', (template, message) => {
    expect(() => compilePrompt({ template, isRaw: false, type: undefined })).toThrow(message);
  });

  it('names all partials that are missing', () => {
    expect(() => renderText('{{>pl-a}} {{#list}}{{>pl-b@3}}{{/list}}')).toThrow(
      'Missing prompt partials: pl-a, pl-b@3',
    );
    expect(() => renderText('{{>>who}}{{>>else}}')).toThrow('Missing variable partials: who, else');
  });

  it('ends circles and deep nesting of partials', () => {
    expect(() => renderText('{{>pl-circle}}')).toThrow('the partial "pl-circle" includes itself');
    const own = compilePrompt({ template: '{{>>me}}', isRaw: false, type: 'text' });
    expect(() => renderPrompt(own, { me: '{{>>me}}' }, findPartial)).toThrow(
      'partials are nested deeper than 10',
    );
  });

  it('is a prompt that grows beyond measure', () => {
    const list = Array.from({ length: 1000 }, () => 1);
    const nested = '{{#l}}{{#l}}{{#l}}some words{{/l}}{{/l}}{{/l}}';
    const prompt = compilePrompt({ template: nested, isRaw: false, type: 'text' });
    expect(() => renderPrompt(prompt, { l: list }, findPartial)).toThrow('too large');
  });

  it('is found in time, however many tags are open', () => {
    const text = '{{{'.repeat(100_000);
    expect(renderText(text)).toBe(text);
  });

  it('takes no longer than others can wait: what has more steps is too large', () => {
    const list = Array.from({ length: 3000 }, (_, at) => at);
    const template = '{{#a}}{{#a}}{{.}}{{/a}}{{/a}}';
    const nested = compilePrompt({ template, isRaw: false, type: 'text' });
    const spentMs = ownTime();
    expect(() => renderPrompt(nested, { a: list }, findPartial)).toThrow('too large');
    // It took 190 ms when two million steps were allowed.
    expect(spentMs()).toBeLessThan(150);
  });
});

describe('a template', () => {
  // Of dotted names and of partials with lines it departs from its own specification.
  it('is rendered as the `mustache` package renders it, but for objects, which are JSON', () => {
    const oracle = new Oracle();
    fc.assert(
      fc.property(templates, views, (template, view) => {
        const prompt = (type: string, source: string) =>
          renderPrompt(compilePrompt({ template: source, isRaw: false, type }), view, (name) => {
            const source = oraclePartials[name];
            return source === undefined ? undefined : { source, template: parseTemplate(source) };
          });
        const text = oracle.render(template, view, oraclePartials);
        expect(prompt('completion', template)).toEqual({ prompt: text });
        const messages = [{ role: 'user', content: template }];
        expect(prompt('chat', JSON.stringify(messages))).toEqual({
          messages: [{ role: 'user', content: text }],
        });
      }),
      { numRuns: 500 },
    );
  });
});

/** Nothing is escaped; what is no text is JSON. */
class Oracle extends mustache.Writer {
  override escapedValue(token: string[], context: InstanceType<typeof mustache.Context>): string {
    return this.unescapedValue(token, context);
  }

  override unescapedValue(token: string[], context: InstanceType<typeof mustache.Context>): string {
    const value: unknown = context.lookup(token[1] ?? '');
    if (value === undefined || value === null) return '';
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

const oraclePartials: Record<string, string> = {
  plain: 'of {{a}} and {{{o.x}}}',
  nested: '<{{>plain}}|{{#b}}{{c}}{{/b}}>',
};

const plainText = fc
  .array(fc.constantFrom(' ', '  ', '\n', '\t', 'word', '"', '\\', '}', '}}', '&', '<', 'é'), {
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''));
const names = fc.constantFrom('a', 'b', 'c', 'o.x', 'o.y', 'nothing', '.');
const blank = fc.constantFrom('', ' ');
const { template: templates } = fc.letrec<{ template: string; piece: string }>((tie) => ({
  template: fc
    .array(tie('piece'), { maxLength: 5, depthIdentifier: 'template' })
    .map((pieces) => pieces.join('')),
  piece: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'template' },
    plainText,
    fc.tuple(blank, names).map(([space, name]) => `{{${space}${name}${space}}}`),
    names.map((name) => `{{{${name}}}}`),
    names.map((name) => `{{& ${name}}}`),
    plainText.map((text) => `{{! ${text.replaceAll('}', '')} }}`),
    names.map((name) => `{{=<% %>=}}<%${name}%>{{${name}}}<%={{ }}=%>`),
    fc.constantFrom('-{{>plain}}', '-{{> nested }}'),
    fc
      .tuple(fc.constantFrom('#', '^'), names, fc.constantFrom('', '\n', ' \n'), tie('template'))
      .map(([sign, name, end, inner]) => `{{${sign}${name}}}${end}${inner}{{/${name}}}${end}`),
  ),
}));
const scalars = fc.oneof(
  fc.constantFrom<unknown>('', 'text', '{{a}}', 'say "hi"\n\\ & <b>', 0, 7, -1.5, true, false),
  fc.string({ maxLength: 4 }),
);
const fields = { a: scalars, b: scalars };
const inner = fc.record(fields, { requiredKeys: [] });
const values = fc.oneof(
  scalars,
  fc.constant(null),
  inner,
  fc.array(fc.oneof(scalars, inner), { maxLength: 3 }),
);
const views = fc.record(
  { a: values, b: values, c: values, o: fc.record({ x: values, y: values }, { requiredKeys: [] }) },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, unknown>>;
