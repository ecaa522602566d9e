import { describe, expect, it } from 'vitest';
import { findImportFaults } from './import-directions.ts';
import { folderRules } from './import-rules.ts';
import { importsOf } from './source-imports.ts';

const declared = {
  '.': new Set(['vitest']),
  'packages/engine': new Set(['@sluice/contracts', '@sluice/errors', 'undici']),
  'packages/contracts': new Set(['zod', 'express', '@sluice/errors']),
  'services/gateway': new Set([
    '@sluice/engine',
    '@sluice/contracts',
    '@sluice/testkit',
    '@sluice/control-plane',
    '@nats-io/jetstream',
  ]),
};

const faults = (path: string, text: string) => findImportFaults([{ path, text }], declared);

describe('findImportFaults', () => {
  it.each([
    [
      'a service using the engine',
      'services/gateway/src/app.ts',
      "import { plan } from '@sluice/engine';",
    ],
    [
      'a service reaching through to contracts',
      'services/gateway/src/app.ts',
      "import type { Config } from '@sluice/contracts';",
    ],
    [
      'a test using the testkit',
      'services/gateway/test/chat.test.ts',
      "import { startStack } from '@sluice/testkit';",
    ],
    [
      'a route using the pipeline',
      'services/gateway/src/routes/chat.ts',
      "import { chat } from '../pipeline/chat.ts';",
    ],
    [
      'a route reaching through to what is known of a request',
      'services/gateway/src/routes/chat.ts',
      "import { call } from '../exchange/exchange.ts';",
    ],
    [
      'a folder using a file beside it that its row names',
      'services/data-service/src/sinks/usage-sink.ts',
      "import type { IngestMetrics } from '../metrics.ts';",
    ],
    [
      'what puts folders together using them all',
      'services/data-service/src/wiring.ts',
      "import { a } from './rpc/usage.ts';\nimport { b } from './sinks/usage-sink.ts';",
    ],
    [
      'a domain using the kernel, and a domain listed for it',
      'services/control-plane/src/people/users/routes.ts',
      "import { a } from '../../kernel/http/shapes.ts';\nimport { b } from '../../limits/policy.ts';",
    ],
    [
      'folders of one domain using each other',
      'services/control-plane/src/people/users/routes.ts',
      "import { a } from '../workspaces/store.ts';",
    ],
    [
      'NATS in a publisher',
      'services/gateway/src/usage/publisher.ts',
      "import { jetstream } from '@nats-io/jetstream';",
    ],
  ])('allows %s', (_name, path, text) => {
    expect(faults(path, text)).toEqual([]);
  });

  it.each([
    [
      'a service importing a service',
      'services/gateway/src/app.ts',
      "import { x } from '@sluice/control-plane';",
      'may not import services/control-plane',
    ],
    [
      'an arrow turned round',
      'packages/contracts/src/index.ts',
      "import { x } from '@sluice/errors';",
      'may not import packages/errors',
    ],
    [
      'testkit outside tests',
      'services/gateway/src/app.ts',
      "import { x } from '@sluice/testkit';",
      'may not import packages/testkit',
    ],
    [
      'I/O in the engine',
      'packages/engine/src/plan.ts',
      "import { request } from 'undici';",
      'pure',
    ],
    [
      'another library in contracts',
      'packages/contracts/src/a.ts',
      "import e from 'express';",
      'only zod',
    ],
    [
      'limits importing routes',
      'services/gateway/src/limits/limit-store.ts',
      "import { x } from '../routes/chat.ts';",
      'limits may not import routes',
    ],
    [
      'a domain importing one that stands on it, if only its types',
      'services/control-plane/src/models/providers/store.ts',
      "import type { Row } from '../../people/users/store.ts';",
      'models may not import people',
    ],
    [
      'a folder of the gateway importing one that stands on it, if only its types',
      'services/gateway/src/exchange/visit.ts',
      "import type { A } from '../calls/attempt.ts';",
      'exchange may not import calls',
    ],
    [
      'a sink importing who fills it',
      'services/data-service/src/sinks/usage-sink.ts',
      "import type { A } from '../consumers/usage-stream.ts';",
      'sinks may not import consumers',
    ],
    [
      'the kernel importing a domain',
      'services/control-plane/src/kernel/http/operation.ts',
      "import type { Row } from '../../people/users/store.ts';",
      'kernel/http may not import people',
    ],
    [
      'a domain importing what wires it',
      'services/control-plane/src/people/users/store.ts',
      "import type { Env } from '../../env.ts';",
      'what stands above the folders',
    ],
    [
      'a domain that nobody described',
      'services/control-plane/src/pigeons/store.ts',
      "import { a } from '../kernel/http/shapes.ts';",
      'pigeons has no row',
    ],
    [
      'a relative path into another package',
      'services/gateway/src/app.ts',
      "import x from '../../../packages/engine/src/plan.ts';",
      'may not leave',
    ],
    [
      'an undeclared dependency',
      'services/gateway/src/app.ts',
      "import x from 'left-pad';",
      'not in services/gateway/package.json',
    ],
    [
      'the admin schemas in a gateway',
      'services/gateway/src/app.ts',
      "import { adminEndpoints } from '@sluice/contracts/admin';",
      'only services/control-plane loads it',
    ],
    [
      'what checks can be told in a gateway, past the checks',
      'services/gateway/src/app.ts',
      "import { readParameters } from '@sluice/contracts/checks';",
      'only packages/guardrails loads it',
    ],
    [
      'a path past the index',
      'services/gateway/src/app.ts',
      "import x from '@sluice/engine/src/plan.ts';",
      'through its index',
    ],
    [
      'NATS in a route',
      'services/gateway/src/routes/chat.ts',
      "import { jetstream } from '@nats-io/jetstream';",
      'NATS',
    ],
    ['export *', 'packages/engine/src/index.ts', "export * from './plan.ts';", 'list the names'],
  ])('refuses %s', (_name, path, text, expected) => {
    expect(faults(path, text).join('\n')).toContain(expected);
  });

  it('finds an import cycle, of types too', () => {
    const file = (name: string, text: string) => ({ path: `packages/engine/src/${name}.ts`, text });
    const other = file('b', "export { a } from './a.ts';");
    for (const text of ["import { b } from './b.ts';", "import type { b } from './b.ts';"])
      expect(findImportFaults([file('a', text), other], declared)).toEqual([
        'import cycle: packages/engine/src/a.ts -> packages/engine/src/b.ts -> packages/engine/src/a.ts',
      ]);
  });
});

it.each(Object.entries(folderRules))('no row of %s reaches itself', (_service, rules) => {
  const below = (folder: string): string[] =>
    (rules[folder] ?? []).flatMap((next) => [next, ...below(next)]);
  for (const folder of Object.keys(rules)) expect(below(folder)).not.toContain(folder);
});

describe('importsOf', () => {
  it('finds imports over several lines, re-exports, bare and dynamic ones, with their lines', () => {
    const source = [
      'import {',
      '  a,',
      "} from 'one';",
      "export { b } from 'two';",
      "import 'three';",
      "import type { C } from 'four';",
      "const d = await import('undici');",
    ].join('\n');
    expect(
      importsOf(source).map(({ specifier, line, isType }) => [specifier, line, isType]),
    ).toEqual([
      ['one', 1, false],
      ['two', 4, false],
      ['three', 5, false],
      ['four', 6, true],
      ['undici', 7, false],
    ]);
  });

  it('takes neither comments nor exported strings for imports', () => {
    expect(
      importsOf(
        "/** import x from 'a'; */\n// import y from 'b';\nexport const c = 'd';\nexport type E = 'f' | 'g';",
      ),
    ).toEqual([]);
  });
});
