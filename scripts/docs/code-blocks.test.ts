import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startStack, type TestStack, temporaryFolder } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { welcome } from '../start/welcome.ts';
import {
  type CodeBlock,
  codeBlocks,
  configsIn,
  jsonIn,
  missingFields,
  paragraphs,
  valueAt,
} from './code-blocks.ts';
import { blocksNotRun, pagesNotRun } from './not-run.ts';

const root = join(import.meta.dirname, '../..');
const folders = ['docs', 'docs/deploy'];
const names = [
  'README.md',
  ...(await Promise.all(folders.map(async (folder) => pagesIn(folder)))).flat().sort(),
];
const pages = await Promise.all(
  names.map(async (name) => {
    const page = await readFile(join(root, name), 'utf8');
    return { name, blocks: codeBlocks(page), configs: configsIn(page) };
  }),
);

async function pagesIn(folder: string): Promise<string[]> {
  const files = await readdir(join(root, folder));
  return files.filter((file) => file.endsWith('.md')).map((file) => `${folder}/${file}`);
}

const hasRun = ({ blocks }: { blocks: readonly CodeBlock[] }) => blocks.some(({ run }) => run);

it('each block of each page is run, or it is said why not', () => {
  const unnamed = pages.flatMap(({ name, blocks }) =>
    blocks
      .filter(({ run, title }) => !run && blocksNotRun[name]?.[title] === undefined)
      .filter(() => pagesNotRun[name] === undefined)
      .map(({ line, title }) => `${name}:${line} ${title}`),
  );
  expect(unnamed).toEqual([]);
});

it('what is said not to be run is there, and is not run', () => {
  const titles = (name: string) =>
    (pages.find((page) => page.name === name)?.blocks ?? [])
      .filter(({ run }) => run === undefined)
      .map(({ title }) => title);
  const idle = Object.entries(blocksNotRun).flatMap(([name, reasons]) =>
    Object.keys(reasons).filter((title) => !titles(name).includes(title)),
  );
  expect(idle).toEqual([]);
  expect(Object.keys(pagesNotRun).filter((name) => titles(name).length === 0)).toEqual([]);
});

