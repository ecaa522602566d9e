/**
 * `npm run docs:browser`: opens `/docs` of a running `npm start` in Chromium as a person would, gives it the admin key, tries
 * operations, and fails when the page asks anybody else for anything. What was seen lies in `.sluice/docs-browser/*.png`.
 * Chromium is the machine's own (`apt-get install chromium`): nothing is downloaded.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '.sluice' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
const { base_url: baseUrl, admin_key: adminKey } = JSON.parse(
  readFileSync(join(values.data, 'credentials.json'), 'utf8'),
) as { base_url: string; admin_key: string };
const { origin } = new URL(baseUrl);
const pictures = resolve(values.data, 'docs-browser');
mkdirSync(pictures, { recursive: true });

const faults: string[] = [];
const browser = await chromium.launch({
  executablePath: values.chromium,
  // Whatever is not this machine has no address for it.
  args: [
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  // The page has some seconds of work on a quick machine, and a minute beside other work.
  page.setDefaultTimeout(180_000);
  const asked = watch(page);
  await page.goto(`${origin}/docs`);
  await page.locator('.opblock-tag').first().waitFor();
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as {
    tags: unknown[];
  };
  const groups = await page.locator('.opblock-tag').count();
  if (groups !== document.tags.length)
    faults.push(`${groups} groups are shown of ${document.tags.length}`);
  await see(page, '1-groups');

  await page.locator('.btn.authorize').first().click();
  await page.locator('.auth-container input[type="text"]').first().fill(adminKey);
  await page.locator('.auth-btn-wrapper .authorize').first().click();
  await page.locator('.btn-done').first().click();

  await open(page, 'Workspaces', 'getAdminWorkspaces');
  await see(page, '2-an-operation');
  const listed = await execute(page, 'Workspaces', 'getAdminWorkspaces');
  if (!/"object": "list"/.test(listed)) faults.push(`the list of workspaces is ${listed}`);
  await see(page, '3-tried');

  await open(page, 'Workspaces', 'postAdminWorkspaces');
  const made = await execute(
    page,
    'Workspaces',
    'postAdminWorkspaces',
    `{"name":"From a browser ${Date.now()}"}`,
  );
  if (!/"slug"/.test(made)) faults.push(`the made workspace is ${made}`);
  await see(page, '4-made');

  const strange = asked.filter((url) => new URL(url).origin !== origin && !url.startsWith('data:'));
  faults.push(...new Set(strange.map((url) => `asked ${url}`)));
  console.log(`${asked.length} requests, all of ${origin} unless told; pictures in ${pictures}`);
} finally {
  await browser.close();
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

/** What the page asks for, and what it complains of. */
function watch(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => faults.push(`the page failed: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`the page complains: ${message.text()}`);
  });
  return asked;
}

/** By the address that a person would be sent. */
async function open(page: Page, tag: string, operationId: string): Promise<void> {
  await page.locator(`#operations-tag-${tag}`).scrollIntoViewIfNeeded();
  const block = page.locator(`#operations-${tag}-${operationId}`);
  if ((await block.count()) === 0) await page.locator(`#operations-tag-${tag}`).click();
  await block.locator('.opblock-summary').click();
  await block.locator('.try-out__btn').waitFor();
  await block.scrollIntoViewIfNeeded();
}

/** Tries an operation, and returns what came. */
async function execute(
  page: Page,
  tag: string,
  operationId: string,
  body?: string,
): Promise<string> {
  const block = page.locator(`#operations-${tag}-${operationId}`);
  await block.locator('.try-out__btn').click();
  if (body !== undefined) await block.locator('.body-param__text').fill(body);
  await block.locator('.btn.execute').click();
  const answer = block.locator('.live-responses-table');
  await answer.waitFor();
  const status =
    (await answer.locator('.response .response-col_status').first().textContent()) ?? '';
  if (status.trim() !== '200') faults.push(`${operationId} answered ${status}`);
  await answer.scrollIntoViewIfNeeded();
  return (await answer.textContent()) ?? '';
}

async function see(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}
