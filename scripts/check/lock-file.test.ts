import { expect, it } from 'vitest';
import { findAddresses } from './lock-file.ts';

it('finds addresses of registries, and leaves integrity hashes and deprecation notes alone', () => {
  // Put together here, so that this file itself names no address.
  const address = (scheme: string, host: string) => `${scheme}://${host}`;
  const lock = [
    "  'zod@4.6.7':",
    `    resolution: {integrity: sha512-abc, tarball: ${address('https', 'somewhere.example/zod.tgz')}}`,
    `    deprecated: see ${address('https', 'example.com/')}`,
    '    resolution: {integrity: sha512-def}',
    `registry=${address('http', 'localhost:4873')}`,
  ].join('\n');
  expect(findAddresses(lock).map((fault) => fault.split(':')[0])).toEqual(['2', '5']);
});