/** One installation, and what its reader has: the keys that the first start prints, and a folder. */
describe('the blocks of', () => {
  let stack: TestStack;
  let folder: string;
  let known: Record<string, string>;
  beforeAll(async () => {
    const environment = { JWT_ENABLED: 'true' };
    stack = await startStack({
      promptLedger: true,
      logStore: true,
      environment: { gateway: environment, 'control-plane': environment },
    });
    folder = await temporaryFolder('reader');
    const { credentials } = stack;
    await mkdir(join(folder, '.sluice'));
    await writeFile(join(folder, '.sluice/credentials.json'), JSON.stringify(credentials));
    const [, names = ''] = welcome(credentials, folder, 0).match(/^export (.*)$/m) ?? [];
    known = Object.fromEntries(
      [...names.matchAll(/(\w+)='([^']*)'/g)].map(([, name = '', value = '']) => [name, value]),
    );
  });
  afterAll(() => stack?.stop());

  it.each(pages.filter(hasRun))('$name do what the page says', async ({ blocks }) => {
    const env = { ...known };
    const faults: string[] = [];
    for (const block of blocks)
      if (block.run !== undefined) faults.push(...(await runBlock(block, env)));
    expect(faults.join('\n')).toBe('');
  });

  it('configs of pages can be saved, whatever they name', async () => {
    const refused: string[] = [];
    for (const { name, configs } of pages)
      for (const { line, config } of configs) {
        const answer = await fetch(`${stack.controlPlaneUrl}/v1/configs?allow_missing=true`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-service-api-key': known.KEY ?? '' },
          body: JSON.stringify({ name: 'Of a page', config }),
        });
        if (answer.status !== 200) refused.push(`${name}:${line} ${await answer.text()}`);
      }
    expect(refused).toEqual([]);
  });

  it('what the gateway answers of the admin API is what its examples show', async () => {
    const call = async (path: string, body: unknown) => {
      const answer = await fetch(`${stack.gatewayUrls[0]}/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-api-key': known.KEY ?? '' },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json() };
    };
    const prompt = await call('/prompts', {
      name: 'Greeting',
      slug: 'greeting',
      collection_id: 'default',
      virtual_key: 'demo',
      string: JSON.stringify([{ role: 'user', content: 'Greet {{name}}.' }]),
      parameters: { model: 'gpt-4o-mini' },
    });
    expect(prompt.status).toBe(200);
    for (const does of ['completions', 'render']) {
      const example = gatewayExamples[`prompts.${does}`];
      const answer = await call(`/prompts/${example.path.promptId}/${does}`, example.body);
      expect([answer.status, answer.body]).toEqual([200, sameFields(example.answer)]);
    }
  });

  /** Runs a block, and keeps what its answers give the next ones. */
  async function runBlock(block: CodeBlock, env: Record<string, string>): Promise<string[]> {
    const faults: string[] = [];
    const { taken = [], refusals = [] } = block.run ?? {};
    const waiting = [...taken];
    for (const code of paragraphs(block.code)) {
      const { status, printed, statuses } = await bash(code, env);
      const wrong = statuses.filter((each) => each >= 300 && !refusals.includes(each));
      if (status !== 0 || wrong.length > 0)
        faults.push(`line ${block.line}: ended with ${status}, answered ${statuses}: ${printed}`);
      const documents = jsonIn(printed);
      if (block.shows !== undefined && code === paragraphs(block.code).at(-1))
        for (const field of missingFields(block.shows, documents.at(-1)))
          faults.push(`line ${block.line}: shows what is not answered: ${field}`);
      // Of an answer each field is taken once: the same of the next answer has another name.
      const used = new Set<string>();
      for (const each of [...waiting]) {
        const value = documents.map((one) => valueAt(one, each.path)).find((one) => one != null);
        if (value === undefined || used.has(each.path.join('.'))) continue;
        used.add(each.path.join('.'));
        env[each.name] = String(value);
        waiting.splice(waiting.indexOf(each), 1);
      }
      for (const refusal of refusals)
        if (paragraphs(block.code).at(-1) === code && !statuses.includes(refusal))
          faults.push(`line ${block.line}: nothing answered ${refusal}: ${statuses}`);
    }
    return [...faults, ...waiting.map(({ name }) => `line ${block.line}: no answer has ${name}`)];
  }

  async function bash(code: string, env: Record<string, string>) {
    const [gateway = ''] = stack.gatewayUrls;
    const here = code
      .replaceAll('http://127.0.0.1:8787', gateway)
      .replaceAll('http://127.0.0.1:8799', stack.demoUpstreamUrl);
    const text = `${prologue}${here}`;
    await writeFile(join(folder, 'statuses'), '');
    const child = spawn('bash', ['-euo', 'pipefail', '-c', text], {
      cwd: folder,
      // A socket there would have bash read what it reads for a person.
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
        HOME: folder,
        STATUSES: join(folder, 'statuses'),
        ...env,
      },
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    let printed = '';
    child.stdout.on('data', (piece) => {
      printed += piece;
    });
    child.stderr.on('data', (piece) => {
      printed += piece;
    });
    const status = await ended;
    const statuses = (await readFile(join(folder, 'statuses'), 'utf8')).split('\n');
    return { status, printed, statuses: statuses.filter(Boolean).map(Number) };
  }
});

const gatewayExamples = JSON.parse(
  await readFile(
    join(root, 'services/control-plane/src/kernel/openapi/examples/prompts.json'),
    'utf8',
  ),
);

/** Matches what has the same fields, of the same types. */
function sameFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sameFields);
  if (value === null || typeof value !== 'object')
    return value === null ? null : expect.any(Object(value).constructor);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sameFields(each)]));
}

/** A reader sees what curl prints; here its status is noted beside, and each answer ends its line. */
const prologue = `curl() {
  command curl -sS -w '%{stderr}%{http_code}\\n' "$@" 2>> "$STATUSES" || return
  [ -t 1 ] || echo
}
`;
