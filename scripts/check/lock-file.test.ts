import { expect, it } from 'vitest';
import { findAddresses } from './lock-file.ts';

it('finds addresses of registries, and leaves integrity hashes and deprecation notes alone', () => {
  const lock = [
    "  'zod@4.6.7':",
    '    resolution: {integrity: sha512-abc, tarball: https://registry.example/zod.tgz}',
    '    deprecated: see https://example.com/',
    '    resolution: {integrity: sha512-def}',
    'registry=http://localhost:4873',
  ].join('\n');
  expect(findAddresses(lock).map((fault) => fault.split(':')[0])).toEqual(['2', '5']);
});
