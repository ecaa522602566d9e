import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Document, findDeadLinks } from './document-links.ts';
import { findFolderKnots } from './folder-knots.ts';
import { type DeclaredDependencies, findImportFaults } from './import-directions.ts';
import { knotExceptions, partRules } from './import-rules.ts';
import { findRawParsing } from './json-parse.ts';
import { findAddresses } from './lock-file.ts';
import { findUnnamedFolders } from './named-folders.ts';
import { readSourceFiles } from './source-files.ts';

/** One line of the report. Resolves with what is wrong, or with nothing. */
export interface Check {
  name: string;
  run(): Promise<string>;
}

const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'node_modules/.bin');
const typesSeen = join(root, 'node_modules/.cache/types.tsbuildinfo');

export const checks: readonly Check[] = [
  {
    name: 'types',
    // What has not changed since the last check is not looked at again: an eighth of the time.
    run: () =>
      tool('tsc', [
        '-p',
        root,
        '--pretty',
        'false',
        '--incremental',
        '--tsBuildInfoFile',
        typesSeen,
      ]),
  },
  {
    name: 'lint and format',
    run: () => tool('biome', ['check', '--error-on-warnings', '--max-diagnostics=50', root]),
  },
  {
    name: 'import directions',
    run: async () => findImportFaults(readSourceFiles(root), declaredDependencies()).join('\n'),
  },
  {
    name: 'folder knots',
    run: async () => findFolderKnots(readSourceFiles(root), knotExceptions).join('\n'),
  },
  { name: 'bounded parsing', run: async () => findRawParsing(readSourceFiles(root)).join('\n') },
  { name: 'parts have rules', run: async () => partsWithoutRules().join('\n') },
  { name: 'links of documents', run: async () => (await deadLinks()).join('\n') },
  {
    name: 'folders are named',
    run: async () => findUnnamedFolders(readSourceFiles(root), readmes()).join('\n'),
  },
  { name: 'no registry addresses', run: async () => registryAddresses().join('\n') },
  { name: 'generated code', run: checkGenerated },
];

/** Runs a tool of the checkout; silence is success. */
async function tool(name: string, args: string[]): Promise<string> {
  const { code, output } = await execute(join(bin, name), args);
  return code === 0 ? '' : output.trim() || `${name} failed with exit code ${code}`;
}

function execute(file: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((settle) => {
    const options = {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
      timeout: 300_000,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    };
    execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      settle({ code, output: `${stdout}${stderr}` || (error?.message ?? '') });
    });
  });
}

function parts(): string[] {
  const inside = (folder: string) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
  return [...inside('packages'), ...inside('services'), 'scripts'].filter((part) =>
    existsSync(join(root, part, 'package.json')),
  );
}

function declaredDependencies(): DeclaredDependencies {
  const declared: Record<string, ReadonlySet<string>> = {};
  for (const part of ['.', ...parts()]) {
    const manifest = JSON.parse(readFileSync(join(root, part, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string> | undefined
    >;
    const fields = [
      manifest.dependencies,
      manifest.devDependencies,
      manifest.optionalDependencies,
      manifest.peerDependencies,
    ];
    declared[part] = new Set(fields.flatMap((field) => Object.keys(field ?? {})));
  }
  return declared;
}

function partsWithoutRules(): string[] {
  return parts()
    .filter((part) => partRules[part] === undefined)
    .map((part) => `${part} has no entry in scripts/check/import-rules.ts`);
}

/** Those with a table of folders. */
function readmes(): Document[] {
  const services = readdirSync(join(root, 'services')).map((name) => `services/${name}/README.md`);
  return ['README.md', ...services].map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }));
}

/** Of all documents that are checked in, or would be. */
async function deadLinks(): Promise<string[]> {
  const { code, output } = await execute(
    'git',
    'ls-files -z --cached --others --exclude-standard -- *.md'.split(' '),
  );
  if (code !== 0) return [output];
  const documents = output
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return findDeadLinks(documents, (path) => existsSync(join(root, path)));
}

/** A lock file with addresses would tie every checkout to one registry. */
function registryAddresses(): string[] {
  const files = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    '.npmrc',
    'package-lock.json',
    'scripts/setup/pnpm/lock.json',
  ];
  return files
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) =>
      findAddresses(readFileSync(join(root, file), 'utf8')).map((fault) => `${file}:${fault}`),
    );
}

/** Files whose source would make them anew otherwise; loaded late, because they read the stubs. */
async function staleFiles(): Promise<string> {
  const { generatedFiles } = await import('../generate/generated-files.ts');
  return Object.entries(generatedFiles)
    .filter(([path, text]) => readFileSync(join(root, path), 'utf8') !== text())
    .map(([path]) => `${path} differs from what its source makes\n`)
    .join('');
}

/** Generates anew into a temporary folder and compares with what is checked in. */
async function checkGenerated(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-generate-'));
  try {
    const template = readFileSync(join(root, 'buf.gen.yaml'), 'utf8').replace(
      /out: .*/,
      `out: ${folder}/gen`,
    );
    await writeFile(join(folder, 'buf.gen.yaml'), template);
    const { code, output } = await execute(join(bin, 'buf'), [
      'generate',
      '--template',
      join(folder, 'buf.gen.yaml'),
    ]);
    if (code !== 0) return output;
    const { code: differs, output: difference } = await execute('diff', [
      '-rq',
      join(folder, 'gen'),
      join(root, 'packages/proto-stubs/src/gen'),
    ]);
    const stale = await staleFiles();
    if (differs === 0 && stale === '') return '';
    return `${difference}${stale}Run npm run generate and commit the result.`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
