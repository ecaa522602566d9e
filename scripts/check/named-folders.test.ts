import { expect, it } from 'vitest';
import { findUnnamedFolders } from './named-folders.ts';

function unnamed(sources: string[], root: string, service = ''): string[] {
  return findUnnamedFolders(
    sources.map((path) => ({ path })),
    [
      { path: 'README.md', text: root },
      { path: 'services/gateway/README.md', text: service },
    ],
  );
}

it('the table of the root names each package', () => {
  const sources = ['packages/a/src/index.ts', 'packages/b/src/index.ts', 'packages/b/src/x.ts'];
  const table = '| folder | holds |\n| --- | --- |\n| `packages/a`, `b` | both |\n';
  expect(unnamed(sources, table)).toEqual([]);
  expect(unnamed(sources, table.replace(', `b`', ''))).toEqual([
    'README.md: packages/b is in no table of folders',
  ]);
  expect(unnamed(sources, 'In `packages/a` and `packages/b`')).toHaveLength(2);
});

it('the tables of a service name each folder of its src', () => {
  const sources = [
    'services/gateway/src/main.ts',
    'services/gateway/src/mcp/merged/list.ts',
    'services/gateway/src/otlp/spans.ts',
    'services/gateway/test/whole/a.test.ts',
  ];
  const table = '| `src/mcp/` | servers |\n| `src/otlp/`, `test/` | spans |\n';
  expect(unnamed(sources, '', table)).toEqual([]);
  expect(unnamed(sources, table, '| `src/mcp/merged/` | servers |\n')).toEqual([
    'services/gateway/README.md: src/mcp is in no table of folders',
    'services/gateway/README.md: src/otlp is in no table of folders',
  ]);
});
