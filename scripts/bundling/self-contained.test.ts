import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type Beside, selfContained } from './self-contained.ts';

const root = resolve(import.meta.dirname, '../..');
// In a package that has another.
const id = join(root, 'services/control-plane/src/kernel/openapi/module.ts');

function transformed(code: string) {
  const beside: Beside = { entries: new Map(), assets: new Map() };
  const { transform } = selfContained(root, beside) as unknown as {
    transform(code: string, id: string): { code: string } | null;
  };
  return { code: transform(code, id)?.code, beside };
}

it('finds what a module reads at run time, however it is named', () => {
  const thread = transformed(`new Worker(new URL('./thread.ts', import.meta.url))`);
  expect(thread.code).toBe(`new Worker(new URL('./thread.mjs', import.meta.url))`);
  expect([...thread.beside.entries]).toEqual([['thread.mjs', join(dirname(id), 'thread.ts')]]);
  for (const path of [`'../../../prisma/migrations'`, `'..', '..', '..', 'prisma', 'migrations'`]) {
    const folder = transformed(`join(import.meta.dirname, ${path})`);
    expect(folder.code).toBe(`(import.meta.dirname + '/migrations')`);
    const from = join(root, 'services/control-plane/prisma/migrations');
    expect([...folder.beside.assets]).toEqual([['migrations', from]]);
  }
  const whole = transformed(
    `dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))`,
  );
  expect(whole.code).toBe(`(import.meta.dirname + '/swagger-ui-dist')`);
  expect(whole.beside.assets.get('swagger-ui-dist')).toMatch(/\/node_modules\/swagger-ui-dist$/);
});

it('refuses any other way', () => {
  for (const code of ['readFileSync(import.meta.filename)', `createRequire(import.meta.url)('x')`])
    expect(() => transformed(code)).toThrow('openapi/module.ts reads from where it lies');
});
