import { checkKinds } from '@sluice/guardrails';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import { type PartnerMode, startPartnerServer, vendorKey } from '@sluice/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import type { Asking } from './asking.ts';
import {
  answering,
  asking,
  contentOf,
  exampleCheck,
  exampleHook,
  exampleTools,
} from './example-hooks.ts';
import { type PartnerRow, partnerRows, personal } from './partner-rows.ts';
import { runHook } from './run-hook.ts';

const server = await startPartnerServer();
const guarded = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
});
afterAll(async () => {
  await guarded.close();
  await server.close();
});

let cases = 0;

/** Sends to the server of the test what would go to the partner. */
function fetchAs(mode: PartnerMode): Asking['fetch'] {
  cases += 1;
  const id = `${cases}`;
  return (url, request) => {
    const { host, pathname, search } = new URL(url);
    const headers = {
      ...request.headers,
      'x-test-host': host,
      'x-test-mode': mode,
      'x-test-case': id,
    };
    return guarded(`${server.url}${pathname}${search}`, { ...request, headers });
  };
}

interface Run {
  readonly mode?: PartnerMode;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly credentials?: PartnerRow['credentials'];
}

async function run(
  row: PartnerRow,
  text: string,
  { mode = 'well', parameters, credentials }: Run = {},
) {
  const given = {
    credentials: credentials ?? row.credentials,
    // A busy machine is no slow partner.
    timeout: 60_000,
    ...row.parameters,
    ...parameters,
  };
  const hook = exampleHook({ deny: true, checks: [exampleCheck(row.id, given)] });
  const context = row.after === true ? answering(text) : asking(text);
  const { result, changed } = await runHook(hook, context, {
    ...exampleTools(),
    fetch: fetchAs(mode),
  });
  const [check] = result.checks;
  return { verdict: check?.verdict, error: check?.error, data: check?.data, result, changed };
}

const clean = (row: PartnerRow) => row.clean ?? 'This is fine.';
const bad = (row: PartnerRow) => row.bad ?? 'This is forbidden.';

/** The same credentials with another key, wherever one stands. */
function withWrongKey(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(vendorKey, 'another-key');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withWrongKey(item)]),
  );
}

const named = partnerRows.map((row) => ({
  row,
  title: `${row.id} ${JSON.stringify({ ...row.parameters, ...row.redacting })}`,
}));

describe.each(named)('$title', ({ row }) => {
  it('lets pass what the partner lets pass', async () => {
    const { verdict, error, result } = await run(row, clean(row));
    expect({ error, verdict, deny: result.deny }).toEqual({ verdict: true, deny: false });
  });

  it('fails for what the partner objects to', async () => {
    const { verdict, error, result } = await run(row, bad(row));
    expect({ error, verdict, deny: result.deny }).toEqual({ verdict: false, deny: true });
  });

  it('is turned by `not`', async () => {
    const not = { parameters: { not: true } };
    expect((await run(row, clean(row), not)).verdict).toBe(false);
    expect((await run(row, bad(row), not)).verdict).toBe(true);
  });
});

const redacting = named.filter(({ row }) => row.redacted !== undefined);

describe.each(redacting)('$title with redaction', ({ row }) => {
  it('passes without the personal data', async () => {
    const parameters = row.redacting ?? { redact: true };
    const { verdict, error, changed } = await run(row, personal, { parameters });
    expect({ error, verdict }).toEqual({ verdict: true });
    expect(contentOf(changed)).toBe(row.redacted);
  });

  it('leaves alone what has none', async () => {
    const parameters = row.redacting ?? { redact: true };
    const { verdict, changed } = await run(row, clean(row), { parameters });
    expect({ verdict, changed }).toEqual({ verdict: true, changed: undefined });
  });
});

/** Each way in which there is no answer, and what is said of it. */
const failures: [PartnerMode | 'unauthorised', name: string, told: RegExp][] = [
  ['unauthorised', 'HostFailed', /answered with the status 401/],
  ['limited', 'HostFailed', /answered with the status 429/],
  ['broken', 'HostFailed', /answered with the status 500/],
  ['elsewhere', 'HostFailed', /answered with the status 307/],
  ['half', 'HostFailed', /gave an answer that is no JSON/],
  ['absurd', 'HostFailed', /gave no answer that can be read/],
  ['empty', 'HostFailed', /gave no answer that can be read/],
  ['silent', 'DeadlineExceeded', /took too long/],
];

describe.each(named)('$title without an answer', ({ row }) => {
  it('could not decide: passes, unless `failOnError` says otherwise, and tells no secret', async () => {
    await Promise.all(
      failures.flatMap(([mode, name, told]) => {
        if (mode === 'unauthorised' && row.credentials === undefined) return [];
        const credentials = withWrongKey(row.credentials) as PartnerRow['credentials'];
        return [false, true].map(async (failOnError) => {
          const timeout = mode === 'silent' ? { timeout: 30 } : {};
          const { result, verdict, error, changed } = await run(row, bad(row), {
            parameters: { failOnError, ...timeout },
            ...(mode === 'unauthorised' ? { credentials } : { mode }),
          });
          expect([mode, verdict, error?.name, error?.message]).toEqual([
            mode,
            false,
            name,
            expect.stringMatching(told),
          ]);
          expect([result.verdict, result.deny, changed]).toEqual([
            !failOnError,
            failOnError,
            undefined,
          ]);
          expect(JSON.stringify(result)).not.toMatch(/partner-key|another-key|https?:/);
        });
      }),
    );
  });
});

describe('a partner', () => {
  const [row] = partnerRows;
  if (row === undefined) throw new Error('there is none');

  it('without credentials could not decide, and asks nobody', async () => {
    const before = server.requests.length;
    const { error } = await run({ ...row, credentials: undefined }, 'hello');
    expect(error).toMatchObject({ name: 'InvalidParameters' });
    expect(server.requests.length).toBe(before);
  });

  it('has rows here, whichever it is', () => {
    const ours = /^(?:default|[^.]+$)/;
    const partners = new Set([...checkKinds.values()].map(({ id }) => id));
    expect([...partners].filter((id) => !ours.test(id)).sort()).toEqual(
      [...new Set(partnerRows.map(({ id }) => id))].sort(),
    );
  });

  it('that was away is asked once more', async () => {
    expect(await run(row, 'hello', { mode: 'away-once' })).toMatchObject({ verdict: true });
  });
});
