import { expect, it } from 'vitest';
import { type Document, findDeadLinks } from './document-links.ts';

const other = {
  path: 'docs/other.md',
  text: '# Other\n\n## What `x` does: all of it\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n',
};

function deadLinks(text: string, path = 'docs/page.md'): string[] {
  const documents: Document[] = [{ path, text }, other];
  const there = [path, other.path, 'README.md', 'docs', 'services/gateway/src', 'docs/a b.png'];
  return findDeadLinks(documents, (named) => there.includes(named.replace(/\/$/, '')));
}

it('a link leads to a file or a folder of the project', () => {
  const links =
    '[a](other.md) [b](../README.md) [c](../services/gateway/src/) ![d](a%20b.png)\n\n[e]: ./other.md\n';
  expect(deadLinks(links)).toEqual([]);
  expect(deadLinks('[a](gone.md) ![b](../gone.png)\n\n[c]: gone/\n')).toEqual([
    'docs/page.md: nothing is at gone.md',
    'docs/page.md: nothing is at ../gone.png',
    'docs/page.md: nothing is at gone/',
  ]);
  expect(deadLinks('[a](../../elsewhere.md)')).toHaveLength(1);
  expect(deadLinks('[a](docs/other.md) [b](other.md)', 'README.md')).toEqual([
    'README.md: nothing is at other.md',
  ]);
});

it('the heading that a link names is there', () => {
  const links =
    '# Here and now\n[a](#here-and-now) [b](other.md#what-x-does-all-of-it) [c](other.md#twice-1)';
  expect(deadLinks(links)).toEqual([]);
  expect(deadLinks('[a](#gone) [b](other.md#no-heading) [c](other.md#twice-2)')).toHaveLength(3);
});

it('addresses elsewhere and examples in code are left alone', () => {
  const text =
    '[a](https://example.org/x.md) [b](mailto:a@example.org) `[c](gone.md)`\n\n```md\n[d](gone.md)\n```\n';
  expect(deadLinks(text)).toEqual([]);
});
