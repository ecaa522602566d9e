import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  ascending,
  bytesSecret,
  checked,
  csv,
  decimal,
  defineSettings,
  grpcAddress,
  integer,
  oneOf,
  optionalSecret,
  optionalText,
  secret,
  url,
} from './define-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'define-env-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'value');
writeFileSync(file, 'content\n');

/** What a service would print instead of starting. */
function faultOf(spec: ReturnType<typeof optionalText>, value: string): string {
  try {
    defineSettings({ Some: { SETTING: spec } }).readEnv({ SETTING: value });
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the setting was taken');
}

describe('a value that names a file', () => {
  it('is replaced by its content, unless the variable is about a file or a path', () => {
    const specs = {
      SOME_SECRET: optionalSecret('a secret'),
      SOME_TOKEN_FILE: optionalText('read at each use'),
      SOME_CA_PATH: optionalText('a path'),
      SOME_DIR: optionalText('a folder'),
      SOME_RELATIVE_URI: optionalText('a path of an address'),
    };
    const source = Object.fromEntries(Object.keys(specs).map((name) => [name, file]));
    expect(defineSettings({ Some: specs }).readEnv(source)).toEqual({
      ...source,
      SOME_SECRET: 'content',
    });
  });

  it.each([
    ['a secret', secret('a secret')],
    ['a text', optionalText('a text')],
    ['a list', csv('a list') as never],
  ])('never becomes %s itself when there is no such file', (_kind, spec) => {
    const missing = join(folder, 'no-such-file-of-a-secret');
    expect(faultOf(spec, missing)).toBe(
      `The environment is not valid:\n  SETTING names the file ${missing}, which cannot be read (ENOENT); a value that begins with a slash itself must be put into a file (${spec.about})`,
    );
  });

  it('is refused when it is a folder, unreadable, empty or enormous', () => {
    const spec = optionalSecret('a secret');
    mkdirSync(join(folder, 'sub'));
    expect(faultOf(spec, join(folder, 'sub'))).toContain('which is not a file');
    expect(faultOf(spec, '/dev/zero')).toContain('/dev/zero, which is not a file');
    writeFileSync(join(folder, 'empty'), '\n');
    expect(faultOf(spec, join(folder, 'empty'))).toContain('names an empty file');
    writeFileSync(join(folder, 'large'), Buffer.alloc(1024 * 1024 + 1));
    expect(faultOf(spec, join(folder, 'large'))).toContain('more than 1048576 bytes');
    expect(faultOf(spec, join(file, 'below-a-file'))).toContain('ENOTDIR');
    chmodSync(file, 0o000);
    // Root may read everything.
    if (process.getuid?.() !== 0) expect(faultOf(spec, file)).toContain('EACCES');
  });

  it('is not printed where it may be the secret: base64 may begin with a slash', () => {
    const value = `/${Buffer.alloc(31, 0xa5).toString('base64')}`;
    for (const spec of [secret('a secret'), bytesSecret('a key', 32) as never]) {
      const fault = faultOf(spec, value);
      expect(fault).toContain('SETTING names the file (not shown');
      expect(fault).not.toContain(value.slice(1, 12));
    }
    expect(faultOf(secret('a secret'), '/aGVsbG8/d29ybGQ=')).not.toContain('d29ybGQ');
  });
});

describe('a number', () => {
  it('is what holds without it where its value is blank, and not zero', () => {
    const settings = defineSettings({
      Some: { A: integer('how many', 3), B: decimal('what', 0.5, 0, 1) },
    });
    for (const blank of [undefined, '', ' ', '\n'])
      expect(settings.readEnv({ A: blank, B: blank })).toEqual({ A: 3, B: 0.5 });
    expect(settings.readEnv({ A: ' 7\n', B: '1 ' })).toEqual({ A: 7, B: 1 });
  });
});

describe('settings as data', () => {
  it('say where each stands, what it is, what holds without it, and nothing of how it is read', () => {
    const { described } = defineSettings({
      First: { A: integer('how many', 3, 1, 9), B: oneOf('which', ['x', 'y'], 'x') },
      Second: { C: secret('a secret'), D: bytesSecret('a key', 32), E: csv('some') },
    });
    expect(JSON.parse(JSON.stringify(described))).toEqual([
      ...[
        { name: 'A', kind: 'integer', about: 'how many', fallback: 3, min: 1, max: 9 },
        { name: 'B', kind: 'choice', about: 'which', fallback: 'x', values: ['x', 'y'] },
      ].map((facts) => ({ section: 'First', secret: false, required: false, ...facts })),
      ...[
        { name: 'C', kind: 'text', about: 'a secret', secret: true, required: true },
        { name: 'D', kind: 'bytes', about: 'a key', secret: true, required: true, size: 32 },
        { name: 'E', kind: 'list', about: 'some', secret: false, required: false },
      ].map((facts) => ({ section: 'Second', ...facts })),
    ]);
  });

  it('are read whichever section they stand in, and stand in one only', () => {
    const settings = defineSettings({
      First: { A: integer('how many', 3) },
      Second: { B: optionalText('a text') },
    });
    expect(settings.readEnv({ A: '4' })).toEqual({ A: 4, B: undefined });
    const again = { A: integer('how many', 3) };
    expect(() => defineSettings({ First: again, Second: again })).toThrow('A stands in two');
  });
});

describe('ascending numbers', () => {
  const spec = ascending('limits', [1, 2.5, 10]);

  it('are read in their order, and are the default when nothing is set', () => {
    expect(spec.parse(' 0.5, 7 ,1e3')).toEqual([0.5, 7, 1000]);
    expect(spec.parse(undefined)).toEqual([1, 2.5, 10]);
    expect(spec.parse('')).toEqual([1, 2.5, 10]);
  });

  it.each(['1,1', '2,1', '0', '-1,2', '1,,2', '1,x', '1,Infinity', '1,2,3,4'])(
    'are refused as %s',
    (raw) => {
      expect(() => spec.parse(raw)).toThrow('must be 3 numbers above 0 at most');
    },
  );
});

describe('an address', () => {
  const settings = defineSettings({
    Some: { BASE: url('a base'), GRPC: grpcAddress('where', '127.0.0.1:1') },
  });
  const read = (source: Record<string, string>) => settings.readEnv(source);

  it('of HTTP is read without the blanks around it, and is one of HTTP', () => {
    expect(read({ BASE: ' https://host/base \n' }).BASE).toBe('https://host/base');
    expect(read({ BASE: ' ' }).BASE).toBeUndefined();
    for (const wrong of ['ftp://host', 'host:80', 'http://', 'text'])
      expect(() => read({ BASE: wrong })).toThrow('BASE must be a URL that begins with http://');
  });

  it('of gRPC is host and port, or what gRPC takes in their place', () => {
    for (const right of [
      'h:1',
      '[::1]:8790',
      'dns:///h:1',
      'unix:/run/s',
      'ipv4:1.2.3.4:5,6.7.8.9:5',
    ])
      expect(read({ GRPC: right }).GRPC).toBe(right);
    for (const wrong of [
      'http://h:1',
      'h:1/',
      ' h:1',
      'h h',
      'h:port',
      'h',
      '[::1]',
      'h:0',
      'h:65536',
    ])
      expect(() => read({ GRPC: wrong })).toThrow('GRPC must be host:port');
  });
});

it('what is asked of a value is not asked of none, and its fault is told under its name', () => {
  const refuse = () => {
    throw new Error('must be better');
  };
  const settings = defineSettings({ Some: { A: checked(optionalText('a text'), refuse) } });
  expect(settings.readEnv({}).A).toBeUndefined();
  expect(() => settings.readEnv({ A: 'x' })).toThrow('A must be better (a text)');
});
