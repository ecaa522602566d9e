import { randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { FormPart, JsonObject } from '@sluice/providers';
import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formFields, writeForm } from './form-fields.ts';
import { parseForm } from './multipart.ts';

const type = 'multipart/form-data; boundary=b';
const form = (text: string) => parseForm(Buffer.from(text), type);
const part = (head: string, data = '') => `--b\r\n${head}\r\n\r\n${data}\r\n`;
const field = (name: string, data = '') =>
  part(`Content-Disposition: form-data; name="${name}"`, data);

/** The code of the refusal; undefined = it was read. */
function refusal(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

describe('parseForm', () => {
  it('reads what a real client writes', async () => {
    const data = new FormData();
    const sound = randomBytes(70_000);
    data.append('model', 'whisper-1');
    data.append('timestamp_granularities[]', 'word');
    data.append('timestamp_granularities[]', 'segment');
    data.append('prompt', 'Zeile 1\r\n--b\r\nGrüße "👋"');
    data.append('file', new Blob([sound], { type: 'audio/mpeg' }), 'na"ïve\\😀.mp3');
    const request = new Response(data);
    const parts = parseForm(
      Buffer.from(await request.arrayBuffer()),
      request.headers.get('content-type') ?? '',
    );
    expect(formFields(parts)).toEqual({
      model: 'whisper-1',
      'timestamp_granularities[]': ['word', 'segment'],
      prompt: 'Zeile 1\r\n--b\r\nGrüße "👋"',
    });
    const file = parts.at(-1);
    expect(file).toMatchObject({ name: 'file', contentType: 'audio/mpeg' });
    expect(file?.filename).toBe('na%22ïve\\😀.mp3');
    expect(file?.data.equals(sound)).toBe(true);
  });

  it.each<[string, string, [string, string][]]>([
    ['an empty form', '--b--\r\n', []],
    ['an empty form without a last line end', '--b--', []],
    ['an empty field', `${field('a')}--b--`, [['a', '']]],
    ['a preamble and an epilogue', `hello\r\n${field('a', '1')}--b--\r\nbye --b\r\n`, [['a', '1']]],
    [
      'spaces after the boundary',
      '--b \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--',
      [['a', '1']],
    ],
    [
      'a boundary that only begins like ours',
      `${field('a', 'x\r\n--bc\r\ny')}--b--`,
      [['a', 'x\r\n--bc\r\ny']],
    ],
    ['a boundary within a line', `${field('a', 'x--b--y')}--b--`, [['a', 'x--b--y']]],
    [
      'a boundary after a bare newline',
      `${field('a', 'x\n--b\r\ny')}--b--`,
      [['a', 'x\n--b\r\ny']],
    ],
    ['line ends within data', `${field('a', '\r\n\r\n')}--b--`, [['a', '\r\n\r\n']]],
    [
      'names in any case',
      `${part('CONTENT-disposition:form-data;NAME="a"', '1')}--b--`,
      [['a', '1']],
    ],
    [
      'semicolons, and backslashes that stand for themselves, in quotes',
      `${part('Content-Disposition: form-data; name="a;b\\c=%22"', '1')}--b--`,
      [['a;b\\c=%22', '1']],
    ],
    [
      'names of what every object has',
      `${field('constructor', '1')}${field('__proto__', '2')}--b--`,
      [
        ['constructor', '1'],
        ['__proto__', '2'],
      ],
    ],
  ])('reads %s', (_name, text, expected) => {
    const parts = form(text);
    expect(parts.map(({ name, data }) => [name, data.toString()])).toEqual(expected);
    expect(Object.entries(formFields(parts))).toEqual(expected);
  });

  it('reads a boundary in quotes, among other parameters', () => {
    const text = `${field('a', '1').replaceAll('--b', '--a b;c')}--a b;c--`;
    const parts = parseForm(
      Buffer.from(text),
      'Multipart/Form-Data; charset=utf-8; BOUNDARY="a b;c"',
    );
    expect(parts).toHaveLength(1);
  });

  it('reads file names as they are, in every spelling', () => {
    const names = (params: string) =>
      form(`${part(`Content-Disposition: form-data; name="file"; ${params}`, 'x')}--b--`)[0]
        ?.filename;
    expect(names('filename="C:\\sound.mp3"')).toBe('C:\\sound.mp3');
    expect(names('filename="x"; filename*=UTF-8\'\'na%C3%AFve.mp3')).toBe('naïve.mp3');
    expect(names("filename*=UTF-8''%ff")).toBe("UTF-8''%ff");
    expect(names('filename=""')).toBe('');
  });

  it.each([
    ['nothing', ''],
    // The second is `a"` to Go and busboy, and `a\` to browsers, who read what follows as the next parameter.
    [
      'a name with a quote that is escaped',
      `${part('Content-Disposition: form-data; name="a\\"b"', '1')}--b--`,
    ],
    [
      'a name with a backslash that is escaped',
      `${part('Content-Disposition: form-data; name="a\\\\b"', '1')}--b--`,
    ],
    [
      'a name that ends in a backslash',
      `${part('Content-Disposition: form-data; name="a\\"', '1')}--b--`,
    ],
    ['no boundary', 'hello'],
    ['another boundary', field('a').replaceAll('--b', '--c')],
    ['an end within a part', field('a', '1')],
    ['an end within a head', '--b\r\nContent-Disposition: form-data; name="a"'],
    ['an end within a boundary', '--b'],
    ['bare newlines', '--b\nContent-Disposition: form-data; name="a"\n\n1\n--b--'],
    ['a part without headers', '--b\r\n\r\n1\r\n--b--'],
    ['a part without anything', '--b\r\n--b--'],
    ['a part without a name', `${part('Content-Disposition: form-data')}--b--`],
    ['a part without a disposition', `${part('Content-Type: text/plain')}--b--`],
    [
      'a name in a file name',
      `${part('Content-Disposition: form-data; filename="; name=model"')}--b--`,
    ],
    ['two names', `${part('Content-Disposition: form-data; name="a"; name="model"')}--b--`],
    [
      'two dispositions',
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"')}--b--`,
    ],
    ['an open quote', `${part('Content-Disposition: form-data; name="a')}--b--`],
    [
      'an encoded part',
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', 'eA==')}--b--`,
    ],
    [
      'headers without end',
      `--b\r\nContent-Disposition: form-data; name="a"; x="${'y'.repeat(20_000)}"\r\n\r\n1\r\n--b--`,
    ],
    ['too many parts', `${field('a').repeat(1001)}--b--`],
  ])('refuses %s', (_name, text) => {
    expect(refusal(() => form(text))).toBe('request.invalid_form');
  });

  it.each([
    '',
    '; boundary=',
    '; boundary=""',
    `; boundary=${'x'.repeat(71)}`,
    '; boundary=b; boundary=c',
  ])('refuses the content type multipart/form-data%s', (parameters) => {
    const work = () => parseForm(Buffer.from('--b--'), `multipart/form-data${parameters}`);
    expect(refusal(work)).toBe('request.invalid_form');
  });

  it('answers any garbage with parts or a refusal', () => {
    const pieces = fc.constantFrom(
      '--b',
      '--',
      'b',
      '\r\n',
      '\n',
      '\r',
      ' ',
      ':',
      ';',
      '"',
      '\\',
      '=',
      'name=',
      'name="a"',
      'Content-Disposition: form-data',
      'filename=',
      '\0',
      'é',
      '\r\n\r\n',
      '--b--',
      '--b\r\n',
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.array(pieces, { maxLength: 60 }).map((texts) => Buffer.from(texts.join(''))),
    );
    fc.assert(
      fc.property(
        bytes,
        fc.constantFrom(type, 'multipart/form-data; boundary="--"'),
        (body, as) => {
          const code = refusal(() => formFields(parseForm(body, as)));
          expect([undefined, 'request.invalid_form']).toContain(code);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('reads huge forms, also hostile ones, in one pass', () => {
    const size = 32 * 1024 * 1024;
    const long = '-'.repeat(70);
    const bodies: [string, string][] = [
      ['\r\n--bx'.repeat(size / 6), 'b'],
      ['--b'.repeat(size / 3), 'b'],
      [`\r\n--${long}x`.repeat(size / 75), long],
      [`\r\n--${long.slice(1)}`.repeat(size / 73), long],
      ['-'.repeat(size), long],
      ['\r\n'.repeat(size / 2), `${long.slice(1)}x`],
      ['\r\n--'.repeat(size / 4), '\r\n--'],
      [`--b\r\n${'\r\n--b--x'.repeat(1)}${'\r\n'.repeat(size / 2)}`, 'b'],
      [`${field('file', 'x'.repeat(size))}--b--`, 'b'],
    ];
    for (const [body, boundary] of bodies) {
      const bytes = Buffer.from(body);
      const spentMs = ownTime();
      refusal(() => parseForm(bytes, `multipart/form-data; boundary=${boundary}`));
      expect(spentMs(), body.slice(0, 90)).toBeLessThan(250);
    }
  });

  it('refuses a boundary that stands in the files again and again', () => {
    const text = `${field('file', '\r\n--bx'.repeat(2_000))}--b--`;
    expect(refusal(() => form(text))).toBe('request.invalid_form');
    expect(form(`${field('file', '\r\n--bx'.repeat(500))}--b--`)).toHaveLength(1);
  });
});

describe('formFields', () => {
  it('leaves files and what is too large for a field aside', () => {
    const text = `${part('Content-Disposition: form-data; name="f"; filename="x"', '1')}${field('big', 'x'.repeat(1024 * 1024 + 1))}${field('a', 'true')}${field('stream', 'true')}--b--`;
    expect(formFields(form(text))).toEqual({ a: 'true', stream: true });
  });

  it('refuses a model that hides in a file, and text that is none', () => {
    const hidden = `${part('Content-Disposition: form-data; name="model"; filename="m"', 'gpt')}--b--`;
    expect(refusal(() => formFields(form(hidden)))).toBe('request.invalid_form');
    const bytes = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('\r\n--b--'),
    ]);
    expect(refusal(() => formFields(parseForm(bytes, type)))).toBe('request.invalid_form');
  });
});

describe('writeForm', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  const name = text.filter((value) => !['', 'stream'].includes(value));
  const isAmbiguous = (value: string) => /\\(?:\\|$)/.test(value);
  const parts: fc.Arbitrary<FormPart[]> = fc.array(
    fc.record({
      name,
      filename: fc.constant(undefined),
      contentType: fc.constantFrom(undefined, 'text/plain'),
      data: text.map((value) => Buffer.from(value)),
    }),
    { maxLength: 8 },
  );
  const file: FormPart = {
    name: 'file',
    filename: 'a.mp3',
    contentType: 'audio/mpeg',
    data: Buffer.from('\r\n--sluice-\r\n'),
  };

  it('changes what it is told to, and nothing else, as a real reader sees it', async () => {
    await fc.assert(
      fc.asyncProperty(parts, text, async (fields, model) => {
        const kept = fields.filter((one) => one.name !== 'model' && one.name !== 'file');
        const before = [...kept, file];
        if (kept.some((one) => isAmbiguous(one.name))) {
          const write = () => writeForm(before, { ...formFields(before), model });
          // What `expect` returns is no verdict to fast-check.
          expect(refusal(write)).toBe('request.invalid_form');
          return;
        }
        const written = writeForm(before, { ...formFields(before), model });
        const read = await new Response(new Uint8Array(written.data), {
          headers: { 'content-type': written.contentType },
        }).formData();
        const entries = [...read.entries()];
        expect(entries[0]).toEqual(['model', model]);
        expect(entries.slice(1, -1).map(([, value]) => value)).toEqual(
          kept.map(({ data }) => data.toString()),
        );
        // As every reader has it: percent signs are what browsers make of quotes and line ends.
        const plain = kept.map((one) => (/["\r\n%]/.test(one.name) ? '' : one.name));
        const names = entries.slice(1, -1).map(([named], index) => plain[index] && named);
        expect(names).toEqual(plain);
        const found = read.get('file') as File;
        expect([found.name, found.type]).toEqual(['a.mp3', 'audio/mpeg']);
        expect(Buffer.from(await found.arrayBuffer()).equals(file.data)).toBe(true);
        const again = parseForm(written.data, written.contentType);
        expect(again.slice(1).map(({ data }) => data.toString())).toEqual(
          before.map(({ data }) => data.toString()),
        );
      }),
      { numRuns: 200 },
    );
  });

  it.each(['a\\', 'a\\\\b', '\\'])(
    'refuses to write a name that readers differ about: %s',
    (one) => {
      expect(refusal(() => writeForm([], { [one]: '1' }))).toBe('request.invalid_form');
      expect(refusal(() => writeForm([{ ...file, filename: one }], {}))).toBe(
        'request.invalid_form',
      );
    },
  );

  it.each<[string, JsonObject, [string, string][]]>([
    [
      'a changed field',
      { a: '2', l: ['x', 'y'] },
      [
        ['a', '2'],
        ['l', 'x'],
        ['l', 'y'],
      ],
    ],
    [
      'a changed list',
      { a: '1', l: ['z'] },
      [
        ['a', '1'],
        ['l', 'z'],
      ],
    ],
    [
      'a field that is gone',
      { l: ['x', 'y'] },
      [
        ['l', 'x'],
        ['l', 'y'],
      ],
    ],
    [
      'a null',
      { a: null, l: ['x', 'y'] },
      [
        ['l', 'x'],
        ['l', 'y'],
      ],
    ],
    [
      'new fields of every kind',
      { a: '1', l: ['x', 'y'], n: 2, t: true, o: { k: 1 } },
      [
        ['n', '2'],
        ['t', 'true'],
        ['o', '{"k":1}'],
        ['a', '1'],
        ['l', 'x'],
        ['l', 'y'],
      ],
    ],
  ])('writes %s', (_name, fields, expected) => {
    const before = form(`${field('a', '1')}${field('l', 'x')}${field('l', 'y')}--b--`);
    const { data, contentType } = writeForm(before, fields);
    const after = parseForm(data, contentType);
    expect(after.map((one) => [one.name, one.data.toString()])).toEqual(expected);
  });
});
