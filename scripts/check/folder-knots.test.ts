import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFolderKnots } from './folder-knots.ts';
import { knotExceptions } from './import-rules.ts';
import { readSourceFiles } from './source-files.ts';

const src = 'services/data-service/src';

/** Files by their path below `src/`, each importing what is listed. */
const files = (imports: Record<string, string[]>) =>
  Object.entries(imports).map(([path, specifiers]) => ({
    path: `${src}/${path}`,
    text: specifiers.map((specifier) => `import type { A } from '${specifier}';\n`).join(''),
  }));

describe('findFolderKnots', () => {
  it('finds two folders that import each other, if only types, and says where', () => {
    const made = files({
      'one/a.ts': ['../two/b.ts'],
      'two/b.ts': [],
      'two/c.ts': ['../one/a.ts'],
    });
    expect(findFolderKnots(made)).toEqual([
      `${src}/ has a knot of one, two:`,
      '  one/a.ts → two/b.ts',
      '  two/c.ts → one/a.ts',
    ]);
  });

  it('finds a ring of many, and leaves out who only stands beside it', () => {
    const made = files({
      'one/a.ts': ['../two/a.ts'],
      'two/a.ts': ['../three/a.ts', '../below/a.ts'],
      'three/a.ts': ['../one/a.ts'],
      'below/a.ts': [],
      'above/a.ts': ['../one/a.ts'],
    });
    expect(findFolderKnots(made)[0]).toBe(`${src}/ has a knot of one, three, two:`);
  });

  it('looks at every level, and finds what leads through a file between folders', () => {
    const made = files({
      'deep/er/one/a.ts': ['../between.ts'],
      'deep/er/between.ts': ['./two/a.ts'],
      'deep/er/two/a.ts': ['../one/a.ts'],
    });
    expect(findFolderKnots(made)[0]).toBe(`${src}/deep/er/ has a knot of one, two:`);
  });

  it('takes neither a folder and the file that opens it nor a test for a knot', () => {
    const made = files({
      'one/a.ts': ['./inner/b.ts', '../two/b.ts'],
      'one/inner/b.ts': ['../a.ts'],
      'two/b.ts': [],
      'two/b.test.ts': ['../one/a.ts'],
    });
    expect(findFolderKnots(made)).toEqual([]);
  });

  it('excuses one arrow by its name, and asks for no more excuses than it needs', () => {
    const because = 'the one is the other';
    const exception = { from: `${src}/two`, to: `${src}/one`, because };
    const made = files({ 'one/a.ts': ['../two/b.ts'], 'two/b.ts': ['../one/a.ts'] });
    expect(findFolderKnots(made, [exception])).toEqual([]);
    const mended = files({ 'one/a.ts': ['../two/b.ts'], 'two/b.ts': [] });
    expect(findFolderKnots(mended, [exception])).toEqual([
      `${src}/two no longer imports ${src}/one: the exception can go`,
    ]);
  });

  it('finds none among the services as they are, and one as soon as it is made', () => {
    const real = readSourceFiles(resolve(import.meta.dirname, '../..'));
    expect(findFolderKnots(real, knotExceptions)).toEqual([]);
    const made = {
      path: 'services/gateway/src/usage/made.ts',
      text: "import type { App } from '../routes/serve.ts';\n",
    };
    expect(findFolderKnots([...real, made], knotExceptions).join('\n')).toMatch(
      /services\/gateway\/src\/ has a knot of .*usage[\s\S]*usage\/made\.ts → routes\/serve\.ts/,
    );
  });
});
