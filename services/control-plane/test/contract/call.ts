import { lenientInputHeader } from '@sluice/contracts';
import type { Test } from 'supertest';
import type { Harness } from '../support/harness.ts';
import { readAs } from '../support/read-as.ts';
import type { Context, Example, PathValues } from './example.ts';
import type { ContractCase } from './load-contract.ts';

export interface Sent {
  readonly key?: string;
  readonly path?: PathValues;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  /** Takes what nobody knows, with a warning. */
  readonly isLenient?: boolean;
}

/** Sends a call of an operation, good or bad. */
export function send(h: Harness, { endpoint }: ContractCase, sent: Sent): Test {
  const path = Object.entries(sent.path ?? {}).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    endpoint.path,
  );
  const query = Object.entries(sent.query ?? {}).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  const address = `${path}?${new URLSearchParams(query)}`;
  const caller = endpoint.atRoot === true ? h.atRoot(sent.key) : h.as(sent.key);
  const call = caller[endpoint.method](address, sent.body as object | undefined);
  if (endpoint.lines === true) call.buffer(true).parse(firstLine);
  return sent.isLenient === true ? call.set(lenientInputHeader, 'true') : call;
}

/** What is published of an answer of lines is what one line is. A refusal is no lines, and read as any other. */
const firstLine = readAs((body) => JSON.parse(body.split('\n', 1)[0] || '{}'));

export async function createContext(h: Harness): Promise<Context> {
  const owner = await h.db.user.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id },
  });
  return {
    h,
    organisationId: h.first.organisation_id,
    workspaceId: h.first.workspace_id,
    workspaceSlug: h.first.workspace_slug,
    ownerId: owner.id,
    admin: h.as(h.first.admin_key),
    workspace: h.as(h.first.workspace_key),
  };
}

export type Who = Example['callers'][number];

export function keyOf(h: Harness, who: Who): string {
  return who === 'admin' ? h.first.admin_key : h.first.workspace_key;
}

/** A valid call, with the workspace named where the example says, by slug unless told. */
export async function validCall(
  context: Context,
  { example }: ContractCase,
  {
    who = example.callers[0] ?? 'admin',
    workspace = context.workspaceSlug,
    path = {} as PathValues,
  } = {},
): Promise<Sent> {
  const named = { workspace_id: workspace };
  const body = await example.body?.(context);
  return {
    key: keyOf(context.h, who),
    path,
    query: { ...example.query?.(context), ...(example.names === 'query' ? named : {}) },
    body: body && { ...body, ...(example.names === 'body' ? named : {}) },
  };
}

/** A resource of its own for the call, by the first of its names; nothing where the path names none. */
export async function freshPath(context: Context, { example }: ContractCase): Promise<PathValues> {
  return (await example.path?.(context))?.[0] ?? {};
}

/** Many requests, a few at a time. */
export async function each<T>(list: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...list];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
